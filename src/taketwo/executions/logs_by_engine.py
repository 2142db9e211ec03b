"""Reading a log through the engine's own reader, for layouts that `logs` does not know.

Slower and heavier than `logs.read_log` by far; the trajectories are the same.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from inspect_ai.log import read_eval_log, read_eval_log_samples

from taketwo.errors import ForeignLog
from taketwo.executions import logs
from taketwo.executions.log_events import trajectory_of
from taketwo.executions.trajectory import Trajectory

__all__ = ["read_any_log", "read_log"]


def read_log(path: Path) -> Iterator[Trajectory]:
    """Yield the trajectory of every cell that a log holds, as the engine reads it.

    Raises
    ------
    ForeignLog
        If the engine cannot read the file, or it is no log of a study.
    """
    try:
        read_eval_log(str(path), header_only=True)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ForeignLog(f"{path}: the engine cannot read this log ({error})") from error
    for sample in read_eval_log_samples(str(path), all_samples_required=False):
        yield trajectory_of(sample.model_dump(mode="json", exclude_none=True), log=path.name)


def read_any_log(path: Path) -> Iterable[Trajectory]:
    """Return the trajectories of a log, through the engine where its layout is not known."""
    try:
        return tuple(logs.read_log(path))
    except logs.UnknownLayout:
        return tuple(read_log(path))
