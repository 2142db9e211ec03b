"""Correction over several comparisons of one study: the more arms, the more chances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from taketwo.analysis.comparison import MetricComparison, PairComparison
from taketwo.analysis.effects import HypothesisTest
from taketwo.stats.multiplicity import holm

__all__ = ["over_comparisons"]


def over_comparisons(pairs: Sequence[PairComparison]) -> tuple[PairComparison, ...]:
    """Return the comparisons with `p_holm_arms`: each test by Holm over the comparisons of a metric.

    The family of a metric's omnibus are its omnibus tests in all comparisons, that of the effect in an
    execution the effects in that execution. With one comparison there is nothing to adjust over. A
    comparison in which the metric has no test counts as p = 1.
    """
    if len(pairs) < 2:
        return tuple(pairs)
    found = [dict(pair.metrics) for pair in pairs]
    for metric in dict.fromkeys(name for pair in pairs for name in pair.metrics):
        items = [pair.metrics.get(metric) for pair in pairs]
        for at, adjusted in enumerate(_adjusted(items)):
            if adjusted is not None:
                found[at][metric] = adjusted
    return tuple(replace(pair, metrics=metrics) for pair, metrics in zip(pairs, found, strict=True))


def _adjusted(items: Sequence[MetricComparison | None]) -> list[MetricComparison | None]:
    changed = list(items)
    for name in ("omnibus", "headline_omnibus"):
        tests: list[HypothesisTest | None] = [
            None if item is None else getattr(item, name) for item in items
        ]
        for at, test in enumerate(_over(tests)):
            item = changed[at]
            if item is not None and test is not None:
                changed[at] = replace(item, **{name: test})
    executions = sorted({
        effect.execution for item in items if item is not None for effect in item.executions
    })
    for execution in executions:
        tests = [
            None
            if item is None
            else next((e.t_test for e in item.executions if e.execution == execution), None)
            for item in items
        ]
        for at, test in enumerate(_over(tests)):
            item = changed[at]
            if item is not None and test is not None:
                changed[at] = replace(
                    item,
                    executions=tuple(
                        replace(effect, t_test=test) if effect.execution == execution else effect
                        for effect in item.executions
                    ),
                )
    return changed


def _over(tests: Sequence[HypothesisTest | None]) -> list[HypothesisTest | None]:
    adjusted = holm([None if test is None else test.p for test in tests])
    return [
        None if test is None else replace(test, p_holm_arms=p)
        for test, p in zip(tests, adjusted, strict=True)
    ]
