"""The rule: what is tested and how, fixed before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, cast

from taketwo.benchmarks.canonical import JsonValue
from taketwo.errors import RuleMismatch

__all__ = [
    "LEAST_BLOCK",
    "METRICS",
    "MOST",
    "ClusterBy",
    "Metric",
    "Missing",
    "Population",
    "Rule",
    "Stopping",
]

Metric = Literal[
    "accuracy",
    "trajectory_score",
    "mc_rate",
    "task_understanding",
    "gt_evidence_coverage",
    "evidence_grounding",
    "evidence_completeness",
    "reasoning_faithfulness",
    "turns",
    "visible_calls",
    "primitive_ops",
    "latency_s",
    "tokens",
    "cost_usd",
]
METRICS: tuple[Metric, ...] = (
    "accuracy",
    "trajectory_score",
    "mc_rate",
    "task_understanding",
    "gt_evidence_coverage",
    "evidence_grounding",
    "evidence_completeness",
    "reasoning_faithfulness",
    "turns",
    "visible_calls",
    "primitive_ops",
    "latency_s",
    "tokens",
    "cost_usd",
)

MOST: Mapping[Metric, float] = MappingProxyType({
    "accuracy": 1.0,
    "trajectory_score": 1.0,
    "mc_rate": 1.0,
    "task_understanding": 2.0,
    "gt_evidence_coverage": 2.0,
    "evidence_grounding": 2.0,
    "evidence_completeness": 2.0,
    "reasoning_faithfulness": 2.0,
})
"""The largest value of the metrics that have one; all begin at 0."""

ClusterBy = Literal["video", "question"]
Population = Literal["matched", "per-execution"]
Missing = Literal["refuse", "as-wrong", "drop-question"]

LEAST_BLOCK = 10
"""Questions between two looks at a re-execution, at least."""


@dataclass(frozen=True, kw_only=True)
class Stopping:
    """When a re-execution may stop early: looked at after every `block` questions, on accuracy.

    `alpha` is the chance that one re-execution ever stops where no effect has moved since K1.

    Raises
    ------
    RuleMismatch
        If a block has fewer than 10 questions, or alpha is not between 0 and 1.
    """

    block: int
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if self.block < LEAST_BLOCK or not 0 < self.alpha < 1:
            raise RuleMismatch(
                f"stopping takes blocks of {LEAST_BLOCK} questions at least and an alpha between "
                f"0 and 1, found block {self.block}, alpha {self.alpha:g}"
            )


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What is tested and how.

    `primary` is the family that Holm's correction runs over, declared metrics without a value
    included. `cluster` is the unit that is resampled. `population` is `matched` (questions whose
    video was present in every cell). `missing` says what a failed cell of a present question is:
    a reason to refuse, a wrong answer, or a reason to drop the question from all cells. `margins`
    are equivalence margins by metric, in the metric's unit (accuracy: 0 to 1). `attempts` is how
    often a cell that ended in an error may be started in all. `stopping` lets re-executions stop
    early; without it they run completely.
    """

    primary: tuple[Metric, ...] = (
        "accuracy",
        "turns",
        "visible_calls",
        "primitive_ops",
        "latency_s",
    )
    level: float = 0.95
    cluster: ClusterBy = "video"
    population: Population = "matched"
    missing: Missing = "refuse"
    margins: Mapping[str, float] = field(default_factory=dict[str, float])
    attempts: int = 3
    stopping: Stopping | None = None

    def to_json(self) -> dict[str, JsonValue]:
        """Return the rule as it stands in a plan."""
        record: dict[str, JsonValue] = {
            "primary": list(self.primary),
            "level": self.level,
            "cluster": self.cluster,
            "population": self.population,
            "missing": self.missing,
            "margins": dict(self.margins),
            "attempts": self.attempts,
        }
        if self.stopping is not None:  # left out otherwise: older plans keep their hash
            record["stopping"] = {"block": self.stopping.block, "alpha": self.stopping.alpha}
        return record

    @classmethod
    def from_json(cls, record: Mapping[str, JsonValue]) -> Rule:
        """Read what `to_json` wrote."""
        values = dict(record)
        values["primary"] = tuple(cast("list[str]", values["primary"]))
        stopping = cast("dict[str, int] | None", values.pop("stopping", None))
        return cls(
            stopping=None if stopping is None else Stopping(**stopping),
            **values,  # pyright: ignore[reportArgumentType] written by to_json
        )
