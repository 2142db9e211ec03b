"""How far the effects of the executions lie apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from taketwo.analysis.effects import Effect
from taketwo.stats.distributions import chi2_quantile

__all__ = ["Spread", "spread_of"]


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Standard deviation of the effects, the note on it, swing and ratio to the noise inside each."""

    s_k: float | None
    note: str
    swing: float | None
    between: tuple[int, int] | None
    mean_se: float | None
    ratio: float | None


def spread_of(effects: Sequence[Effect]) -> Spread:
    """Return how far the effects lie apart, and how that compares with the noise inside each."""
    ses = [effect.se for effect in effects if effect.se is not None]
    mean_se = sum(ses) / len(ses) if ses and len(ses) == len(effects) else None
    if len(effects) < 2:
        return Spread(
            s_k=None, note=_note(1, None), swing=None, between=None, mean_se=mean_se, ratio=None
        )
    ordered = sorted(effects, key=lambda effect: (-effect.effect, effect.execution))
    s_k = float(np.std([effect.effect for effect in effects], ddof=1))
    return Spread(
        s_k=s_k,
        note=_note(len(effects), _s_k_interval(s_k, len(effects))),
        swing=ordered[0].effect - ordered[-1].effect,
        between=(ordered[0].execution, ordered[-1].execution),
        mean_se=mean_se,
        ratio=s_k / mean_se if mean_se else None,
    )


def _s_k_interval(s_k: float, executions: int) -> tuple[float, float]:
    """Return the 95 % chi-square interval of a standard deviation over normal effects."""
    df = executions - 1
    return (
        s_k * math.sqrt(df / chi2_quantile(0.975, df)),
        s_k * math.sqrt(df / chi2_quantile(0.025, df)),
    )


def _note(executions: int, interval: tuple[float, float] | None) -> str:
    """Return how far a standard deviation over `executions` effects can be trusted."""
    if executions < 2:
        return "needs two executions"
    if executions == 2 or interval is None:
        return "1 df, descriptive"
    return f"{executions - 1} df, 95 % interval {interval[0]:.3g} to {interval[1]:.3g}"
