"""Tails, quantiles and roots from SciPy, with types: the one place where its untyped names are used."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportArgumentType=false
# SciPy ships without type information.

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

__all__ = [
    "binomial_cdf",
    "binomial_masses",
    "chi2_quantile",
    "chi2_tail",
    "f_quantile",
    "f_tail",
    "log_beta",
    "noncentral_t_tail",
    "normal_cdf",
    "normal_quantile",
    "root_between",
    "t_quantile",
    "t_tail",
]


def t_tail(t: float, df: float) -> float:
    """Return P(T > t) of Student's t."""
    return float(special.stdtr(df, -t))


def t_quantile(probability: float, df: float) -> float:
    """Return the quantile of Student's t."""
    return float(special.stdtrit(df, probability))


def f_tail(f: float, df1: float, df2: float) -> float:
    """Return P(F > f)."""
    return float(special.fdtrc(df1, df2, f))


def f_quantile(probability: float, df1: float, df2: float) -> float:
    """Return the quantile of the F distribution."""
    return float(special.fdtri(df1, df2, probability))


def noncentral_t_tail(t: float, df: float, shift: float) -> float:
    """Return P(T > t) of the non-central t around `shift`."""
    found = float(special.nctdtr(df, -shift, -t))
    # the tail on the far side is at most Phi(shift); SciPy has no number for it where that is tiny
    return 0.0 if math.isnan(found) and t >= 0 and shift < -6 else found


def chi2_tail(x: float, df: float) -> float:
    """Return P(chi-square > x)."""
    return float(special.chdtrc(df, x))


def chi2_quantile(probability: float, df: float) -> float:
    """Return the quantile of the chi-square distribution."""
    return float(special.chdtri(df, 1 - probability))


def normal_cdf(x: float) -> float:
    """Return P(X <= x) of the standard normal distribution."""
    return float(special.ndtr(x))


def log_beta(a: float, b: float) -> float:
    """Return the logarithm of the beta function."""
    return float(special.betaln(a, b))


def normal_quantile(probability: float) -> float:
    """Return the quantile of the standard normal distribution."""
    return float(special.ndtri(probability))


def binomial_cdf(successes: int, trials: int) -> float:
    """Return P(X <= successes) of a fair coin tossed `trials` times."""
    if not 0 <= successes < trials:
        return float(successes >= trials)
    return float(special.betainc(trials - successes, successes + 1, 0.5))


def binomial_masses(trials: int) -> NDArray[np.float64]:
    """Return P(X = 0), ..., P(X = trials) of a fair coin."""
    mode = trials // 2
    steps = np.arange(mode, trials, dtype=np.float64)
    upper = np.cumprod(np.concatenate([[1.0], (trials - steps) / (steps + 1)]))
    both = np.concatenate([upper[::-1][:mode], upper])  # relative to the middle one
    return both / both.sum()


def root_between(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of `function`, which has opposite signs at `low` and `high`."""
    return float(scipy.optimize.brentq(function, low, high, xtol=1e-14))
