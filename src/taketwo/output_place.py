"""Whether a result can be written where it is to go, known before anything is paid for."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from taketwo.errors import RequestError

__all__ = ["require_writable"]


def require_writable(path: Path) -> None:
    """Prove that a file can be put at `path`, by putting a hidden one beside it for a moment.

    The folder is made where it is not there yet. What a process that is killed on the way leaves is
    called like what `write_atomically` leaves.

    Raises
    ------
    RequestError
        If the folder cannot be made, or nothing can be written there.
    """
    probe = path.parent / f".{path.name}.{os.getpid()}.{secrets.token_hex(6)}.tmp"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with probe.open("xb") as file:
                file.write(b"\0")
        finally:
            with contextlib.suppress(OSError):
                probe.unlink()
    except OSError as error:
        raise RequestError(
            f"{path}: cannot be written ({error.strerror or error}); nothing was spent. Name a place "
            "that can be written (-o)"
        ) from error
