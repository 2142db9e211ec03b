"""The sign-flip test of a shift: execution labels that mean nothing within a question.

Under exchangeability of the labels within a question, every Z could as well have had the other sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from taketwo.stats.distributions import binomial_masses

__all__ = ["SignFlip", "sign_flip"]

LARGEST_LATTICE = 30_000
ENUMERATED = 16
CELLS_PER_CHUNK = 2_000_000
RELATIVE_TIE = 1e-9


@dataclass(frozen=True, kw_only=True)
class SignFlip:
    """Two-sided p, and mid-p (ties with the observed sum count by half) where it is exact."""

    method: Literal["exact sign-flip", "Monte Carlo sign-flip"]
    p: float
    mid_p: float | None


def sign_flip(
    values: NDArray[np.float64], *, rng: np.random.Generator, draws: int = 10_000
) -> SignFlip:
    """Return the two-sided sign-flip p of N differences.

    Whole numbers are convolved exactly; it then equals the exact McNemar test for values of -1, 0
    and 1. Up to 16 non-zero other values are enumerated. Beyond that `draws` random flips are drawn
    from `rng`, and p = (1 + hits) / (1 + draws) cannot go below 1 / (1 + draws).

    Parameters
    ----------
    values
        N differences, finite.
    """
    size = np.abs(values[values != 0])
    observed = abs(float(values.sum()))
    if not size.size:
        return SignFlip(method="exact sign-flip", p=1.0, mid_p=1.0)
    if (size == np.round(size)).all() and size.max() < 2**53:
        whole = size.astype(np.int64)
        divisor = int(np.gcd.reduce(whole))
        whole //= divisor
        if whole.sum() <= LARGEST_LATTICE:
            return _tails(*_lattice(whole), observed / divisor)
    if size.size <= ENUMERATED:
        return _tails(*_enumerated(size), observed)
    return _drawn(size, observed, rng=rng, draws=draws)


def _lattice(whole: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return every sum of +-`whole` and its probability: a convolution of binomials."""
    mass = np.ones(1)
    steps, times = np.unique(whole, return_counts=True)
    for step, count in zip(steps.tolist(), times.tolist(), strict=True):
        spread = np.zeros(count * step + 1)
        spread[::step] = binomial_masses(count)
        mass = np.convolve(mass, spread)
    sums = 2 * np.arange(len(mass)) - (len(mass) - 1)
    return sums.astype(np.float64), mass


def _enumerated(size: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    sums = np.zeros(1)
    for value in size:
        sums = np.concatenate([sums - value, sums + value])
    return sums, np.full(len(sums), 1.0 / len(sums))


def _tails(sums: NDArray[np.float64], mass: NDArray[np.float64], observed: float) -> SignFlip:
    slack = RELATIVE_TIE * float(np.abs(sums).max())
    ties = np.abs(np.abs(sums) - observed) <= slack
    beyond = float(mass[(np.abs(sums) > observed) & ~ties].sum())
    tied = float(mass[ties].sum())
    return SignFlip(
        method="exact sign-flip", p=min(1.0, beyond + tied), mid_p=min(1.0, beyond + tied / 2)
    )


def _drawn(
    size: NDArray[np.float64], observed: float, *, rng: np.random.Generator, draws: int
) -> SignFlip:
    threshold = observed - RELATIVE_TIE * float(size.sum())
    chunk = max(1, CELLS_PER_CHUNK // size.size)
    hits = 0
    for start in range(0, draws, chunk):
        flips = rng.integers(2, size=(min(chunk, draws - start), size.size), dtype=np.int8)
        sums = 2 * (flips.astype(np.float64) @ size) - size.sum()
        hits += int((np.abs(sums) >= threshold).sum())
    return SignFlip(method="Monte Carlo sign-flip", p=(1 + hits) / (1 + draws), mid_p=None)
