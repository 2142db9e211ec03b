"""What became of the reference milestones, by their type, pooled over all judged trajectories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from taketwo.analysis.effects import Interval
from taketwo.analysis.process import arms_in
from taketwo.analysis.unit_intervals import Drawing, mean_interval, unit_names
from taketwo.errors import InvalidResults
from taketwo.executions.rule import ClusterBy
from taketwo.outcomes.table import Outcomes
from taketwo.scores.process_scores import MilestoneStatus

__all__ = [
    "NO_KIND",
    "LabelledMilestone",
    "MilestoneCount",
    "labelled_milestones",
    "milestone_counts",
    "milestone_intervals",
    "milestone_kinds",
    "reference_milestones",
]

NO_KIND = "no type given"
_CREDIT: Mapping[MilestoneStatus, float] = {
    "covered": 1.0,
    "partial": 0.5,
    "incorrect": 0.0,
    "missing": 0.0,
}


@dataclass(frozen=True, kw_only=True)
class MilestoneCount:
    """What became of the milestones of one type, over all judged trajectories."""

    covered: int = 0
    partial: int = 0
    incorrect: int = 0
    missing: int = 0

    @property
    def n(self) -> int:
        """Return the number of milestones."""
        return self.covered + self.partial + self.incorrect + self.missing

    @property
    def rate(self) -> float | None:
        """Return the share reached, 0 to 1, a partial one by half; None without milestones.

        Pooled over milestones (AgentVidBench, arXiv 2609.21386, Table 19): a question with more of
        them weighs more, which it does not in the mean MC-Rate.
        """
        return None if not self.n else (self.covered + 0.5 * self.partial) / self.n


class _Label(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)

    kind: str | None = None
    status: MilestoneStatus


_LABELS = TypeAdapter(dict[str, _Label])


@dataclass(frozen=True, kw_only=True)
class LabelledMilestone:
    """What became of one milestone in one cell of an arm; `unit` is what an interval draws."""

    arm: str
    question: str
    unit: str
    kind: str
    status: MilestoneStatus

    @property
    def credit(self) -> float:
        """Return 1 where it was covered, a half where partly, else 0."""
        return _CREDIT[self.status]


def labelled_milestones(
    outcomes: Outcomes, arms: Sequence[str] | None = None, by: ClusterBy = "video"
) -> tuple[LabelledMilestone, ...]:
    """Return what became of every milestone of every judged cell, over all executions.

    Raises
    ------
    InvalidResults
        If a cell's milestones cannot be read.
    """
    shown = arms_in(outcomes) if arms is None else tuple(arms)
    cells = outcomes.frame.filter(
        pl.col("milestones").is_not_null() & pl.col("arm").is_in(list(shown))
    ).select("arm", "execution", "question_id", unit_names(by), "milestones")
    return tuple(
        LabelledMilestone(arm=arm, question=question, unit=unit, kind=kind, status=status)
        for arm, execution, question, unit, text in cells.iter_rows()
        for kind, status in _labels(f"K{execution}, arm {arm!r}, question {question!r}", text)
    )


def milestone_counts(
    outcomes: Outcomes, arms: Sequence[str] | None = None
) -> Mapping[str, Mapping[str, MilestoneCount]]:
    """Return what became of the milestones, by arm and type, over all executions.

    Raises
    ------
    InvalidResults
        If a cell's milestones cannot be read.
    """
    shown = arms_in(outcomes) if arms is None else tuple(arms)
    found: dict[str, list[tuple[str, MilestoneStatus]]] = {arm: [] for arm in shown}
    for item in labelled_milestones(outcomes, shown):
        found[item.arm].append((item.kind, item.status))
    return {arm: _counted(labels) for arm, labels in found.items()}


def milestone_intervals(
    outcomes: Outcomes, drawing: Drawing, arms: Sequence[str] | None = None
) -> Mapping[tuple[str, str], Interval | None]:
    """Return the interval of the share reached, by arm and type.

    All milestones of a question (or video) are drawn together, in all its executions.
    """
    groups: dict[tuple[str, str], list[LabelledMilestone]] = {}
    for item in labelled_milestones(outcomes, arms, drawing.by):
        groups.setdefault((item.arm, item.kind), []).append(item)
    return {
        place: mean_interval(
            np.array([item.credit for item in items]), [item.unit for item in items], drawing
        )
        for place, items in groups.items()
    }


def _labels(place: str, text: str) -> list[tuple[str, MilestoneStatus]]:
    try:
        labels = _LABELS.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InvalidResults(
            f"{place}: the milestones cannot be read at "
            f"{'.'.join(map(str, first['loc'])) or 'the top'} ({first['msg']}); judge the "
            "trajectory again, or leave the column null"
        ) from error
    return [(label.kind or NO_KIND, label.status) for label in labels.values()]


def _counted(labels: Iterable[tuple[str, MilestoneStatus]]) -> Mapping[str, MilestoneCount]:
    found: dict[str, Counter[MilestoneStatus]] = {}
    for kind, status in labels:
        found.setdefault(kind, Counter())[status] += 1
    return {kind: MilestoneCount(**counts) for kind, counts in found.items()}


def milestone_kinds(counts: Iterable[Mapping[str, MilestoneCount]]) -> tuple[str, ...]:
    """Return the types of milestones, the most frequent first."""
    total: Counter[str] = Counter()
    for by_kind in counts:
        total.update({kind: count.n for kind, count in by_kind.items()})
    return tuple(sorted(total, key=lambda kind: (-total[kind], kind)))


def reference_milestones(references: pl.DataFrame) -> Mapping[str, MilestoneCount]:
    """Return what became of the milestones in the curated trajectories, by type."""
    judged = references.select("question_id", "milestones").drop_nulls()
    return _counted(
        label
        for name, text in judged.iter_rows()
        for label in _labels(f"reference of question {name!r}", text)
    )
