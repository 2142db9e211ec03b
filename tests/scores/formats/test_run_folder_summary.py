from __future__ import annotations

import json
from typing import Any

import pytest
from tests.scores.formats.lemon_run import ANCHORED_REPLY, JUDGE, JUDGE_REPLY, RESULTS, SUMMARY

from taketwo.benchmarks.question import Question
from taketwo.scores.formats.run_folder_summary import (
    Evaluated,
    judge_record,
    process_means,
    process_record,
    results_record,
    summary_record,
)
from taketwo.scores.process_scores import read_reply

SWEPT = read_reply(json.dumps(JUDGE_REPLY), milestones=["M1", "M2", "M3", "M4"], sweep="yes")
ANCHORED = read_reply(json.dumps(ANCHORED_REPLY), milestones=["M1", "M2", "M3"], sweep="no")
VOTES = {"majority_letter": "E", "agreement": 1.0, "n_null": 1}


def evaluated(number: int = 9001, **changes: Any) -> Evaluated:
    fields: dict[str, Any] = {
        "question_id": number,
        "question": Question(
            question_id=str(number),
            text="How many?",
            video_id="v",
            video_path="v.mp4",
            options=("1", "2"),
            answer_index=0,
            attributes={"difficulty": "hard"},
            capabilities=("counting",),
            skills=("conditional_counting",),
        ),
        "gold": "F",
        "letter": "E",
        "is_correct": False,
        "status": "scored",
        "process": SWEPT,
        "judge": "claude-opus-4-7",
        "letters": VOTES,
    }
    return Evaluated(**(fields | changes))


def test_a_judgement_is_stored_under_the_keys_of_the_reference() -> None:
    assert process_record(SWEPT) == JUDGE["process"]
    assert judge_record(evaluated(), framework="ours") == JUDGE | {"elapsed_s": None}


def test_results_have_the_keys_of_the_reference_and_ours_beside_them() -> None:
    found = results_record(evaluated(), framework="ours", model="gemini-2.5-pro")

    assert found.pop("taketwo") == {"status": "scored"}
    assert found == RESULTS | {"elapsed_s": None}


def test_the_summary_of_one_question_is_that_of_the_reference() -> None:
    found = summary_record([evaluated()], framework="ours", model="gemini-2.5-pro", tag="run1")

    assert found.pop("taketwo")["coverage"]["requested"] == 1  # type: ignore[index,call-overload]
    assert found == SUMMARY


def test_an_axis_that_does_not_apply_is_in_no_mean() -> None:
    means = process_means([SWEPT, ANCHORED])

    assert means == {
        "P1": 2.0,
        "P2": 1.5,
        "P3": 1.0,
        "P4": 1.0,
        "P5": 1.5,
        "traj": 0.738,
        "mc_rate": 0.729,
    }
    assert process_record(ANCHORED)["traj"] == 0.875
    assert process_record(ANCHORED)["mc_rate"] == 0.8333
    assert process_means([])["P1"] is None


def test_the_denominator_is_what_was_asked_for_whatever_failed() -> None:
    items = [
        evaluated(1, is_correct=True),
        evaluated(2, is_correct=False),
        evaluated(3, is_correct=None, status="provider_error", process=None),
        evaluated(4, is_correct=None, status="not_run", process=None),
    ]

    found: Any = summary_record(items, framework="a", model="m", tag="K1", unrecorded=6)

    assert (found["n"], found["n_correct"], found["accuracy"]) == (10, 1, 0.1)
    assert found["taketwo"]["coverage"] == {
        "requested": 10,
        "scored": 2,
        "not_scored": {"no record": 6, "not_run": 1, "provider_error": 1},
        "judged": 2,
        "accuracy_of_scored": 0.5,
        "accuracy_at_least": 0.1,
        "accuracy_at_most": 0.9,
    }
    assert found["by_difficulty"]["hard"]["n"] == 4


@pytest.mark.parametrize("error", ["ReplyFault: no JSON", None])
def test_a_judge_that_failed_leaves_an_error_and_no_scores(error: str | None) -> None:
    item = evaluated(process=None, judge_error=error)
    found = judge_record(item, framework="ours")

    assert (found is None) == (error is None)
    if found is not None:
        assert (found["process"], found["error"]) == ({}, error)
    results = results_record(item, framework="ours", model="m")
    assert results.get("error") == (None if error is None else f"judge: {error}")


def test_a_question_with_several_labels_counts_under_each() -> None:
    several = Question(
        question_id="1",
        text="?",
        video_id="v",
        video_path="v.mp4",
        options=("1", "2"),
        answer_index=0,
        skills=("a", "b"),
    )

    found: Any = summary_record(
        [evaluated(1, question=several), evaluated(2)], framework="a", model="m", tag="K1"
    )

    assert {name: block["n"] for name, block in found["by_skill"].items()} == {
        "a": 1,
        "b": 1,
        "conditional_counting": 1,
    }
