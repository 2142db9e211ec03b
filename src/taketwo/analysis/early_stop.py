"""Whether a re-execution stops after a block: the rule, applied to the outcomes so far."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from taketwo.analysis.planning import Stopping, decide_block
from taketwo.executions.plan import Plan
from taketwo.executions.stopped import Stopped, blocks_of
from taketwo.outcomes.table import Outcomes
from taketwo.stats.sequential import QuestionOrder

__all__ = ["early_stop"]


def early_stop(plan: Plan, outcomes: Outcomes, execution: int, blocks: int) -> Stopped | None:
    """Return why an execution stops after its first `blocks` blocks; None where it goes on.

    The shift of accuracy from K1 is monitored by question, in the order in which the plan drew the
    execution. Questions without an effect in K1 are left out: that was known before it began. A
    question without one here (a failed cell, a judge that failed) ends what can be looked at, so
    that the execution rather runs on. A plan with several methods never stops.

    Parameters
    ----------
    plan
        A plan whose rule has `stopping`.
    outcomes
        Of the whole study, as far as it is finished.
    execution
        From 2.

    Raises
    ------
    RuleMismatch
        If the plan has no rule of stopping.
    """
    parts = blocks_of(plan, execution)
    rule = plan.rule.stopping
    methods = [arm for arm in plan.arms if arm.baseline is not None]
    if rule is None or len(methods) != 1:
        return None
    method, baseline = methods[0].name, str(methods[0].baseline)
    order = [question for part in parts for question in part]
    ran = [question for part in parts[:blocks] for question in part]
    first = _effects(outcomes, 1, method, baseline, order)
    later = _effects(outcomes, execution, method, baseline, order)
    later[len(ran) :] = np.nan
    known = np.isfinite(first)
    ends = np.cumsum([len(part) for part in parts])
    counts = [int(part.sum()) for part in np.split(known, ends[:-1])]
    n = int(known.sum())
    if not n:
        return None
    found = decide_block(
        np.column_stack([first[known], later[known]]),
        [count for count in counts if count],
        order=QuestionOrder(origin="drawn before the run", indices=tuple(range(n))),
        alpha=rule.alpha,
    )
    if not found.should_stop:
        return None
    return _record(found, execution, ran)


def _effects(
    outcomes: Outcomes, execution: int, method: str, baseline: str, order: list[str]
) -> NDArray[np.float64]:
    """Return method minus baseline by question, in the order given; NaN where either has none."""
    rows = outcomes.frame.filter(pl.col("execution") == execution)
    cells = rows.select("arm", "question_id", "accuracy").iter_rows()
    values = {(arm, question): value for arm, question, value in cells if value is not None}
    nan = float("nan")
    return np.array([
        values.get((method, question), nan) - values.get((baseline, question), nan)
        for question in order
    ])


def _record(found: Stopping, execution: int, ran: list[str]) -> Stopped:
    seen = found.monitored
    told = found.reason
    if seen.estimate is not None:
        told += f"; effect in K1 minus effect in K{execution} {100 * seen.estimate:+.1f} points"
    if seen.low is not None and seen.high is not None:
        told += (
            f", {100 * (1 - seen.alpha):g} % confidence sequence {100 * seen.low:+.1f} to "
            f"{100 * seen.high:+.1f}"
        )
    return Stopped(
        execution=execution,
        questions=tuple(ran),
        statistic={
            "shift": seen.estimate,
            "low": seen.low,
            "high": seen.high,
            "questions": float(seen.seen),
        },
        method=seen.method,
        alpha=seen.alpha,
        reason=told,
    )
