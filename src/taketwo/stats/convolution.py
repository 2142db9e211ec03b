"""The distribution of the sum of n draws with replacement, without drawing.

The characteristic function of the sum is that of one draw to the power n. Where all values lie on a
grid it is turned into probabilities by a discrete Fourier transform; else into a Fourier series of
the distribution function on a window outside which Bernstein's inequality leaves less than 1e-15.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taketwo.stats.atoms import Atoms
from taketwo.stats.distributions import normal_quantile

__all__ = ["FourierSum", "GridSum", "fourier_sum", "grid_sum"]

LOG_OUTSIDE = math.log(2 / 1e-15)
LOG_NEGLIGIBLE = -46.0
SMALLEST_TERM = 1e-12
LAST_FREQUENCY = 10.0
LARGEST_WINDOW = 2**17
MOST_TERMS = 2**14
LARGEST_PRODUCT = 4_000_000
TIE = 1e-12
ROUNDS = 80
LAST_STEP = 1e-9  # Newton: the next one would be its square
EXACT_POWERS = 200_000


@dataclass(frozen=True, kw_only=True)
class GridSum:
    """Probabilities of the sum at `first`, `first + step`, ...."""

    first: float
    step: float
    masses: NDArray[np.float64]

    def tails(self, tail: float) -> tuple[float, float]:
        """Return the smallest x with P(S <= x) >= tail and the largest with P(S >= x) >= tail.

        Both are values that the sum takes; negating the values mirrors them.
        """
        low = int(np.argmax(np.cumsum(self.masses) >= tail - TIE))
        high = int(np.argmax(np.cumsum(self.masses[::-1]) >= tail - TIE))
        last = len(self.masses) - 1
        return self.first + low * self.step, self.first + (last - high) * self.step


@dataclass(frozen=True, kw_only=True)
class FourierSum:
    """Fourier series of the distribution of (sum - `centre`) / `scale` on [-`window`, `window`].

    `smoothing` is the standard deviation, in units of `scale`, of a normal error that was added to
    make the series end: 0 unless the values are few and irregular.
    """

    centre: float
    scale: float
    window: float
    frequencies: NDArray[np.float64]
    terms: NDArray[np.complex128]
    smoothing: float

    def cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return P(sum <= x) for sums `x`."""
        z = np.clip((x - self.centre) / self.scale, -self.window, self.window)
        return self._cdf_and_density(z)[0]

    def tails(self, tail: float) -> tuple[float, float]:
        """Return the points below and above which the sum falls with probability `tail`."""
        wanted = np.array([tail, 1 - tail])
        z = np.array([normal_quantile(tail), normal_quantile(1 - tail)])
        low, high = np.full(2, -self.window), np.full(2, self.window)
        for _ in range(ROUNDS):
            probability, density = self._cdf_and_density(z)
            excess = probability - wanted
            low, high = np.where(excess < 0, z, low), np.where(excess < 0, high, z)
            safe = np.where(density > 0, density, 1.0)
            newton = z - excess / safe
            inside = (density > 0) & (newton > low) & (newton < high)
            moved = np.where(inside, newton, (low + high) / 2)
            step = float(np.abs(moved - z).max())
            z = moved
            if step < LAST_STEP:
                break
        return self.centre + float(z[0]) * self.scale, self.centre + float(z[1]) * self.scale

    def _cdf_and_density(
        self, z: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        angle = np.outer(z, self.frequencies)
        cosine, sine = np.cos(angle), np.sin(angle)
        real, imaginary = self.terms.real, self.terms.imag
        slower = imaginary / self.frequencies
        # at the window's lower end every second cosine is -1
        turned = sine @ (real / self.frequencies) - cosine @ slower
        turned += slower[1::2].sum() - slower[::2].sum()
        probability = (z + self.window) / (2 * self.window) + turned / self.window
        density = (0.5 + cosine @ real + sine @ imaginary) / self.window
        return probability, density


def grid_sum(atoms: Atoms) -> GridSum | None:
    """Return the distribution of the sum of n draws of values on a grid, exact to about 1e-12.

    None where the values lie on no grid, or the window that the sum needs has more than 131,072
    points; `fourier_sum` serves then.
    """
    if atoms.step is None:
        return None
    places = np.rint((atoms.values - atoms.values[0]) / atoms.step).astype(np.int64)
    n, shares = atoms.n, atoms.counts / atoms.n
    largest = int(places[-1])
    mean = float(shares @ places)
    variance = n * float(shares @ (places - mean) ** 2)
    half = math.ceil(_bernstein(variance, max(mean, largest - mean))) + 1
    needed = min(n * largest + 1, 2 * half + 1)
    if needed > LARGEST_WINDOW:
        return None
    size = 1 << max(1, (needed - 1).bit_length())
    low = 0 if size > n * largest else math.floor(n * mean) - size // 2
    rough = np.fft.rfft(np.bincount(places % size, weights=shares, minlength=size))
    with np.errstate(divide="ignore"):
        kept = np.flatnonzero(n * np.log(np.abs(rough)) > LOG_NEGLIGIBLE)
    t = 2 * np.pi * kept / size
    if len(kept) * len(places) <= LARGEST_PRODUCT:
        powered = _power(places - mean, shares, None, t, n)
    else:
        with np.errstate(divide="ignore"):
            powered = np.exp(n * (np.log(rough[kept]) + 1j * t * mean))
    spectrum = np.zeros(len(rough), np.complex128)
    spectrum[kept] = np.conj(powered * np.exp(-1j * t * (low - n * mean)))
    if kept[-1] == size // 2:
        spectrum[-1] = spectrum[-1].real
    masses = np.maximum(np.fft.irfft(spectrum, size), 0.0)
    first = n * float(atoms.values[0]) + low * atoms.step
    return GridSum(first=first, step=atoms.step, masses=masses)


def fourier_sum(atoms: Atoms, *, most_terms: int = MOST_TERMS) -> FourierSum:
    """Return the distribution of the sum of n draws as a Fourier series.

    Frequencies are added until the characteristic function stays under 1e-12. Where it does not by
    `most_terms` of them (few values, far apart) a normal error is added that makes it: of about 0.002
    standard errors at 16,384. Values that differ are needed.
    """
    n, shares = atoms.n, atoms.counts / atoms.n
    mean = atoms.mean
    scale = math.sqrt(n * atoms.variance)
    centred = (atoms.values - mean) / scale
    spread = atoms.variances / scale**2 if atoms.variances.any() else None
    window = _bernstein(1.0, float(np.abs(centred).max()))

    def powered(first: int, count: int) -> NDArray[np.complex128]:
        if n <= EXACT_POWERS:
            return _power_of_turns(centred, shares, spread, math.pi / window, first, count, n)
        t = np.arange(first, first + count, dtype=np.float64) * (math.pi / window)
        return _power(centred, shares, spread, t, n)

    block = math.ceil(LAST_FREQUENCY * window / np.pi / 4)
    terms = _until_negligible(powered, block=block, most=most_terms)
    frequencies = np.arange(1, len(terms) + 1, dtype=np.float64) * (math.pi / window)
    smoothing = 0.0
    if float(np.abs(terms[-(len(terms) // 4) - 1 :]).max()) >= SMALLEST_TERM:
        smoothing = math.sqrt(-2 * math.log(SMALLEST_TERM)) / float(frequencies[-1])
        terms = terms * np.exp(-((smoothing * frequencies) ** 2) / 2)
    return FourierSum(
        centre=n * mean, scale=scale, window=window, frequencies=frequencies, terms=terms,
        smoothing=smoothing,
    )  # fmt: skip


def _until_negligible(
    powered: Callable[[int, int], NDArray[np.complex128]], *, block: int, most: int
) -> NDArray[np.complex128]:
    """Return terms 1, 2, ... up to where the last quarter is negligible, or the most allowed."""
    terms = powered(1, 3 * block)
    while len(terms) < most:
        if float(np.abs(terms[-(len(terms) // 4) - 1 :]).max()) < SMALLEST_TERM:
            break
        more = block if len(terms) < 8 * block else len(terms)
        terms = np.concatenate([terms, powered(len(terms) + 1, min(more, most - len(terms)))])
    return terms


def _bernstein(variance: float, largest: float) -> float:
    """Return h with P(|S - E S| > h) <= 1e-15 for a sum of variance `variance` of terms <= `largest`."""
    linear = LOG_OUTSIDE * largest / 3
    return linear + math.sqrt(linear**2 + 2 * LOG_OUTSIDE * variance)


def _power(
    centred: NDArray[np.float64],
    shares: NDArray[np.float64],
    spread: NDArray[np.float64] | None,
    t: NDArray[np.float64],
    n: int,
) -> NDArray[np.complex128]:
    """Return the n-th power of the characteristic function of centred values at `t`.

    1 is subtracted before summing, so that n up to 1e7 costs no digits; `spread` adds the second
    moment inside each bin.
    """
    real, imaginary = np.empty(len(t)), np.empty(len(t))
    rows = max(1, LARGEST_PRODUCT // len(centred))
    for start in range(0, len(t), rows):
        part = slice(start, start + rows)
        angle = np.outer(t[part], centred)
        sine = np.sin(angle)
        angle *= 0.5
        versine = np.sin(angle)
        versine *= versine
        real[part] = -2 * (versine @ shares)
        imaginary[part] = sine @ shares
        if spread is not None:
            within = shares * spread
            half_square = t[part] ** 2 / 2
            real[part] -= half_square * (within.sum() - 2 * (versine @ within))
            imaginary[part] -= half_square * (sine @ within)
    modulus = np.log1p(np.maximum(2 * real + real**2 + imaginary**2, -1 + 1e-300)) / 2
    angle = np.arctan2(imaginary, 1 + real)
    return np.exp(n * (modulus + 1j * angle))


def _power_of_turns(
    centred: NDArray[np.float64],
    shares: NDArray[np.float64],
    spread: NDArray[np.float64] | None,
    turn: float,
    first: int,
    count: int,
    n: int,
) -> NDArray[np.complex128]:
    """Return the same as `_power` at `first`, `first` + 1, ... times `turn`, by multiplication.

    Loses about n times 1e-16, hence for n up to 200,000.
    """
    result = np.empty(count, np.complex128)
    rows = max(1, LARGEST_PRODUCT // len(centred))
    for start in range(0, count, rows):
        size = min(rows, count - start)
        turned = np.empty((size, len(centred)), np.complex128)
        turned[0] = shares * np.exp(1j * (first + start) * turn * centred)
        step, done = np.exp(1j * turn * centred), 1
        while done < size:
            more = min(done, size - done)
            np.multiply(turned[:more], step, out=turned[done : done + more])
            step, done = step * step, done + more
        result[start : start + size] = turned.sum(axis=1)
        if spread is not None:
            t = turn * np.arange(first + start, first + start + size)
            result[start : start + size] -= t**2 / 2 * (turned * spread).sum(axis=1)
    with np.errstate(divide="ignore"):
        return np.exp(n * np.log(result))
