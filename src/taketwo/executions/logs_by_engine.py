"""Reading a log through the engine's own reader, for layouts that `logs` does not know.

Slower and heavier than `logs.read_log` by far; the trajectories are the same.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from inspect_ai.log import read_eval_log, read_eval_log_samples

from taketwo.errors import ForeignLog
from taketwo.executions import logs
from taketwo.executions.log_cells import cell_of
from taketwo.executions.log_json import whole
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
        header = read_eval_log(str(path), header_only=True)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ForeignLog(f"{path}: the engine cannot read this log ({error})") from error
    execution = whole(header.eval.metadata or {}, "execution")
    for sample in read_eval_log_samples(str(path), all_samples_required=False):
        cell = cell_of(
            partial(sample.model_dump, mode="json", exclude_none=True),
            sample_id=str(sample.id),
            execution=execution,
            log=path.name,
        )
        if cell is not None:
            yield cell


def read_any_log(path: Path) -> Iterable[Trajectory]:
    """Return the trajectories of a log, through the engine where its layout is not known."""
    try:
        return tuple(logs.read_log(path))
    except logs.UnknownLayout:
        return tuple(read_log(path))
