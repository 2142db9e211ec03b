from __future__ import annotations

import json
from typing import Any

import pytest

from taketwo.benchmarks.question import Sweep
from taketwo.scores.process_scores import (
    AXES,
    FAILURE_TAGS,
    ReplyFault,
    mc_rate,
    read_reply,
    trajectory_score,
)

IDS = ("M1", "M2", "M3", "M4")


def reply(**changes: Any) -> dict[str, Any]:
    """The raw output of a judge in the specification's fixture: sweep required, one wrong count."""
    return {
        "process_scores": scores(2, 1, 0, 1, 2),
        "axis_rationales": {f"P{number}": "Because." for number in range(1, 6)},
        "milestone_coverage": labels("covered", "covered", "incorrect", "partial"),
        "failure_tags": ["counting_error", "insufficient_full_video_scan"],
        "summary": "Right window, one slice missed.",
    } | changes


def scores(*values: object) -> dict[str, object]:
    return dict(zip(AXES, values, strict=True))


def labels(*statuses: str, ids: tuple[str, ...] = IDS) -> list[dict[str, str]]:
    return [
        {"milestone_id": name, "status": status, "evidence_in_prediction": "x"}
        for name, status in zip(ids, statuses, strict=False)
    ]


def read(record: dict[str, Any] | str, *, ids: tuple[str, ...] = IDS, sweep: Sweep = "yes") -> Any:
    text = record if isinstance(record, str) else json.dumps(record)
    return read_reply(text, milestones=ids, sweep=sweep)


def test_a_swept_question_gives_the_published_scores() -> None:
    found = read(reply())

    assert trajectory_score(found.axes) == 0.6
    assert mc_rate([label.status for label in found.milestones], 4) == 0.625
    assert found.failure_tags == ("counting_error", "insufficient_full_video_scan")


def test_an_anchored_question_leaves_completeness_out_of_the_mean() -> None:
    record = reply(
        process_scores=scores(2, 2, 2, None, 1),
        milestone_coverage=labels("covered", "covered", "partial"),
        failure_tags=[],
    )

    found = read(record, ids=IDS[:3], sweep="no")

    assert trajectory_score(found.axes) == 0.875
    assert mc_rate([label.status for label in found.milestones], 3) == pytest.approx(
        0.8333, abs=5e-5
    )


def test_labels_stand_in_the_order_of_the_reference() -> None:
    record = reply(milestone_coverage=labels("covered", "covered", "incorrect", "partial")[::-1])

    found = read(record)

    assert [label.milestone_id for label in found.milestones] == list(IDS)
    assert found.milestones[3].status == "partial"


@pytest.mark.parametrize("value", [0, 1, 2, None])
def test_with_an_unknown_flag_the_judge_decides_about_completeness(value: int | None) -> None:
    found = read(reply(process_scores=scores(2, 1, 0, value, 2)), sweep="unknown")

    assert found.axes["evidence_completeness"] == value


@pytest.mark.parametrize(
    ("record", "sweep", "message"),
    [
        (
            reply(process_scores=scores(2, 1, 0, None, 2)),
            "yes",
            "evidence_completeness is null, but",
        ),
        (reply(), "no", "evidence_completeness is 1, but the question requires no sweep"),
        (
            reply(process_scores=scores(2, "1", 0, 1, 2)),
            "yes",
            "gt_evidence_coverage: Input should be",
        ),
        (
            reply(process_scores=scores(2, 3, 0, 1, 2)),
            "yes",
            "gt_evidence_coverage: Input should be less",
        ),
        (
            reply(process_scores=scores(2, -1, 0, 1, 2)),
            "yes",
            "gt_evidence_coverage: Input should be gr",
        ),
        (
            reply(process_scores=scores(2, 1.0, 0, 1, 2)),
            "yes",
            "gt_evidence_coverage: Input should be a",
        ),
        (
            reply(process_scores=scores(2, True, 0, 1, 2)),
            "yes",
            "gt_evidence_coverage: Input should be a",
        ),
        (
            reply(process_scores=scores(None, 1, 0, 1, 2)),
            "yes",
            "task_understanding: Input should be",
        ),
        (
            reply(process_scores={"task_understanding": 2}),
            "yes",
            "evidence_grounding: Field required",
        ),
        (
            reply(milestone_coverage=labels("covered", "covered", "partial")),
            "yes",
            "milestone M4 has no label",
        ),
        (
            reply(milestone_coverage=labels(*["covered"] * 5, ids=("M1", "M2", "M3", "M3", "M4"))),
            "yes",
            "milestone M3 is labelled 2 times",
        ),
        (
            reply(milestone_coverage=labels(*["covered"] * 5, ids=(*IDS, "M5"))),
            "yes",
            "there is no milestone 'M5'",
        ),
        (reply(milestone_coverage=labels(*["done"] * 4)), "yes", "milestone_coverage.0.status"),
        (reply(failure_tags=["bad_luck"]), "yes", "there is no tag 'bad_luck'"),
        (reply(failure_tags=["ocr_error", "ocr_error"]), "yes", "tag 'ocr_error' is there twice"),
        (reply(failure_tags=list(FAILURE_TAGS[:9])), "yes", "9 tags, at most 8 are allowed"),
        (reply(verdict="good"), "yes", "verdict: Extra inputs are not permitted"),
        (json.dumps(reply())[:-30], "yes", "the JSON object cannot be read"),
        ("I would rather not.", "yes", "there is no JSON object in the reply"),
        ("{" * 50_000 + "}", "yes", "the JSON object cannot be read"),
        ("[1]", "yes", "there is no JSON object"),
    ],
)
def test_a_reply_that_breaks_a_rule_is_refused_with_the_reason(
    record: dict[str, Any] | str, sweep: Sweep, message: str
) -> None:
    with pytest.raises(ReplyFault) as caught:
        read(record, sweep=sweep)

    assert message in str(caught.value)


def test_prose_and_fences_around_the_object_are_passed_over() -> None:
    text = f"Here it is:\n```json\n{json.dumps(reply())}\n```\nThat is all."

    assert read(text).summary == "Right window, one slice missed."


def test_everything_that_is_wrong_is_told_at_once() -> None:
    record = reply(
        process_scores=scores(2, 1, 0, None, 2),
        milestone_coverage=labels("covered"),
        failure_tags=["x", "y"],
    )

    with pytest.raises(ReplyFault) as caught:
        read(record)

    assert len(caught.value.problems) == 6


def test_the_denominator_is_the_reference() -> None:
    assert mc_rate(["covered"], 4) == 0.25
    with pytest.raises(ValueError, match="0 labels cannot be counted against 0 milestones"):
        mc_rate([], 0)


def test_no_axis_at_all_is_no_score() -> None:
    with pytest.raises(ValueError, match="no axis applies"):
        trajectory_score({"P4": None})


def test_there_are_twenty_one_tags_and_five_axes() -> None:
    assert len(set(FAILURE_TAGS)) == 21
    assert [short for _, short in AXES.values()] == ["TU", "ECov", "EG", "ECom", "RF"]


def test_a_key_that_stands_twice_is_refused() -> None:
    text = json.dumps(reply()).replace(
        '"evidence_grounding": ', '"evidence_grounding": 2, "evidence_grounding": ', 1
    )

    with pytest.raises(ReplyFault, match="one of its keys stands twice"):
        read_reply(text, milestones=IDS, sweep="yes")


def test_faults_of_one_kind_are_told_twenty_at_a_time_and_each_is_short() -> None:
    tags = [f"{number}-{'x' * 90}" for number in range(500)]
    coverage = [
        {"milestone_id": f"{number % 50}-{'z' * 90}", "status": "covered", "evidence_in_prediction": ""}
        for number in range(100)
    ]  # fmt: skip

    with pytest.raises(ReplyFault) as caught:
        read(reply(failure_tags=tags + tags, milestone_coverage=coverage))

    told = caught.value.problems
    # unknown tags and tags that stand twice; unknown milestones and milestones labelled twice
    assert told.count("and 480 more of this kind") == 2
    assert told.count("and 30 more of this kind") == 2
    assert "1000 tags, at most 8 are allowed; keep the decisive ones" in told
    assert len(told) == 4 * 21 + len(IDS) + 1
    assert max(map(len, told)) < 110


def test_a_reply_with_thousands_of_wrong_fields_is_told_twenty_of_them() -> None:
    wrong = {f"{number}{'k' * 100}": "v" * 100 for number in range(800)}

    with pytest.raises(ReplyFault) as caught:
        read(reply() | wrong)

    assert len(caught.value.problems) == 21
    assert caught.value.problems[-1] == "and 780 more of this kind"
    assert max(map(len, caught.value.problems)) < 180
