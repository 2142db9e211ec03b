"""Gains that papers on agentic video question answering report, to calibrate what counts as large.

The seven rows are those of the REPAIR paper (its Tables 4 and A7), copied with their provenance; the
papers they come from were not read again. They say nothing of how stable those systems are.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from statistics import fmean, median

from taketwo.errors import InvalidResults

__all__ = ["Gain", "Magnitude", "aggregate_gain", "literature_gains", "magnitude_of"]


@dataclass(frozen=True, kw_only=True)
class Gain:
    """A matched gain in percentage points: system, benchmarks, where it is printed, and what against what.

    `aggregation` is `S` for one benchmark, `M3` for the unweighted mean over three.
    """

    system: str
    benchmarks: tuple[str, ...]
    source: str
    contrast: str
    aggregation: str
    gain_pp: float


def literature_gains() -> tuple[Gain, ...]:
    """Return the seven gains, smallest first."""
    text = files("taketwo.report").joinpath("literature_gains.csv").read_text(encoding="utf-8")
    return tuple(
        Gain(
            system=row["system"],
            benchmarks=tuple(row["benchmarks"].split("; ")),
            source=row["source"],
            contrast=row["contrast"],
            aggregation=row["aggregation"],
            gain_pp=float(row["gain_pp"]),
        )
        for row in csv.DictReader(io.StringIO(text))
    )


def aggregate_gain(
    results: Mapping[str, Sequence[tuple[float, float]]],
) -> tuple[str, float]:
    """Return the aggregation's name and a system's gain from (baseline, method) by benchmark.

    The difference is taken within each benchmark; several conditions of one (Video-MME with and without
    subtitles) are averaged first, so that each benchmark counts once; benchmarks are averaged without
    weights.

    Raises
    ------
    InvalidResults
        If there is no benchmark, or one without a condition.

    Examples
    --------
    >>> aggregate_gain({"Video-MME": [(60.0, 64.0), (66.0, 68.0)], "MLVU": [(50.0, 55.0)]})
    ('M2', 4.0)
    """
    if not results or not all(results.values()):
        raise InvalidResults("a gain needs at least one benchmark, and each a pair of accuracies")
    gains = [fmean(method - base for base, method in pairs) for pairs in results.values()]
    return ("S" if len(gains) == 1 else f"M{len(gains)}"), fmean(gains)


@dataclass(frozen=True, kw_only=True)
class Magnitude:
    """A movement of the effect, in points, beside the gains: times the median, and how many it exceeds."""

    points: float
    times_median: float
    exceeds: int
    of: int


def magnitude_of(points: float) -> Magnitude:
    """Return how large a movement is beside the seven gains."""
    gains = [gain.gain_pp for gain in literature_gains()]
    return Magnitude(
        points=points,
        times_median=points / median(gains),
        exceeds=sum(points > gain for gain in gains),
        of=len(gains),
    )
