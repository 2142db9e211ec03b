"""An empirical distribution as weighted points: raw values, counts of a grid, or bins of many values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Atoms", "Bins", "atoms_of_values", "bins_of", "bins_of_sorted", "grid_step", "is_whole"]

MANTISSA_BITS = 6
DROPPED_BITS = 52 - MANTISSA_BITS
LARGEST_WHOLE = float(2**53)
SHORT_LIST = 64
GRID_TOLERANCE = 1e-9
FINEST_GRID = 2**20
COUNTED_RANGE = 2**16


@dataclass(frozen=True, kw_only=True)
class Atoms:
    """Where the mass of `n` observations lies.

    `values` and `counts` have one entry per atom, values ascending; `variances` is the variance
    inside each atom, zeros unless the atoms are bins. `step` is the spacing of the grid that all
    values lie on, None where there is none.
    """

    n: int
    values: NDArray[np.float64]
    counts: NDArray[np.float64]
    variances: NDArray[np.float64]
    step: float | None

    @property
    def mean(self) -> float:
        """Return the mean of the observations, computed around a value in their middle."""
        middle = float(self.values[len(self.values) // 2])
        return middle + float(self.counts @ (self.values - middle)) / self.n

    @property
    def variance(self) -> float:
        """Return the variance with divisor n."""
        centred = self.values - self.mean
        return float(self.counts @ (centred**2 + self.variances)) / self.n


@dataclass(frozen=True, kw_only=True)
class Bins:
    """Counts, sums and squares of values in bins whose edges do not depend on the data.

    A bin is a sign, a power of two and the first six bits behind it, so that it is 1/64 to 1/128 as
    wide as its values are large; `keys` names it and is ascending. `inside` is the mean distance of its
    values from its edge nearest to 0, `squares` the sum of squares around that mean. Edges being
    fixed, bins of two parts of the data make the bins of the whole, in any order.
    """

    n: int
    keys: NDArray[np.int64]
    counts: NDArray[np.float64]
    inside: NDArray[np.float64]
    squares: NDArray[np.float64]

    def merge(self, other: Bins) -> Bins:
        """Return the bins of both sets of values."""
        keys, place = np.unique(np.concatenate([self.keys, other.keys]), return_inverse=True)
        mine, theirs = place[: len(self.keys)], place[len(self.keys) :]
        counts = _spread(self.counts, mine, len(keys))
        more = _spread(other.counts, theirs, len(keys))
        inside = _spread(self.inside, mine, len(keys))
        apart = np.where(more > 0, _spread(other.inside, theirs, len(keys)) - inside, 0.0)
        both = counts + more
        squares = _spread(self.squares, mine, len(keys)) + _spread(other.squares, theirs, len(keys))
        return Bins(
            n=self.n + other.n,
            keys=keys,
            counts=both,
            inside=inside + apart * (more / both),
            squares=squares + apart**2 * (counts * more / both),
        )

    def atoms(self) -> Atoms:
        """Return one atom per bin, at the mean of its values, with the variance inside it."""
        values = _edges(self.keys) + self.inside
        order = np.argsort(values)
        return Atoms(
            n=self.n,
            values=values[order],
            counts=self.counts[order],
            variances=(self.squares / self.counts)[order],
            step=None,
        )


def bins_of(values: NDArray[np.float64], counts: NDArray[np.float64] | None = None) -> Bins:
    """Return the bins of finite `values`, each counted `counts` times (default: once)."""
    times = np.ones(len(values)) if counts is None else counts
    plus_zero = np.ascontiguousarray(values, np.float64) + 0.0
    shifted = plus_zero.view(np.int64) >> DROPPED_BITS
    low = int(shifted.min())
    span = int(shifted.max()) - low + 1
    found: NDArray[np.int64]
    place: NDArray[np.intp]
    if span <= max(4 * len(values), 2**16):
        dense = np.bincount(shifted - low, weights=times, minlength=span)
        found = np.flatnonzero(dense) + low
        position = np.zeros(span, np.int64)
        position[found - low] = np.arange(len(found))
        place = position[shifted - low]
    else:
        found, place = np.unique(shifted, return_inverse=True)
    distance = plus_zero - _edges(found)[place]
    counted = _added(place, times)
    inside = _added(place, times * distance) / counted
    return Bins(
        n=round(float(times.sum())),
        keys=found,
        counts=counted,
        inside=inside,
        squares=_added(place, times * (distance - inside[place]) ** 2),
    )


def bins_of_sorted(ordered: NDArray[np.float64]) -> Bins:
    """Return the bins of ascending finite values: the same, and quicker."""
    plus_zero = np.ascontiguousarray(ordered, np.float64) + 0.0
    shifted = plus_zero.view(np.int64) >> DROPPED_BITS
    starts = np.concatenate([[0], np.flatnonzero(shifted[1:] != shifted[:-1]) + 1])
    counts = np.diff(starts, append=len(shifted))
    found = shifted[starts]
    distance = plus_zero - np.repeat(_edges(found), counts)
    inside = np.add.reduceat(distance, starts) / counts
    distance -= np.repeat(inside, counts)
    squares = np.add.reduceat(distance**2, starts)
    order = np.argsort(found)
    return Bins(
        n=len(ordered),
        keys=found[order],
        counts=counts[order].astype(np.float64),
        inside=inside[order],
        squares=squares[order],
    )


def _edges(keys: NDArray[np.int64]) -> NDArray[np.float64]:
    return (keys << DROPPED_BITS).view(np.float64)


def _spread(values: NDArray[np.float64], place: NDArray[np.intp], size: int) -> NDArray[np.float64]:
    spread = np.zeros(size)
    spread[place] = values
    return spread


def _added(place: NDArray[np.intp], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.bincount(place, weights=weights), np.float64)


def atoms_of_values(values: NDArray[np.float64]) -> Atoms:
    """Return the distinct values with their counts, and the grid that they lie on, if any.

    The result does not depend on the order of `values`.
    """
    ordered, times = _distinct(values)
    return Atoms(
        n=len(values),
        values=ordered,
        counts=times.astype(np.float64),
        variances=np.zeros(len(ordered)),
        step=grid_step(ordered),
    )


def _distinct(
    values: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    low, high = float(values.min()), float(values.max())
    if high - low < COUNTED_RANGE and max(-low, high) < LARGEST_WHOLE and is_whole(values):
        times = np.bincount((values - low).astype(np.int64))
        seen = np.flatnonzero(times)
        return (seen + round(low)).astype(np.float64), times[seen]
    return np.unique(values, return_counts=True)


def is_whole(values: NDArray[np.float64]) -> bool:
    """Return whether all values are whole numbers; quick where the first ones are not."""
    first = values[:SHORT_LIST]
    return bool((first == np.rint(first)).all() and (values == np.rint(values)).all())


def grid_step(ordered: NDArray[np.float64]) -> float | None:
    """Return the largest step of which all gaps of ascending distinct values are multiples.

    Whole numbers always have one. Of other values (scores in quarters, thirds) it is sought where
    there are at most 64 distinct ones, to a relative 1e-9 of their range.
    """
    if len(ordered) < 2:
        return None
    gaps = np.diff(ordered)
    if np.abs(ordered[[0, -1]]).max() < LARGEST_WHOLE and is_whole(ordered):
        return float(np.gcd.reduce(gaps.astype(np.int64)))
    if len(ordered) > SHORT_LIST:
        return None
    span = float(ordered[-1] - ordered[0])
    rounding = 4 * float(np.spacing(np.abs(ordered).max()))
    slack = max(GRID_TOLERANCE * span, rounding)
    step = float(gaps[0])
    for gap in gaps.tolist():
        larger, smaller = max(step, gap), min(step, gap)
        while smaller > slack:
            remainder = larger % smaller
            remainder = min(remainder, smaller - remainder)
            larger, smaller = smaller, remainder
        step = larger
        if step * FINEST_GRID < span:
            return None
    multiples = (ordered - ordered[0]) / step
    refined = span / float(np.rint(multiples[-1]))
    error = np.abs(ordered - ordered[0] - np.rint(multiples) * refined).max()
    return refined if error <= slack else None
