"""The process of one attempt, before anything heavy is imported: its channels, and its end.

Started by `executions.attempt_run` as `python -m taketwo.executions.child_process`. What is to be
reported goes to a copy of standard output that nobody else knows of; standard output itself leads
to standard error, so that whatever prints, also while it is imported, disturbs nothing.

The process ends with the one that started it: nobody else would know what it spends. A thread
waits for the end of standard input; on Linux the kernel is asked as well, because a thread needs
the interpreter, which one long call into C code can hold.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
from typing import TextIO

__all__ = ["main", "private_channels"]

_ORPHANED = 70
_PR_SET_PDEATHSIG = 1


def private_channels() -> tuple[int, TextIO]:
    """Return a copy of standard input, and one of standard output to write reports to.

    Standard input then is empty, and standard output leads to standard error.
    """
    watched = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return watched, out


def _die_with_parent(watched: int) -> None:
    """End this process at once when the one that started it is gone."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

    def wait() -> None:
        while os.read(watched, 1):
            pass
        os._exit(_ORPHANED)

    threading.Thread(target=wait, daemon=True).start()


def main() -> int:
    """Run one attempt as the command line says; return the exit status."""
    watched, out = private_channels()
    _die_with_parent(watched)
    from taketwo.executions import child  # heavy: only now may it print

    return child.main(sys.argv[1:], out)


if __name__ == "__main__":
    sys.exit(main())
