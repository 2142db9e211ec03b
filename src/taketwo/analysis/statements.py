"""Three statements about a metric that are easily taken for one another, kept apart.

An effect may be smaller than what executions differ by although no shift is established, and both say
nothing of whether the configuration stayed the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from taketwo.analysis.effects import HypothesisTest
from taketwo.executions.manifest_comparison import ManifestComparison
from taketwo.stats.distributions import normal_quantile

__all__ = [
    "ConfigurationStatement",
    "EffectStatement",
    "ShiftStatement",
    "Statements",
    "configuration_statement",
    "execution_variance",
    "noise_statement",
    "shift_statement",
]


@dataclass(frozen=True, kw_only=True)
class EffectStatement:
    """Whether the average effect exceeds what one more execution varies by."""

    value: Literal["above_noise", "below_noise"] | None
    reason: str


@dataclass(frozen=True, kw_only=True)
class ShiftStatement:
    """Whether executions differ by more than question noise explains."""

    value: Literal["shift", "no_shift_detected"] | None
    reason: str


@dataclass(frozen=True, kw_only=True)
class ConfigurationStatement:
    """Whether what should be held fixed was the same in all executions; numbers cannot tell."""

    value: Literal["same", "drifted"] | None
    reason: str


NOT_RECORDED = ConfigurationStatement(
    value=None, reason="no manifest of the executions was given: what ran is not known"
)


@dataclass(frozen=True, kw_only=True)
class Statements:
    """The three statements about a metric."""

    effect_vs_reexecution: EffectStatement
    shift: ShiftStatement
    configuration: ConfigurationStatement = NOT_RECORDED


def execution_variance(table: NDArray[np.float64]) -> float | None:
    """Return the variance of the mean of one more execution of the same N questions.

    `table` is N x K values of one arm, or differences of two. It is the larger of the variance of
    the K means and of what noise inside questions alone gives such a mean (``MSR / N``): with two
    executions the first has one degree of freedom and is small by chance in every third study. None
    for one execution or one question.
    """
    n, k = table.shape
    if n < 2 or k < 2:
        return None
    centred = table - table.mean(axis=1, keepdims=True)
    columns = centred.mean(axis=0)
    inside = float(((centred - columns) ** 2).sum()) / ((n - 1) * (k - 1)) / n
    return max(float(columns @ columns) / (k - 1), inside)


def noise_statement(
    effect: float, variances: Sequence[float | None], *, level: float
) -> EffectStatement:
    """Return whether one more execution would show the sign of `effect` almost surely.

    `variances` are those of one more execution by independent part (one for paired executions, one
    per arm otherwise). `below_noise` is where the average effect does not exceed the normal quantile
    of the level times their root, so that one more execution has more than (1 - level) / 2 chance of
    the other sign.
    """
    known = [variance for variance in variances if variance is not None]
    if len(known) < len(variances) or not known:
        return EffectStatement(
            value=None, reason="needs two executions (of each arm): noise between them is not known"
        )
    noise = normal_quantile((1 + level) / 2) * math.sqrt(sum(known))
    is_above = abs(effect) > noise
    return EffectStatement(
        value="above_noise" if is_above else "below_noise",
        reason=(
            f"the average effect is {abs(effect):.4g} in size, one more execution varies by "
            f"+-{noise:.4g} ({level:.0%})"
        ),
    )


def shift_statement(shift: bool | None, test: HypothesisTest | None) -> ShiftStatement:
    """Return what the adjusted test of the shift says."""
    if test is None:
        return ShiftStatement(value=None, reason="one execution has nothing to shift from")
    if shift is None or test.p is None:
        return ShiftStatement(value=None, reason=test.reason or "the test is not defined")
    p = f"p = {test.p:.3g}" if test.p_holm is None else f"Holm-adjusted p = {test.p_holm:.3g}"
    return ShiftStatement(
        value="shift" if shift else "no_shift_detected", reason=f"{test.method}: {p}"
    )


def configuration_statement(found: ManifestComparison | None) -> ConfigurationStatement:
    """Return what the manifests of the executions say, None where there are none.

    What differs and what drifted is `drifted`; what nobody recorded is never `same`.
    """
    if found is None:
        return NOT_RECORDED
    changed = [*found.refusals, *found.drift]
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        return ConfigurationStatement(value="drifted", reason=f"{changed[0].message}{more}")
    if found.unavailable:
        return ConfigurationStatement(
            value=None,
            reason=f"{len(found.unavailable)} parts were not recorded, first: {found.unavailable[0].message}",
        )
    return ConfigurationStatement(value="same", reason="every recorded part is equal")
