"""Which files are runs of which system, where a harness says so in paths and not in the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from taketwo.outcomes.imports.row_list import RowList
from taketwo.outcomes.imports.sources import Source

__all__ = ["RunFile", "numbered_runs", "once_each"]


@dataclass(frozen=True, kw_only=True)
class RunFile:
    """A file of a run: its system, its task or data set, and the harness's own name of the run."""

    source: Source
    system: str
    task: str
    run: str


def once_each(files: Iterable[RunFile], rows: RowList) -> list[RunFile]:
    """Return the files without those that repeat another of the same system byte for byte.

    What is left out is in the account.
    """
    kept: dict[tuple[str, str, str], RunFile] = {}
    for file in sorted(files, key=lambda file: (file.run, str(file.source.path))):
        key = (file.system, file.task, file.source.sha256)
        held = kept.setdefault(key, file)
        if held is not file:
            rows.aside(
                "files that repeat another byte for byte",
                "a run found twice is one run (two executions that came out identical byte for byte "
                "cannot be told from a copy)",
                f"{file.source.path} repeats {held.source.path}",
            )
    return list(kept.values())


def numbered_runs(
    files: Iterable[RunFile], name: Callable[[RunFile], str] = lambda file: file.run
) -> list[tuple[RunFile, str]]:
    """Return each file with the number of its execution: rank of its run among those of its system.

    Runs are ranked inside a task, so that the first runs of two tasks make one execution.
    """
    listed = list(files)
    runs: dict[tuple[str, str], list[str]] = {}
    for file in listed:
        held = runs.setdefault((file.system, file.task), [])
        if name(file) not in held:
            held.append(name(file))
    return [
        (file, str(sorted(runs[file.system, file.task]).index(name(file)) + 1)) for file in listed
    ]
