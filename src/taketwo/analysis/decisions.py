"""From effects and adjusted tests to what the rule says of a metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from taketwo.analysis.effects import Effect, Equivalence, HypothesisTest, Interval, Sensitivity
from taketwo.analysis.verdict import Verdict, verdict_of
from taketwo.stats.shift import reversal_p

__all__ = ["Decision", "decide_metric", "rejects"]


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What the rule says, and what it was decided from."""

    supports: tuple[int | None, ...]
    reversal: HypothesisTest | None
    headline_reversal: HypothesisTest | None
    verdict: Verdict
    own: Sensitivity | None


def decide_metric(
    effects: Sequence[Effect],
    shift: bool | None,
    equivalence: Equivalence | None,
    own: Sensitivity | None,
    own_p: float | None,
    *,
    level: float,
) -> Decision:
    """Return the verdict on a metric, and on the questions that each execution has by itself.

    From three executions on a reversal has to be confirmed by Gail and Simon's test, by the unit of
    the headline.
    """
    supports = tuple(None if e.headline.low is None else e.support for e in effects)
    headline = _reversal(effects, [e.cr2 or e.t_interval for e in effects])
    is_confirmed = len(effects) == 2 or headline is None or _at_most(headline.p, 1 - level)
    is_equivalent = equivalence is not None and equivalence.passed
    if own is not None:
        own_shift = None if own_p is None else own_p <= 1 - level
        verdict = verdict_of(
            own.supports, own_shift, reversal_confirmed=is_confirmed, is_equivalent=is_equivalent
        )
        own = replace(own, verdict=verdict)
    verdict = verdict_of(
        supports, shift, reversal_confirmed=is_confirmed, is_equivalent=is_equivalent
    )
    return Decision(
        supports=supports,
        reversal=_reversal(effects, [effect.t_interval for effect in effects]),
        headline_reversal=headline,
        verdict=verdict,
        own=own,
    )


def rejects(test: HypothesisTest | None, alpha: float, *, is_primary: bool) -> bool | None:
    """Return whether the shift is established: adjusted p in the family, plain p outside it."""
    if test is None:
        return None
    p = test.p_holm if is_primary else test.p
    return None if p is None else p <= alpha


def _at_most(p: float | None, alpha: float) -> bool:
    return p is not None and p <= alpha


def _reversal(effects: Sequence[Effect], intervals: Sequence[Interval]) -> HypothesisTest | None:
    if len(effects) < 2:
        return None
    method = "intersection-union, one-sided" if len(effects) == 2 else "Gail-Simon"
    pairs = zip(effects, intervals, strict=True)
    rows = [(effect.effect, interval.se, interval.df) for effect, interval in pairs]
    known = [(x, se, df) for x, se, df in rows if se is not None and df is not None]
    p = None if len(known) < len(rows) else reversal_p(*zip(*known, strict=True))
    return HypothesisTest(
        method=method, p=p, reason="an effect has no standard error" if p is None else None
    )
