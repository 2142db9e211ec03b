"""A content-addressed folder of derived media, shared by cells, executions and processes.

An entry is written to a temporary file in its own folder, flushed to the disk and renamed: a
reader sees the whole entry or none, whoever else writes and whenever a process is killed. Data
and the seconds that they cost lie in one file, so that they cannot disagree; a file whose bytes
do not match their own hash is treated as absent.

Layout: `<root>/ab/<sha256>.jpg` holds an image under the hash of its bytes, `<root>/ab/<key>.bin`
derived data under the hash of what they were derived from and how.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from taketwo.errors import HarnessError

__all__ = ["Freshness", "MediaStore", "Stored", "derived_key", "write_atomically"]

Freshness = Literal["fresh", "shared"]

_FORMAT = "taketwo.derived-media/1"
_SHA256 = re.compile(r"[0-9a-f]{64}")


def write_atomically(path: Path, data: bytes) -> None:
    """Put `data` at `path` as a whole or not at all, parents included.

    The bytes go to a temporary file in the same folder, which is flushed to the disk and then
    renamed over `path`. A process killed on the way leaves at most a hidden `.tmp` file.

    Raises
    ------
    HarnessError
        The folder cannot be made or written, or the disk is full.
    """
    try:
        _write(path, data)
    except OSError as error:
        raise HarnessError(
            f"{path}: cannot be written ({error.strerror or error}, {len(data)} bytes); make room "
            "or allow writing there, and start again"
        ) from error


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{path.name}.{os.getpid()}.{secrets.token_hex(6)}.tmp"
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def derived_key(kind: str, source_sha256: str, /, **parameters: str | float | bool | None) -> str:
    """Return the key of something derived from a source in one exact way.

    Parameters
    ----------
    kind : str
        What is derived and by which version of the method, such as `"ocr/1"`.
    source_sha256 : str
        Hash of the bytes that it is derived from, 64 hexadecimal digits.
    **parameters
        Everything else that changes the result; the order does not matter.

    Examples
    --------
    >>> derived_key("ocr/1", "0" * 64, side=640) == derived_key("ocr/1", "0" * 64, side=320)
    False
    """
    _require_sha256(source_sha256)
    description = json.dumps(
        {"kind": kind, "source": source_sha256, "parameters": parameters},
        sort_keys=True,
        separators=(",", ":"),
        allow_nan=False,
    )
    return hashlib.sha256(description.encode()).hexdigest()


@dataclass(frozen=True)
class Stored:
    """Derived data with their price.

    Attributes
    ----------
    data : bytes
        The derived data.
    seconds : float
        What making them cost when they were made, in seconds of wall time; a cell that shares
        them is charged the same.
    freshness : {"fresh", "shared"}
        Whether they were made for this call or found.
    """

    data: bytes
    seconds: float
    freshness: Freshness


class MediaStore:
    """The store under one folder; any number of processes may use it at the same time.

    Parameters
    ----------
    root : Path
        Made on the first write.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def root(self) -> Path:
        """The folder that holds the entries."""
        return self._root

    def get(self, key: str) -> Stored | None:
        """Return the entry under `key`, or None where there is none.

        A half or altered entry is removed and counts as absent.
        """
        path = self._path(key, "bin")
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        entry = _unpacked(content)
        if entry is None:
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
        return entry

    def put(self, key: str, data: bytes, seconds: float) -> None:
        """Store `data` under `key` with the seconds that making them cost."""
        header = {
            "format": _FORMAT,
            "sha256": hashlib.sha256(data).hexdigest(),
            "seconds": round(float(seconds), 6),
        }
        write_atomically(self._path(key, "bin"), json.dumps(header).encode() + b"\n" + data)

    def get_or_make(self, key: str, make: Callable[[], bytes]) -> Stored:
        """Return the entry under `key`; where there is none, make, time and store it.

        Two processes that ask at the same time may both make it; both results are `fresh` and the
        later one stays.
        """
        found = self.get(key)
        if found is not None:
            return found
        started = time.perf_counter()
        data = make()
        seconds = time.perf_counter() - started
        self.put(key, data, seconds)
        return Stored(data, seconds, "fresh")

    def put_image(self, data: bytes) -> str:
        """Store an encoded image under the SHA-256 of its bytes and return that hash."""
        sha256 = hashlib.sha256(data).hexdigest()
        path = self.image_path(sha256)
        try:
            is_there = path.read_bytes() == data
        except FileNotFoundError:
            is_there = False
        if not is_there:
            write_atomically(path, data)
        return sha256

    def image_path(self, sha256: str) -> Path:
        """Return where the image with this hash lies, whether or not it is there.

        Raises
        ------
        ValueError
            The hash is not 64 hexadecimal digits; nothing else ever becomes part of a path.
        """
        return self._path(sha256, "jpg")

    def _path(self, key: str, suffix: str) -> Path:
        _require_sha256(key)
        return self._root / key[:2] / f"{key}.{suffix}"


def _require_sha256(key: str) -> None:
    if not _SHA256.fullmatch(key):
        raise ValueError(f"expected a SHA-256 of 64 lower-case hexadecimal digits, got {key!r}")


def _unpacked(content: bytes) -> Stored | None:
    head, newline, data = content.partition(b"\n")
    try:
        header = cast("dict[str, object]", json.loads(head))
        seconds = float(cast("float", header["seconds"]))
        is_whole = header["format"] == _FORMAT and bool(newline)
        is_right = header["sha256"] == hashlib.sha256(data).hexdigest()
    except (ValueError, KeyError, TypeError):
        return None
    return Stored(data, seconds, "shared") if is_whole and is_right else None
