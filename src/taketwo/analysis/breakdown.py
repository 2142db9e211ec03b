"""Two levels of a factor in every setting of the others: what each setting resolves, and all together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from taketwo.analysis.effects import HypothesisTest
from taketwo.analysis.estimates import mcnemar_record, test_record
from taketwo.analysis.factor_records import LevelComparison, MacroAverage, Setting
from taketwo.analysis.headline import t_interval, unit_test
from taketwo.analysis.pair_values import Column
from taketwo.analysis.ranking import ArmScores
from taketwo.errors import InvalidResults, UnknownName
from taketwo.stats.distributions import binomial_cdf
from taketwo.stats.paired import discordant
from taketwo.stats.sign_flip import sign_flip

__all__ = ["RESOLVED_READING", "compare_levels", "macro_averages"]

RESOLVED_BELOW = 0.05
RESOLVED_READING = (
    "a setting is resolved where p < .05, unadjusted, by exact McNemar (by the paired t where an arm "
    "has several runs); that is our reading of the published counts, which do not define the word"
)
FLIP_STREAM = 5


def compare_levels(
    scores: ArmScores,
    factor: str,
    baseline: str,
    method: str,
    *,
    level: float = 0.95,
    seed: int = 0,
) -> LevelComparison:
    """Return what two levels of a factor do in every setting of the others, and over all settings.

    Raises
    ------
    UnknownName
        If the factor has no such level.
    InvalidResults
        If two arms have the same factors, or no setting has both levels.
    """
    levels = scores.levels(factor)
    for name in (baseline, method):
        if name not in levels:
            raise UnknownName.among(f"level of {factor!r}", name, levels)
    sides = {name: _by_setting(scores, factor, levels[name]) for name in (baseline, method)}
    common = sorted(set(sides[baseline]) & set(sides[method]))
    if not common:
        raise InvalidResults(f"no setting has both {baseline!r} and {method!r} of {factor!r}")
    pairs = [(sides[baseline][key], sides[method][key]) for key in common]
    settings = tuple(
        _setting(scores, dict(key), base, other, level)
        for key, (base, other) in zip(common, pairs, strict=True)
    )
    d = np.column_stack([scores.scores[:, other] - scores.scores[:, base] for base, other in pairs])
    column = Column(values=d.mean(axis=1), questions=np.arange(len(d), dtype=np.int64), cluster=scores.cluster)  # fmt: skip
    test = unit_test(column, level=level)
    flipped = sign_flip(
        _on_lattice(d.sum(axis=1), scores.runs), rng=np.random.default_rng((seed, FLIP_STREAM))
    )
    resolved = [item for item in settings if item.is_resolved]
    left = sorted(set(sides[baseline]) ^ set(sides[method]))
    return LevelComparison(
        factor=factor,
        baseline=baseline,
        method=method,
        n=len(d),
        of=len(settings),
        resolved=len(resolved),
        positive=sum(item.effect > 0 for item in resolved),
        negative=sum(item.effect < 0 for item in resolved),
        reading=RESOLVED_READING,
        settings=settings,
        left_out=tuple(", ".join(f"{k}={v}" for k, v in key) for key in left),
        effect=float(d.mean()),
        interval=t_interval(test, level=level),
        average=test_record(test),
        pooled=HypothesisTest(
            method=f"{flipped.method}, by question", p=flipped.p, mid_p=flipped.mid_p
        ),
        naive_pooled=_naive(settings),
    )


def _on_lattice(sums: NDArray[np.float64], runs: int) -> NDArray[np.float64]:
    """Return sums of means over runs as whole numbers where they are; the test does not mind the scale."""
    whole: NDArray[np.float64] = np.round(sums * runs)
    return whole if np.abs(whole - sums * runs).max() < 1e-9 else sums


Key = tuple[tuple[str, str], ...]


def _by_setting(scores: ArmScores, factor: str, positions: tuple[int, ...]) -> dict[Key, int]:
    found: dict[Key, int] = {}
    for at in positions:
        levels = scores.factors[scores.arms[at]]
        key = tuple(sorted((k, v) for k, v in levels.items() if k != factor))
        if key in found:
            raise InvalidResults(
                f"arms {scores.arms[found[key]]!r} and {scores.arms[at]!r} have the same factors"
            )
        found[key] = at
    return found


def _setting(
    scores: ArmScores, setting: Mapping[str, str], base: int, other: int, level: float
) -> Setting:
    a, b = scores.scores[:, base], scores.scores[:, other]
    is_binary = bool(np.isin(np.concatenate([a, b]), (0.0, 1.0)).all())
    changed = discordant(b, a) if is_binary else None
    column = Column(values=b - a, questions=np.arange(len(a), dtype=np.int64), cluster=scores.cluster)  # fmt: skip
    p = test_record(unit_test(column, level=level)).p if changed is None else changed.exact_p
    return Setting(
        setting=dict(setting),
        baseline=scores.arms[base],
        method=scores.arms[other],
        effect=float((b - a).mean()),
        p=p,
        mcnemar=None if changed is None else mcnemar_record(changed),
        is_resolved=p is not None and p < RESOLVED_BELOW,
    )


def _naive(settings: tuple[Setting, ...]) -> HypothesisTest | None:
    tables = [item.mcnemar for item in settings if item.mcnemar is not None]
    if len(tables) < len(settings):
        return None
    gained, lost = sum(t.gained for t in tables), sum(t.lost for t in tables)
    p = min(1.0, 2 * binomial_cdf(min(gained, lost), gained + lost)) if gained + lost else 1.0
    return HypothesisTest(
        method="McNemar over all settings as if their questions were different ones (not valid)",
        p=p,
        reason=(
            f"{gained} gained and {lost} lost, counted on {len(settings)} settings of the same "
            "questions"
        ),
    )


def macro_averages(scores: ArmScores, factor: str) -> tuple[MacroAverage, ...]:
    """Return the macro-average of every level of a factor, with what it is an average of."""
    means: NDArray[np.float64] = scores.scores.mean(axis=0)
    return tuple(
        MacroAverage(
            level=name,
            arms=len(at),
            questions=len(scores.scores),
            mean=float(means[list(at)].mean()),
            lowest=float(means[list(at)].min()),
            highest=float(means[list(at)].max()),
        )
        for name, at in scores.levels(factor).items()
    )
