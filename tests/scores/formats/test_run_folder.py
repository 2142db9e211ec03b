from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.scores.formats.lemon_run import (
    JUDGE,
    LETTERS,
    NORMALIZED,
    PROGRESS,
    RESULTS,
    SINGLE_TURN_PROGRESS,
    SINGLE_TURN_TEXT,
    canonical,
    changed,
    write_json,
    write_run,
    write_text,
)

from taketwo.errors import InvalidResults
from taketwo.scores.formats.run_folder import RunItem, read_run
from taketwo.scores.process_scores import FAILURE_TAGS


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


def single_turn(folder: Path, text: str, votes: Sequence[str | None] | None) -> Path:
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
    (root / "inference/outputs/question3.normalized.json").unlink()

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
    rows: list[dict[str, Any]] = [
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


@pytest.mark.parametrize(
    ("scores", "lack"),
    [
        ({}, "P1, P2, P3, P5"),
        (dict.fromkeys(("P1", "P2", "P3", "P4", "P5")), "P1, P2, P3, P5"),
        ({"P1": 2, "P2": None, "P3": 1, "P4": 1, "P5": 2}, "P2"),
        ({"P1": 2, "P2": 1, "P3": 1, "P4": 1}, "P5"),
    ],
)
def test_a_judgement_without_an_axis_that_always_applies_is_one_that_failed(
    tmp_path: Path, scores: dict[str, object], lack: str
) -> None:
    root = write_run(tmp_path)
    stored = {**RESULTS["process"], "scores": scores, "traj": None, "mc_rate": None}
    rewrite(root / "evaluation/results/question9001.json", process=stored)

    item = only(root)

    assert (item.is_correct, item.process) == (False, None)
    assert item.judge_error == f"the judge gave no score for {lack}"


def test_completeness_that_is_not_there_does_not_apply(tmp_path: Path) -> None:
    root = write_run(tmp_path)
    scores = {"P1": 2, "P2": 1, "P3": 0, "P5": 2}
    stored = {**RESULTS["process"], "scores": scores, "traj": 0.625}
    rewrite(root / "evaluation/results/question9001.json", process=stored)

    process = only(root).process

    assert process is not None
    assert process.trajectory_score == 0.625
    assert process.scores.axes["evidence_completeness"] is None


def test_tags_that_there_are_none_of_are_told_and_left_out(tmp_path: Path) -> None:
    root = write_run(tmp_path)
    tags = ["counting_error", "audio_tranerror", "counting_error", *FAILURE_TAGS[:9]]
    stored = {**RESULTS["process"], "failure_tags": tags}
    rewrite(root / "evaluation/results/question9001.json", process=stored)

    process = only(root).process

    assert process is not None
    assert process.unknown_tags == ("audio_tranerror",)
    assert process.scores.failure_tags == ("counting_error", *FAILURE_TAGS[:6], FAILURE_TAGS[7])
    assert process.trajectory_score == 0.6


def test_scores_that_break_the_schema_are_no_fault_where_nobody_wants_them(tmp_path: Path) -> None:
    root = write_run(tmp_path)
    wrong = {**RESULTS["process"], "scores": {"P1": 3}}
    rewrite(root / "evaluation/results/question9001.json", process=wrong)

    (item,) = read_run(root, with_scores=False).items

    assert (item.letter, item.gold, item.process) == ("E", "F", None)
    with pytest.raises(InvalidResults, match=r"process\.scores\.P1"):
        read_run(root)


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


def test_a_verdict_that_stands_twice_is_a_fault_and_not_the_last_one(tmp_path: Path) -> None:
    root = write_run(tmp_path)
    path = root / "evaluation/results/question9001.json"
    written = path.read_text("utf-8")
    assert '"correct": ' in written
    path.write_text(written.replace('"correct": ', '"correct": true, "correct": ', 1), "utf-8")

    with pytest.raises(InvalidResults, match=r"question9001\.json: .* keys stands twice"):
        read_run(root)


def without_outputs(folder: Path, steps: dict[str, Any]) -> Path:
    """Write a run of which only the text of the trajectory is left, with the letter A credited."""
    root = write_run(folder)
    shutil.rmtree(root / "inference/outputs")
    write_text(root / "inference/trajectories/question9001.txt", canonical(steps))
    right = {"gold": "A", "pred": "A", "correct": True}
    rewrite(root / "evaluation/results/question9001.json", accuracy=right)
    majority = changed(LETTERS, number=9001, majority_letter="A", votes=["A"] * 8)
    write_json(root / "evaluation/letters/question9001.json", majority)
    return root


@pytest.mark.parametrize(("before", "line"), [("", "\n"), ("\ufeff", "\r\n")])
def test_the_steps_are_read_from_the_text_where_only_that_is_left(
    tmp_path: Path, before: str, line: str
) -> None:
    root = without_outputs(tmp_path, given_up())
    path = root / "inference/trajectories/question9001.txt"
    path.write_bytes((before + path.read_text("utf-8").replace("\n", line)).encode())

    item = only(root)

    assert (item.run_status, item.letter, item.is_correct) == ("limit", None, False)
    assert item.measures == {"visible_calls": 2, "latency_s": 31.9, "tokens": 49985}
    assert item.trajectory is not None
    assert [call.name for call in item.trajectory.tool_calls] == [
        "get_transcript", "analyze_video",
    ]  # fmt: skip


def test_a_letter_that_the_text_states_goes_before_the_votes(tmp_path: Path) -> None:
    item = only(without_outputs(tmp_path, copy.deepcopy(NORMALIZED)))

    assert (item.letter, item.letter_source, item.is_correct) == ("E", "trajectory", False)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"phase": "answer"', '"phase": "answer', "[Step 8] holds no readable JSON"),
        ("[Step 3]", "[Step 4]", "[Step 4] stands where step 3 is expected"),
        ('"phase": "answer"', '"phase": "dream"', "field 'steps.7.phase'"),
        ("qid=9001", "qid=9002", "it is about question 9002, but its name says 9001"),
    ],
)
def test_a_text_whose_steps_are_broken_is_a_fault(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    root = without_outputs(tmp_path, copy.deepcopy(NORMALIZED))
    path = root / "inference/trajectories/question9001.txt"
    write_text(path, path.read_text("utf-8").replace(old, new))

    with pytest.raises(InvalidResults) as caught:
        read_run(root)

    assert "inference/trajectories/question9001.txt: " in str(caught.value)
    assert told in str(caught.value)


def test_a_reply_of_one_turn_is_never_taken_for_steps(tmp_path: Path) -> None:
    root = single_turn(tmp_path, canonical(given_up("B")), ["B", "B"])

    assert (only(root).run_status, only(root).letter_source) == ("answered", "letters")


def test_with_the_options_a_reply_that_repeats_one_is_read(tmp_path: Path) -> None:
    root = single_turn(tmp_path, "I saw it.\nFINAL ANSWER: a green car", None)

    (unread,) = read_run(root).items
    (read,) = read_run(root, {9001: ("a red car", "a green car")}).items

    assert (unread.run_status, unread.letter) == ("unparsed", None)
    assert (read.run_status, read.letter, read.letter_source) == ("answered", "B", "text")


@pytest.mark.parametrize(("said", "letter"), [("5", "F"), ("F", "F"), ("99", None)])
def test_with_the_options_an_answer_step_may_state_one_that_is_a_number(
    tmp_path: Path, said: str, letter: str | None
) -> None:
    root = write_run(tmp_path)
    steps = changed(NORMALIZED, number=9001)
    steps["steps"][-1]["data"]["letter"] = said
    write_json(root / "inference/outputs/question9001.normalized.json", steps)

    (item,) = read_run(root, {9001: tuple(str(number) for number in range(26))}).items

    assert item.letter == letter
    assert item.run_status == ("unparsed" if letter is None else "answered")


@pytest.mark.parametrize(
    ("kept", "status", "letter", "correct"),
    [
        ({"letter": "F", "letter_source": "text", "is_doubtful": False}, "answered", "F", True),
        ({"letter": "F", "letter_source": "text", "is_doubtful": True}, "answered", "F", None),
        ({"letter": None, "letter_source": None, "is_doubtful": False}, "unparsed", None, False),
        ({"letter": "F", "letter_source": "a guess"}, "unparsed", None, False),
        ({"letter": 5}, "answered", "E", False),
    ],
)
def test_what_was_read_with_the_options_stands_without_them(
    tmp_path: Path, kept: dict[str, Any], status: str, letter: str | None, correct: bool | None
) -> None:
    root = write_run(tmp_path)
    rewrite(root / "evaluation/letters/question9001.json", taketwo=kept)

    item = only(root)

    assert (item.run_status, item.letter, item.is_correct) == (status, letter, correct)


def test_negative_and_infinite_amounts_are_faults(tmp_path: Path) -> None:
    root = write_run(tmp_path, numbers=(1, 2, 3))
    used = {**PROGRESS["tokens"], "total_tokens": -5, "retry_wait_seconds": -1.5}
    rewrite(root / "inference/progress/question1.json", elapsed_seconds=-2, tokens=used)
    rewrite(root / "inference/progress/question2.json", taketwo={"cost_usd": float("inf")})
    rewrite(root / "inference/outputs/question3.normalized.json", tokens={"calls": -1})
    rewrite(root / "inference/summary.json", total=-3)

    with pytest.raises(InvalidResults) as caught:
        read_run(root)

    told = str(caught.value)
    assert "6 faults" in told
    for part in (
        "inference/summary.json: field 'total' is negative, expected 0 or more",
        "progress/question1.json: field 'elapsed_seconds' is negative, expected 0 or more",
        "progress/question1.json: field 'tokens.total_tokens' is negative, expected 0 or more",
        "progress/question1.json: field 'tokens.retry_wait_seconds' is negative, expected 0 or more",
        "progress/question2.json: field 'taketwo.cost_usd' is no finite number, expected 0 or more",
        "outputs/question3.normalized.json: field 'tokens.calls' is negative, expected 0 or more",
    ):
        assert part in told


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        ({"code": 429}, '{"code": 429}'),
        (["late", 1], '["late", 1]'),
        (503, "503"),
        (True, "true"),
        ("503", "503"),
        (None, None),
        (False, None),
        ("", None),
    ],
)
def test_whatever_an_error_is_written_as_it_is_one(
    tmp_path: Path, error: object, failure: str | None
) -> None:
    root = write_run(tmp_path)
    rewrite(root / "inference/progress/question9001.json", error=error)

    item = only(root)

    assert item.failure == failure
    assert item.run_status == ("answered" if failure is None else "agent_error")


def test_an_error_of_the_judge_is_one_however_it_is_written(tmp_path: Path) -> None:
    root = write_run(tmp_path)
    rewrite(root / "evaluation/judge/question9001.json", error={"code": 500})

    assert only(root).judge_error == '{"code": 500}'


def test_steps_without_a_text_are_an_item_with_its_answer(tmp_path: Path) -> None:
    root = write_run(tmp_path)
    shutil.rmtree(root / "inference/trajectories")
    shutil.rmtree(root / "inference/progress")

    item = only(root)

    assert (item.run_status, item.letter) == ("answered", "E")
    assert item.text == canonical(NORMALIZED)
    assert item.trajectory is not None


def test_a_reply_that_only_the_progress_has_is_read(tmp_path: Path) -> None:
    root = single_turn(tmp_path, "x", None)
    shutil.rmtree(root / "inference/trajectories")

    assert (only(root).run_status, only(root).letter) == ("answered", "F")


def test_the_older_name_of_the_id_is_read_in_the_summary(tmp_path: Path) -> None:
    root = write_run(tmp_path)
    failed = {"qid": 7, "video_path": "v.mp4", "elapsed_seconds": 1.0, "error": "503"}
    rewrite(root / "inference/summary.json", results=[failed], total=2)

    run = read_run(root)

    assert [(item.question_id, item.run_status) for item in run.items] == [
        (7, "agent_error"), (9001, "answered"),
    ]  # fmt: skip
    rewrite(root / "inference/summary.json", results=[failed, {"qid": "7"}])
    with pytest.raises(
        InvalidResults, match=r"summary\.json: field 'results\.1\.question_id' is '7'"
    ):
        read_run(root)


def test_a_question_that_stands_twice_in_the_summary_is_told_where_nothing_decides(
    tmp_path: Path,
) -> None:
    root = write_run(tmp_path)
    summary = json.loads((root / "inference/summary.json").read_text("utf-8"))
    (first,) = summary["results"]
    rewrite(
        root / "inference/summary.json", results=[first, first, {**first, "error": "no answer"}]
    )

    assert only(root).run_status == "answered"

    (root / "inference/progress/question9001.json").unlink()
    with pytest.raises(
        InvalidResults, match=r"'results\.2' is about question 9001, as an earlier one"
    ):
        read_run(root)


def test_files_that_no_question_is_read_from_are_named(tmp_path: Path) -> None:
    root = write_run(tmp_path)
    for name in (
        "inference/progress/questionq1.json",
        "inference/trajectories/question01.txt",
        "evaluation/judge/question9001.txt",
        "evaluation/notes.md",
        "readme.txt",
        "inference/progress/.hidden",
        "inference/outputs/question9001.txt",
        "inference/outputs/raw/question9001.iter1.json",
    ):
        write_text(root / name, "{}")

    run = read_run(root)

    assert [item.question_id for item in run.items] == [9001]
    assert run.unused == (
        "evaluation/judge/question9001.txt",
        "evaluation/notes.md",
        "inference/progress/questionq1.json",
        "inference/trajectories/question01.txt",
        "readme.txt",
    )


@pytest.mark.parametrize(
    "name",
    [
        "inference/progress/question9001.json",
        "inference/trajectories/question9001.txt",
        "inference/outputs/question9001.json",
        "evaluation/results",
        "inference",
        "taketwo.json",
    ],
)
def test_a_link_that_leads_out_of_the_run_is_refused(tmp_path: Path, name: str) -> None:
    root = write_run(tmp_path / "runs")
    path, outside = root / name, tmp_path / "outside"
    if path.exists():
        path.rename(outside)
    else:
        write_json(outside, {"secret": 1})
    path.symlink_to(outside)

    with pytest.raises(InvalidResults) as caught:
        read_run(root)

    assert f"  {name}: a link that leads out of the run folder or to nothing" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_link_within_the_run_is_followed_and_one_to_nothing_is_not(tmp_path: Path) -> None:
    root = write_run(tmp_path / "runs")
    kept = root / "inference/kept"
    (root / "inference/outputs").rename(kept)
    (root / "inference/outputs").symlink_to(kept)
    (tmp_path / "again").symlink_to(root)

    assert only(tmp_path / "again").letter_source == "trajectory"
    (root / "inference/trajectories/question8.txt").symlink_to(root / "nowhere")
    with pytest.raises(
        InvalidResults, match=r"question8\.txt: a link that leads out .* or to nothing"
    ):
        read_run(root)


def test_deep_steps_without_a_text_are_read_without_a_crash(tmp_path: Path) -> None:
    root = write_run(tmp_path)
    (root / "inference/trajectories/question9001.txt").unlink()
    path = root / "inference/outputs/question9001.normalized.json"
    deep = "[" * 600 + "]" * 600
    write_text(path, path.read_text("utf-8").replace('"fps": 3,', f'"fps": {deep},', 1))

    assert only(root).run_status == "answered"
    assert "<nested too deeply>" in (only(root).text or "")
