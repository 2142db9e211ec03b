"""The factors of many arms: which model, which framework, over all settings of the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from taketwo.analysis.breakdown import compare_levels, macro_averages
from taketwo.analysis.effects import HypothesisTest
from taketwo.analysis.factor_records import FactorFinding, FactorFindings, LevelComparison
from taketwo.analysis.ranking import ArmScores, arm_scores, rank_levels
from taketwo.errors import InvalidResults, UnpairedCells
from taketwo.executions.rule import Missing, Rule
from taketwo.outcomes.table import Outcomes
from taketwo.stats.multiplicity import holm

__all__ = ["factor_findings"]

_FEWEST_ARMS = 3
_MOST_COMPARED_LEVELS = 6


def factor_findings(
    outcomes: Outcomes, rule: Rule, *, seed: int, draws: int, missing: Missing | None = None
) -> FactorFindings | None:
    """Return what the factors of the arms do, None where there are none beyond a pair of arms.

    A factor is a level per arm. Two arms differ by what they are compared for; from three arms on a
    factor with several levels is shown. The metric is the accuracy, or the first primary metric with
    values where the accuracy is not primary. A factor that divides the arms as another does is not
    told apart from it.
    """
    frame = outcomes.frame
    if frame["arm"].n_unique() < _FEWEST_ARMS or frame["factors"].null_count() == frame.height:
        return None
    try:
        scores = _scores(outcomes, rule, missing)
    except (InvalidResults, UnpairedCells) as error:
        return FactorFindings(
            metric=None, arms={}, questions=0, by=rule.cluster, clusters=0, factors=(),
            left_out=(str(error),),
        )  # fmt: skip
    names, left_out = _shown(scores)
    if not names:
        return None
    told_apart = _told_apart(scores, names)
    baselines = {name for name in frame["baseline"].drop_nulls().unique().to_list() if name}
    n = len(scores.question_ids)
    return FactorFindings(
        metric=scores.metric,
        arms={arm: dict(scores.factors[arm]) for arm in scores.arms},
        questions=n,
        by=rule.cluster,
        clusters=n if scores.cluster is None else len(np.unique(scores.cluster)),
        factors=tuple(
            _finding(told_apart, name, baselines, rule, seed=seed, draws=draws) for name in names
        ),
        left_out=tuple(left_out.values()),
    )


def _scores(outcomes: Outcomes, rule: Rule, missing: Missing | None) -> ArmScores:
    ordered = sorted(rule.primary, key=lambda metric: metric != "accuracy")
    for metric in ordered[:-1]:
        try:
            return arm_scores(outcomes, rule, metric, missing=missing)
        except InvalidResults:
            continue
    return arm_scores(outcomes, rule, ordered[-1], missing=missing)


def _shown(scores: ArmScores) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Return the factors with several levels, and why others are not shown."""
    shown: dict[tuple[tuple[int, ...], ...], str] = {}
    left_out: dict[str, str] = {}
    for name in dict.fromkeys(name for arm in scores.arms for name in scores.factors[arm]):
        lacking = [arm for arm in scores.arms if name not in scores.factors[arm]]
        if lacking:
            left_out[name] = (
                f"factor {name!r}: {len(lacking)} of {len(scores.arms)} arms have no level of it, "
                f"first {lacking[0]!r}"
            )
            continue
        partition = tuple(sorted(scores.levels(name).values()))
        if len(partition) < 2:
            continue
        if partition in shown:
            left_out[name] = f"factor {name!r} divides the arms as {shown[partition]!r} does"
        else:
            shown[partition] = name
    return tuple(shown.values()), left_out


def _told_apart(scores: ArmScores, names: Sequence[str]) -> ArmScores:
    """Return the scores without factors that are no setting: those that repeat another, or are constant."""
    every = {name for levels in scores.factors.values() for name in levels}
    partial = {
        name for name in every if not all(name in scores.factors[arm] for arm in scores.arms)
    }
    factors = {
        arm: {name: level for name, level in levels.items() if name in partial or name in names}
        for arm, levels in scores.factors.items()
    }
    return replace(scores, factors=factors)


def _finding(
    scores: ArmScores, factor: str, baselines: set[str], rule: Rule, *, seed: int, draws: int
) -> FactorFinding:
    levels = scores.levels(factor)
    first = [name for name, at in levels.items() if any(scores.arms[i] in baselines for i in at)]
    ordered = [*first, *(name for name in levels if name not in first)]
    comparisons, reasons = _comparisons(scores, factor, ordered, rule.level, seed)
    return FactorFinding(
        factor=factor,
        ranking=rank_levels(scores, factor, seed=seed, draws=draws, level=rule.level),
        averages=macro_averages(scores, factor),
        comparisons=comparisons,
        not_compared=reasons,
    )


def _comparisons(
    scores: ArmScores, factor: str, levels: Sequence[str], level: float, seed: int
) -> tuple[tuple[LevelComparison, ...], tuple[str, ...]]:
    if len(levels) > _MOST_COMPARED_LEVELS:
        pairs = len(levels) * (len(levels) - 1) // 2
        return (), (
            f"{len(levels)} levels make {pairs} pairs; levels are compared two by two up to "
            f"{_MOST_COMPARED_LEVELS} levels",
        )
    found: list[LevelComparison] = []
    reasons: list[str] = []
    for baseline, method in combinations(levels, 2):
        try:
            found.append(compare_levels(scores, factor, baseline, method, level=level, seed=seed))
        except InvalidResults as error:
            reasons.append(str(error))
    average = _adjusted([item.average for item in found])
    pooled = _adjusted([item.pooled for item in found])
    return tuple(
        replace(item, average=first, pooled=second)
        for item, first, second in zip(found, average, pooled, strict=True)
    ), tuple(dict.fromkeys(reasons))


def _adjusted(tests: Sequence[HypothesisTest]) -> list[HypothesisTest]:
    adjusted = holm([test.p for test in tests])
    return [replace(test, p_holm=p) for test, p in zip(tests, adjusted, strict=True)]
