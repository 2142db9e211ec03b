"""Decoding in processes that can be stopped: a hard time limit, no hang, no crash of ours.

A decoder that is fed a hostile file may loop, crash or take all memory. It does so in a process
of its own, which is killed when a task exceeds its limit, replaced when it died, and renewed
after some hundred tasks. Processes are started as `python -c`, not forked, so the state of a
threaded asyncio program is not copied into them, and not by `multiprocessing`, so the user's
main module is not run a second time.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Self, cast

import numpy as np
from numpy.typing import NDArray

from taketwo.errors import HarnessError, TaketwoError, UnreadableVideo
from taketwo.media.audio import load_audio
from taketwo.media.frames import encode_jpeg, frames_at
from taketwo.media.video import VideoInfo, probe

__all__ = ["JpegFrame", "MediaWorkers", "serve"]

_TASKS_PER_PROCESS = 256
_GRACE_S = 5.0
_ENVIRONMENT = {"OMP_WAIT_POLICY": "PASSIVE", "HF_HUB_OFFLINE": "1"}
_PROGRAM = "import sys; from taketwo.media.worker import main; main(int(sys.argv[1]))"


@dataclass(frozen=True, kw_only=True)
class JpegFrame:
    """A frame as JPEG.

    Attributes
    ----------
    time_s : float
        Presentation time in seconds from the first video timestamp.
    requested_s : float
        The second that was asked for.
    jpeg : bytes
        The encoded picture, upright.
    is_corrupt : bool
        As in `taketwo.media.frames.Frame`.
    """

    time_s: float
    requested_s: float
    jpeg: bytes
    is_corrupt: bool


@dataclass(frozen=True)
class _Task:
    work: Callable[[], object]
    limit_s: float


@dataclass(frozen=True, kw_only=True)
class _Reply:
    value: object = None
    error: TaketwoError | ValueError | None = None


@dataclass(frozen=True)
class _Died:
    why: str
    by_exception: bool = False


class MediaWorkers:
    """A pool of decoding processes.

    Methods block and may be called from any thread; none takes longer than the limit and the wait
    for a free process.

    Parameters
    ----------
    size : int
        Processes that may decode at the same time; each is started when first needed.
    time_limit_s : float
        Seconds that one task may take before its process is killed.

    Examples
    --------
    >>> with MediaWorkers(size=2, time_limit_s=60) as workers:  # doctest: +SKIP
    ...     info = workers.probe(Path("clip.mp4"))
    """

    def __init__(self, size: int = 1, time_limit_s: float = 120) -> None:
        if size < 1:
            raise ValueError(f"a pool needs at least 1 process, got size={size}")
        if not time_limit_s > 0:
            raise ValueError(f"the time limit must be above 0 s, got {time_limit_s}")
        self._limit_s = float(time_limit_s)
        self._slots = tuple(_Slot() for _ in range(size))
        self._free: queue.LifoQueue[_Slot] = queue.LifoQueue()
        for slot in self._slots:
            self._free.put(slot)
        self._is_closed = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def probe(self, path: Path) -> VideoInfo:
        """Measure a video; see `taketwo.media.video.probe`.

        Raises
        ------
        UnreadableVideo
            As `probe`, or the process exceeded the limit or died.
        """
        return cast("VideoInfo", self._run(path, partial(probe, path)))

    def jpegs(
        self, path: Path, times_s: Sequence[float], max_side: int | None, quality: int = 85
    ) -> tuple[JpegFrame, ...]:
        """Return the frames shown at the given seconds as JPEG, in the order of the seconds.

        Raises
        ------
        UnreadableVideo
            As `taketwo.media.frames.frames_at`, or the process exceeded the limit or died.
        """
        seconds = tuple(float(time_s) for time_s in times_s)
        work = partial(_jpegs, path, seconds, max_side, quality)
        return cast("tuple[JpegFrame, ...]", self._run(path, work))

    def audio(self, path: Path, start_s: float | None, end_s: float | None) -> NDArray[np.float32]:
        """Return 16 kHz mono sound of a window; see `taketwo.media.audio.load_audio`.

        Raises
        ------
        UnreadableVideo
            As `load_audio`, or the process exceeded the limit or died.
        """
        work = partial(load_audio, path, start_s, end_s)
        return cast("NDArray[np.float32]", self._run(path, work))

    def close(self) -> None:
        """Stop all processes; tasks in other threads end with `HarnessError`."""
        self._is_closed.set()
        for slot in self._slots:
            slot.kill()
        for slot in [self._free.get() for _ in self._slots]:
            slot.stop()
            self._free.put(slot)

    def _run(self, path: Path, work: Callable[[], object]) -> object:
        slot = self._free.get()
        try:
            self._require_open()
            reply = slot.run(_Task(work, self._limit_s))
        finally:
            self._free.put(slot)
        if isinstance(reply, _Died):
            self._require_open()
            if reply.by_exception:
                raise HarnessError(
                    f"decoding {path} failed by a fault of ours; its traceback is on stderr"
                )
            raise UnreadableVideo(f"{path} was not decoded: {reply.why}")
        if reply.error is not None:
            raise reply.error
        return reply.value

    def _require_open(self) -> None:
        if self._is_closed.is_set():
            raise HarnessError("the decoding processes were stopped; make a new MediaWorkers")


class _Slot:
    """A place for one process, used by one thread at a time; only `kill` may come from another."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._tasks = 0

    def run(self, task: _Task) -> _Reply | _Died:
        process, connection = self._started(task)
        watchdog = _Watchdog(process, task.limit_s)
        try:
            reply = cast("_Reply", connection.recv())
        except (EOFError, OSError):
            watchdog.end()
            status = _ended(process)
            self.stop()
            if watchdog.has_killed:
                return _Died(f"it took longer than {task.limit_s:g} s and was stopped")
            return _Died(f"the decoding process died ({_how(status)})", status == 1)
        watchdog.end()
        self._tasks += 1
        if watchdog.has_killed or self._tasks >= _TASKS_PER_PROCESS:
            self.stop()
        return reply

    def kill(self) -> None:
        process = self._process
        if process is not None:
            process.kill()

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None

    def _started(self, task: _Task) -> tuple[subprocess.Popen[bytes], Connection]:
        """Return a process that was handed the task; one that died idle is replaced first."""
        if self._process is not None and self._connection is not None:
            try:
                self._connection.send(task)
            except OSError:
                self.stop()
            else:
                return self._process, self._connection
        self._process, self._connection = _start()
        self._tasks = 0
        with contextlib.suppress(OSError):  # Dead already: reading its reply says so.
            self._connection.send(task)
        return self._process, self._connection


class _Watchdog:
    """Kills a process after some seconds unless ended before."""

    def __init__(self, process: subprocess.Popen[bytes], limit_s: float) -> None:
        self.has_killed = False
        self._process = process
        self._lock = threading.Lock()
        self._has_ended = False
        self._timer = threading.Timer(limit_s, self._kill)
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        with self._lock:
            self._has_ended = True
        self._timer.cancel()

    def _kill(self) -> None:
        with self._lock:
            if not self._has_ended:
                self.has_killed = True
                self._process.kill()


def _start() -> tuple[subprocess.Popen[bytes], Connection]:
    ours, theirs = socket.socketpair()
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM, str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            env={**os.environ, **_ENVIRONMENT},
        )
    except OSError as error:
        ours.close()
        raise HarnessError(f"no decoding process could be started: {error}") from error
    finally:
        theirs.close()
    return process, Connection(ours.detach())


def _ended(process: subprocess.Popen[bytes]) -> int:
    """Return the exit status of a process that closed its connection; it gets a moment to end."""
    try:
        return process.wait(timeout=_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _how(status: int) -> str:
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


def main(descriptor: int) -> None:
    """Serve tasks from a socket that was inherited under this number until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(Connection(descriptor), set_alarm=_set_alarm)


def serve(connection: Connection, *, set_alarm: Callable[[float], None]) -> None:
    """Answer tasks from a connection one by one until the other end closes it.

    `set_alarm` is called with the seconds after which this process must end, whatever it does,
    and with 0 when a task is done.
    """
    while True:
        try:
            task = cast("_Task", connection.recv())
        except (EOFError, OSError):
            return
        set_alarm(task.limit_s + _GRACE_S)
        reply = _answer(task)
        try:
            connection.send(reply)
        except OSError:
            return
        finally:
            set_alarm(0.0)


def _set_alarm(seconds: float) -> None:
    """End this process after some seconds even inside a decoder, should nobody be left to do it."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _answer(task: _Task) -> _Reply:
    try:
        return _Reply(value=task.work())
    except (TaketwoError, ValueError) as error:
        return _Reply(error=error.with_traceback(None))
    except MemoryError:
        return _Reply(error=UnreadableVideo(f"{task.work} needs more memory than there is"))


def _jpegs(
    path: Path, times_s: Sequence[float], max_side: int | None, quality: int
) -> tuple[JpegFrame, ...]:
    by_time: dict[float, JpegFrame] = {}
    for frame in frames_at(path, sorted(set(times_s)), max_side=max_side):
        by_time[frame.requested_s] = JpegFrame(
            time_s=frame.time_s,
            requested_s=frame.requested_s,
            jpeg=encode_jpeg(frame.image, quality),
            is_corrupt=frame.is_corrupt,
        )
    return tuple(by_time[time_s] for time_s in times_s)
