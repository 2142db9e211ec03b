"""Judges against accuracy and against each other: literal cases, oracles, intervals by question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from taketwo.errors import InvalidResults
from taketwo.scores.judge_audit.audit_findings import AuditFinding
from taketwo.scores.judge_audit.judge_agreement import (
    PUBLISHED_RANGES,
    JudgedCell,
    judge_pairs,
    separation,
)
from taketwo.scores.judge_audit.score_pairs import ScorePair, arm_order
from taketwo.scores.process_scores import AXES, MilestoneLabel, ProcessScores
from taketwo.scores.trajectory_judgements import TrajectoryJudgement

OPUS = "anthropic/claude-opus-4-7"
GPT = "openai/gpt-5"


def judgement(question: str, judge: str, *axes: int | None) -> TrajectoryJudgement:
    values = axes if len(axes) == 5 else (axes[0],) * 5
    return TrajectoryJudgement(
        key=f"{question}{judge}{axes}",
        question_id=question,
        judge=judge,
        protocol="blind",
        rubric="standard",
        prompt_sha256="0" * 64,
        created="2026-01-01T00:00:00+00:00",
        scores=ProcessScores(
            axes=dict(zip(AXES, values, strict=True)),
            rationales={},
            milestones=(MilestoneLabel(milestone_id="M1", status="covered", evidence=""),),
            failure_tags=(),
            summary="",
        ),
    )


def cell(
    question: str,
    accuracy: float | None,
    scores: Mapping[str, tuple[int | None, ...]],
    *,
    arm: str = "a",
    execution: int = 1,
) -> JudgedCell:
    return JudgedCell(
        question_id=question,
        arm=arm,
        execution=execution,
        accuracy=accuracy,
        scores={judge: judgement(question, judge, *axes) for judge, axes in scores.items()},
    )


def by_measure(findings: tuple[AuditFinding, ...]) -> dict[str, AuditFinding]:
    named = {item.measure: item for item in findings}
    assert len(named) == len(findings)
    return named


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def six_cells() -> list[JudgedCell]:
    """Correct runs score 1, 1 and 0.5; incorrect ones 0.5 and 0; one has no accuracy, one no judgement."""
    return [
        cell("q1", 1, {OPUS: (2,)}),
        cell("q2", 1, {OPUS: (2,)}),
        cell("q3", 1, {OPUS: (1,)}),
        cell("q1", 0, {OPUS: (1,)}, arm="b"),
        cell("q2", 0, {OPUS: (0,)}, arm="b"),
        cell("q3", None, {OPUS: (2,)}, arm="b"),
        cell("q4", 0, {}),
    ]


def test_correct_answers_stand_apart_from_incorrect_ones() -> None:
    found = by_measure(separation(six_cells(), OPUS, rng=rng(), draws=500))

    assert found["mean trajectory score, correct answers"].value == pytest.approx(2.5 / 3)
    assert found["mean trajectory score, incorrect answers"].value == 0.25
    assert found["standard deviation, trajectory score, incorrect answers"].value == pytest.approx(
        0.5 / np.sqrt(2)
    )
    assert found["gap, correct minus incorrect"].value == pytest.approx(2.5 / 3 - 0.25)
    # of 6 pairs, 5 are won and one (0.5 against 0.5) is tied
    area = found["AUC of the trajectory score, correct above incorrect"]
    assert area.value == pytest.approx(5.5 / 6)
    assert (area.n, area.clusters) == (5, 3)
    assert found["mean trajectory score, correct answers"].n == 3
    assert found["mean trajectory score, incorrect answers"].clusters == 2


def test_the_publications_numbers_stand_beside_those_of_the_same_judge() -> None:
    opus = by_measure(separation(six_cells(), OPUS, rng=rng(), draws=50))
    gap = opus["gap, correct minus incorrect"]

    assert (gap.published, gap.note) == (0.47, "")
    assert opus["mean trajectory score, correct answers"].published == 0.922
    assert PUBLISHED_RANGES["separation", next(name for name in opus if "AUC" in name)] == (
        0.93,
        0.98,
    )

    cells = [cell("q1", 1, {GPT: (2,)}), cell("q2", 0, {GPT: (0,)})]
    gpt = by_measure(separation(cells, GPT, rng=rng(), draws=50))
    assert gpt["mean trajectory score, incorrect answers"].published == 0.501
    cells = [cell("q1", 1, {"own/model": (2,)}), cell("q2", 0, {"own/model": (0,)})]
    own = by_measure(separation(cells, "own/model", rng=rng(), draws=50))
    gap = own["gap, correct minus incorrect"]
    assert gap.note == (
        "published for claude-opus-4-7; no interval: all draws give the same number"
    )


def test_cells_without_accuracy_or_judgement_are_in_no_number_and_counted() -> None:
    found = separation(six_cells(), OPUS, rng=rng(), draws=50)

    assert found[-1].value == pytest.approx(2 / 7)
    assert found[-1].note == "1 without accuracy, 1 more without a judgement"
    assert found[-1].n == 7


def test_an_empty_class_is_undefined_with_the_reason_and_never_zero() -> None:
    cells = [cell("q1", 1, {OPUS: (2,)}), cell("q2", 1, {OPUS: (1,)})]

    found = by_measure(separation(cells, OPUS, rng=rng(), draws=50))

    wrong = found["mean trajectory score, incorrect answers"]
    assert (wrong.value, wrong.reason, wrong.n) == (None, "no incorrect answer has a judgement", 0)
    for name in ("gap, correct minus incorrect", *[name for name in found if "AUC" in name]):
        assert (found[name].value, found[name].reason) == (None, "one class is empty")
    assert found["mean trajectory score, correct answers"].value == 0.75


def test_no_cell_at_all_gives_reasons_only() -> None:
    found = separation([], OPUS, rng=rng(), draws=50)

    assert [item.value for item in found] == [None] * len(found)
    assert all(item.reason for item in found)


def test_the_order_of_the_cells_changes_nothing() -> None:
    cells = six_cells()

    assert separation(cells, OPUS, rng=rng(), draws=200) == separation(
        cells[::-1], OPUS, rng=rng(), draws=200
    )


def test_an_accuracy_that_is_no_accuracy_and_a_cell_twice_are_refused_together() -> None:
    cells = [cell("q1", 0.5, {}), cell("q2", 1, {}), cell("q2", 1, {})]

    with pytest.raises(InvalidResults) as caught:
        separation(cells, OPUS, rng=rng())

    assert "1 cells have an accuracy that is neither 0 nor 1, first 0.5 of question 'q1'" in str(
        caught.value
    )
    assert "1 cells are there twice, first question 'q2', arm 'a', execution 1" in str(caught.value)


def test_repeated_runs_of_a_question_do_not_make_the_interval_narrower() -> None:
    generator = np.random.default_rng(3)
    once = [
        cell(f"q{n:02}", int(right), {OPUS: (2 if right else int(generator.integers(3)),)})
        for n, right in enumerate(generator.random(40) < 0.5)
    ]
    copied = [replace(item, execution=k) for item in once for k in range(1, 6)]

    single = by_measure(separation(once, OPUS, rng=rng(), draws=2000))
    many = by_measure(separation(copied, OPUS, rng=rng(), draws=2000))

    for name in ("gap, correct minus incorrect", *[name for name in single if "AUC" in name]):
        a, b = single[name], many[name]
        assert (b.n, b.clusters) == (200, 40)
        assert None not in {a.low, a.high, b.low, b.high}
        assert (b.high or 0) - (b.low or 0) == pytest.approx((a.high or 0) - (a.low or 0), rel=0.1)


def test_the_interval_of_a_gap_covers_the_truth_about_as_often_as_it_says() -> None:
    generator = np.random.default_rng(11)
    covered = 0
    for _ in range(120):
        cells: list[JudgedCell] = []
        for n in range(40):
            hard = generator.random() < 0.5  # runs of one question share its difficulty
            for k in (1, 2):
                right = n % 2 == 0
                chance = (0.8 if hard else 0.4) if right else (0.5 if hard else 0.1)
                score = 2 if generator.random() < chance else 0
                cells.append(cell(f"q{n:02}", int(right), {OPUS: (score,)}, execution=k))
        gap = by_measure(separation(cells, OPUS, rng=generator, draws=300))[
            "gap, correct minus incorrect"
        ]
        covered += (gap.low or 0) <= 0.3 <= (gap.high or 0)

    assert 0.86 <= covered / 120 <= 1.0


def test_two_judges_are_compared_on_what_both_judged() -> None:
    cells = [
        cell("q1", 1, {OPUS: (2,), GPT: (2,)}),
        cell("q2", 1, {OPUS: (2, 2, 1, None, 1), GPT: (1, 1, 1, 2, 1)}),
        cell("q3", 0, {OPUS: (0,), GPT: (1,)}),
        cell("q4", 0, {OPUS: (0,)}),
    ]

    found = by_measure(judge_pairs(cells, [OPUS, GPT], rng=rng(), draws=200))

    # 1 and 1; 0.75 and 0.6; 0 and 0.5
    difference = found["mean absolute difference, trajectory score"]
    assert difference.value == pytest.approx((0 + 0.15 + 0.5) / 3)
    assert (difference.n, difference.clusters) == (3, 3)
    assert difference.subject == f"{OPUS} and {GPT}"
    oracle = stats.pearsonr([1, 0.75, 0], [1, 0.6, 0.5]).statistic
    assert found["Pearson r, trajectory score"].value == pytest.approx(oracle)
    completeness = found["mean absolute difference, evidence completeness"]
    assert (completeness.value, completeness.n) == (0.5, 2)
    assert completeness.note == "1 more runs, scored by one judge only"
    assert ("judges", "Pearson r, trajectory score") in PUBLISHED_RANGES
    turned = by_measure(judge_pairs(cells, [GPT, OPUS], rng=rng(), draws=200))
    assert {name: item.value for name, item in turned.items()} == {
        name: pytest.approx(item.value) for name, item in found.items()
    }


def test_judges_that_share_no_run_have_reasons_instead_of_numbers() -> None:
    cells = [cell("q1", 1, {OPUS: (2,)}), cell("q2", 1, {GPT: (2,)})]

    found = judge_pairs(cells, [OPUS, GPT], rng=rng(), draws=50)

    assert len(found) == 13
    assert {item.value for item in found} == {None}
    assert all(item.reason for item in found)


def test_scores_at_the_ceiling_are_said_beside_their_correlation() -> None:
    cells = [
        cell(f"q{n}", 1, {OPUS: (2, n % 2, 1, 1, 1), GPT: (2 if n else 1, 1, 1, 1, 1)})
        for n in range(10)
    ]

    found = by_measure(judge_pairs(cells, [OPUS, GPT], rng=rng(), draws=50))

    r = found["Pearson r, task understanding"]
    assert (r.value, r.reason) == (None, "one side does not vary")
    assert f"all of {OPUS}'s scores are 2" in r.note
    assert f"90 % of {GPT}'s scores are 2" in r.note


def test_every_two_of_three_judges_are_compared() -> None:
    cells = [cell(f"q{n}", 1, dict.fromkeys("abc", (n % 3,))) for n in range(6)]

    found = judge_pairs(cells, ["a", "b", "c"], rng=rng(), draws=50)

    assert list(dict.fromkeys(item.subject for item in found)) == ["a and b", "a and c", "b and c"]


@pytest.mark.parametrize("seed", range(8))
def test_the_order_of_arms_has_the_tau_b_of_scipy(seed: int) -> None:
    generator = np.random.default_rng(seed)
    table = generator.integers(3, size=(4, 5, 2)) / 2  # ties are common
    pairs = [
        ScorePair(question_id=f"q{q}", arm=f"arm{a}", first=float(x), second=float(y))
        for q, row in enumerate(table)
        for a, (x, y) in enumerate(row)
    ]
    means = table.mean(axis=0)

    found = arm_order(pairs, rng=rng(), draws=50)

    assert found.tau.value == pytest.approx(
        stats.kendalltau(means[:, 0], means[:, 1]).statistic, abs=1e-12
    )
    assert found.tau.n == 20


def test_arms_are_ranked_on_the_questions_that_all_of_them_have() -> None:
    pairs = [
        ScorePair(question_id=question, arm=arm, first=first, second=second)
        for question, arm, first, second in (
            ("q1", "x", 0.9, 0.8),
            ("q1", "y", 0.5, 0.4),
            ("q1", "z", 0.5, 0.6),
            ("q2", "y", 1.0, 1.0),  # without x and z: y would be first by both
            ("q2", "y", 1.0, 1.0),
        )
    ]

    found = arm_order(pairs, rng=rng(), draws=50)

    assert found.first == (("x",), ("y", "z"))
    assert found.second == (("x",), ("z",), ("y",))
    assert (found.same_order, found.same_first) == (False, True)
    assert found.note("A", "B") == "A: x > y = z; B: x > z > y; same order: no; same first: yes"
    assert found.tau.reason == "no interval: 1 question has no variance"


def test_one_arm_cannot_be_ranked() -> None:
    pairs = [ScorePair(question_id="q", arm="x", first=1, second=1)]

    found = arm_order(pairs, rng=rng(), draws=50)

    assert (found.tau.value, found.tau.reason) == (None, "1 arm cannot be ranked")
    assert found.same_first is None
    assert not found.note("A", "B")
