"""Means, covariances and exact intervals of any number of rows in bounded memory.

Parts of the data are summed up by themselves, in any chunks and on any machine, and merged: whole
numbers as exact counts of each value, other values as bins with fixed edges, means and products by
the update of Chan, Golub and LeVeque (1983).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taketwo.stats.atoms import LARGEST_WHOLE, Atoms, Bins, bins_of, grid_step
from taketwo.stats.distributions import t_quantile, t_tail
from taketwo.stats.exact import ExactInterval, mean_of_atoms
from taketwo.stats.paired import MeanTest

__all__ = ["Accumulator", "accumulate"]

MOST_COUNTED = 65_536


@dataclass(frozen=True, kw_only=True)
class _Counts:
    """How often each whole number was seen, ascending."""

    values: NDArray[np.int64]
    times: NDArray[np.int64]

    def atoms(self) -> Atoms:
        """Return the values as atoms on their grid."""
        values = self.values.astype(np.float64)
        return Atoms(
            n=int(self.times.sum()),
            values=values,
            counts=self.times.astype(np.float64),
            variances=np.zeros(len(values)),
            step=grid_step(values),
        )

    def bins(self) -> Bins:
        """Return the same as bins, which have forgotten the single values."""
        return bins_of(self.values.astype(np.float64), self.times.astype(np.float64))


_Tally = _Counts | Bins


@dataclass(frozen=True, kw_only=True)
class Accumulator:
    """What is kept of `n` rows of C columns.

    Means are kept as distances `offsets` from `origins` (a row of the data), so that values far from
    0 lose no digits; `products` is C x C: sums of products of deviations from the means. `tallies`
    are the distributions of the columns.
    """

    n: int
    origins: NDArray[np.float64]
    offsets: NDArray[np.float64]
    products: NDArray[np.float64]
    tallies: tuple[_Tally, ...]

    @classmethod
    def of(cls, rows: NDArray[np.float64]) -> Accumulator:
        """Return the accumulator of one chunk, n x C (or n values of one column), finite.

        Raises
        ------
        ValueError
            If there is no row or a value is not finite.
        """
        columns = np.asarray(rows, np.float64)
        columns = columns[:, None] if columns.ndim == 1 else columns
        if not len(columns) or not np.isfinite(columns).all():
            raise ValueError(f"a chunk needs finite values, got {len(columns)} rows")
        origins = columns[0].copy()
        offsets = (columns - origins).mean(axis=0)
        centred = columns - origins - offsets
        return cls(
            n=len(columns),
            origins=origins,
            offsets=offsets,
            products=centred.T @ centred,
            tallies=tuple(_tally(column) for column in columns.T),
        )

    def merge(self, other: Accumulator) -> Accumulator:
        """Return the accumulator of the rows of both.

        Raises
        ------
        ValueError
            If they have different numbers of columns.
        """
        if len(self.origins) != len(other.origins):
            raise ValueError(
                f"{len(self.origins)} and {len(other.origins)} columns cannot be merged"
            )
        n = self.n + other.n
        apart = (other.origins - self.origins) + (other.offsets - self.offsets)
        return Accumulator(
            n=n,
            origins=self.origins,
            offsets=self.offsets + apart * (other.n / n),
            products=self.products
            + other.products
            + np.outer(apart, apart) * (self.n * other.n / n),
            tallies=tuple(_merged(a, b) for a, b in zip(self.tallies, other.tallies, strict=True)),
        )

    @property
    def means(self) -> NDArray[np.float64]:
        """Return the C means."""
        return self.origins + self.offsets

    @property
    def covariance(self) -> NDArray[np.float64]:
        """Return the C x C covariance with divisor n - 1 (NaN for one row)."""
        return self.products / (self.n - 1) if self.n > 1 else np.full_like(self.products, np.nan)

    def intervals(self, *, level: float = 0.95) -> tuple[ExactInterval, ...]:
        """Return the exact percentile interval of each column's mean; see `exact.exact_mean`."""
        return tuple(mean_of_atoms(_atoms(tally), level=level) for tally in self.tallies)

    def tests(self, *, level: float = 0.95) -> tuple[MeanTest, ...]:
        """Return the t test of each column's mean; see `paired.mean_test`."""
        return tuple(self._test(c, level) for c in range(len(self.origins)))

    def _test(self, c: int, level: float) -> MeanTest:
        n, mean = self.n, float(self.means[c])
        if n == 1:
            return MeanTest(
                method="paired t", n=1, clusters=1, level=level, estimate=mean, se=None, df=None,
                low=None, high=None, statistic=None, p=None, reason="1 question has no variance",
            )  # fmt: skip
        se = math.sqrt(max(0.0, float(self.products[c, c])) / (n - 1) / n)
        atoms = _atoms(self.tallies[c])
        if se <= 1e-12 * float(np.abs(atoms.values[[0, -1]]).max()):
            return MeanTest(
                method="paired t", n=n, clusters=n, level=level, estimate=mean, se=0.0, df=n - 1,
                low=mean, high=mean, statistic=None, p=1.0 if mean == 0 else 2.0 ** (1 - n),
                is_degenerate=True, reason="zero variance: no t; p is that of the exact sign-flip",
            )  # fmt: skip
        half = t_quantile((1 + level) / 2, n - 1) * se
        return MeanTest(
            method="paired t", n=n, clusters=n, level=level, estimate=mean, se=se, df=n - 1,
            low=mean - half, high=mean + half, statistic=mean / se,
            p=2 * t_tail(abs(mean) / se, n - 1),
        )  # fmt: skip


def accumulate(chunks: Iterable[NDArray[np.float64]]) -> Accumulator:
    """Return the accumulator of all chunks, one in memory at a time.

    Empty chunks are passed over.

    Raises
    ------
    ValueError
        If there is no row at all.
    """
    total: Accumulator | None = None
    for chunk in chunks:
        if len(chunk):
            part = Accumulator.of(chunk)
            total = part if total is None else total.merge(part)
    if total is None:
        raise ValueError("no chunk holds a row")
    return total


def _tally(column: NDArray[np.float64]) -> _Tally:
    low, high = float(column.min()), float(column.max())
    if max(abs(low), abs(high)) < LARGEST_WHOLE and (column == np.rint(column)).all():
        whole = column.astype(np.int64)
        if high - low < 2**20:
            times = np.bincount(whole - int(low))
            seen = np.flatnonzero(times)
            return _limited(_Counts(values=seen + int(low), times=times[seen]))
        values, counted = np.unique(whole, return_counts=True)
        return _limited(_Counts(values=values, times=counted))
    return bins_of(column)


def _merged(a: _Tally, b: _Tally) -> _Tally:
    if isinstance(a, _Counts) and isinstance(b, _Counts):
        values, place = np.unique(np.concatenate([a.values, b.values]), return_inverse=True)
        times = np.zeros(len(values), np.int64)
        np.add.at(times, place, np.concatenate([a.times, b.times]))
        return _limited(_Counts(values=values, times=times))
    return _as_bins(a).merge(_as_bins(b))


def _limited(counts: _Counts) -> _Tally:
    """Return the counts, or bins where there are more than 65,536 different values."""
    return counts if len(counts.values) <= MOST_COUNTED else counts.bins()


def _as_bins(tally: _Tally) -> Bins:
    return tally if isinstance(tally, Bins) else tally.bins()


def _atoms(tally: _Tally) -> Atoms:
    return tally.atoms()
