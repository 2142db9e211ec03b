"""Finished runs, judged again by a scripted judge."""

from __future__ import annotations

import hashlib
import json
import shutil
import stat
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from tests.exported_study import JUDGE, cells_of, make_study_plan, question, write_study
from tests.outcomes.imports.files import read
from tests.plans import make_plan
from tests.scores.formats.lemon_run import JUDGE as JUDGE_RECORD
from tests.scores.formats.lemon_run import (
    JUDGE_REPLY,
    LETTERS,
    NORMALIZED,
    RESULTS,
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

from taketwo.benchmarks.question import Question
from taketwo.cli.rejudge import command
from taketwo.errors import DataError, InvalidQuestion, InvalidResults, RequestError
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.trajectory import ModelCall, Note, PrimitiveOperation, Trajectory
from taketwo.exporting import export_study
from taketwo.outcomes.imports.to_outcomes import to_outcomes
from taketwo.rejudging import Rejudged, rejudge
from taketwo.scores.formats.run_folder import read_run
from taketwo.scores.judgement_pool import asking
from taketwo.scores.trajectory_judgements import TrajectoryJudgement, read_trajectory_judgements

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
    with pytest.raises(InvalidQuestion, match=r"nowhere: is not there; name with --questions"):
        judged(root, tmp_path / "nowhere", tmp_path / "again")
    with pytest.raises(InvalidQuestion, match=r"has neither of the two; name with --questions"):
        judged(root, root, tmp_path / "again")
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


def test_the_command_needs_the_questions_of_a_run_folder(tmp_path: Path) -> None:
    shown = CliRunner().invoke(command, [str(tmp_path), "--judge", "a/b", "-o", "o"])

    assert isinstance(shown.exception, RequestError)
    assert "name the data set with --questions DATASET_DIR" in str(shown.exception)


def single_turn(
    folder: Path, replies: dict[int, str], votes: list[str | None] | None = None
) -> Path:
    """Write a run that has replies and nothing else, as a system without steps leaves them."""
    root = folder / "singleturn_m_run1"
    for number, reply in replies.items():
        record = changed(SINGLE_TURN_PROGRESS, number=number, response_text=reply)
        write_json(root / f"inference/progress/question{number}.json", record)
        write_text(root / f"inference/trajectories/question{number}.txt", reply)
        if votes is not None:
            letters = changed(LETTERS, number=number, votes=votes, majority_letter=None)
            write_json(root / f"evaluation/letters/question{number}.json", letters)
    return root


def answers_of(out: Path) -> dict[int, tuple[Any, ...]]:
    found = (json.loads(path.read_text()) for path in (out / "evaluation/results").iterdir())
    return {
        row["question_id"]: (
            row["accuracy"]["pred"],
            row["accuracy"]["correct"],
            row["taketwo"]["status"],
            row["taketwo"]["letter_source"],
        )
        for row in found
    }


def assert_read_alike(out: Path) -> None:
    """Check that who reads the result without the options' texts, as an audit does, finds the same."""
    read = {
        item.question_id: (
            item.letter,
            item.is_correct,
            "judge_error" if item.is_doubtful else item.run_status.replace("answered", "scored"),
            item.letter_source,
        )
        for item in read_run(out).items
    }
    assert read == answers_of(out)


def ask(dataset: Path, number: int, text: str) -> None:
    """Let the data set ask something else under a number."""
    rows = [json.loads(line) for line in (dataset / "questions.jsonl").read_text().splitlines()]
    for row in rows:
        if row["question_id"] == number:
            row["question_text"] = text
    write_text(dataset / "questions.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.mark.parametrize("kept", ["steps and text", "steps", "text", "text by Windows"])
def test_a_question_that_is_another_one_in_the_data_set_is_refused(
    tmp_path: Path, kept: str
) -> None:
    numbers = (1, 2, 3)
    root, dataset = write_run(tmp_path, numbers=numbers), write_dataset(tmp_path / "d", *numbers)
    for number in numbers:
        if kept.startswith("text"):
            (root / f"inference/outputs/question{number}.normalized.json").unlink()
        if kept == "text by Windows":
            path = root / f"inference/trajectories/question{number}.txt"
            path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
        if kept == "steps":
            write_text(root / f"inference/trajectories/question{number}.txt", "FINAL ANSWER: E")
    ask(dataset, 1, "What colour is the whale?")
    ask(dataset, 3, "What colour is the boat?")
    judge = script([REPLY], repeat_last=True)

    with pytest.raises(InvalidResults) as refused:
        judged(root, dataset, tmp_path / "again", name=judge)

    assert "2 of 3 questions are others in" in str(refused.value)
    assert "by the same numbers: 1, 3" in str(refused.value)
    assert "'What colour is the whale?'" in str(refused.value)
    assert "'In the kitchen clip, how many slices" in str(refused.value)
    assert requests_of(judge) == []
    assert not (tmp_path / "again").exists()


def test_questions_that_are_absent_and_questions_that_differ_are_told_together(
    tmp_path: Path,
) -> None:
    root, dataset = write_run(tmp_path, numbers=(1, 2)), write_dataset(tmp_path / "d", 1)
    ask(dataset, 1, "What colour is the whale?")

    with pytest.raises(InvalidResults, match=r"(?s)1 of 2 .* are not in .*1 of 2 .* are others in"):
        judged(root, dataset, tmp_path / "again")


def test_spaces_and_line_ends_make_no_other_question(tmp_path: Path) -> None:
    root, dataset = write_run(tmp_path), write_dataset(tmp_path / "d")
    text = str(NORMALIZED["question_text"])
    ask(dataset, 9001, "  " + text.replace(" the ", "\r\nthe  ").replace("?", " ?"))

    done, _ = judged(root, dataset, tmp_path / "again")

    assert (done.judged, done.unchecked) == (1, 0)


def test_a_run_that_does_not_say_what_was_asked_is_judged_and_counted(tmp_path: Path) -> None:
    root = single_turn(tmp_path, {1: "FINAL ANSWER: F", 2: "FINAL ANSWER: E"})
    dataset = write_dataset(tmp_path / "d", 1, 2)
    ask(dataset, 2, "What colour is the whale?")
    judge = script([REPLY], repeat_last=True)
    asked = [str(root), "--questions", str(dataset), "-o", str(tmp_path / "again")]

    shown = CliRunner().invoke(command, [*asked, "--judge", judge], catch_exceptions=False)
    again = CliRunner().invoke(
        command, [*asked, "--judge", judge, "--json"], catch_exceptions=False
    )

    assert "2 of them do not say what was asked" in shown.stdout
    assert json.loads(again.stdout)["unchecked_questions"] == 2
    summary = json.loads((tmp_path / "again/evaluation/summary.json").read_text("utf-8"))
    assert summary["taketwo"]["unchecked_questions"] == 2


def test_an_answer_in_the_words_of_an_option_is_that_option(tmp_path: Path) -> None:
    replies = {
        1: "I count five.\nFINAL ANSWER: 5",
        2: "I count five.\nFINAL ANSWER: F",
        3: "FINAL ANSWER: 25+",
        4: "FINAL ANSWER: F) 4",
        5: "FINAL ANSWER: a whale",
    }
    root, dataset = single_turn(tmp_path, replies), write_dataset(tmp_path / "d", *replies)

    done, _ = judged(root, dataset, tmp_path / "again")

    assert answers_of(tmp_path / "again") == {
        1: ("F", True, "scored", "text"),
        2: ("F", True, "scored", "text"),
        3: ("Z", False, "scored", "text"),
        4: (None, False, "unparsed", None),
        5: (None, False, "unparsed", None),
    }
    assert done.summary["n_correct"] == 2
    assert_read_alike(tmp_path / "again")


def test_an_option_in_words_that_all_votes_missed_is_an_extraction_that_failed(
    tmp_path: Path,
) -> None:
    root = single_turn(tmp_path, {1: "FINAL ANSWER: 5"}, votes=[None, None])

    judged(root, write_dataset(tmp_path / "d", 1), tmp_path / "again")

    assert answers_of(tmp_path / "again") == {1: ("F", None, "judge_error", "text")}
    assert_read_alike(tmp_path / "again")


@pytest.mark.parametrize("votes", [["E", "F"], ["E", None]])
def test_votes_without_a_majority_are_not_overruled(
    tmp_path: Path, votes: list[str | None]
) -> None:
    root = single_turn(tmp_path, {1: "FINAL ANSWER: 5"}, votes=votes)

    judged(root, write_dataset(tmp_path / "d", 1), tmp_path / "again")

    assert answers_of(tmp_path / "again") == {1: (None, False, "unparsed", None)}


@pytest.mark.parametrize(
    ("letter", "said", "expected"),
    [
        ("5", "looking", ("F", True, "scored", "trajectory")),
        ("F) 5", "looking", ("F", True, "scored", "trajectory")),
        ("25+", "looking", ("Z", False, "scored", "trajectory")),
        ("99", "looking", (None, False, "unparsed", None)),
        ("E", "FINAL ANSWER: F", ("E", False, "scored", "trajectory")),
        (None, "FINAL ANSWER: 5", ("F", True, "scored", "text")),
        (None, "looking", (None, False, "unparsed", None)),
    ],
)
def test_an_answer_step_may_have_the_words_of_an_option(
    tmp_path: Path, letter: str | None, said: str, expected: tuple[Any, ...]
) -> None:
    root = write_run(tmp_path, with_evaluation=False)
    steps = changed(NORMALIZED, number=9001)
    steps["steps"][-1]["data"]["letter"] = letter
    steps["steps"][-2]["data"]["text"] = f"[RESPONSE] {said}"
    write_json(root / "inference/outputs/question9001.normalized.json", steps)

    judged(root, write_dataset(tmp_path / "d"), tmp_path / "again")

    assert answers_of(tmp_path / "again") == {9001: expected}
    assert_read_alike(tmp_path / "again")


def test_what_was_said_before_a_call_is_no_answer(tmp_path: Path) -> None:
    root = write_run(tmp_path, with_evaluation=False)
    steps = changed(NORMALIZED, number=9001)
    steps["steps"][3]["data"]["text"] = "[PRE-ACTION] FINAL ANSWER: 5"
    steps["steps"][-1]["data"]["letter"] = None
    del steps["steps"][-2]
    write_json(root / "inference/outputs/question9001.normalized.json", steps)

    judged(root, write_dataset(tmp_path / "d"), tmp_path / "again")

    assert answers_of(tmp_path / "again") == {9001: (None, False, "unparsed", None)}


def test_links_within_the_run_are_copied_as_what_they_lead_to(tmp_path: Path) -> None:
    root, dataset = write_run(tmp_path / "exp", numbers=(1, 2)), write_dataset(tmp_path / "d", 1, 2)
    (root / "blobs").mkdir()
    for path in sorted((root / "inference/outputs").iterdir()):
        path.rename(root / "blobs" / path.name)
        path.symlink_to(Path("../../blobs") / path.name)
    (root / "inference/trajectories").rename(root / "texts")
    (root / "inference/trajectories").symlink_to("../texts")
    before = {name: (root / name).read_bytes() for name in INFERENCE}

    judged(root, dataset, tmp_path / "again")

    assert {name: (tmp_path / "again" / name).read_bytes() for name in INFERENCE} == before
    assert not [path for path in (tmp_path / "again").rglob("*") if path.is_symlink()]
    assert [item.letter for item in read_run(tmp_path / "again").items] == ["E", "E"]


INFERENCE = [
    "inference/summary.json",
    *(f"inference/progress/question{number}.json" for number in (1, 2)),
    *(f"inference/outputs/question{number}.normalized.json" for number in (1, 2)),
    *(f"inference/trajectories/question{number}.txt" for number in (1, 2)),
]


@pytest.mark.parametrize(
    ("place", "leads"),
    [
        ("inference/trajectories/question1.txt", "secret"),
        ("inference/outputs/notes", "secret"),
        ("inference/more", "elsewhere"),
        ("inference/outputs/gone", "nowhere"),
        ("inference/outputs/round", "exp/ours_gemini-2.5-pro_run1/inference"),
        ("evaluation/letters/question1.json", "secret"),
    ],
)
def test_links_that_lead_out_of_the_run_are_refused_before_anything_is_asked(
    tmp_path: Path, place: str, leads: str
) -> None:
    root, dataset = write_run(tmp_path / "exp", numbers=(1,)), write_dataset(tmp_path / "d", 1)
    write_text(tmp_path / "secret", "a secret")
    write_text(tmp_path / "elsewhere/file", "a secret")
    (root / place).unlink(missing_ok=True)
    (root / place).symlink_to(tmp_path / leads)
    judge = script([REPLY], repeat_last=True)

    with pytest.raises(InvalidResults) as refused:
        judged(root, dataset, tmp_path / "again", name=judge)

    assert place in str(refused.value)
    assert f"copy the folder first, e.g. cp -rL {root} COPY" in str(refused.value)
    assert requests_of(judge) == []
    assert not (tmp_path / "again").exists()


def test_judgements_are_never_written_into_the_run_or_where_the_result_is(tmp_path: Path) -> None:
    root, dataset = write_run(tmp_path / "judgements"), write_dataset(tmp_path / "d")
    out, before = tmp_path / "again", state_of(root)
    (tmp_path / "link").symlink_to(root)
    for pool in (root, root / "judgements", root / "inference/x", tmp_path / "link/judgements"):
        with pytest.raises(RequestError, match="in the run folder, which is never written to"):
            judged(root, dataset, out, judgements=pool)
    named = root.rename(tmp_path / "exp").rename(tmp_path / "judgements/judgements")
    with pytest.raises(RequestError, match="name another folder for the judgements"):
        judged(named, dataset, tmp_path / "judgements/again")
    for pool in (out, out / "inference/pool", out / "evaluation"):
        with pytest.raises(RequestError, match="is replaced by the result"):
            judged(named, dataset, out, judgements=pool)
    assert state_of(named) == before
    assert not out.exists()


def test_a_file_where_a_folder_is_needed_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    root, dataset = write_run(tmp_path / "exp"), write_dataset(tmp_path / "d")
    write_text(tmp_path / "file", "x")
    (tmp_path / "dead").symlink_to(tmp_path / "nowhere")
    judge = script([REPLY], repeat_last=True)
    for out, pool in (("file", "p"), ("file/out", "p"), ("dead", "p"), ("again", "file")):
        with pytest.raises(RequestError, match="no folder"):
            judged(root, dataset, tmp_path / out, name=judge, judgements=tmp_path / pool)
    assert requests_of(judge) == []


def test_judgements_may_lie_in_the_output_and_survive_a_first_write_that_was_killed(
    tmp_path: Path,
) -> None:
    root, dataset = write_run(tmp_path / "exp"), write_dataset(tmp_path / "d")
    out = tmp_path / "again"
    _, judge = judged(root, dataset, out, judgements=out / "pool")
    for name in ("inference", "evaluation"):
        shutil.rmtree(out / name)
    (out / "taketwo.json").unlink()

    done, _ = judged(root, dataset, out, name=judge, judgements=out / "pool")

    assert (done.judged, done.pooled) == (0, 1)
    assert len(requests_of(judge)) == 1


def test_a_run_that_may_not_be_written_gives_a_result_that_may(tmp_path: Path) -> None:
    root, dataset = write_run(tmp_path / "exp"), write_dataset(tmp_path / "d")
    inside = sorted(root.rglob("*"))
    for path in (*inside, root):
        path.chmod(0o555 if path.is_dir() else 0o444)

    _, judge = judged(root, dataset, tmp_path / "again")
    locked = [
        path for path in (tmp_path / "again").rglob("*") if not path.stat().st_mode & stat.S_IWUSR
    ]
    done, _ = judged(root, dataset, tmp_path / "again", name=judge)

    for path in (root, *inside):
        path.chmod(0o755)
    assert locked == []
    assert done.pooled == 1


def test_what_a_killed_first_write_left_is_taken_up_again(tmp_path: Path) -> None:
    root, dataset = write_run(tmp_path / "exp"), write_dataset(tmp_path / "d")
    out = tmp_path / "again"
    left = write_text(out / ".taketwo.json.4711.0123456789ab.tmp", '{"format": "take')

    done, _ = judged(root, dataset, out)

    assert done.judged == 1
    assert not left.exists()
    assert sorted(path.name for path in out.iterdir()) == [
        "evaluation",
        "inference",
        "taketwo.json",
    ]


@pytest.mark.parametrize("name", [".hidden", ".notes.tmp", ".git"])
def test_hidden_files_of_somebody_else_are_no_leftovers(tmp_path: Path, name: str) -> None:
    root, dataset = write_run(tmp_path / "exp"), write_dataset(tmp_path / "d")
    write_text(tmp_path / "again" / name, "x")

    with pytest.raises(RequestError, match="holds something that is no earlier result"):
        judged(root, dataset, tmp_path / "again")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"protocol": "published"}, "protocol 'blind' there, 'published' now"),
        ({"rubric": "paraphrased"}, "rubric 'standard' there, 'paraphrased' now"),
        ({"name": "mockllm/other"}, "now"),
    ],
)
def test_the_result_of_another_judging_is_not_replaced(
    tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    root, dataset = write_run(tmp_path / "exp"), write_dataset(tmp_path / "d")
    out = tmp_path / "again"
    _, judge = judged(root, dataset, out)
    before = state_of(out)

    with pytest.raises(RequestError) as refused:
        judged(root, dataset, out, **{"name": judge, **changes})

    assert "holds the result of another judging of the same run" in str(refused.value)
    assert told in str(refused.value)
    assert "name another folder (-o)" in str(refused.value)
    if "name" in changes:
        assert f"judge {judge!r} there, 'mockllm/other' now" in str(refused.value)
    assert state_of(out) == before
    assert len(requests_of(judge)) == 1


def test_a_judge_of_the_same_name_elsewhere_is_another_one(tmp_path: Path) -> None:
    root, dataset = write_run(tmp_path / "exp"), write_dataset(tmp_path / "d")
    _, judge = judged(root, dataset, tmp_path / "again")

    elsewhere = ModelSpec(name=judge, base_url="https://example.org/v1")
    with pytest.raises(RequestError, match=r'"base_url": null.* there, .*example\.org.* now'):
        rejudge(root, dataset, elsewhere, output=tmp_path / "again")


@pytest.mark.parametrize("prefix", ["", "q-"])
def test_an_exported_study_is_judged_again_from_its_own_pool(tmp_path: Path, prefix: str) -> None:
    plan = make_study_plan(prefix=prefix)
    study = write_study(tmp_path / "study", plan, cells_of(plan))
    exported = export_study(study, form="agentvidbench", output=tmp_path / "exp")

    for root in exported.paths:
        done = rejudge(
            root, study, JUDGE, output=tmp_path / "again" / root.name,
            judgements=study / "judgements",
        )  # fmt: skip

        assert (done.judged, done.pooled, done.requested, done.unchecked) == (0, 2, 3, 0)
        before = json.loads((root / "evaluation/summary.json").read_text("utf-8"))
        assert {k: v for k, v in done.summary.items() if k != "taketwo"} == {
            k: v for k, v in before.items() if k != "taketwo"
        }
        assert done.summary["taketwo"]["coverage"] == before["taketwo"]["coverage"]  # type: ignore[index,call-overload]
    tables = [
        to_outcomes(read(folder), {}).to_polars().sort("arm", "execution", "question_id")
        for folder in (tmp_path / "exp", tmp_path / "again")
    ]
    measured = ["arm", "execution", "question_id", "accuracy", "trajectory_score", "mc_rate"]
    assert tables[0].select(measured).rows() == tables[1].select(measured).rows()


def test_scores_that_break_the_schema_do_not_keep_a_run_from_being_judged_again(
    tmp_path: Path,
) -> None:
    root, dataset = write_run(tmp_path / "exp"), write_dataset(tmp_path / "d")
    for kind, record in (("judge", JUDGE_RECORD), ("results", RESULTS)):
        wrong = {**record["process"], "scores": {"P1": 3}, "failure_tags": ["none"] * 9}
        path = root / f"evaluation/{kind}/question9001.json"
        write_json(path, changed(record, number=9001, process=wrong))

    done, _ = judged(root, dataset, tmp_path / "again")

    assert (done.judged, done.failures) == (1, {})
    (item,) = read_run(tmp_path / "again").items
    assert item.process is not None
    assert item.process.trajectory_score == 0.6


def test_looks_and_remarks_that_a_study_was_judged_by_are_in_the_run_folders_too(
    tmp_path: Path,
) -> None:
    look = PrimitiveOperation(
        operation="extract_video_parts", succeeded=True, freshness="fresh", seconds=0.1,
        charged_s=0.1, frames=6,
    )  # fmt: skip
    asked = replace(look, call_id="c1")
    plan = make_study_plan()
    cells = [
        replace(cell, events=(look, asked, Note(text="transcript cut"), *cell.events))
        if cell.events
        else cell
        for cell in cells_of(plan)
    ]
    study = write_study(tmp_path / "study", plan, cells)
    exported = export_study(study, form="agentvidbench", output=tmp_path / "exp")

    for root in exported.paths:
        done = rejudge(
            root, study, JUDGE, output=tmp_path / "again" / root.name,
            judgements=study / "judgements",
        )  # fmt: skip
        assert (done.judged, done.pooled) == (0, 2)

    steps = json.loads(
        (exported.paths[2] / "inference/outputs/question7.normalized.json").read_text("utf-8")
    )
    assert [step["phase"] for step in steps["steps"]][:2] == ["observe", "thinking"]
    assert steps["steps"][0]["data"] == {"text": "looked at 6 frames of the video", "frames": 6}
    assert steps["metrics"]["n_observe"] == 1


OPEN = Question(
    question_id="what",
    text="What is on the table?",
    video_id="v",
    video_path="v.mp4",
    answer_text="a lemon",
    milestones=question(1).milestones,
)


def open_study(folder: Path) -> Path:
    """Write a study on an open question, one with three options, and one without milestones."""
    few = replace(question(1), question_id="few", options=("red", "blue", "green"))
    bare = replace(question(2), question_id="bare", milestones=())
    scored = make_study_plan()
    plan = make_plan(questions=[OPEN, few, bare], executions=1)
    plan = replace(plan, scoring=scored.scoring)
    cells = [
        Trajectory(
            arm=arm,
            question_id=asked,
            execution=1,
            run_status="answered",
            answer_index=index,
            answer_text=said,
            events=(ModelCall(role="orchestrator", model="m", text=said),),
        )
        for arm in ("base", "method")
        for asked, index, said in (
            ("what", None, "a lemon"), ("few", 2, "FINAL ANSWER: green"), ("bare", 3, "D"),
        )
    ]  # fmt: skip
    return write_study(folder, plan, cells)


def test_open_questions_keep_their_verdict_and_none_without_milestones_is_judged(
    tmp_path: Path,
) -> None:
    study = open_study(tmp_path / "study")
    root = export_study(study, form="agentvidbench", output=tmp_path / "exp").paths[0]
    results = root / "evaluation/results/question1.json"
    stored = json.loads(results.read_text("utf-8"))
    stored["accuracy"]["correct"] = True
    write_json(results, stored)

    done, judge = judged(
        root, study, tmp_path / "again", name=JUDGE.name, judgements=study / "judgements"
    )

    assert (done.judged, done.pooled, done.not_judged) == (0, 2, 1)
    found = answers_of(tmp_path / "again")
    assert {number: row[:3] for number, row in found.items()} == {
        1: (None, True, "scored"),
        2: ("C", True, "scored"),
        3: ("D", False, "scored"),
    }
    assert [item.is_correct for item in read_run(tmp_path / "again").items] == [True, True, False]

    # Another truth than the one that the verdict was made with leaves it open.
    stored["accuracy"]["gold"] = "a lime"
    write_json(results, stored)
    judged(root, study, tmp_path / "new", name=judge, judgements=study / "judgements")
    assert answers_of(tmp_path / "new")[1][:3] == (None, None, "not_judged")


def test_a_study_is_found_by_its_file_and_must_have_the_questions(tmp_path: Path) -> None:
    plan = make_study_plan(prefix="q-")
    study = write_study(tmp_path / "study", plan, cells_of(plan))
    root = export_study(study, form="agentvidbench", output=tmp_path / "exp").paths[0]
    by_file = write_text(tmp_path / "study.yaml", "name: study")
    by_name = by_file.rename(study / "study.yaml")

    done, _ = judged(
        root, by_name, tmp_path / "a", name=JUDGE.name, judgements=study / "judgements"
    )
    assert done.pooled == 2

    other = write_study(tmp_path / "other", make_study_plan(), [])
    with pytest.raises(InvalidResults, match=r"3 of 3 questions are not in .*other, first 1"):
        judged(root, other, tmp_path / "b", name=JUDGE.name)
    (root / "taketwo.json").unlink()
    with pytest.raises(InvalidResults, match=r"no taketwo\.json in it .* no numbers \(first q-7\)"):
        judged(root, study, tmp_path / "c", name=JUDGE.name)
    (study / "plan.json").unlink()
    with pytest.raises(DataError, match="freeze one with: taketwo plan"):
        judged(root, study, tmp_path / "d", name=JUDGE.name)


def served_by(model: str) -> Any:
    return says(REPLY).model_copy(update={"model": model})


def test_another_model_behind_the_judges_name_is_left_out_and_told(tmp_path: Path) -> None:
    numbers = tuple(range(1, 13))
    root, dataset = write_run(tmp_path, numbers=numbers), write_dataset(tmp_path / "d", *numbers)
    distinct(root, *numbers)
    first = [served_by("served-1")] * 6
    judge = script([*first, served_by("served-2")], repeat_last=True)

    done, _ = judged(root, dataset, tmp_path / "again", name=judge)

    # batches of 4: of the second one 2 are left out, of the third one all, the rest is not asked
    assert (done.requested, done.judged, len(done.failures)) == (12, 6, 6)
    assert all("while the labels so far are by served-1" in why for why in done.failures.values())
    records = [
        json.loads(path.read_text("utf-8"))
        for path in (tmp_path / "again/evaluation/judge").glob("question*.json")
    ]
    kept = [record["taketwo"]["judging"] for record in records if "taketwo" in record]
    assert [judging["served_model"] for judging in kept] == ["served-1"] * 6
    assert {(judging["protocol"], judging["rubric"]) for judging in kept} == {("blind", "standard")}
    assert sum("served by served-2" in record.get("error", "") for record in records) == 6
    again, _ = judged(root, dataset, tmp_path / "again", name=judge)
    assert (again.judged, again.pooled, len(again.failures)) == (0, 6, 6)


def test_pooled_judgements_of_two_served_models_are_refused_before_anything_is_asked(
    tmp_path: Path,
) -> None:
    numbers = (1, 2, 3)
    root, dataset = write_run(tmp_path, numbers=numbers), write_dataset(tmp_path / "d", *numbers)
    distinct(root, *numbers)
    judge = script([served_by("served-1")], repeat_last=True)
    judged(root, dataset, tmp_path / "again", name=judge)
    (part,) = (tmp_path / "judgements").glob("trajectories-*.parquet")
    frame = pl.read_parquet(part)
    served = pl.Series("served_model", ["served-1", "served-2", "served-1"])
    frame.with_columns(served).head(2).write_parquet(part)

    with pytest.raises(InvalidResults, match="come from 2 served models") as told:
        judged(root, dataset, tmp_path / "other", name=judge)

    assert str(part) in str(told.value)
    assert len(requests_of(judge)) == 3


def test_while_a_process_asks_for_these_judgements_no_other_one_does(tmp_path: Path) -> None:
    root, dataset = write_run(tmp_path / "exp"), write_dataset(tmp_path / "d")
    judge = script([REPLY], repeat_last=True)

    with (
        asking(tmp_path / "judgements"),
        pytest.raises(RequestError, match="another process is asking judges"),
    ):
        judged(root, dataset, tmp_path / "again", name=judge)

    assert requests_of(judge) == []
    assert judged(root, dataset, tmp_path / "again", name=judge)[0].judged == 1
    with asking(tmp_path / "judgements"):
        assert judged(root, dataset, tmp_path / "other", name=judge)[0].pooled == 1


def test_what_another_process_was_told_meanwhile_is_not_paid_for_again(tmp_path: Path) -> None:
    root, dataset = write_run(tmp_path / "exp"), write_dataset(tmp_path / "d")
    judge = script([REPLY], repeat_last=True)
    judged(root, dataset, tmp_path / "first", name=judge)
    known = read_trajectory_judgements(tmp_path / "judgements")
    reads: list[Mapping[str, TrajectoryJudgement]] = [{}, known]

    def read_next(_folder: Path) -> Mapping[str, TrajectoryJudgement]:
        return reads.pop(0)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("taketwo.rejudging.read_trajectory_judgements", read_next)
        done, _ = judged(root, dataset, tmp_path / "second", name=judge)

    assert (done.judged, done.pooled, len(requests_of(judge))) == (0, 1, 1)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a place nobody can write")
def test_an_output_that_cannot_be_written_is_told_before_anything_is_spent(tmp_path: Path) -> None:
    root, dataset = write_run(tmp_path / "exp"), write_dataset(tmp_path / "d")
    judge = script([REPLY], repeat_last=True)

    with pytest.raises(RequestError, match=r"cannot be written .* nothing was spent"):
        judged(root, dataset, Path("/proc/again"), name=judge, judgements=tmp_path / "pool")

    assert requests_of(judge) == []
