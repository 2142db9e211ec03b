from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from tests.analysis.judged_outcomes import Row, judged, outcomes_of, unjudged

from taketwo.analysis.dominant_tags import in_order_of_frequency, tag_rates
from taketwo.analysis.milestone_rates import (
    NO_KIND,
    MilestoneCount,
    milestone_counts,
    milestone_kinds,
    reference_milestones,
)
from taketwo.analysis.process import (
    is_judged,
    process_breakdowns,
    process_profiles,
    reference_measures,
)
from taketwo.analysis.unit_intervals import Drawing
from taketwo.errors import InvalidResults

SWEPT = (2, 1, 0, 1, 2)
ANCHORED = (2, 2, 2, None, 1)


def scored(scores: list[float], execution: int = 1, **changes: object) -> list[Row]:
    """Return an arm whose trajectory scores are given, a question each."""
    return [
        judged("a", f"q{i:03d}", SWEPT, execution=execution, trajectory_score=score, **changes)
        for i, score in enumerate(scores)
    ]


def test_each_mean_is_over_the_cells_that_have_it() -> None:
    outcomes = outcomes_of([
        judged("a", "q1", SWEPT, {"counting": "partial"}),
        judged("a", "q2", ANCHORED, {"counting": "covered"}, accuracy=0.0),
        unjudged("a", "q3", "judge_error"),
        unjudged("a", "q4", "not_judged", run_status="provider_error", accuracy=None),
    ])

    (profile,) = process_profiles(outcomes)

    assert (profile.arm, profile.execution, profile.planned) == ("a", 1, 4)
    assert (profile.judged, profile.judge_errors, profile.not_judged) == (2, 1, 1)
    means = {name: (found.value, found.n) for name, found in profile.measures.items()}
    assert means["trajectory_score"] == (pytest.approx((0.6 + 0.875) / 2), 2)
    assert means["mc_rate"] == (0.75, 2)
    assert means["evidence_completeness"] == (1.0, 1)
    assert means["evidence_grounding"] == (1.0, 2)
    assert means["accuracy"] == (pytest.approx(2 / 3), 3)
    assert {found.planned for found in profile.measures.values()} == {4}


def test_an_arm_that_nobody_judged_has_no_means_instead_of_zeros() -> None:
    outcomes = outcomes_of([unjudged("a", "q1", "not_judged"), unjudged("a", "q2", "judge_error")])

    (profile,) = process_profiles(outcomes)

    assert not is_judged(outcomes)
    assert profile.measures["trajectory_score"].value is None
    assert profile.measures["task_understanding"].n == 0


def test_several_executions_have_a_profile_each_and_one_together() -> None:
    outcomes = outcomes_of([*scored([0.2, 0.4]), *scored([0.6, 1.0], execution=2)])

    found = process_profiles(outcomes)

    assert [(p.execution, p.planned, p.measures["trajectory_score"].value) for p in found] == [
        (1, 2, pytest.approx(0.3)),
        (2, 2, pytest.approx(0.8)),
        (None, 4, pytest.approx(0.55)),
    ]


def test_arms_and_executions_can_be_chosen() -> None:
    rows = [judged(arm, "q1", SWEPT, execution=k) for arm in ("a", "b", "c") for k in (1, 2)]

    found = process_profiles(outcomes_of(rows), ("c", "a"), (2,))

    assert [(p.arm, p.execution) for p in found] == [("c", 2), ("a", 2)]


def test_a_second_execution_that_repeats_the_first_adds_no_certainty() -> None:
    scores = np.random.default_rng(3).random(20).tolist()

    (once,) = process_profiles(outcomes_of(scored(scores)), drawing=Drawing(by="question"))
    *_, twice = process_profiles(
        outcomes_of([*scored(scores), *scored(scores, execution=2)]),
        drawing=Drawing(by="question"),
    )

    first, second = (p.measures["trajectory_score"].interval for p in (once, twice))
    assert first is not None
    assert second is not None
    assert twice.measures["trajectory_score"].n == 40
    assert (second.low, second.high) == pytest.approx((first.low, first.high))


def test_from_fifty_questions_on_the_bootstrap_decides() -> None:
    scores = np.random.default_rng(5).random(200)

    (found,) = process_profiles(
        outcomes_of(scored(scores.tolist())), drawing=Drawing(by="question", seed=1)
    )

    interval = found.measures["trajectory_score"].interval
    se = scores.std() / np.sqrt(200)
    assert interval is not None
    assert interval.method == "percentile bootstrap"
    assert interval.low == pytest.approx(scores.mean() - 1.96 * se, abs=0.15 * se)
    assert interval.high == pytest.approx(scores.mean() + 1.96 * se, abs=0.15 * se)


def test_questions_of_one_video_are_drawn_together() -> None:
    values = np.random.default_rng(2).random(12).repeat(5).tolist()
    rows = [
        judged("a", f"q{i:03d}", SWEPT, trajectory_score=value, video_id=f"v{i // 5}")
        for i, value in enumerate(values)
    ]

    (by_video,) = process_profiles(outcomes_of(rows), drawing=Drawing(by="video"))
    (by_question,) = process_profiles(outcomes_of(rows), drawing=Drawing(by="question"))

    wide, narrow = (p.measures["trajectory_score"].interval for p in (by_video, by_question))
    assert wide is not None
    assert narrow is not None
    assert wide.method == "CR2"
    width = [(i.high or 0) - (i.low or 0) for i in (wide, narrow)]
    assert width[0] > 1.8 * width[1]


def test_an_interval_stays_inside_what_the_metric_can_be() -> None:
    (found,) = process_profiles(outcomes_of(scored([1.0, 1.0, 1.0, 0.9])))

    interval = found.measures["trajectory_score"].interval
    assert interval is not None
    assert interval.high == 1.0


def test_equal_scores_have_no_interval_that_would_claim_certainty() -> None:
    (found,) = process_profiles(outcomes_of(scored([0.5, 0.5, 0.5])))

    assert found.measures["trajectory_score"].value == 0.5
    assert found.measures["trajectory_score"].interval is None


def _with(question: str, score: float, **attributes: object) -> Row:
    return judged("a", question, SWEPT, trajectory_score=score, attributes=json.dumps(attributes))


def test_a_question_counts_under_each_of_its_skills() -> None:
    outcomes = outcomes_of([
        _with("q1", 0.2, difficulty="very_hard", skill=["ordering", "reading"]),
        _with("q2", 0.6, difficulty="easy", skill=["reading"]),
        _with("q3", 1.0, difficulty="medium", skill=[]),
    ])

    difficulty, skill = process_breakdowns(outcomes)

    assert [level.level for level in difficulty.levels] == ["easy", "medium", "very_hard"]
    assert not difficulty.overlap
    assert skill.overlap
    assert {
        level.level: (level.questions, level.arms["a"]["trajectory_score"].value)
        for level in skill.levels
    } == {"ordering": (1, 0.2), "reading": (2, pytest.approx(0.4))}


def test_a_factor_that_some_questions_lack_says_so() -> None:
    outcomes = outcomes_of([
        _with("q1", 0.2, difficulty="easy", capability=[]),
        _with("q2", 0.6, capability=[]),
    ])

    (found,) = process_breakdowns(outcomes)

    assert found.levels == ()
    assert "1 of 2 questions have no level of 'difficulty', first 'q2'" in (found.reason or "")


def test_milestones_are_pooled_by_type_with_half_credit_for_partial_ones() -> None:
    outcomes = outcomes_of([
        judged("a", "q1", SWEPT, {"counting": "covered", "ocr": "missing"}),
        judged("a", "q2", SWEPT, {"counting": "partial"}),
        judged("a", "q3", SWEPT, {"counting": "incorrect"}),
        unjudged("a", "q4"),
        judged("b", "q1", SWEPT, {"counting": "missing", "ocr": "covered"}),
    ])

    found = milestone_counts(outcomes)

    assert found["a"]["counting"] == MilestoneCount(covered=1, partial=1, incorrect=1)
    assert found["a"]["counting"].rate == 0.5
    assert found["b"]["ocr"].rate == 1.0
    assert MilestoneCount().rate is None
    assert milestone_kinds(found.values()) == ("counting", "ocr")


def test_a_milestone_without_a_type_is_counted_under_that_name() -> None:
    row = judged("a", "q1", SWEPT, milestones='{"M1": {"kind": null, "status": "covered"}}')

    assert milestone_counts(outcomes_of([row]))["a"] == {NO_KIND: MilestoneCount(covered=1)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"M1": {"kind": "counting", "status": "done"}}', r"read at M1\.status \("),
        ("[]", r"read at the top \("),
        ("{", r"read at the top \("),
    ],
)
def test_milestones_that_cannot_be_read_are_named_by_their_cell(text: str, message: str) -> None:
    outcomes = outcomes_of([judged("a", "q1", SWEPT, milestones=text)])

    with pytest.raises(InvalidResults, match=f"^K1, arm 'a', question 'q1': .*{message}"):
        milestone_counts(outcomes)


def test_tags_are_per_hundred_judged_trajectories() -> None:
    outcomes = outcomes_of([
        judged("a", "q1", SWEPT, tags=["ocr_error", "counting_error"]),
        judged("a", "q2", SWEPT, tags=["counting_error"]),
        judged("a", "q3", SWEPT),
        judged("a", "q4", SWEPT),
        unjudged("a", "q5"),
        judged("b", "q1", SWEPT, tags=["ocr_error"]),
    ])

    found = tag_rates(outcomes)

    assert found.judged == {"a": 4, "b": 1}
    assert found.tags == ("ocr_error", "counting_error")  # (25 + 100) / 2 before (50 + 0) / 2
    assert found.per_100("counting_error", "a") == 50.0
    assert found.per_100("counting_error", "b") == 0.0
    assert found.dominant("a") == ("counting_error",)


def test_tags_that_tie_for_the_first_place_are_all_named() -> None:
    tied = judged("a", "q1", SWEPT, tags=["ocr_error", "counting_error"])

    found = tag_rates(outcomes_of([tied, judged("b", "q1", SWEPT), unjudged("c", "q1")]))

    assert found.dominant("a") == ("ocr_error", "counting_error")
    assert found.dominant("b") == ()
    assert found.dominant("c") == ()
    assert found.per_100("ocr_error", "c") is None


def test_equally_frequent_tags_stand_in_the_order_of_the_judge() -> None:
    order = in_order_of_frequency({
        "wrong_arithmetic": [0.1, 0.2],
        "wrong_target_entity": [0.2, 0.1],
        "ocr_error": [None, None],
    })

    assert order == ("wrong_target_entity", "wrong_arithmetic", "ocr_error")


@pytest.mark.parametrize("text", ['{"a": 1}', "[1]", "counting_error"])
def test_tags_that_are_no_list_of_names_are_refused(text: str) -> None:
    outcomes = outcomes_of([judged("a", "q7", SWEPT, failure_tags=text)])

    with pytest.raises(InvalidResults, match="K1, arm 'a', question 'q7': failure_tags is"):
        tag_rates(outcomes)


def test_curated_trajectories_are_averaged_as_an_arm_would_be() -> None:
    rows = [
        judged("-", "q1", ANCHORED, {"counting": "covered"}),
        judged("-", "q2", SWEPT, {"counting": "partial"}),
    ]
    names = ("question_id", "trajectory_score", "mc_rate", "milestones")
    axes = ("task_understanding", "gt_evidence_coverage", "evidence_grounding")
    rest = ("evidence_completeness", "reasoning_faithfulness")
    frame = pl.DataFrame([{n: row[n] for n in (*names, *axes, *rest)} for row in rows])

    found = reference_measures(frame)

    assert found["trajectory_score"].value == pytest.approx(0.7375)
    assert (found["evidence_completeness"].value, found["evidence_completeness"].n) == (1.0, 1)
    assert reference_milestones(frame) == {"counting": MilestoneCount(covered=1, partial=1)}
    with pytest.raises(InvalidResults, match="references lack the columns mc_rate, milestones"):
        reference_measures(frame.drop("mc_rate", "milestones"))
