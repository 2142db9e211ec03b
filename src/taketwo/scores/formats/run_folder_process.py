"""A judge's scores as a run folder has them, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from taketwo.scores.formats.run_folder_summary import STORED_AXES
from taketwo.scores.process_scores import (
    MilestoneLabel,
    MilestoneStatus,
    ProcessScores,
    trajectory_score,
)

__all__ = ["StoredProcess", "stored_process"]

_ROUNDING = 0.001


@dataclass(frozen=True, kw_only=True)
class StoredProcess:
    """A judge's scores as a run folder has them.

    `trajectory_score` and `mc_rate` are 0 to 1, None where nothing applies. The denominator of a stored
    `mc_rate` is what its writer took, which in the reference is the number of milestones that the
    judge returned.
    """

    scores: ProcessScores
    trajectory_score: float | None
    mc_rate: float | None


class _Label(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    id: str
    status: MilestoneStatus
    evidence: str | None = None


_Score = Annotated[int, Field(ge=0, le=2, strict=True)] | None


class _Scores(BaseModel):
    model_config = ConfigDict(extra="forbid")
    P1: _Score
    P2: _Score
    P3: _Score
    P4: _Score
    P5: _Score


class _Process(BaseModel):
    model_config = ConfigDict(extra="ignore")
    scores: _Scores
    traj: Annotated[float, Field(ge=0, le=1)] | None = None
    mc_rate: Annotated[float, Field(ge=0, le=1)] | None = None
    rationales: dict[str, str | None] = {}
    milestones: list[_Label] = []
    failure_tags: list[str] = []
    summary: str | None = ""


def stored_process(record: Mapping[str, object]) -> tuple[StoredProcess | None, Sequence[str]]:
    """Return the scores of a stored record, and what is wrong with it; (None, ()) where it is empty."""
    if not record:
        return None, ()
    try:
        found = _Process.model_validate(record)
    except ValidationError as error:
        return None, [
            f"field 'process.{'.'.join(map(str, item['loc']))}': {item['msg']}, found "
            f"{item['input']!r:.60}"
            for item in error.errors(include_url=False)[:20]
        ]
    stored = cast("dict[str, int | None]", found.scores.model_dump())
    axes = {axis: stored[name] for name, axis in STORED_AXES.items()}
    applies = any(score is not None for score in axes.values())
    score = trajectory_score(axes) if applies else None
    if score is not None and found.traj is not None and abs(score - found.traj) > _ROUNDING:
        return None, [
            f"field 'process.traj' is {found.traj:g}, but the scores beside it give {score:g}"
        ]
    return StoredProcess(
        scores=ProcessScores(
            axes=axes,
            rationales={name: written or "" for name, written in found.rationales.items()},
            milestones=tuple(
                MilestoneLabel(
                    milestone_id=label.id, status=label.status, evidence=label.evidence or ""
                )
                for label in found.milestones
            ),
            failure_tags=tuple(found.failure_tags),
            summary=found.summary or "",
        ),
        trajectory_score=score,
        mc_rate=found.mc_rate,
    ), ()
