"""Finished runs, judged again by a scripted judge."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.scores.lemon_run import (
    JUDGE_REPLY,
    NORMALIZED,
    SINGLE_TURN_PROGRESS,
    SINGLE_TURN_TEXT,
    canonical,
    changed,
    write_dataset,
    write_json,
    write_run,
    write_text,
)
from tests.scripted_model import HttpError, Request, requests_of, says, script

from taketwo.cli.rejudge import command
from taketwo.errors import InvalidQuestion, InvalidResults, RequestError
from taketwo.executions.model_spec import ModelSpec
from taketwo.rejudging import Rejudged, rejudge
from taketwo.scores.run_folder import read_run

REPLY = json.dumps(JUDGE_REPLY)


def judged(root: Path, dataset: Path, out: Path, *, name: str | None = None, **changes: Any) -> Any:
    judge = name or script([REPLY], repeat_last=True)
    done = rejudge(
        root, dataset, ModelSpec(name=judge), output=out, connections=2, retries=1, **changes
    )
    return done, judge


def state_of(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def distinct(root: Path, *numbers: int) -> None:
    """Give each question steps of its own, so that each trajectory is another one."""
    for number in numbers:
        steps = changed(NORMALIZED, number=number)
        steps["steps"][0]["data"]["text"] = f"[PRE-ACTION] PLAN: number {number}."
        write_json(root / f"inference/outputs/question{number}.normalized.json", steps)
        write_text(root / f"inference/trajectories/question{number}.txt", canonical(steps))


def test_a_run_is_judged_again_into_a_folder_of_its_own(tmp_path: Path) -> None:
    root, dataset = write_run(tmp_path / "exp", numbers=(1, 2)), write_dataset(tmp_path / "d", 1, 2)
    distinct(root, 1, 2)
    before = state_of(root)

    done, judge = judged(root, dataset, tmp_path / "exp/again")

    assert isinstance(done, Rejudged)
    assert (done.requested, done.judged, done.pooled, dict(done.failures)) == (2, 2, 0, {})
    assert done.means == {
        "P1": 2, "P2": 1, "P3": 0, "P4": 1, "P5": 2, "traj": 0.6, "mc_rate": 0.625,
    }  # fmt: skip
    assert state_of(root) == before
    after = state_of(tmp_path / "exp/again")
    assert {k: v for k, v in after.items() if k.startswith("inference/")} == {
        k: v for k, v in before.items() if k.startswith("inference/")
    }
    again = read_run(tmp_path / "exp/again")
    assert [item.is_correct for item in again.items] == [False, False]
    summary = json.loads((tmp_path / "exp/again/evaluation/summary.json").read_text("utf-8"))
    assert summary["taketwo"]["judges"] == [judge]
    assert summary["taketwo"]["protocol"] == "blind"
    assert summary["by_skill"]["conditional_counting"]["n"] == 2


def test_the_blind_judge_is_told_no_name_and_no_tokens(tmp_path: Path) -> None:
    root = write_run(tmp_path, method="ourframework")
    dataset = write_dataset(tmp_path / "d")

    _, judge = judged(root, dataset, tmp_path / "again")

    sent = requests_of(judge)[0].text
    for secret in (
        "gemini",
        "ourframework",
        "49985",
        "31.882",
        "elapsed",
        '"E"]',
        "The timer shows 0:45",
    ):
        assert secret not in sent
    assert "called analyze_video with" in sent
    assert "SWEEP_REQUIRED: yes" in sent


def test_the_published_protocol_shows_the_recorded_text_and_the_framework(tmp_path: Path) -> None:
    root, dataset = write_run(tmp_path), write_dataset(tmp_path / "d")

    _, judge = judged(root, dataset, tmp_path / "again", protocol="published")

    sent = requests_of(judge)[0].text
    assert "=== ours trajectory (model=gemini-2.5-pro, qid=9001) ===" in sent
    assert '"total_tokens": 41230' in sent
    assert "<<<UNTRUSTED system\nours" in sent


def test_a_second_time_nothing_is_asked(tmp_path: Path) -> None:
    numbers = (1, 2, 3)
    root, dataset = write_run(tmp_path, numbers=numbers), write_dataset(tmp_path / "d", *numbers)
    distinct(root, *numbers)
    _, judge = judged(root, dataset, tmp_path / "again")
    assert len(requests_of(judge)) == 3

    done, _ = judged(root, dataset, tmp_path / "again", name=judge)

    assert (done.judged, done.pooled) == (0, 3)
    assert len(requests_of(judge)) == 3


def test_a_trajectory_that_changed_is_judged_again_and_no_other(tmp_path: Path) -> None:
    numbers = (1, 2, 3)
    root, dataset = write_run(tmp_path, numbers=numbers), write_dataset(tmp_path / "d", *numbers)
    distinct(root, *numbers)
    _, judge = judged(root, dataset, tmp_path / "again")
    steps = changed(NORMALIZED, number=2)
    steps["steps"][0]["data"]["text"] = "[PRE-ACTION] PLAN: something else."
    write_json(root / "inference/outputs/question2.normalized.json", steps)

    done, _ = judged(root, dataset, tmp_path / "again", name=judge)

    assert (done.judged, done.pooled) == (1, 2)
    assert len(requests_of(judge)) == 4
    assert "something else" in requests_of(judge)[3].text


def test_a_run_without_steps_is_judged_by_its_text(tmp_path: Path) -> None:
    root, dataset = tmp_path / "singleturn_claude_run1", write_dataset(tmp_path / "d")
    write_json(root / "inference/progress/question9001.json", SINGLE_TURN_PROGRESS)
    write_text(root / "inference/trajectories/question9001.txt", SINGLE_TURN_TEXT)

    done, judge = judged(root, dataset, tmp_path / "again")

    assert SINGLE_TURN_TEXT in requests_of(judge)[0].text
    assert "claude" not in requests_of(judge)[0].text
    assert done.summary["accuracy"] == 1.0
    results = json.loads((tmp_path / "again/evaluation/results/question9001.json").read_text())
    assert results["accuracy"] == {"gold": "F", "pred": "F", "correct": True}
    assert results["taketwo"]["letter_source"] == "text"


def test_what_failed_is_not_judged_and_stays_in_the_denominator(tmp_path: Path) -> None:
    numbers = (1, 2)
    root = write_run(tmp_path, numbers=numbers, total=4)
    failed = {"question_id": 2, "video_path": "v.mp4", "elapsed_seconds": 1.0, "error": "503"}
    write_json(root / "inference/progress/question2.json", failed)

    done, judge = judged(root, write_dataset(tmp_path / "d", *numbers), tmp_path / "again")

    assert len(requests_of(judge)) == 1
    assert (done.requested, done.judged, done.not_judged) == (4, 1, 3)
    assert done.summary["n"] == 4
    assert done.summary["taketwo"]["coverage"]["not_scored"] == {
        "agent_error": 1,
        "no record": 2,
    }


@pytest.mark.parametrize(
    ("total", "requested", "not_scored"),
    [(3, 3, {"not_run": 1}), (None, 3, {"not_run": 1}), (5, 5, {"no record": 3}), (2, 2, {})],
)
def test_questions_without_a_record_are_known_where_the_run_had_the_whole_data_set(
    tmp_path: Path, total: int | None, requested: int, not_scored: dict[str, int]
) -> None:
    root = write_run(tmp_path, numbers=(1, 3), total=total)
    if total is None:
        (root / "inference/summary.json").unlink()

    done, _ = judged(root, write_dataset(tmp_path / "d", 1, 2, 3), tmp_path / "again")

    assert done.requested == requested
    assert done.summary["n"] == requested
    assert done.summary["taketwo"]["coverage"]["not_scored"] == not_scored


def test_a_judge_that_fails_is_told_and_asked_again_next_time(tmp_path: Path) -> None:
    numbers = (1, 2)
    root, dataset = write_run(tmp_path, numbers=numbers), write_dataset(tmp_path / "d", *numbers)
    distinct(root, *numbers)
    broken = [True]

    def answers(asked: Request) -> Any:
        is_hit = broken[0] and "number 2." in asked.text
        return HttpError(400) if is_hit else says(REPLY)

    judge = script([answers], repeat_last=True)
    done, _ = judged(root, dataset, tmp_path / "again", name=judge)

    assert list(done.failures) == [2]
    assert "HTTP 400" in done.failures[2]
    record = json.loads((tmp_path / "again/evaluation/judge/question2.json").read_text())
    assert record["process"] == {}
    assert "HTTP 400" in record["error"]

    broken[0] = False
    done, _ = judged(root, dataset, tmp_path / "again", name=judge)
    assert (done.judged, done.pooled, dict(done.failures)) == (1, 1, {})


def test_the_run_is_never_written_to(tmp_path: Path) -> None:
    root, dataset = write_run(tmp_path), write_dataset(tmp_path / "d")
    for out in (root, root / "again", tmp_path):
        with pytest.raises(RequestError, match="the run is never written to"):
            judged(root, dataset, out)


def test_an_output_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    root, dataset = write_run(tmp_path / "a"), write_dataset(tmp_path / "d")
    other = write_run(tmp_path / "b")
    judged(other, dataset, tmp_path / "again")
    for out in (tmp_path / "d", tmp_path / "again"):
        before = state_of(out)
        with pytest.raises(RequestError, match="holds something that is no earlier result"):
            judged(root, dataset, out)
        assert state_of(out) == before


def test_questions_of_another_data_set_are_refused(tmp_path: Path) -> None:
    root = write_run(tmp_path, numbers=(1, 2))

    with pytest.raises(InvalidResults, match=r"1 of 2 questions are not in .*, first 2"):
        judged(root, write_dataset(tmp_path / "d", 1), tmp_path / "again")
    with pytest.raises(InvalidQuestion, match="is not there"):
        judged(root, tmp_path / "nowhere", tmp_path / "again")
    with pytest.raises(RequestError, match="no such rubric 'mine'"):
        judged(root, tmp_path / "d", tmp_path / "again", rubric="mine")


def test_the_command_tells_calls_before_and_numbers_after(tmp_path: Path) -> None:
    root, dataset = write_run(tmp_path / "a"), write_dataset(tmp_path / "d")
    judge = script([REPLY], repeat_last=True)
    asked = [str(root), "--questions", str(dataset), "-o", str(tmp_path / "again")]

    shown = CliRunner().invoke(command, [*asked, "--judge", judge], catch_exceptions=False)

    assert shown.exit_code == 0
    assert f"asking {judge} about 1 trajectories, 0 are judged already" in shown.stderr
    assert "1 questions: 1 judged now, 0 from the pool, 0 failures" in shown.stdout
    assert "traj 0.600, mc_rate 0.625" in shown.stdout
    again = CliRunner().invoke(
        command, [*asked, "--judge", judge, "--json"], catch_exceptions=False
    )
    assert json.loads(again.stdout)["from_pool"] == 1
    assert again.stderr == ""


def test_the_command_needs_a_judge(tmp_path: Path) -> None:
    shown = CliRunner().invoke(command, [str(tmp_path), "--questions", "d", "-o", "o"])

    assert isinstance(shown.exception, RequestError)
    assert "name one with --judge" in str(shown.exception)
