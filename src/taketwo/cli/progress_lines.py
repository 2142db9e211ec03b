"""Progress of a run on standard error: one line that is rewritten on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

import click

from taketwo.executions.progress import Progress
from taketwo.report.numbers import dollars

__all__ = ["ProgressLines", "progress_text"]

_EVERY_S = 15.0


def progress_text(progress: Progress) -> str:
    """Return one line: cells done by arm, failures, tokens, cost, time left."""
    arms = ", ".join(
        f"{arm} {progress.done.get(arm, 0)}/{planned}" for arm, planned in progress.planned.items()
    )
    failed = sum(sum(counts.values()) for counts in progress.failures.values())
    parts = [f"K{progress.execution} of {progress.executions}: {arms}"]
    parts.append(f"{failed} failed")
    parts.append(
        "tokens not reported" if progress.tokens is None else f"{progress.tokens:,} tokens"
    )
    if progress.cost_usd is not None:
        parts.append(dollars(progress.cost_usd))
    left = "?" if progress.left_s is None else _duration(progress.left_s)
    parts.append(f"{_duration(progress.elapsed_s)} passed, {left} left")
    return "; ".join(parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


class ProgressLines:
    """Shows progress on standard error and leaves the cursor on a fresh line."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._shown_at = float("-inf")
        self._last: str | None = None
        self._pending: str | None = None
        self._execution: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pending is not None and self._pending != self._last:
            self._write(self._pending)
        if self._is_terminal and self._last is not None:
            click.echo("", err=True)

    def show(self, progress: Progress) -> None:
        """Show `progress`, at once on a terminal and every 15 s elsewhere."""
        if self._execution not in {None, progress.execution} and self._pending != self._last:
            self._write(self._pending or "")
        self._execution = progress.execution
        self._pending = progress_text(progress)
        now = time.monotonic()
        if self._is_terminal or now - self._shown_at >= _EVERY_S or _is_complete(progress):
            self._shown_at = now
            self._write(self._pending)

    def _write(self, text: str) -> None:
        if self._is_terminal:
            click.echo(f"\r\x1b[2K{text}", err=True, nl=False)
        elif text != self._last:
            click.echo(text, err=True)
        self._last = text


def _is_complete(progress: Progress) -> bool:
    return all(progress.done.get(arm, 0) >= planned for arm, planned in progress.planned.items())
