"""What became of the reference milestones, by their type, pooled over all judged trajectories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from taketwo.analysis.process import arms_in
from taketwo.errors import InvalidResults
from taketwo.outcomes.table import Outcomes
from taketwo.scores.process_scores import MilestoneStatus

__all__ = [
    "NO_KIND",
    "MilestoneCount",
    "milestone_counts",
    "milestone_kinds",
    "reference_milestones",
]

NO_KIND = "no type given"


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


def milestone_counts(
    outcomes: Outcomes, arms: Sequence[str] | None = None
) -> Mapping[str, Mapping[str, MilestoneCount]]:
    """Return what became of the milestones, by arm and type, over all executions.

    Raises
    ------
    InvalidResults
        If a cell's milestones cannot be read.
    """
    frame = outcomes.frame.filter(pl.col("milestones").is_not_null())
    return {
        arm: _counted(
            (f"K{execution}, arm {arm!r}, question {question!r}", text)
            for execution, question, text in frame
            .filter(pl.col("arm") == arm)
            .select("execution", "question_id", "milestones")
            .iter_rows()
        )
        for arm in (arms_in(outcomes) if arms is None else arms)
    }


def _counted(texts: Iterable[tuple[str, str]]) -> Mapping[str, MilestoneCount]:
    found: dict[str, Counter[MilestoneStatus]] = {}
    for place, text in texts:
        try:
            labels = _LABELS.validate_json(text)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise InvalidResults(
                f"{place}: the milestones cannot be read at "
                f"{'.'.join(map(str, first['loc'])) or 'the top'} ({first['msg']}); judge the "
                "trajectory again, or leave the column null"
            ) from error
        for label in labels.values():
            found.setdefault(label.kind or NO_KIND, Counter())[label.status] += 1
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
    return _counted((f"reference of question {name!r}", text) for name, text in judged.iter_rows())
