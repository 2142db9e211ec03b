"""One attempt, seen by the process that starts it: the child process, what it reports, how it ends."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from taketwo.executions.log_json import Json, number, part, text
from taketwo.executions.plan import Plan

__all__ = ["AttemptEnd", "child_environment", "run_attempt_process"]

_STOP_S = 30.0
_TAIL_LINES = 15
_LOOK_S = 0.5
_LEAST_PATIENCE_S = 150.0
"""Seconds beyond `limits.wall_s` that a cell is given at least to open its video and to end."""


@dataclass(frozen=True, kw_only=True)
class AttemptEnd:
    """How an attempt's process ended.

    `started` are the cells that it said it started, `status` is its exit status, `engine` how the
    engine says the attempt ended, `error` what the engine says went wrong, `overdue` the cell that
    it was killed for, and `said` the last lines of its standard error.
    """

    status: int
    started: tuple[str, ...]
    engine: str | None
    error: str | None
    overdue: str | None
    loop_lag_p99_s: float | None
    said: str

    @property
    def has_died(self) -> bool:
        """Return whether the process ended otherwise than by finishing, or by being stopped."""
        return self.status != 0 or self.overdue is not None

    @property
    def cause(self) -> str:
        """Return why the process ended, in one line as far as it is known."""
        if self.overdue is not None:
            return f"it was killed because cell {self.overdue} did not end"
        if self.error is not None:
            return f"the engine gave up: {self.error}"
        last = self.said.rstrip().rpartition("\n")[2]
        how = f"signal {-self.status}" if self.status < 0 else f"status {self.status}"
        return f"it ended with {how}; its last line: {last or '(nothing)'}"


def child_environment(cache: Path) -> dict[str, str]:
    """Return the environment of an attempt's process.

    Nothing in it sets how the engine evaluates: its variables are left out, `.env` files are not
    read, and its cache is an empty folder. Keys and addresses of providers stay.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("INSPECT_")}
    return kept | {
        "INSPECT_CACHE_DIR": str(cache),
        "OMP_WAIT_POLICY": "PASSIVE",
        "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
        "PYTHONUNBUFFERED": "1",
        "PYTHON_DOTENV_DISABLED": "1",
    }


def run_attempt_process(
    words: Sequence[str],
    plan: Plan,
    *,
    lock: int | None,
    on_end_of_cell: Callable[[Json], None],
) -> AttemptEnd:
    """Run one attempt in a child process and follow it to its end.

    Parameters
    ----------
    words
        The arguments of the child.
    plan
        Whose arms say how long a cell may take as observed (`limits.wall_s`).
    lock
        A file descriptor that the child holds open.
    on_end_of_cell
        Called with the report of every cell that ended.
    """
    with (
        tempfile.TemporaryDirectory(prefix="taketwo-cache-", ignore_cleanup_errors=True) as cache,
        tempfile.TemporaryFile() as said,
        subprocess.Popen(
            [sys.executable, "-m", "taketwo.executions.child_process", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            env=child_environment(Path(cache)),
            start_new_session=True,
            pass_fds=() if lock is None else (lock,),
        ) as child,
    ):
        following = _Following(plan)
        try:
            following.to_end(child, on_end_of_cell)
            status = child.wait()
        except BaseException:
            _stop(child)
            raise
        return AttemptEnd(
            status=status,
            started=tuple(following.started),
            engine=text(following.end, "status"),
            error=text(following.end, "error"),
            overdue=following.overdue,
            loop_lag_p99_s=number(following.end, "loop_lag_p99_s"),
            said=_tail(said),
        )


@dataclass
class _Following:
    """What a child has reported so far."""

    plan: Plan
    started: list[str] = field(default_factory=list[str])
    end: Json = field(default_factory=dict[str, object])
    overdue: str | None = None
    _deadlines: dict[str, float] = field(default_factory=dict[str, float])

    def to_end(
        self, child: subprocess.Popen[bytes], on_end_of_cell: Callable[[Json], None]
    ) -> None:
        """Take in reports until the child closes its output; kill it where a cell is overdue."""
        lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        output = cast("IO[bytes]", child.stdout)
        threading.Thread(target=_read, args=(output, lines), daemon=True).start()
        while True:
            try:
                line = lines.get(timeout=_LOOK_S)
            except queue.Empty:
                if self.overdue is None and self._find_overdue():
                    child.kill()
                continue
            if not line:
                return
            report = _report_of(line)
            self._note(report)
            if text(report, "kind") == "cell":
                on_end_of_cell(report)

    def _note(self, report: Json) -> None:
        kind = text(report, "kind")
        if kind == "end":
            self.end = report
        elif kind in {"started", "resumed"}:
            cell = text(report, "cell") or ""
            patience = self._patience_s(cell)
            if kind == "started":
                self.started.append(cell)
            if patience is not None:
                self._deadlines[cell] = time.monotonic() + patience
        elif kind == "paused":
            self._deadlines.pop(text(report, "cell") or "", None)
        elif kind == "cell":
            cell = f"{text(report, 'arm')}:{text(report, 'question_id')}"
            self._deadlines.pop(cell, None)

    def _patience_s(self, cell: str) -> float | None:
        """Return how many seconds a cell may be under way; None is for ever."""
        name = cell.partition(":")[0]
        arm = next((arm for arm in self.plan.arms if arm.name == name), None)
        if arm is None or arm.limits.wall_s is None:
            return None
        return arm.limits.wall_s + max(arm.limits.wall_s, _LEAST_PATIENCE_S)

    def _find_overdue(self) -> bool:
        now = time.monotonic()
        late = [cell for cell, deadline in self._deadlines.items() if now > deadline]
        self.overdue = late[0] if late else None
        return bool(late)


def _read(output: IO[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    """Hand on every line, and an empty one at the end."""
    try:
        for line in output:
            lines.put(line)
    finally:
        lines.put(b"")


def _report_of(line: bytes) -> Json:
    """Return the report that a line is; an empty one where something else wrote it."""
    try:
        report: object = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return part({"report": report}, "report")


def _stop(child: subprocess.Popen[bytes]) -> None:
    """Let the engine cancel its cells and close its log; insist after a while."""
    child.send_signal(signal.SIGINT)
    try:
        child.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _tail(said: IO[bytes]) -> str:
    said.seek(0)
    lines = said.read().decode("utf-8", "replace").splitlines()
    return "\n".join(lines[-_TAIL_LINES:]) or "(nothing)"
