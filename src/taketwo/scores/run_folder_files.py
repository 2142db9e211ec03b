"""The files of a run folder, read with an account of all that is wrong in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from taketwo.errors import InvalidResults
from taketwo.executions.log_json import Json, part, whole
from taketwo.scores.process_scores import (
    MilestoneLabel,
    MilestoneStatus,
    ProcessScores,
    trajectory_score,
)
from taketwo.scores.run_folder_summary import STORED_AXES

__all__ = ["RunFiles", "StoredProcess", "stored_process"]

_NAME = re.compile(r"question(\d{1,18})\.(?:json|txt|normalized\.json)")
_FOLDERS = (
    "inference/progress",
    "inference/trajectories",
    "inference/outputs",
    "evaluation/letters",
    "evaluation/judge",
    "evaluation/results",
)
_LISTED = 50
_ROUNDING = 0.001


class RunFiles:
    """Reads files of one run folder; what is wrong is collected and told at once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._problems: list[str] = []

    @property
    def count(self) -> int:
        """Return how many problems were found so far."""
        return len(self._problems)

    @cached_property
    def ids(self) -> frozenset[int]:
        """Return the questions that any file is about."""
        return frozenset(
            int(match[1])
            for folder in _FOLDERS
            for file in sorted((self._root / folder).glob("question*"))
            if (match := _NAME.fullmatch(file.name)) is not None
        )

    def add(self, file: str, problems: Iterable[str]) -> None:
        """Note what is wrong with a file, by its path from the run folder."""
        self._problems += [f"{file}: {problem}" for problem in problems]

    def raise_if_any(self) -> None:
        """Raise with everything that was noted.

        Raises
        ------
        InvalidResults
            If anything was.
        """
        if not self._problems:
            return
        more = len(self._problems) - _LISTED
        listed = self._problems[:_LISTED] + ([f"and {more} more"] if more > 0 else [])
        raise InvalidResults(
            f"{self._root}: {len(self._problems)} faults in files of the run; mend or remove them "
            "(a question without files counts as not run):\n"
            + "\n".join(f"  {problem}" for problem in listed)
        )

    def json(self, path: Path) -> Json | None:
        """Return a file's JSON object; None where there is no file, or no object in it."""
        if not path.is_file():
            return None
        name = path.relative_to(self._root).as_posix()
        try:
            record: object = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            self.add(name, [f"not readable JSON ({error})"])
            return None
        if not isinstance(record, dict):
            self.add(name, [f"a {type(record).__name__}, expected an object"])
            return None
        return cast("Json", record)

    def record(
        self, folder: str, number: int, *, ending: str = ".json", id_in: str | None = None
    ) -> Json | None:
        """Return the record of a question, after checking that it is about that question."""
        path = self._root / folder / f"question{number}{ending}"
        record = self.json(path)
        if record is None:
            return None
        place = record if id_in is None else part(record, id_in)
        found = place.get("question_id", place.get("qid"))
        if found != number or isinstance(found, bool):
            self.add(
                f"{folder}/{path.name}",
                [f"field 'question_id' is {found!r:.40}, but the file's name says {number}"],
            )
        return record

    def text(self, number: int) -> str | None:
        """Return the text of a trajectory as it stands; None where there is none."""
        path = self._root / "inference" / "trajectories" / f"question{number}.txt"
        if not path.is_file():
            return None
        try:
            return path.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            self.add(f"inference/trajectories/{path.name}", [f"not readable UTF-8 text ({error})"])
            return None

    def has_outputs(self, number: int) -> bool:
        """Return whether the run wrote steps of a question, in whatever form."""
        return any((self._root / "inference" / "outputs").glob(f"question{number}.*"))

    def turns(self, number: int) -> float | None:
        """Return how many turns the native list of steps counts; None where there is none."""
        path = self._root / "inference" / "outputs" / f"question{number}.json"
        if not path.is_file():
            return None
        try:
            listed: object = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            self.add(f"inference/outputs/{path.name}", [f"not readable JSON ({error})"])
            return None
        if not isinstance(listed, list):
            self.add(f"inference/outputs/{path.name}", ["no list of steps"])
            return None
        turns = {
            turn
            for row in cast("list[object]", listed)
            if (turn := whole(row, "iteration")) is not None
            and cast("Json", row).get("type") != "answer"
        }
        return float(len(turns)) if turns else None

    def first_normalized(self) -> Json | None:
        """Return the first normalized file, for what it says of method and model."""
        for path in sorted(
            (self._root / "inference" / "outputs").glob("question*.normalized.json")
        ):
            try:
                record: object = json.loads(path.read_bytes())
            except (OSError, ValueError, RecursionError):
                continue
            if isinstance(record, dict):
                return cast("Json", record)
        return None

    def source_of(self, number: int) -> Path:
        """Return the file that a question's row is told by."""
        for folder, ending in (
            ("evaluation/results", "json"),
            ("inference/progress", "json"),
            ("inference/trajectories", "txt"),
        ):
            path = self._root / folder / f"question{number}.{ending}"
            if path.is_file():
                return path
        return self._root / "inference" / "summary.json"


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
