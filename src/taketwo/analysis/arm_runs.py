"""What the runs of one arm do among themselves, and the test that either arm's runs differ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from taketwo.analysis.effects import HypothesisTest
from taketwo.analysis.estimates import table_omnibus, test_record
from taketwo.analysis.headline import unit_test
from taketwo.analysis.pair_values import Column
from taketwo.analysis.runs import RunTable
from taketwo.analysis.variation import ArmRuns
from taketwo.executions.rule import Metric, Rule
from taketwo.stats.components import variance_components
from taketwo.stats.multiplicity import holm
from taketwo.stats.paired import mean_test

__all__ = ["arm_runs", "over_arms"]


def arm_runs(table: RunTable, rule: Rule, metric: Metric, arm: str, used: NDArray[np.bool_]) -> ArmRuns:  # fmt: skip
    """Return what an arm's own runs do on the used questions, before correction over the two arms."""
    cells = table.values(metric, arm)[used]
    cluster = table.cluster(rule)
    codes = None if cluster is None else cluster[used]
    n, k = cells.shape
    question, headline, reason = None, None, None
    if k < 2:
        reason = f"arm {arm!r} has one run: whether its runs differ is not known"
    elif k == 2:
        column = Column(
            values=cells[:, 0] - cells[:, 1], questions=np.arange(n, dtype=np.int64), cluster=codes
        )
        question = _unsigned(test_record(mean_test(column.values, level=rule.level)))
        headline = _unsigned(test_record(unit_test(column, level=rule.level)))
    else:
        question, headline = table_omnibus(
            Column(values=cells, questions=np.arange(n, dtype=np.int64), cluster=codes)
        )
    return ArmRuns(
        arm=arm,
        executions=k,
        mean=float(cells.mean()),
        sd=float(cells.mean(axis=0).std(ddof=1)) if k > 1 else None,
        components=variance_components(cells, level=rule.level),
        omnibus=question,
        headline_omnibus=headline,
        reason=reason,
    )


def _unsigned(test: HypothesisTest) -> HypothesisTest:
    """Return a t without its sign, which depends on which run is called the first."""
    return replace(test, statistic=None if test.statistic is None else abs(test.statistic))


def over_arms(
    first: ArmRuns, second: ArmRuns
) -> tuple[HypothesisTest | None, HypothesisTest | None, tuple[ArmRuns, ArmRuns]]:
    """Return the smaller p of the two arms by Holm, by question and by unit, and both arms adjusted."""
    combined: list[HypothesisTest | None] = []
    arms = [first, second]
    for name in ("omnibus", "headline_omnibus"):
        tests: list[HypothesisTest | None] = [getattr(arm, name) for arm in arms]
        there = [test for test in tests if test is not None]
        adjusted = iter(holm([test.p for test in there]))
        arms = [
            arm if test is None else replace(arm, **{name: replace(test, p_holm=next(adjusted))})
            for arm, test in zip(arms, tests, strict=True)
        ]
        combined.append(_smaller([getattr(arm, name) for arm in arms]))
    return combined[0], combined[1], (arms[0], arms[1])


def _smaller(tests: list[HypothesisTest | None]) -> HypothesisTest | None:
    there = [test for test in tests if test is not None]
    if not there:
        return None
    defined = [test for test in there if test.p_holm is not None]
    if not defined:
        return replace(there[0], p=None, p_holm=None)
    best = min(defined, key=lambda test: (test.p_holm or 0.0, test.p or 0.0))
    over = "over the two arms (Holm)" if len(there) == 2 else "in the arm with several runs"
    return replace(best, method=f"{best.method}, {over}", p=best.p_holm, p_holm=None)
