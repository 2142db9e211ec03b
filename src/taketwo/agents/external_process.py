"""A command in a process group of its own: fed once, read line by line, and gone when it is over.

No shell is involved. Whatever ends the command (its own exit, a line that is refused, too much
output, the time limit, the end of the cell), nothing of its group is left: SIGTERM, and SIGKILL
after two seconds. On Linux the command also ends with the process that started it.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import IO, cast

import anyio

from taketwo.agents.external_protocol import LONGEST_LINE, MOST_BYTES

__all__ = ["CommandFailed", "CommandRun", "OutputTooLarge", "TimeLimitReached"]

_GRACE_S = 2.0
_DRAIN_S = 1.0
_UNKILLED_S = 10.0
_LOOK_S = 0.02
_CHUNK = 1 << 16
_TAIL_BYTES = 4_000
_NOT_STARTED = 127
_LAUNCHER = """\
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    os._exit(70)
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as error:
    print(f"{sys.argv[2]}: {error.strerror}", file=sys.stderr, flush=True)
    os._exit(127)
"""
"""Asks the kernel of Linux to end the command with its parent (PR_SET_PDEATHSIG), and becomes it."""


class CommandFailed(Exception):
    """The command ended with another status than 0; what it answered before does not count."""


class TimeLimitReached(Exception):
    """The agent took longer, as observed, than its option `time_limit_s` allows."""

    def __init__(self, limit_s: float) -> None:
        super().__init__(f"the agent was stopped after {limit_s:g} s (option time_limit_s)")


class OutputTooLarge(Exception):
    """The agent said more than a cell can hold."""

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(f"{what} of the agent has more than {limit} bytes")


class CommandRun:
    """One run of a command.

    Attributes
    ----------
    seconds : float
        How long it ran, as observed.
    status : int or None
        Exit status, negative for a signal; None until it has ended.
    said : str
        The end of its standard error.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.seconds = 0.0
        self.status: int | None = None
        self._command = list(command)
        self._environment = dict(environment)
        self._tail = bytearray()

    @property
    def said(self) -> str:
        """Return the end of what it wrote to standard error."""
        return bytes(self._tail).decode("utf-8", "replace").strip()

    async def run(
        self, given: bytes, on_line: Callable[[bytes], None], *, time_limit_s: float
    ) -> None:
        """Hand `given` to the command's standard input, its lines to `on_line`, and wait for its end.

        Raises
        ------
        CommandFailed
            If its exit status is not 0.
        TimeLimitReached
            If it takes longer than `time_limit_s` seconds.
        OutputTooLarge
            If it writes more than 8 MiB in all, or 1 MiB in one line.
        Exception
            What `on_line` raises.
        """
        started = time.monotonic()
        child = self._start()
        try:
            with anyio.move_on_after(time_limit_s) as scope:
                await self._follow(child, given, on_line)
            if scope.cancelled_caught:
                raise TimeLimitReached(time_limit_s)
        finally:
            with anyio.CancelScope(shield=True):
                await self._end(child)
            self.seconds = time.monotonic() - started
        if self.status:
            raise CommandFailed(self._how_it_ended())

    def _start(self) -> subprocess.Popen[bytes]:
        words = self._command
        if sys.platform == "linux":
            words = [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(os.getpid()), *words]
        child = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=self._environment,
            start_new_session=True,
        )
        for pipe in _pipes(child):
            os.set_blocking(pipe.fileno(), False)
        return child

    async def _follow(
        self, child: subprocess.Popen[bytes], given: bytes, on_line: Callable[[bytes], None]
    ) -> None:
        into, out, error = _pipes(child)
        is_read = anyio.Event()

        async def read() -> None:
            await _lines(out, on_line)
            is_read.set()

        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_feed, into, given)
                tasks.start_soon(self._keep_tail, error)
                tasks.start_soon(read)
                await _exit_of(child)
                # What it started and left behind may hold its output open for ever.
                _signal(child, signal.SIGKILL)
                with anyio.move_on_after(_DRAIN_S):
                    await is_read.wait()
                tasks.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            raise _first(group) from None

    async def _keep_tail(self, error: IO[bytes]) -> None:
        async for chunk in _chunks(error):
            self._tail += chunk
            del self._tail[:-_TAIL_BYTES]

    async def _end(self, child: subprocess.Popen[bytes]) -> None:
        """Leave nothing of the group, and take in the exit status."""
        if not _has_exited(child):
            _signal(child, signal.SIGTERM)
            await _exit_of(child, within_s=_GRACE_S)
        # Its id stays taken until it is waited for, so this reaches nobody else's group.
        _signal(child, signal.SIGKILL)
        await _exit_of(child, within_s=_UNKILLED_S)
        status = child.poll()
        self.status = -signal.SIGKILL if status is None else status
        for pipe in _pipes(child):
            with contextlib.suppress(OSError):
                pipe.close()

    def _how_it_ended(self) -> str:
        status = self.status or 0
        last = self.said.rpartition("\n")[2] or "(nothing)"
        if status == _NOT_STARTED:
            return f"the command could not be started (status 127): {last}"
        how = f"signal {-status}" if status < 0 else f"status {status}"
        return f"the command ended with {how}; its last line of standard error: {last}"


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first exception of a group of which each is enough to end the run."""
    first = group.exceptions[0]
    while isinstance(first, BaseExceptionGroup):
        first = cast("BaseExceptionGroup[BaseException]", first).exceptions[0]
    return first


def _pipes(child: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    return cast("tuple[IO[bytes], IO[bytes], IO[bytes]]", (child.stdin, child.stdout, child.stderr))


def _has_exited(child: subprocess.Popen[bytes]) -> bool:
    """Return whether the command has ended, without taking in its status: its id stays its own."""
    if child.returncode is not None:
        return True
    try:
        return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


async def _exit_of(child: subprocess.Popen[bytes], *, within_s: float = math.inf) -> None:
    """Return when the command has ended, at the latest after `within_s` seconds."""
    deadline = time.monotonic() + within_s
    while not _has_exited(child) and time.monotonic() < deadline:  # noqa: ASYNC110 no event says so
        await anyio.sleep(_LOOK_S)


def _signal(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    if child.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)


async def _feed(into: IO[bytes], given: bytes) -> None:
    """Write `given` and close; a command that does not read it has its reasons."""
    left = memoryview(given)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        while left:
            await anyio.wait_writable(into.fileno())
            with contextlib.suppress(BlockingIOError):
                left = left[os.write(into.fileno(), left[:_CHUNK]) :]
    into.close()


async def _chunks(pipe: IO[bytes]) -> AsyncGenerator[bytes]:
    while True:
        await anyio.wait_readable(pipe.fileno())
        try:
            chunk = os.read(pipe.fileno(), _CHUNK)
        except BlockingIOError:
            continue
        if not chunk:
            return
        yield chunk


async def _lines(pipe: IO[bytes], on_line: Callable[[bytes], None]) -> None:
    """Hand on every line that is not empty; the last one may lack its end."""
    total, rest = 0, b""
    async for chunk in _chunks(pipe):
        total += len(chunk)
        if total > MOST_BYTES:
            raise OutputTooLarge("the output", MOST_BYTES)
        *lines, rest = (rest + chunk).split(b"\n")
        if max(map(len, [rest, *lines])) > LONGEST_LINE:
            raise OutputTooLarge("a line", LONGEST_LINE)
        for line in lines:
            if line.strip():
                on_line(line)
    if rest.strip():
        on_line(rest)
