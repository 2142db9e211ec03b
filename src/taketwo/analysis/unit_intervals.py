"""Intervals of means of cells: whole questions or videos are drawn, each with all its executions.

The cells of one question are one thing seen several times, and the milestones of one trajectory are
as well: a second execution that repeats the first, or a question with twice as many milestones, adds
no certainty. What decides is the rule of `headline`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from taketwo.analysis.effects import Interval
from taketwo.analysis.headline import decide
from taketwo.analysis.intervals import QUESTION_STREAM, VIDEO_STREAM, Resampled
from taketwo.analysis.pair_values import Clusters, Column
from taketwo.executions.rule import ClusterBy
from taketwo.stats.cluster import cluster_sums
from taketwo.stats.resampling import bootstrap_means, percentile_intervals

__all__ = [
    "Drawing",
    "Parts",
    "linearised",
    "mean_interval",
    "mean_of_ratios",
    "unit_names",
    "units_of",
]

Parts = Mapping[str, tuple[float, float]]
"""What each question adds to the numerator and the denominator of a ratio, by its id."""


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """How intervals are made: the unit that is drawn, the level, and the draws of the bootstrap.

    The percentile bootstrap decides from 50 units on; below it is CR2, and nothing is drawn.
    """

    by: ClusterBy = "video"
    level: float = 0.95
    seed: int = 0
    draws: int = 2_000


def unit_names(by: ClusterBy) -> pl.Expr:
    """Return the unit of a cell; a question without a video id is a unit of its own."""
    unit = pl.coalesce("video_id", "question_id") if by == "video" else pl.col("question_id")
    return unit.alias("unit")


def units_of(frame: pl.DataFrame, by: ClusterBy) -> Mapping[str, str]:
    """Return the unit of each question of a table of outcomes."""
    videos = frame.group_by("question_id").agg(pl.col("video_id").drop_nulls().first())
    return dict(videos.sort("question_id").select("question_id", unit_names(by)).iter_rows())


def mean_interval(
    values: NDArray[np.float64],
    units: Sequence[str],
    drawing: Drawing,
    *,
    lowest: float = 0.0,
    most: float = 1.0,
) -> Interval | None:
    """Return the interval of the mean of `values` (N), the unit of each in `units`.

    Its ends are kept between `lowest` and `most`. None where there are fewer than two units, and where
    all values are equal: a point would claim certainty.
    """
    if not len(values):
        return None
    codes = np.unique(np.asarray(units), return_inverse=True)[1].astype(np.int64)
    column = Column(values=values, questions=np.arange(len(values), dtype=np.int64), cluster=codes)
    sums = cluster_sums(values, codes)
    clusters = Clusters(
        n=len(sums.sizes),
        largest_share=sums.largest_share,
        hold_several=bool(sums.sizes.max() > 1),
    )
    drawn = Resampled(by_question=None, by_video=None)
    if not clusters.are_few:
        stream = VIDEO_STREAM if clusters.hold_several else QUESTION_STREAM
        rng = np.random.default_rng((drawing.seed, stream))
        replicates = bootstrap_means(sums, draws=drawing.draws, rng=rng)
        (ends,) = percentile_intervals(replicates, level=drawing.level)
        drawn = Resampled(by_question=ends, by_video=ends)
    found = decide(column, drawn, clusters, level=drawing.level).interval
    if found.low is None or found.high is None or found.low >= found.high:
        return None
    return Interval(
        method=found.method,
        level=found.level,
        low=max(lowest, found.low),
        high=min(most, found.high),
        se=found.se,
        df=found.df,
    )


def linearised(
    sums: NDArray[np.float64], sizes: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return a value per question whose mean is the mean over columns of their ratios.

    Parameters
    ----------
    sums, sizes
        Q x R: what each question adds to the numerator and to the denominator of each ratio, for
        instance the score of its judged cells and their number. Every column needs a size above 0.

    Returns
    -------
    tuple
        The values of the questions that have a part in any ratio, and which those are (Q).

    Notes
    -----
    The linearisation of a ratio estimator (Cochran 1977, Sampling Techniques, section 6.3): question i
    deviates from the mean by ``Q (sum_i - ratio size_i) / sum of sizes``, averaged over columns.
    Where every question is in every column alike, the value is the question's own mean over the
    columns and nothing is approximated.
    """
    is_used: NDArray[np.bool_] = np.logical_or.reduce(sizes > 0, axis=1)
    part, weight = sums[is_used], sizes[is_used]
    totals = weight.sum(axis=0)
    ratios = part.sum(axis=0) / totals
    values: NDArray[np.float64] = (ratios + len(part) * (part - weight * ratios) / totals).mean(
        axis=1
    )
    return values, is_used


def mean_of_ratios(
    parts: Sequence[Parts],
    units: Mapping[str, str],
    drawing: Drawing,
    *,
    lowest: float = 0.0,
    most: float = 1.0,
) -> Interval | None:
    """Return the interval of the unweighted mean of several ratios over the same questions.

    Parameters
    ----------
    parts
        A ratio each. A question that stands in several is drawn for all of them at once, so that what
        it has in common cancels or adds up as it does in the mean.
    units
        The unit of each question.
    """
    questions = sorted({question for part in parts for question in part})
    if not questions:
        return None
    none = (0.0, 0.0)
    found = np.array([[part.get(question, none) for part in parts] for question in questions])
    values, is_used = linearised(found[:, :, 0], found[:, :, 1])
    used = [units[question] for question, has in zip(questions, is_used, strict=True) if has]
    return mean_interval(values, used, drawing, lowest=lowest, most=most)
