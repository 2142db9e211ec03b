"""Many arms with factors: a level's score is its mean over the other factors, ranked with its doubt."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from taketwo.analysis.factor_records import RankedLevel, Ranking
from taketwo.analysis.runs import RunTable, run_table
from taketwo.errors import InvalidResults, UnknownName
from taketwo.executions.rule import Metric, Missing, Rule
from taketwo.outcomes.table import Outcomes
from taketwo.stats.cluster import ClusterSums, cluster_sums
from taketwo.stats.ranks import RankStability, rank_stability
from taketwo.stats.resampling import bootstrap_means

__all__ = ["ArmScores", "arm_scores", "rank_levels"]

RANK_STREAM = 4


@dataclass(frozen=True, kw_only=True)
class ArmScores:
    """A metric by question and arm, averaged over each arm's runs, and the factors of the arms.

    `runs` is the least common multiple of the arms' numbers of runs: scores that are right or wrong in
    each run are whole multiples of its inverse.

    `scores` is N x A over the questions that every run of every arm has; `cluster` their videos, None
    where the rule clusters by question.
    """

    metric: Metric
    arms: tuple[str, ...]
    factors: Mapping[str, Mapping[str, str]]
    question_ids: tuple[str, ...]
    scores: NDArray[np.float64]
    cluster: NDArray[np.int64] | None
    runs: int = 1

    def levels(self, factor: str) -> Mapping[str, tuple[int, ...]]:
        """Return the positions of the arms of each level of a factor.

        Raises
        ------
        UnknownName
            If no arm has the factor.
        InvalidResults
            If some arms have it and others not.
        """
        known = {name for factors in self.factors.values() for name in factors}
        if factor not in known:
            raise UnknownName.among("factor of the arms", factor, known)
        found: dict[str, list[int]] = {}
        for at, arm in enumerate(self.arms):
            level = self.factors[arm].get(factor)
            if level is None:
                raise InvalidResults(f"arm {arm!r} has no level of the factor {factor!r}")
            found.setdefault(level, []).append(at)
        return {level: tuple(found[level]) for level in sorted(found)}


def arm_scores(
    outcomes: Outcomes, rule: Rule, metric: Metric = "accuracy", *, missing: Missing | None = None
) -> ArmScores:
    """Return the scores of all arms on the questions that they share.

    Raises what `compare` raises, and `InvalidResults` where an arm has two sets of factors.
    """
    table = run_table(outcomes, rule, missing=missing)
    columns = [table.values(metric, arm) for arm in table.arms]
    used: NDArray[np.bool_] = np.logical_and.reduce(np.isfinite(np.column_stack(columns)), axis=1)
    if not used.any():
        raise InvalidResults(f"no question has {metric} in every run of every arm")
    cluster = table.cluster(rule)
    ids = np.array(table.matched_ids)[used].tolist()
    return ArmScores(
        metric=metric,
        arms=table.arms,
        factors=_factors(outcomes.frame, table),
        question_ids=tuple(ids),
        scores=np.column_stack([column[used].mean(axis=1) for column in columns]),
        cluster=None if cluster is None else cluster[used],
        runs=math.lcm(*(column.shape[1] for column in columns)),
    )


def _factors(frame: pl.DataFrame, table: RunTable) -> Mapping[str, Mapping[str, str]]:
    found: dict[str, dict[str, str]] = {arm: {} for arm in table.arms}
    seen: set[str] = set()
    for arm, text in frame.select("arm", "factors").drop_nulls().unique().sort("arm").iter_rows():
        levels = {k: str(v) for k, v in cast("dict[str, object]", json.loads(text)).items()}
        if arm in seen and found[arm] != levels:
            raise InvalidResults(f"arm {arm!r} has more than one set of factors")
        seen.add(arm)
        found[arm] = levels
    return found


def rank_levels(
    scores: ArmScores,
    factor: str,
    *,
    seed: int,
    draws: int = 10_000,
    top: int = 3,
    level: float = 0.95,
) -> Ranking:
    """Return the ranks of a factor's levels, each level's score its mean over its arms.

    Whole questions (videos, where the rule clusters by video) are drawn, all arms from the same draws.
    """
    groups = scores.levels(factor)
    if len(groups) < 2:
        raise InvalidResults(f"factor {factor!r} has one level only, {next(iter(groups))!r}")
    columns = np.column_stack([scores.scores[:, list(at)].mean(axis=1) for at in groups.values()])
    units = (
        ClusterSums(sums=columns, sizes=np.ones(len(columns)))
        if scores.cluster is None
        else cluster_sums(columns, scores.cluster)
    )
    rng = np.random.default_rng((seed, RANK_STREAM))
    replicates = bootstrap_means(units, draws=draws, rng=rng)
    found: RankStability = rank_stability(
        columns.mean(axis=0), replicates, top=min(top, len(groups)), level=level
    )
    ranked = [
        RankedLevel(
            level=name,
            arms=len(at),
            score=system.score,
            rank=system.rank,
            low=system.low,
            high=system.high,
            p_first=system.p_first,
            p_top=system.p_top,
        )
        for (name, at), system in zip(groups.items(), found.systems, strict=True)
    ]
    return Ranking(
        factor=factor,
        metric=scores.metric,
        questions=len(columns),
        clusters=len(units.sizes),
        draws=draws,
        level=level,
        top=found.top,
        levels=tuple(sorted(ranked, key=lambda item: (item.rank, item.level))),
        tau_to_sample=_tau(found.tau_to_sample),
        tau_between_draws=_tau(found.tau_between_draws),
        unbalanced=_unbalanced(scores, factor, groups),
    )


def _tau(mean: float | None) -> float | None:
    """Return a mean of taus without the rounding that lifts it above 1."""
    return None if mean is None else max(-1.0, min(1.0, mean))


def _unbalanced(scores: ArmScores, factor: str, groups: Mapping[str, Sequence[int]]) -> str | None:
    others = {
        name: sorted(
            tuple(sorted((k, v) for k, v in scores.factors[scores.arms[at]].items() if k != factor))
            for at in positions
        )
        for name, positions in groups.items()
    }
    first = next(iter(others.values()))
    different = [name for name, settings in others.items() if settings != first]
    if not different:
        return None
    return (
        f"{', '.join(map(repr, different))} stand in other settings of the other factors than "
        f"{next(iter(others))!r}: their order may be that of the settings"
    )
