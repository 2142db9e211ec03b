"""A judge's scores as a run folder has them, checked.

The reference stores what its judge said without a check: an axis may be missing, a tag may be none of the
closed list. A judgement without an axis that always applies is one that failed; tags that there are
none of are told and left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from taketwo.scores.formats.run_folder_summary import STORED_AXES
from taketwo.scores.process_scores import (
    FAILURE_TAGS,
    MilestoneLabel,
    MilestoneStatus,
    ProcessScores,
    trajectory_score,
)

__all__ = ["ReadProcess", "StoredProcess", "stored_process"]

_ROUNDING = 0.001
_MOST_TAGS = 8
_MAY_BE_NULL = "P4"


@dataclass(frozen=True, kw_only=True)
class StoredProcess:
    """A judge's scores as a run folder has them.

    `trajectory_score` and `mc_rate` are 0 to 1, None where nothing applies. The denominator of a stored
    `mc_rate` is what its writer took, which in the reference is the number of milestones that the
    judge returned. `unknown_tags` are failure tags that stand there and are none of the closed list.
    """

    scores: ProcessScores
    trajectory_score: float
    mc_rate: float | None
    unknown_tags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ReadProcess:
    """What was found: the scores, or why there are none (`lack`), or what is wrong (`faults`).

    None of the three where nothing is stored.
    """

    process: StoredProcess | None = None
    lack: str | None = None
    faults: tuple[str, ...] = ()


class _Label(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    id: str
    status: MilestoneStatus
    evidence: str | None = None


_Score = Annotated[int, Field(ge=0, le=2, strict=True)] | None


class _Scores(BaseModel):
    model_config = ConfigDict(extra="forbid")
    P1: _Score = None
    P2: _Score = None
    P3: _Score = None
    P4: _Score = None
    P5: _Score = None


class _Process(BaseModel):
    model_config = ConfigDict(extra="ignore")
    scores: _Scores
    traj: Annotated[float, Field(ge=0, le=1)] | None = None
    mc_rate: Annotated[float, Field(ge=0, le=1)] | None = None
    rationales: dict[str, str | None] = {}
    milestones: list[_Label] = []
    failure_tags: list[str] = []
    summary: str | None = ""


def stored_process(record: Mapping[str, object]) -> ReadProcess:
    """Return the scores of a stored record; nothing where it is empty."""
    if not record:
        return ReadProcess()
    try:
        found = _Process.model_validate(record)
    except ValidationError as error:
        faults = tuple(
            f"field 'process.{'.'.join(map(str, item['loc']))}': {item['msg']}, found "
            f"{item['input']!r:.60}"
            for item in error.errors(include_url=False)[:20]
        )
        return ReadProcess(faults=faults)
    stored = cast("dict[str, int | None]", found.scores.model_dump())
    lacking = [name for name in STORED_AXES if stored[name] is None and name != _MAY_BE_NULL]
    if lacking:
        return ReadProcess(lack=f"the judge gave no score for {', '.join(lacking)}")
    axes = {axis: stored[name] for name, axis in STORED_AXES.items()}
    score = trajectory_score(axes)
    if found.traj is not None and abs(score - found.traj) > _ROUNDING:
        told = f"field 'process.traj' is {found.traj:g}, but the scores beside it give {score:g}"
        return ReadProcess(faults=(told,))
    tags = tuple(dict.fromkeys(found.failure_tags))
    known = tuple(tag for tag in tags if tag in FAILURE_TAGS)
    process = StoredProcess(
        scores=ProcessScores(
            axes=axes,
            rationales={name: written or "" for name, written in found.rationales.items()},
            milestones=tuple(
                MilestoneLabel(
                    milestone_id=label.id, status=label.status, evidence=label.evidence or ""
                )
                for label in found.milestones
            ),
            failure_tags=known[:_MOST_TAGS],
            summary=found.summary or "",
        ),
        trajectory_score=score,
        mc_rate=found.mc_rate,
        unknown_tags=tuple(tag for tag in tags if tag not in FAILURE_TAGS),
    )
    return ReadProcess(process=process)
