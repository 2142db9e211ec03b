"""The attempts of an execution as they lie in its folder: file, hash, how each ended.

While an attempt runs, its log lies in `K1/attempt-01/`. When it has ended, or when the next start
finds it left over, the log becomes `K1/attempt-01.eval`; beside it `attempt-01.json` keeps what
only the running process knew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from taketwo.errors import DataError, ForeignLog
from taketwo.executions.deaths import known_of
from taketwo.executions.log_json import number
from taketwo.executions.log_zip import open_log_file
from taketwo.executions.logs import attempt_files, attempt_number, read_header
from taketwo.executions.manifest_record import Attempt, read_manifest

__all__ = [
    "attempts_in",
    "attempts_of",
    "number_of_next_attempt",
    "require_listed_logs",
    "settle_attempts",
]


def number_of_next_attempt(folder: Path) -> int:
    """Return the number that the next attempt of the execution in `folder` gets, from 1."""
    if not folder.is_dir():
        return 1
    names = (entry.name.partition(".")[0] for entry in folder.iterdir())
    return 1 + max((attempt_number(name) or 0 for name in names), default=0)


def settle_attempts(folder: Path) -> None:
    """Turn the folders of attempts that have ended, however they did, into one log file each.

    An attempt that ended before the first byte of its log leaves nothing to keep and is removed.

    Raises
    ------
    DataError
        If something lies there that no attempt leaves; nothing of it is removed.
    """
    attempt_files(folder)
    if not folder.is_dir():
        return
    for entry in sorted(folder.iterdir()):
        if attempt_number(entry.name) is not None:
            _settle(entry, folder / f"{entry.name}.eval")
        elif entry.suffix == ".eval" and entry.stat().st_size == 0:
            entry.unlink()


def _settle(attempt: Path, target: Path) -> None:
    inside = sorted(attempt.iterdir())
    folders = [item for item in inside if item.is_dir() and not item.is_symlink()]
    if folders:
        raise DataError(
            f"{folders[0]}: a folder, where an attempt has files only; move it away and start again"
        )
    logs = [item for item in inside if item.suffix == ".eval" and item.stat().st_size > 0]
    taken = [target] if logs and target.exists() and target.stat().st_size > 0 else []
    if len(logs) + len(taken) > 1:
        listed = ", ".join(map(str, [*taken, *logs]))
        raise DataError(f"{attempt}: an attempt has one log, found {listed}; move one away")
    if logs:
        logs[0].replace(target)
    for rest in inside:
        rest.unlink(missing_ok=True)
    attempt.rmdir()


def require_listed_logs(folder: Path) -> None:
    """Refuse to go on with an execution whose manifest lists logs that are gone.

    Their cells would be sampled a second time as if they never had been. A manifest that cannot be
    read says nothing; the next one is written anew.

    Raises
    ------
    ForeignLog
        If a listed log is gone or empty, naming all of them.
    """
    path = folder / "manifest.json"
    try:
        listed = read_manifest(path).attempts if path.is_file() else ()
    except ForeignLog:
        return
    gone = [
        str(log)
        for log in (folder / attempt.log for attempt in listed)
        if not log.is_file() or log.stat().st_size == 0
    ]
    if gone:
        raise ForeignLog(
            f"{path} lists logs that are gone: {', '.join(gone)}; running again would sample their "
            f"cells twice. Put them back, or remove the whole folder {folder} to execute anew"
        )


def attempts_of(paths: Sequence[Path]) -> tuple[Attempt, ...]:
    """Return the attempts whose logs are at `paths`, with the hash of each log.

    Raises
    ------
    ForeignLog
        If a log cannot be read.
    """
    return tuple(_attempt(path) for path in paths)


def _attempt(path: Path) -> Attempt:
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    known = known_of(path.with_suffix(".json"))
    if not open_log_file(path).members:
        # Cut off before its header was whole: an attempt, and nothing more is known of it.
        return Attempt(
            log=path.name, sha256=sha256, status="started", created=None, code_sha256=None
        )
    header = read_header(path)
    return Attempt(
        log=path.name,
        sha256=sha256,
        status=header.status,
        created=header.created,
        code_sha256=header.code_sha256,
        packages=dict(header.packages),
        loop_lag_p99_s=number(known, "loop_lag_p99_s"),
    )


def attempts_in(folder: Path) -> tuple[Attempt, ...]:
    """Return the attempts in the folder of an execution."""
    return attempts_of(attempt_files(folder))
