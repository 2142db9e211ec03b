"""Every number that a study can claim, with the diagnostics that qualify it; what a report reads.

Effects are method minus baseline, in the metric's own unit (accuracy: a fraction, not points).
The records of one metric's numbers are in `effects`, those of the population in `population`; all
of them can be imported from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, cast

from pydantic import TypeAdapter, ValidationError

from taketwo.analysis.clustered import ClusteredEffect, ClusteredShift, ClusterFigures
from taketwo.analysis.effects import (
    Bounds,
    Effect,
    Equivalence,
    HypothesisTest,
    Interval,
    Mcnemar,
    Movement,
    Sensitivity,
    Shift,
)
from taketwo.analysis.factor_records import FactorFinding, FactorFindings
from taketwo.analysis.intervals import Bootstrap
from taketwo.analysis.population import (
    CellCount,
    ClusterAccount,
    Loss,
    LossPattern,
    LossStep,
    Population,
)
from taketwo.analysis.statements import Statements
from taketwo.analysis.subgroups import Subgroup, SubgroupShare, SubgroupTable
from taketwo.analysis.variation import ArmRuns, Average, PairCounts, Variation
from taketwo.analysis.verdict import Flag, PaperLabel, Verdict
from taketwo.benchmarks.canonical import JsonValue
from taketwo.errors import InvalidResults
from taketwo.executions.rule import Metric, Rule

__all__ = [
    "FORMAT",
    "Alignment",
    "ArmRuns",
    "Average",
    "Bounds",
    "CellCount",
    "ClusterAccount",
    "ClusterFigures",
    "ClusteredEffect",
    "ClusteredShift",
    "Comparison",
    "Counts",
    "Effect",
    "Equivalence",
    "FactorFinding",
    "FactorFindings",
    "Flag",
    "HypothesisTest",
    "Interval",
    "Kind",
    "Loss",
    "LossPattern",
    "LossStep",
    "Mcnemar",
    "MetricComparison",
    "MetricMean",
    "Movement",
    "NotMeasured",
    "PairComparison",
    "PairCounts",
    "PaperLabel",
    "Population",
    "Sensitivity",
    "Shift",
    "Statements",
    "Subgroup",
    "SubgroupShare",
    "SubgroupTable",
    "Variation",
    "Verdict",
]

FORMAT = "taketwo.comparison/1"

Kind = Literal["binary", "continuous"]
Alignment = Literal["blocked", "arbitrary"]


@dataclass(frozen=True, kw_only=True)
class MetricComparison:
    """One metric of one pair of arms.

    `n` is the number of questions in every effect (each effect carries its own as well), `dropped`
    the ids of the population that have no value of this metric in some cell. `omnibus` tests that
    all executions have the same effect, by question; `headline_omnibus` in the headline's way; their
    `p_holm` is over the primary family (None for metrics outside it). `s_k` is the standard
    deviation of the effects over executions, `s_k_note` how far to trust it, `ratio_to_se` it over
    the mean standard error inside an execution. `swing` is the largest minus the smallest effect and
    `swing_between` the executions that attain it, the larger effect first. `cluster` are the numbers
    by video. `reversal` is by question, `headline_reversal` by the unit of the headline.

    Where runs were not made together (`arbitrary`), `executions`, `shifts` and `movements` are empty,
    since nothing may depend on which run is called which: `average` is the effect, `pairs` counts
    support over all pairs of runs, `arms` says what each arm's own runs do, and `omnibus` is the
    smaller of the two arms' p, adjusted over the two. `undefined` gives for each field that is None the
    reason.
    """

    metric: Metric
    unit: str
    kind: Kind
    primary: bool
    headline: str
    n: int
    n_clusters: int
    dropped: tuple[str, ...]
    dropped_reason: str | None
    executions: tuple[Effect, ...]
    shifts: tuple[Shift, ...]
    omnibus: HypothesisTest | None
    headline_omnibus: HypothesisTest | None
    reversal: HypothesisTest | None
    headline_reversal: HypothesisTest | None
    cluster: ClusterFigures | None
    pairs: PairCounts | None
    average: Average | None
    variation: Variation | None
    arms: tuple[ArmRuns, ...]
    movements: tuple[Movement, ...]
    s_k: float | None
    s_k_note: str
    swing: float | None
    swing_between: tuple[int, int] | None
    mean_se: float | None
    ratio_to_se: float | None
    equivalence: Equivalence | None
    sensitivity: Sensitivity | None
    verdict: Verdict
    verdict_text: str
    paper_label: PaperLabel | None
    statements: Statements
    sentence: str
    flags: tuple[Flag, ...]
    flag_reasons: Mapping[str, str] = field(default_factory=dict[str, str])
    subgroups: tuple[SubgroupTable, ...] = ()
    undefined: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, kw_only=True)
class NotMeasured:
    """A metric without a value where one is needed; it gets no verdict, but counts in the family."""

    metric: Metric
    primary: bool
    reason: str


@dataclass(frozen=True, kw_only=True)
class Counts:
    """How many of the `of` primary metrics with a verdict kept their sign, and how many shifted.

    `sign_preserved` goes by point estimates, as in the REPAIR paper; `supported_sign_preserved`
    asks for the same supported sign in every execution.
    """

    of: int
    declared: int
    sign_preserved: int
    supported_sign_preserved: int
    shifted: int


@dataclass(frozen=True, kw_only=True)
class PairComparison:
    """A method against its baseline; None for `counts` where there is one execution only.

    `alignment` is `blocked` where the arms of an execution were run together, else `arbitrary`.
    """

    baseline: str
    method: str
    alignment: Alignment
    metrics: Mapping[str, MetricComparison]
    not_measured: tuple[NotMeasured, ...]
    counts: Counts | None


@dataclass(frozen=True, kw_only=True)
class MetricMean:
    """The mean of a metric over the cells of one arm in one execution, population of the study."""

    arm: str
    execution: int
    metric: Metric
    n: int
    mean: float | None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Every number of a study. `not_as_planned` lists what departs from the frozen rule.

    `not_known` says in plain words what this many executions cannot tell. `executions` are those of
    any arm, `runs` those of each. `factors` are None where no more than a pair of arms has levels.
    """

    study: str
    rule: Rule
    arms: tuple[str, ...]
    executions: tuple[int, ...]
    runs: Mapping[str, tuple[int, ...]]
    seed: int
    draws: int
    bootstrap: Bootstrap
    population: Population
    means: tuple[MetricMean, ...]
    comparisons: tuple[PairComparison, ...]
    factors: FactorFindings | None = None
    not_as_planned: tuple[str, ...] = ()
    not_known: str | None = None
    format: str = FORMAT

    def to_json(self) -> dict[str, JsonValue]:
        """Return the comparison as it stands in `comparison.json`."""
        dumped = _adapter().dump_python(self, mode="json", by_alias=True)
        return cast("dict[str, JsonValue]", dumped)

    @classmethod
    def from_json(cls, record: Mapping[str, JsonValue]) -> Comparison:
        """Read what `to_json` wrote.

        Raises
        ------
        InvalidResults
            If the record has another format or lacks a field.
        """
        found = record.get("format")
        if found != FORMAT:
            raise InvalidResults(
                f"a comparison of format {found!r} cannot be read; known: {FORMAT}"
            )
        try:
            return _adapter().validate_python(record)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise InvalidResults(
                f"the comparison has {error.error_count()} unusable fields, "
                f"first {where}: {first['msg']}"
            ) from error


@cache
def _adapter() -> TypeAdapter[Comparison]:
    return TypeAdapter(Comparison)
