"""How firmly a leaderboard stands: ranks over bootstrap draws of the questions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["RankStability", "SystemRank", "mid_ranks", "rank_stability"]

SAME_SCORE = 1e-10
CELLS_PER_CHUNK = 4_000_000


@dataclass(frozen=True, kw_only=True)
class SystemRank:
    """One system: its score and rank (1 is best), and where it ranks over the draws.

    `low` and `high` are quantiles of the rank by `inverted_cdf`, so that they are ranks. `p_top` is
    the probability of a place among the first `top`, `p_first` of the first place; systems with the
    same score share the places that they take, so that `p_first` sums to 1.
    """

    score: float
    rank: int
    low: int
    high: int
    p_first: float
    p_top: float


@dataclass(frozen=True, kw_only=True)
class RankStability:
    """Ranks of M systems over B draws, and two readings of "Kendall's tau-b".

    `tau_to_sample` is the mean over draws of tau-b between a draw's scores and those of the full
    sample; `tau_between_draws` the mean over pairs of draws. The second is lower (0.56 where the
    first is 0.68, in an example of 14 systems on 100 questions). None where all scores tie.
    """

    systems: tuple[SystemRank, ...]
    draws: int
    level: float
    top: int
    tau_to_sample: float | None
    tau_between_draws: float | None


def rank_stability(
    scores: NDArray[np.float64],
    replicates: NDArray[np.float64],
    *,
    top: int = 3,
    level: float = 0.95,
) -> RankStability:
    """Return how the ranks of M systems vary over bootstrap draws of the questions.

    Parameters
    ----------
    scores
        M scores of the full sample; higher is better.
    replicates
        B x M scores of the draws, all systems from the same draws (`resampling.bootstrap_means`).
        Means over a factor may have been taken in both.
    top
        A place counts as top up to this rank.
    level
        Coverage of the rank intervals.

    Raises
    ------
    ValueError
        If shapes do not agree, a score is not finite, or `top` is not one of the ranks.

    Notes
    -----
    Scores that differ by less than 1e-10 of the largest are the same score. A rank is 1 plus the
    number of systems that are strictly better.
    """
    draws, systems = _shape(scores, replicates)
    if not 1 <= top <= systems:
        raise ValueError(f"the top of {systems} systems is 1 to {systems}, got {top}")
    grid = SAME_SCORE * max(float(np.abs(scores).max()), float(np.abs(replicates).max()), 1e-300)
    sample = np.rint(scores / grid)
    rank = 1 + (sample[None, :] > sample[:, None]).sum(axis=1)
    upper = np.triu_indices(systems, 1)
    sample_signs = _unit_signs(sample[None, :], upper)[0]
    better, tied = _places(replicates, grid)
    total, squares, to_sample, usable = np.zeros(len(upper[0])), 0.0, 0.0, 0
    rows = max(1, CELLS_PER_CHUNK // systems**2)
    for start in range(0, draws, rows):
        signs = _unit_signs(np.rint(replicates[start : start + rows] / grid), upper)
        lengths = (signs**2).sum(axis=1)
        usable += int((lengths > 0).sum())
        squares += float(lengths.sum())
        total += signs.sum(axis=0)
        to_sample += float((signs @ sample_signs).sum())
    tails = [(1 - level) / 2, (1 + level) / 2]
    ends = np.quantile(1 + better, tails, axis=0, method="inverted_cdf")
    p_first = np.clip((1 - better) / tied, 0, 1).mean(axis=0)
    p_top = np.clip((top - better) / tied, 0, 1).mean(axis=0)
    is_ranked = usable > 0 and bool(sample_signs.any())
    between = float(total @ total) - squares
    ranks = (rank.tolist(), ends[0].tolist(), ends[1].tolist())
    return RankStability(
        systems=tuple(
            SystemRank(score=x, rank=r, low=a, high=b, p_first=p, p_top=q)
            for x, r, a, b, p, q in zip(
                scores.tolist(), *ranks, p_first.tolist(), p_top.tolist(), strict=True
            )
        ),
        draws=draws,
        level=level,
        top=top,
        tau_to_sample=to_sample / usable if is_ranked else None,
        tau_between_draws=between / (usable * (usable - 1)) if usable > 1 else None,
    )


def mid_ranks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ranks of M scores, 1 for the highest, ties sharing the mean of their ranks."""
    better = (scores[None, :] > scores[:, None]).sum(axis=1)
    tied = (scores[None, :] == scores[:, None]).sum(axis=1)
    return better + (tied + 1) / 2


def _places(
    replicates: NDArray[np.float64], grid: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many systems are better than each, and how many as good (itself counted), B x M."""
    draws, systems = replicates.shape
    better, tied = np.empty((draws, systems), np.int64), np.empty((draws, systems), np.int64)
    rows = max(1, CELLS_PER_CHUNK // systems**2)
    for start in range(0, draws, rows):
        part = np.rint(replicates[start : start + rows] / grid)
        better[start : start + rows] = (part[:, None, :] > part[:, :, None]).sum(axis=2)
        tied[start : start + rows] = (part[:, None, :] == part[:, :, None]).sum(axis=2)
    return better, tied


def _unit_signs(
    scores: NDArray[np.float64], upper: tuple[NDArray[np.intp], NDArray[np.intp]]
) -> NDArray[np.float64]:
    """Return the signs of all pairs per row, scaled to length 1: tau-b is the product of two rows."""
    signs = np.sign(scores[:, upper[0]] - scores[:, upper[1]])
    lengths = np.sqrt((signs**2).sum(axis=1, keepdims=True))
    return signs / np.where(lengths == 0, 1.0, lengths)


def _shape(scores: NDArray[np.float64], replicates: NDArray[np.float64]) -> tuple[int, int]:
    is_table = replicates.ndim == 2 and scores.ndim == 1 and replicates.shape[1] == len(scores)
    if not is_table or not replicates.size:
        raise ValueError(f"ranks need M scores and draws x M of them, got {scores.shape} and {replicates.shape}")  # fmt: skip
    if not (np.isfinite(scores).all() and np.isfinite(replicates).all()):
        raise ValueError("ranks need finite scores")
    return replicates.shape[0], replicates.shape[1]
