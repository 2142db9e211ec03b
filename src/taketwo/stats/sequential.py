"""Looking at a re-execution while it runs, at any time, without inflating the error.

All three procedures hold at every stopping time, provided that questions are monitored in an order
that was drawn before the run. Completion order is related to latency and outcome, and peeking in it,
or at a plain test, is not valid: looking at a 5 % test after every question rejects in 38.6 % of
executions without any shift (simulated, N = 1,283).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from taketwo.errors import RuleMismatch
from taketwo.stats.distributions import log_beta

__all__ = [
    "Monitored",
    "QuestionOrder",
    "asymptotic_sequence",
    "betting_sequence",
    "draw_order",
    "mcnemar_e_process",
]

TRUNCATION = 0.5
GRID = 2_001
CELLS_PER_CHUNK = 2_000_000


@dataclass(frozen=True, kw_only=True)
class QuestionOrder:
    """In which order questions are monitored, and where the order comes from."""

    origin: Literal["drawn before the run", "completion"]
    indices: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Monitored:
    """What is known after `seen` questions of a pre-drawn order.

    `stopped_at` is the number of questions at which the claim of no effect was first rejected, None
    if it was not. `evidence` is the e-value against it (a bet's winnings) where the procedure has
    one, `estimate` the mean so far, `low` and `high` the confidence sequence, intersected over time.
    """

    method: str
    alpha: float
    seen: int
    stopped_at: int | None
    estimate: float | None
    evidence: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str | None = None


def draw_order(questions: int, *, rng: np.random.Generator) -> QuestionOrder:
    """Return a random order of `questions` questions, to be drawn and stored before the run."""
    return QuestionOrder(
        origin="drawn before the run", indices=tuple(rng.permutation(questions).tolist())
    )


def mcnemar_e_process(
    later: NDArray[np.float64],
    earlier: NDArray[np.float64],
    *,
    order: QuestionOrder,
    alpha: float = 0.05,
) -> Monitored:
    """Return the sequential McNemar test that as many questions are gained as lost.

    Parameters
    ----------
    later, earlier
        N outcomes of 0 and 1 by question, NaN where the question is not finished. Only the leading
        part of the order that is finished in both is looked at.
    order
        A pre-drawn order of the N questions.
    alpha
        Chance of ever rejecting where there is no effect.

    Raises
    ------
    RuleMismatch
        If the order was not drawn before the run.
    ValueError
        If the order is no permutation, or a value is neither 0 nor 1 nor missing.

    Notes
    -----
    The e-value after G gains and L losses is ``2^(G+L) B(G + 1/2, L + 1/2) / B(1/2, 1/2)``, a
    mixture of likelihood ratios over Jeffreys' prior; it is a martingale where gains and losses are
    equally likely, so that it ever reaches 1 / alpha with probability alpha at most (Ville 1939).
    """
    d = _in_order(later - earlier, order)
    outcomes = _in_order(later, order)[: len(d)]
    if not (np.isin(d, (-1.0, 0.0, 1.0)).all() and np.isin(outcomes, (0.0, 1.0)).all()):
        raise ValueError("McNemar's test needs outcomes of 0 and 1 only")
    gained, lost = np.cumsum(d > 0), np.cumsum(d < 0)
    logs = np.array([
        (g + b) * math.log(2) + log_beta(g + 0.5, b + 0.5) - log_beta(0.5, 0.5)
        for g, b in zip(gained.tolist(), lost.tolist(), strict=True)
    ])
    return Monitored(
        method="McNemar e-process",
        alpha=alpha,
        seen=len(d),
        stopped_at=_first(logs >= -math.log(alpha)),
        estimate=float(d.mean()) if len(d) else None,
        evidence=math.exp(logs[-1]) if len(d) else 1.0,
        reason=None if len(d) else "no question of the order is finished",
    )


def betting_sequence(
    values: NDArray[np.float64],
    *,
    order: QuestionOrder,
    low: float = -2.0,
    high: float = 2.0,
    tuned_to: int | None = None,
    alpha: float = 0.05,
) -> Monitored:
    """Return the betting confidence sequence of the mean of bounded values (a binary shift Z).

    Parameters
    ----------
    values
        N values inside [low, high], NaN where unfinished.
    tuned_to
        Number of questions at which the bets are sharpest (half of N stops early and keeps power);
        None bets by the number seen so far.

    Raises
    ------
    RuleMismatch
        If the order was not drawn before the run.
    ValueError
        If a value lies outside [low, high] or the order is no permutation.

    Notes
    -----
    Waudby-Smith and Ramdas (2024), doi 10.1093/jrsssb/qkad009, the mean of the
    capitals of a bet upwards and one downwards on (Z - low) / (high -
    low), bets ``sqrt(2 log(2 / alpha) / (variance n0))``
    from the past only, truncated at half of what can be lost. Ends are rounded outwards to a grid of 1 / 2,000 of the range. Never take the
    version for sampling without replacement: its target is the realised mean of these N questions,
    and it rejects in 64 % of executions without a shift.
    """
    z = _in_order(values, order)
    if len(z) and (float(z.min()) < low or float(z.max()) > high):
        raise ValueError(f"bets need values from {low:g} to {high:g}, got {z.min():g} to {z.max():g}")  # fmt: skip
    name = "betting confidence sequence"
    if not len(z):
        return _unseen(name, alpha)
    y = (z - low) / (high - low)
    candidates = np.linspace(0, 1, GRID)
    is_possible = _never_ruined(y, candidates, tuned_to=tuned_to, alpha=alpha).all(axis=0)
    kept = np.flatnonzero(is_possible)
    first, last = (int(kept[0]), int(kept[-1])) if len(kept) else (0, 0)
    null = (0 - low) / (high - low)
    survives = _never_ruined(y, np.array([null]), tuned_to=tuned_to, alpha=alpha)[:, 0]
    step = 1 / (GRID - 1)
    return Monitored(
        method=name,
        alpha=alpha,
        seen=len(z),
        stopped_at=_first(~survives),
        estimate=float(z.mean()),
        evidence=None,
        low=low + (high - low) * max(0.0, first * step - step) if len(kept) else None,
        high=low + (high - low) * min(1.0, last * step + step) if len(kept) else None,
        reason=None if len(kept) else "every mean has been rejected at some time",
    )


def asymptotic_sequence(
    values: NDArray[np.float64],
    *,
    order: QuestionOrder,
    tuned_to: int,
    burn_in: int = 50,
    alpha: float = 0.05,
) -> Monitored:
    """Return the asymptotic confidence sequence of the mean of any values (latency).

    Parameters
    ----------
    values
        N values, NaN where unfinished.
    tuned_to
        Number of questions at which it is to be narrowest.
    burn_in
        Questions before which nothing is rejected: the normal approximation needs some.

    Raises
    ------
    RuleMismatch
        If the order was not drawn before the run.
    ValueError
        If the order is no permutation, or `tuned_to` or `burn_in` is below 2.

    Notes
    -----
    Waudby-Smith et al. (2024), doi 10.1214/24-AOS2408: ``mean +- s sqrt(2 (n r^2 + 1) / (n^2 r^2)
    log(sqrt(n r^2 + 1) / alpha))``, r tuned as in their appendix. Valid for large n only.
    """
    if tuned_to < 2 or burn_in < 2:
        raise ValueError(f"at least 2 questions are needed, got {tuned_to} and {burn_in}")
    x = _in_order(values, order)
    name = "asymptotic confidence sequence"
    if not len(x):
        return _unseen(name, alpha)
    n = np.arange(1, len(x) + 1)
    shift = float(x[0])
    mean = np.cumsum(x - shift) / n
    variance = np.maximum(np.cumsum((x - shift) ** 2) / n - mean**2, 0.0)
    mean = mean + shift
    inner = -2 * math.log(alpha)
    r2 = (inner + math.log(inner + 1)) / tuned_to
    half = np.sqrt(variance * 2 * (n * r2 + 1) / (n**2 * r2) * np.log(np.sqrt(n * r2 + 1) / alpha))
    usable = n >= burn_in
    if not usable.any():
        return Monitored(
            method=name, alpha=alpha, seen=len(x), stopped_at=None, estimate=float(x.mean()),
            reason=f"fewer than {burn_in} questions",
        )  # fmt: skip
    lower = np.where(usable, mean - half, -np.inf)
    upper = np.where(usable, mean + half, np.inf)
    return _intersected(name, alpha, float(x.mean()), lower, upper)


def _intersected(
    method: str,
    alpha: float,
    estimate: float,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
) -> Monitored:
    """Return what holds after all of a sequence of intervals."""
    bottom, top = float(lower.max()), float(upper.min())
    return Monitored(
        method=method,
        alpha=alpha,
        seen=len(lower),
        stopped_at=_first((lower > 0) | (upper < 0)),
        estimate=estimate,
        low=bottom if bottom <= top else None,
        high=top if bottom <= top else None,
        reason=None if bottom <= top else "every mean has been rejected at some time",
    )


def _in_order(values: NDArray[np.float64], order: QuestionOrder) -> NDArray[np.float64]:
    """Return the finished leading part of `values` in a valid order."""
    if order.origin != "drawn before the run":
        raise RuleMismatch(
            "early stopping was asked for in the order of completion, which depends on latency and "
            "outcome: no error rate holds there; monitor the order that the plan drew, or wait for "
            "all questions"
        )
    if sorted(order.indices) != list(range(len(values))):
        raise ValueError(f"the order has {len(order.indices)} places for {len(values)} questions")
    arranged = np.asarray(values, np.float64)[list(order.indices)]
    missing = np.flatnonzero(~np.isfinite(arranged))
    return arranged[: int(missing[0])] if len(missing) else arranged


def _never_ruined(
    y: NDArray[np.float64],
    candidates: NDArray[np.float64],
    *,
    tuned_to: int | None,
    alpha: float,
) -> NDArray[np.bool_]:
    """Return n x candidates: whether the bets against each mean still stay under 1 / alpha then."""
    n = np.arange(1, len(y) + 1)
    mean = (0.5 + np.cumsum(y)) / (n + 1)
    variance = (0.25 + np.cumsum((y - mean) ** 2)) / (n + 1)
    past = np.concatenate([[0.25], variance[:-1]])
    horizon = n * np.log(n + 1) if tuned_to is None else np.full(len(y), float(tuned_to))
    bet = np.sqrt(2 * math.log(2 / alpha) / (past * horizon))
    alive = np.empty((len(y), len(candidates)), bool)
    width = max(1, CELLS_PER_CHUNK // len(y))
    for start in range(0, len(candidates), width):
        m = candidates[start : start + width]
        with np.errstate(divide="ignore"):
            up = np.minimum(bet[:, None], TRUNCATION / m)
            down = np.minimum(bet[:, None], TRUNCATION / (1 - m))
        distance = y[:, None] - m
        winnings = np.logaddexp(
            np.cumsum(np.log1p(up * distance), axis=0),
            np.cumsum(np.log1p(-down * distance), axis=0),
        ) - math.log(2)
        alive[:, start : start + width] = winnings < -math.log(alpha)
    return alive


def _first(condition: NDArray[np.bool_]) -> int | None:
    found = np.flatnonzero(condition)
    return int(found[0]) + 1 if len(found) else None


def _unseen(method: str, alpha: float) -> Monitored:
    return Monitored(
        method=method, alpha=alpha, seen=0, stopped_at=None, estimate=None,
        reason="no question of the order is finished",
    )  # fmt: skip
