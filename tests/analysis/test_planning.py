from __future__ import annotations

import numpy as np
import pytest

from taketwo.analysis.planning import (
    decide_block,
    design_of,
    needs_for,
    planning_text,
    purchase_for,
)
from taketwo.errors import RuleMismatch
from taketwo.stats.components import variance_components
from taketwo.stats.sequential import QuestionOrder, draw_order


@pytest.mark.parametrize(
    ("executions", "points"), [(2, 9.4), (3, 4.3), (4, 3.2), (5, 2.7), (7, 2.1), (10, 1.8), (20, 1.3)]
)  # fmt: skip
def test_the_smallest_tau_is_the_known_one(executions: int, points: float) -> None:
    found = design_of(1283, executions)

    assert found.smallest_tau is not None
    assert 100 * found.smallest_tau == pytest.approx(points, abs=0.06)


def test_single_run_coverage_at_the_paper_s_tau_is_23_percent() -> None:
    assert design_of(1283, 2, tau=0.08).coverage == pytest.approx(0.23, abs=0.005)
    assert design_of(1283, 2, tau=0.0).coverage == pytest.approx(0.95)
    assert design_of(1283, 2).coverage is None


@pytest.mark.parametrize(("points", "executions"), [(3.05, 57), (4.17, 32), (6.10, 16), (10.5, 7)])
def test_executions_for_the_literature_s_gains(points: float, executions: int) -> None:
    needs = needs_for(points, between_sd=8.05, question_sd=45)

    assert needs.executions == executions


def test_a_budget_buys_more_executions_where_executions_vary_more() -> None:
    rng = np.random.default_rng(2)
    calm = rng.normal(size=(200, 4))
    moved = calm + np.array([-1.0, 1.0, -1.0, 1.0])
    few, many = (
        purchase_for(variance_components(table), 1000.0, cost_of_execution=10.0).executions
        for table in (calm, moved)
    )

    assert few < many


def test_one_execution_has_no_components_to_plan_by() -> None:
    with pytest.raises(ValueError, match="no components to plan by: 1 execution has no spread"):
        purchase_for(variance_components(np.ones((5, 1))), 100.0)


def test_the_text_says_what_the_design_sees() -> None:
    lines = planning_text(1283, 2, tau=0.08).splitlines()

    assert lines[0] == "What 1283 questions and 2 executions can see (accuracy, 80 % power):"
    assert lines[2] == "  a spread between executions (tau) of 9.4 points"
    assert "in 23% of cases, not 95%" in lines[4]
    assert "no shift: one execution has nothing to be compared with" in planning_text(100, 1)


def test_a_spread_that_no_accuracy_can_have_is_not_offered_as_one_that_is_seen() -> None:
    text = planning_text(5, 2)

    assert "  no spread between executions (tau) (it would have to be above 100 points)\n" in text
    assert "points: 2: none, 3: 83.9, " in text


def test_a_block_counts_only_when_it_is_complete_in_all_columns() -> None:
    rng = np.random.default_rng(6)
    effects = rng.choice([-1.0, 0.0, 1.0], size=(100, 2), p=[0.1, 0.8, 0.1])
    order = draw_order(100, rng=np.random.default_rng(1))
    effects[order.indices[45], 1] = np.nan

    found = decide_block(effects, [20, 20, 20, 40], order=order)

    assert (found.blocks, found.questions, found.monitored.seen) == (2, 40, 40)
    assert not found.should_stop


def test_a_large_shift_stops_early() -> None:
    n = 600
    effects = np.column_stack([np.ones(n), -np.ones(n)])
    order = draw_order(n, rng=np.random.default_rng(1))
    effects[list(order.indices[200:]), 1] = np.nan

    found = decide_block(effects, [100] * 6, order=order)

    assert found.should_stop
    assert found.blocks == 2
    assert "2 of 6 blocks complete" in found.reason


def test_the_effect_of_one_execution_is_monitored_by_mcnemar() -> None:
    n = 100
    order = draw_order(n, rng=np.random.default_rng(1))
    baseline, method = np.zeros(n), np.ones(n)

    found = decide_block(
        (method - baseline)[:, None], [50, 50], order=order, baseline=baseline, method=method
    )

    assert found.should_stop
    assert found.monitored.method == "McNemar e-process"


def test_blocks_are_those_of_the_plan() -> None:
    order = draw_order(10, rng=np.random.default_rng(1))

    with pytest.raises(RuleMismatch, match="blocks of 4, 4 questions do not add up to the 10"):
        decide_block(np.zeros((10, 2)), [4, 4], order=order)


def test_completion_order_is_refused() -> None:
    order = QuestionOrder(origin="completion", indices=tuple(range(10)))

    with pytest.raises(RuleMismatch):
        decide_block(np.zeros((10, 2)), [5, 5], order=order)
