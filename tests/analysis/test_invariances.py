"""What must not change when the data are only written differently (exact mode, no draws)."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.analysis.outcome_tables import grid

from taketwo.analysis.compare import compare
from taketwo.analysis.comparison import MetricComparison
from taketwo.executions.rule import Rule
from taketwo.outcomes.table import Outcomes

RULE = Rule(primary=("turns",))


def _outcomes(seed: int, n: int = 24, executions: int = 2) -> Outcomes:
    rng = np.random.default_rng(seed)
    cells = [(a, k) for k in range(1, executions + 1) for a in ("static", "dynamic")]
    return grid(
        {cell: (rng.random(n) < 0.5).tolist() for cell in cells},
        turns={cell: rng.integers(0, 9, n).tolist() for cell in cells},
    )


def _turns(outcomes: Outcomes, rule: Rule = RULE) -> MetricComparison:
    return compare(outcomes, rule, study="s", seed=1).comparisons[0].metrics["turns"]


def _with_turns(outcomes: Outcomes, turns: pl.Expr) -> Outcomes:
    return Outcomes(outcomes.frame.with_columns(turns=turns))


@settings(max_examples=8)
@given(seed=st.integers(0, 10_000))
def test_adding_a_question_s_own_constant_to_both_arms_changes_no_effect(seed: int) -> None:
    outcomes = _outcomes(seed)
    own = pl.col("question_id").str.slice(1).cast(pl.Float64) * 3
    first, again = _turns(outcomes), _turns(_with_turns(outcomes, pl.col("turns") + own))

    assert [e.effect for e in again.executions] == pytest.approx([
        e.effect for e in first.executions
    ])
    assert [e.low for e in again.executions] == pytest.approx([e.low for e in first.executions])
    assert again.shifts[0].p == pytest.approx(first.shifts[0].p)
    assert again.verdict == first.verdict


@settings(max_examples=8)
@given(seed=st.integers(0, 10_000))
def test_a_constant_added_to_one_arm_shifts_the_effect_and_not_the_shift(seed: int) -> None:
    outcomes = _outcomes(seed)
    moved = pl.col("turns") + pl.when(pl.col("arm") == "dynamic").then(5.0).otherwise(0.0)
    first, again = _turns(outcomes), _turns(_with_turns(outcomes, moved))

    assert [e.effect for e in again.executions] == pytest.approx([
        e.effect + 5 for e in first.executions
    ])
    assert again.shifts[0].estimate == pytest.approx(first.shifts[0].estimate)
    assert again.omnibus is not None
    assert first.omnibus is not None
    assert again.omnibus.p == pytest.approx(first.omnibus.p)


@settings(max_examples=8)
@given(seed=st.integers(0, 10_000), scale=st.sampled_from([0.25, 3.0, 1024.0]))
def test_the_unit_of_a_metric_changes_no_test(seed: int, scale: float) -> None:
    outcomes = _outcomes(seed)
    first, again = _turns(outcomes), _turns(_with_turns(outcomes, pl.col("turns") * scale))

    assert again.executions[0].high == pytest.approx(scale * (first.executions[0].high or 0))
    assert again.shifts[0].p == pytest.approx(first.shifts[0].p)
    assert again.s_k == pytest.approx(scale * (first.s_k or 0))
    assert (again.verdict, again.statements.effect_vs_reexecution.value) == (
        first.verdict,
        first.statements.effect_vs_reexecution.value,
    )


@pytest.mark.parametrize("copies", [2, 3])
def test_copies_of_the_questions_narrow_intervals_only_where_they_are_not_clusters(
    copies: int,
) -> None:
    outcomes = _outcomes(4)
    many = Outcomes(
        pl.concat(
            outcomes.frame.with_columns(question_id=pl.col("question_id") + f"-{copy}")
            for copy in range(copies)
        )
    )
    alone, by_question = (
        _turns(outcomes),
        _turns(many, Rule(primary=("turns",), cluster="question")),
    )
    by_video = _turns(many)

    assert by_question.executions[0].effect == pytest.approx(alone.executions[0].effect)
    assert by_question.s_k == pytest.approx(alone.s_k)
    assert by_question.executions[0].se == pytest.approx(
        (alone.executions[0].se or 0) / math.sqrt(copies)
    )
    cr2 = by_video.executions[0].cr2
    assert cr2 is not None
    assert cr2.se == pytest.approx(alone.executions[0].t_interval.se)
    assert cr2.df == pytest.approx(23)


@pytest.mark.parametrize("executions", [2, 3, 4])
def test_the_swing_is_the_largest_shift_and_shifts_add_up(executions: int) -> None:
    metric = _turns(_outcomes(5, executions=executions))
    by_pair = {(s.earlier, s.later): s.estimate for s in metric.shifts}

    assert metric.swing == pytest.approx(max(abs(value) for value in by_pair.values()))
    chain = sum(by_pair[pair] for pair in pairwise(range(1, executions + 1)))
    assert by_pair[1, executions] == pytest.approx(chain)


def test_two_executions_have_one_test_under_three_names() -> None:
    """s_K = |Z| / sqrt 2; F of the ANOVA = t squared; tau's F is the same (Burdick and Graybill)."""
    metric = _turns(_outcomes(6))
    shift, variation = metric.shifts[0], metric.variation

    assert metric.s_k == pytest.approx(abs(shift.estimate) / math.sqrt(2))
    assert variation is not None
    noise = variation.components.question_noise
    assert noise is not None
    assert shift.test.statistic is not None
    assert ((metric.s_k or 0) / noise) ** 2 == pytest.approx(shift.test.statistic**2)


def test_the_headline_changes_at_fifty_units() -> None:
    assert _turns(_outcomes(7, n=49)).headline == "paired t"
    assert _turns(_outcomes(7, n=50)).headline == "percentile bootstrap"


def test_drawn_intervals_are_near_the_exact_ones_and_share_their_seed() -> None:
    outcomes = _outcomes(8, n=100)
    exact = _turns(outcomes).executions[0]
    drawn = [
        compare(outcomes, RULE, study="s", seed=3, bootstrap="mc").comparisons[0].metrics["turns"]
        for _ in range(2)
    ]

    assert drawn[0] == drawn[1]
    assert drawn[0].executions[0].low == pytest.approx(exact.low, abs=0.1 * (exact.se or 0))
    assert drawn[0].executions[0].p == exact.p
