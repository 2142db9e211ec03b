"""The attempts of an execution as they lie in its folder: file, hash, how each ended.

While an attempt runs, its log lies in `K1/attempt-01/`. When it has ended, or when the next start
finds it left over, the log becomes `K1/attempt-01.eval`; beside it `attempt-01.json` keeps what
only the running process knew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from taketwo.executions.log_json import number
from taketwo.executions.logs import attempt_files, read_header
from taketwo.executions.manifest_record import Attempt

__all__ = ["attempts_in", "attempts_of", "number_of_next_attempt", "settle_attempts"]


def number_of_next_attempt(folder: Path) -> int:
    """Return the number that the next start of the execution in `folder` gets, from 1."""
    if not folder.is_dir():
        return 1
    names = [entry.name.removeprefix("attempt-")[:2] for entry in folder.glob("attempt-*")]
    return 1 + max((int(name) for name in names if name.isdigit()), default=0)


def settle_attempts(folder: Path) -> None:
    """Turn the folders of attempts that have ended, however they did, into one log file each.

    An attempt that ended before the first byte of its log leaves nothing to keep and is removed.
    """
    if not folder.is_dir():
        return
    for entry in sorted(folder.glob("attempt-[0-9][0-9]")):
        logs = sorted(entry.glob("*.eval"))
        if logs:
            logs[0].replace(folder / f"{entry.name}.eval")
        for rest in entry.iterdir():
            rest.unlink()
        entry.rmdir()


def attempts_of(paths: Sequence[Path]) -> tuple[Attempt, ...]:
    """Return the attempts whose logs are at `paths`, with the hash of each log.

    Raises
    ------
    ForeignLog
        If a log cannot be read.
    """
    return tuple(_attempt(path) for path in paths)


def _attempt(path: Path) -> Attempt:
    header = read_header(path)
    kept = path.with_suffix(".json")
    known: object = json.loads(kept.read_bytes()) if kept.is_file() else {}
    return Attempt(
        log=path.name,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        status=header.status,
        created=header.created,
        code_sha256=header.code_sha256,
        packages=dict(header.packages),
        loop_lag_p99_s=number(known, "loop_lag_p99_s"),
    )


def attempts_in(folder: Path) -> tuple[Attempt, ...]:
    """Return the attempts in the folder of an execution."""
    return attempts_of(attempt_files(folder))
