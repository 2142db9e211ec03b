"""The files themselves: their bytes, their hash, and JSON out of them."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import math
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import polars as pl

from taketwo.errors import InvalidResults
from taketwo.executions.log_json import Json
from taketwo.outcomes.imports.record import Aside, SourceFile

__all__ = [
    "Line",
    "Parsed",
    "Source",
    "as_record",
    "json_of",
    "line_fault",
    "open_source",
    "text_of",
]

_GZIP = b"\x1f\x8b"
_MOST_FREE = 64 * 2**20
_MOST_TIMES = 100
"""How large a compressed file may become: 64 MiB, or so many times its size. Records of runs shrink 5 to 30 times."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A JSON object and where it stands in its file."""

    place: str
    record: Json


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file, opened: its bytes as they are on disk."""

    path: Path
    data: bytes
    sha256: str

    def as_file(self, kind: str) -> SourceFile:
        """Return the file's line in the account."""
        return SourceFile(
            path=self.path, size_bytes=len(self.data), sha256=self.sha256, format=kind
        )

    @property
    def content(self) -> bytes:
        """Return the bytes, decompressed where the file is gzip.

        Raises
        ------
        InvalidResults
            If the compressed file is damaged or cut off, or becomes more than a record of runs can be
            (64 MiB and 100 times its size).
        """
        if not self.data.startswith(_GZIP):
            return self.data
        most = max(_MOST_FREE, _MOST_TIMES * len(self.data))
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(self.data)) as packed:
                found = packed.read(most + 1)
            if len(found) <= most:
                return found
            raise InvalidResults(
                f"{self.path}: {len(self.data)} compressed bytes become more than {most}, which no "
                "record of a run does; if you trust the file, unpack it (gunzip) and name the result"
            )
        except (OSError, EOFError, zlib.error) as error:
            raise InvalidResults(
                f"{self.path}: the compressed file is damaged or cut off ({error}); fetch it again"
            ) from error

    @property
    def text(self) -> str:
        """Return the content as text.

        Raises
        ------
        InvalidResults
            If it is not UTF-8.
        """
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InvalidResults(
                f"{self.path}: not UTF-8 text (byte {error.start}); convert it to UTF-8"
            ) from error

    def json(self) -> object:
        """Return the file's one JSON value.

        Raises
        ------
        InvalidResults
            If it is no JSON, or a key stands twice in an object.
        """
        try:
            return json_of(self.text)
        except (ValueError, RecursionError) as error:
            raise InvalidResults(f"{self.path}: not readable JSON ({error})") from error

    def lines(self) -> Iterator[Line]:
        """Yield the objects of a JSON Lines file, or of a file that is one JSON list of them.

        Raises
        ------
        InvalidResults
            If a line is no JSON object, as a cut-off last line, or a key stands twice in one.
        """
        text = self.text
        if text.lstrip()[:1] == "[":
            listed = self.json()
            for number, record in enumerate(cast("list[object]", listed), start=1):
                yield self._line(record, f"item {number}")
            return
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                continue
            try:
                record = json_of(line)
            except (ValueError, RecursionError) as error:
                raise InvalidResults(f"{self.path}, line {number}: {line_fault(error)}") from error
            yield self._line(record, f"line {number}")

    def _line(self, record: object, place: str) -> Line:
        if not isinstance(record, dict):
            raise InvalidResults(
                f"{self.path}, {place}: a {type(record).__name__}, expected an object"
            )
        return Line(place=place, record=cast("Json", record))


def json_of(written: str) -> object:
    """Return the value of a JSON text in which no key stands twice.

    Raises
    ------
    ValueError
        If it is no JSON, or a key stands twice in an object: of two values nobody can say which was
        meant.
    RecursionError
        If it is nested too deep.
    """
    return json.loads(written, object_pairs_hook=_once_each)


def line_fault(error: Exception) -> str:
    """Return in words why a line of JSON Lines cannot be read, and what to do."""
    if not isinstance(error, (json.JSONDecodeError, RecursionError)):
        return f"{error}; say which of the two is meant"
    return (
        f"not readable JSON ({error}); a run that was cut off leaves half a line: remove it, its "
        "question then counts as not run"
    )


def _once_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = Counter(name for name, _ in pairs)
        twice = next(name for name, count in names.items() if count > 1)
        raise ValueError(f"the key {twice!r:.60} stands {names[twice]} times in one object")
    return found


def open_source(path: Path) -> Source:
    """Read a file.

    Raises
    ------
    InvalidResults
        If it cannot be read or is empty.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidResults(f"{path}: cannot be read ({error.strerror})") from error
    if not data:
        raise InvalidResults(f"{path}: the file is empty (0 bytes); nothing was recorded in it")
    return Source(path=path, data=data, sha256=hashlib.sha256(data).hexdigest())


def as_record(value: object) -> Json:
    """Return a JSON object; empty where the value is none."""
    return cast("Json", value) if isinstance(value, dict) else {}


def text_of(value: object) -> str | None:
    """Return an id or a level as text; None where empty, as a NaN is that tables write for it.

    Whole numbers have no decimal point, and truth values are called as in JSON.
    """
    if value is None or isinstance(value, (dict, list)):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        if value.is_integer():
            return str(int(value))
    written = str(value).strip()
    return written or None


@dataclass(frozen=True, kw_only=True)
class Parsed:
    """What a reader made of the files of one format, before anything is checked across formats.

    `rows` has the schema of `ROW_SCHEMA`; a null metric stands for every metric (an error counts
    for all of them).
    """

    kind: str
    files: tuple[SourceFile, ...]
    rows: pl.DataFrame
    is_blocked: bool
    alignment_reason: str
    cluster_source: str
    asides: tuple[Aside, ...] = ()
    notes: tuple[str, ...] = ()
    factors: tuple[tuple[str, str, str], ...] = ()
    baselines: tuple[tuple[str, str], ...] = ()
