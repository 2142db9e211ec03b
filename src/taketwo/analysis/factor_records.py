"""What is said of the factors of the arms: ranks of levels, levels against levels, macro-averages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from taketwo.analysis.effects import HypothesisTest, Interval, Mcnemar
from taketwo.executions.rule import ClusterBy, Metric

__all__ = [
    "FactorFinding",
    "FactorFindings",
    "LevelComparison",
    "MacroAverage",
    "RankedLevel",
    "Ranking",
    "Setting",
]


@dataclass(frozen=True, kw_only=True)
class RankedLevel:
    """A level with the number of arms that its score is a mean of, and its rank with its doubt.

    `low` and `high` are the ranks that the ranking's `level` of the draws lie between, `p_first` and `p_top` the
    probability of the first place and of one of the first places.
    """

    level: str
    arms: int
    score: float
    rank: int
    low: int
    high: int
    p_first: float
    p_top: float


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """The levels of a factor by score, best first, all ranked anew on every draw of the questions.

    `tau_to_sample` and `tau_between_draws` are two readings of Kendall's tau-b. `unbalanced` says that
    levels are means over different levels of the other factors, so that their order may be theirs.
    """

    factor: str
    metric: Metric
    questions: int
    clusters: int
    draws: int
    level: float
    top: int
    levels: tuple[RankedLevel, ...]
    tau_to_sample: float | None
    tau_between_draws: float | None
    unbalanced: str | None


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting of the other factors: the two arms, their effect, gained and lost questions.

    `mcnemar` is None where an arm has several runs, since its scores are then means; `p` is that of
    the exact McNemar test, or of the paired t.
    """

    setting: Mapping[str, str]
    baseline: str
    method: str
    effect: float
    p: float | None
    mcnemar: Mcnemar | None
    is_resolved: bool


@dataclass(frozen=True, kw_only=True)
class LevelComparison:
    """A level of a factor against another over all settings in which both stand.

    `resolved` of `of` settings have p < .05 (`reading` says whose definition that is), `positive` and
    `negative` of them in that direction. `naive_pooled` adds gained and lost questions over settings as
    if they were different questions; it is for parity only and never valid. `pooled` flips the sign of
    a question's effects in all settings together, `average` tests their mean by question or video.
    """

    factor: str
    baseline: str
    method: str
    n: int
    of: int
    resolved: int
    positive: int
    negative: int
    reading: str
    settings: tuple[Setting, ...]
    left_out: tuple[str, ...]
    effect: float
    interval: Interval
    average: HypothesisTest
    pooled: HypothesisTest
    naive_pooled: HypothesisTest | None


@dataclass(frozen=True, kw_only=True)
class MacroAverage:
    """A level's score as the unweighted mean over its `arms` arms, each over `questions` questions."""

    level: str
    arms: int
    questions: int
    mean: float
    lowest: float
    highest: float


@dataclass(frozen=True, kw_only=True)
class FactorFinding:
    """One factor: its levels ranked, averaged, and compared two by two.

    `p_holm` of the comparisons' `average` and `pooled` is over the comparisons of the factor.
    `not_compared` says why levels were not compared with one another, or some not.
    """

    factor: str
    ranking: Ranking
    averages: tuple[MacroAverage, ...]
    comparisons: tuple[LevelComparison, ...]
    not_compared: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FactorFindings:
    """The factors of the arms in one metric, on the questions that every run of every arm has.

    `arms` are the levels of each arm. `by` is the unit that is drawn and tested, `clusters` how many of
    them there are. `left_out` says which factors cannot be shown and why.
    """

    metric: Metric | None
    arms: Mapping[str, Mapping[str, str]]
    questions: int
    by: ClusterBy
    clusters: int
    factors: tuple[FactorFinding, ...]
    left_out: tuple[str, ...] = ()
