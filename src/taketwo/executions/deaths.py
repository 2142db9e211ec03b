"""Processes that died while cells ran in them, and which cell is to blame.

The process that starts an attempt notes in `attempt-NN.json` which cells were started and had no
record in the log when the attempt's process died. Such cells are suspects: each runs alone, in a
process of its own, until it ends or has been there at `rule.attempts` deaths, at least one of them
alone. Then it is to blame, and its record says so; nobody starts it again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from taketwo.executions.log_json import Json, part, text, texts
from taketwo.executions.trajectory import Failure, Trajectory

__all__ = [
    "PROCESS_DIED",
    "Death",
    "blamed",
    "death_record",
    "deaths_by_cell",
    "deaths_in",
    "is_given_up",
    "known_of",
]

PROCESS_DIED = "the process died while this cell ran"
"""Cause of the failure of a cell whose process died each time it ran."""

_KNOWN = re.compile(r"attempt-(\d+)\.json")
_LONGEST_REASON = 300


@dataclass(frozen=True, kw_only=True)
class Death:
    """The end of one attempt's process: which cells it took with it, and what it last said."""

    attempt: int
    in_flight: tuple[str, ...]
    is_alone: bool
    said: str


def known_of(path: Path) -> Json:
    """Return what the process that started an attempt noted; nothing where it cannot be read."""
    try:
        record: object = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return part({"known": record}, "known")


def death_record(in_flight: Sequence[str], *, is_alone: bool, said: str) -> dict[str, object]:
    """Return what `attempt-NN.json` notes of a death."""
    said = " ".join(said.split())[:_LONGEST_REASON]
    return {"in_flight": sorted(in_flight), "alone": is_alone, "said": said}


def deaths_in(folder: Path) -> tuple[Death, ...]:
    """Return the deaths that were noted in the folder of an execution, by attempt."""
    found: list[Death] = []
    for entry in folder.iterdir() if folder.is_dir() else ():
        match = _KNOWN.fullmatch(entry.name)
        if match is None:
            continue
        death = part(known_of(entry), "death")
        if death:
            found.append(
                Death(
                    attempt=int(match[1]),
                    in_flight=texts(death, "in_flight"),
                    is_alone=death.get("alone") is True,
                    said=text(death, "said") or "",
                )
            )
    return tuple(sorted(found, key=lambda death: death.attempt))


def deaths_by_cell(deaths: Iterable[Death]) -> dict[str, tuple[Death, ...]]:
    """Return the deaths that each cell, by sample id, was there at."""
    found: dict[str, tuple[Death, ...]] = {}
    for death in deaths:
        for sample_id in death.in_flight:
            found[sample_id] = (*found.get(sample_id, ()), death)
    return found


def is_given_up(deaths: Sequence[Death], attempts: int) -> bool:
    """Return whether the cell of these deaths was there so often that nobody starts it again."""
    return len(deaths) >= attempts and any(death.is_alone for death in deaths)


def blamed(cell: Trajectory, deaths: Sequence[Death], attempts: int) -> Trajectory | None:
    """Return the record of a `not_run` cell that is to blame for its deaths; None where it is not.

    `attempts` is how often the rule allows a cell to be started because of errors.
    """
    if cell.run_status != "not_run" or not is_given_up(deaths, attempts):
        return None
    alone = [death for death in deaths if death.is_alone]
    return Trajectory(
        arm=cell.arm,
        question_id=cell.question_id,
        execution=cell.execution,
        run_status="agent_error",
        attempts=max(cell.attempts, len(deaths)),
        failure=Failure(
            cause=PROCESS_DIED,
            message=f"{len(deaths)} times, {len(alone)} of them alone; last: {alone[-1].said}",
            retryable=False,
        ),
    )
