"""Files that rows name: whether they are there, and which names can be no file's."""

from __future__ import annotations

import os
from pathlib import Path

from taketwo.errors import InvalidQuestion

__all__ = ["file_is_there", "named_path", "require_possible", "something_is_there"]

_LONGEST_NAME = 255
_SHOWN = 80


def file_is_there(path: Path) -> bool:
    """Return whether a file lies there; links are followed, and none is where nothing can be looked up.

    Python 3.11 raises for a name that is too long, half a character or a folder that may not be read.
    """
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def something_is_there(path: Path) -> bool:
    """Return whether a file or a folder lies there, as `file_is_there` does for files."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def require_possible(written: str, field: str) -> None:
    """Require that a file can be called so, wherever it may lie.

    Parameters
    ----------
    written
        A path, or the name of a file.
    field
        The field of the row that has it, for the message.

    Raises
    ------
    InvalidQuestion
        If it holds a zero byte or half a character, or a name in it has more than 255 bytes, which
        is what common file systems take.
    """
    if "\0" in written:
        raise InvalidQuestion(f"{field} {_shown(written)!r} holds a zero byte")
    try:
        longest = max(len(os.fsencode(name)) for name in written.split("/"))
    except UnicodeEncodeError as error:
        raise InvalidQuestion(
            f"{field} {_shown(written)!r} holds half a character (a lone surrogate); correct its text"
        ) from error
    if longest > _LONGEST_NAME:
        raise InvalidQuestion(
            f"{field} {_shown(written)!r} names no file: File name too long ({longest} bytes, at most "
            f"{_LONGEST_NAME}); give the path of a file"
        )


def named_path(root: Path, written: str, field: str) -> Path:
    """Return the resolved path that a row names, relative to `root`; nothing need lie there.

    Links are followed. Whether the path may leave `root` is for the caller to say.

    Raises
    ------
    InvalidQuestion
        If no file can be called so (`require_possible`), its links lead in a circle, it cannot be
        looked up, or a folder lies there.
    """
    require_possible(written, field)
    try:
        resolved = (root / written).resolve()
        is_folder = resolved.is_dir()
    except (OSError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else "its links lead in a circle"
        raise InvalidQuestion(
            f"{field} {_shown(written)!r} names no file: {why}; give the path of a file"
        ) from error
    if is_folder:
        raise InvalidQuestion(f"{field} {_shown(written)!r} is a folder; give the path of a file")
    return resolved


def _shown(written: str) -> str:
    return written if len(written) <= _SHOWN else f"{written[: _SHOWN - 3]}..."
