from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from tests.scores.lemon_run import (
    JUDGE,
    LETTERS,
    NORMALIZED,
    PROGRESS,
    RESULTS,
    SINGLE_TURN_PROGRESS,
    SINGLE_TURN_TEXT,
    changed,
    write_json,
    write_run,
    write_text,
)

from taketwo.errors import InvalidResults
from taketwo.scores.run_folder import RunItem, read_run


def only(folder: Path) -> RunItem:
    (item,) = read_run(folder).items
    return item


def rewrite(path: Path, **fields: Any) -> None:
    write_json(path, {**json.loads(path.read_text("utf-8")), **fields})


def given_up(letter: str = "A") -> dict[str, Any]:
    steps = copy.deepcopy(NORMALIZED)
    steps["steps"][-1]["data"] = {"letter": letter, "reasoning": "max iterations"}
    return steps


def test_a_run_is_read_with_answers_steps_scores_and_effort(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path))

    assert (run.method, run.model, run.tag, run.requested) == ("ours", "gemini-2.5-pro", "run1", 1)
    (item,) = run.items
    assert (item.run_status, item.letter, item.letter_source) == ("answered", "E", "trajectory")
    assert (item.gold, item.is_correct) == ("F", False)
    assert item.process is not None
    assert item.process.trajectory_score == 0.6
    assert item.process.mc_rate == 0.625
    assert item.process.scores.axes == {
        "task_understanding": 2,
        "gt_evidence_coverage": 1,
        "evidence_grounding": 0,
        "evidence_completeness": 1,
        "reasoning_faithfulness": 2,
    }
    assert [label.status for label in item.process.scores.milestones] == [
        "covered", "covered", "incorrect", "partial",
    ]  # fmt: skip
    assert item.measures == {"visible_calls": 2, "latency_s": 31.882, "tokens": 49985}
    assert item.trajectory is not None
    assert [call.name for call in item.trajectory.tool_calls] == [
        "get_transcript", "analyze_video",
    ]  # fmt: skip


def test_the_judges_input_is_kept_to_the_letter(tmp_path: Path) -> None:
    root = write_run(tmp_path)
    path = root / "inference/trajectories/question9001.txt"
    path.write_bytes("\ufeffodd \r\n text\u202e \n\n".encode())

    assert only(root).text == "\ufeffodd \r\n text\u202e \n\n"


def test_a_letter_a_that_nobody_chose_is_no_answer(tmp_path: Path) -> None:
    root = write_run(tmp_path)
    write_json(root / "inference/outputs/question9001.normalized.json", given_up())
    right = {"gold": "A", "pred": "A", "correct": True}
    rewrite(root / "evaluation/results/question9001.json", accuracy=right)
    majority = changed(LETTERS, number=9001, majority_letter="A", votes=["A"] * 8)
    write_json(root / "evaluation/letters/question9001.json", majority)

    item = only(root)

    assert (item.run_status, item.letter, item.is_correct) == ("limit", None, False)
    assert item.stored_correct is True
    assert item.failure == "the agent ended without an answer and the run wrote the letter A"


def test_another_letter_with_that_reason_was_chosen(tmp_path: Path) -> None:
    root = write_run(tmp_path)
    write_json(root / "inference/outputs/question9001.normalized.json", given_up("F"))

    assert (only(root).run_status, only(root).letter) == ("answered", "F")


def single_turn(folder: Path, text: str, votes: list[str | None] | None) -> Path:
    root = folder / "singleturn_claude_run1"
    write_json(root / "inference/progress/question9001.json", SINGLE_TURN_PROGRESS)
    write_text(root / "inference/trajectories/question9001.txt", text)
    if votes is not None:
        most = next((vote for vote in votes if vote is not None), None)
        record = changed(LETTERS, number=9001, votes=votes, majority_letter=most)
        write_json(root / "evaluation/letters/question9001.json", record)
    scored = changed(RESULTS, number=9001, accuracy={"gold": "F", "pred": "F", "correct": True})
    write_json(root / "evaluation/results/question9001.json", scored)
    return root


@pytest.mark.parametrize(
    ("text", "votes", "status", "letter", "source", "correct"),
    [
        (SINGLE_TURN_TEXT, ["G", "G", None], "answered", "G", "letters", False),
        (SINGLE_TURN_TEXT, None, "answered", "F", "text", True),
        ("I cannot determine the answer.", None, "unparsed", None, None, False),
        ("I cannot tell.", [None] * 8, "unparsed", None, None, False),
        ("I cannot tell.", ["C", *[None] * 7], "answered", "C", "letters", False),
        (" \n", None, "unparsed", None, None, False),
        ("", [None] * 8, "unparsed", None, None, False),
    ],
)
def test_without_steps_the_letter_is_that_of_the_votes_else_of_the_text(
    tmp_path: Path,
    text: str,
    votes: list[str | None] | None,
    status: str,
    letter: str | None,
    source: str | None,
    correct: bool,
) -> None:
    item = only(single_turn(tmp_path, text, votes))

    assert (item.run_status, item.letter, item.letter_source) == (status, letter, source)
    assert item.is_correct is correct
    assert item.measures["turns"] == 1
    assert item.measures["visible_calls"] == 0


def test_votes_that_all_failed_are_not_a_wrong_answer(tmp_path: Path) -> None:
    item = only(single_turn(tmp_path, SINGLE_TURN_TEXT, [None] * 8))

    assert item.is_doubtful
    assert item.is_correct is None


def test_what_failed_is_missing_or_was_never_recorded_stays_in_the_denominator(
    tmp_path: Path,
) -> None:
    root = write_run(tmp_path, numbers=(1, 2, 3), total=5)
    failed = {
        "question_id": 2,
        "video_path": "videos/v.mp4",
        "elapsed_seconds": 3.0,
        "error": "503",
    }
    write_json(root / "inference/progress/question2.json", failed)
    (root / "inference/trajectories/question3.txt").unlink()

    run = read_run(root)

    assert [item.run_status for item in run.items] == ["answered", "agent_error", "not_run"]
    assert run.items[1].failure == "503"
    assert run.items[1].is_correct is None
    assert (run.requested, run.unrecorded) == (5, 2)


def test_a_run_that_was_cut_off_has_no_summary_and_is_read_all_the_same(tmp_path: Path) -> None:
    root = write_run(tmp_path, model="Qwen/Qwen3-VL")
    (root / "inference/summary.json").unlink()

    run = read_run(root)

    assert (run.method, run.model, run.tag, run.total) == ("ours", "Qwen/Qwen3-VL", "run1", None)


def test_the_legacy_name_of_the_id_is_read(tmp_path: Path) -> None:
    root = write_run(tmp_path)
    steps = copy.deepcopy(NORMALIZED)
    steps["qid"] = steps.pop("question_id")
    write_json(root / "inference/outputs/question9001.normalized.json", steps)

    assert only(root).letter == "E"


def test_turns_are_counted_in_the_native_list_where_there_is_one(tmp_path: Path) -> None:
    root = write_run(tmp_path)
    rows = [
        {"iteration": 1, "type": "thinking", "text": "x"},
        {"iteration": 1, "type": "tool_call", "tool": "t", "arguments": {}},
        {"iteration": 1, "type": "tool_result", "tool": "t"},
        {"iteration": 2, "type": "tool_call", "tool": "t", "arguments": {}},
        {"iteration": 20, "type": "answer", "letter": "A", "reasoning": "max iterations"},
    ]
    write_json(root / "inference/outputs/question9001.json", rows)

    assert only(root).measures["turns"] == 2


def test_waits_for_rate_limits_are_no_latency(tmp_path: Path) -> None:
    root = write_run(tmp_path)
    used = {**PROGRESS["tokens"], "retry_wait_seconds": 11.882}
    rewrite(root / "inference/progress/question9001.json", tokens=used)

    assert only(root).measures["latency_s"] == pytest.approx(20.0)


def test_every_broken_file_is_named_and_the_rest_is_still_checked(tmp_path: Path) -> None:
    root = write_run(tmp_path, numbers=(1, 2, 3, 4, 5, 6))
    write_text(root / "inference/progress/question1.json", "{")
    write_text(root / "inference/outputs/question2.normalized.json", "[]")
    steps = changed(NORMALIZED, number=3)
    steps["steps"] = [{"step_id": 1, "phase": "dreaming", "data": {}}]
    write_json(root / "inference/outputs/question3.normalized.json", steps)
    wrong = copy.deepcopy(JUDGE)
    wrong["process"]["scores"] |= {"P1": 3, "P2": "2"}
    write_json(root / "evaluation/results/question4.json", changed(wrong, number=4))
    write_json(root / "evaluation/letters/question5.json", LETTERS)
    better = copy.deepcopy(RESULTS)
    better["process"]["traj"] = 0.9
    write_json(root / "evaluation/results/question6.json", changed(better, number=6))

    with pytest.raises(InvalidResults) as caught:
        read_run(root)

    told = str(caught.value)
    for part in (
        "7 faults in files of the run",
        "inference/progress/question1.json: not readable JSON",
        "inference/outputs/question2.normalized.json: a list, expected an object",
        "inference/outputs/question3.normalized.json: field 'steps.0.phase'",
        "evaluation/results/question4.json: field 'process.scores.P1'",
        "evaluation/results/question4.json: field 'process.scores.P2'",
        "evaluation/letters/question5.json: field 'question_id' is 9001, but the file's name says 5",
        "evaluation/results/question6.json: field 'process.traj' is 0.9, but the scores beside it give "
        "0.6",
    ):
        assert part in told


def test_a_failed_judge_leaves_the_answer_and_no_scores(tmp_path: Path) -> None:
    root = write_run(tmp_path)
    rewrite(root / "evaluation/results/question9001.json", process={})
    rewrite(root / "evaluation/judge/question9001.json", process={}, error="parse: no JSON")

    item = only(root)

    assert (item.is_correct, item.process, item.judge_error) == (False, None, "parse: no JSON")


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidResults, match="not a run folder of AgentVidBench"):
        read_run(tmp_path)
    (tmp_path / "inference/progress").mkdir(parents=True)
    with pytest.raises(InvalidResults, match="without a single question"):
        read_run(tmp_path)


def test_deep_json_is_a_fault_and_no_crash(tmp_path: Path) -> None:
    root = write_run(tmp_path)
    write_text(root / "evaluation/judge/question9001.json", "[" * 100_000)

    with pytest.raises(InvalidResults, match=r"judge/question9001\.json: not readable JSON"):
        read_run(root)
