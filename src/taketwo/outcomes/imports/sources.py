"""The files themselves: their bytes, their hash, and JSON out of them."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import polars as pl

from taketwo.errors import InvalidResults
from taketwo.executions.log_json import Json
from taketwo.outcomes.imports.record import Aside, SourceFile

__all__ = ["Line", "Parsed", "Source", "as_record", "open_source", "text_of"]

_GZIP = b"\x1f\x8b"


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
            If the compressed file is damaged or cut off.
        """
        if not self.data.startswith(_GZIP):
            return self.data
        try:
            return gzip.decompress(self.data)
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
            If it is no JSON.
        """
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError) as error:
            raise InvalidResults(f"{self.path}: not readable JSON ({error})") from error

    def lines(self) -> Iterator[Line]:
        """Yield the objects of a JSON Lines file, or of a file that is one JSON list of them.

        Raises
        ------
        InvalidResults
            If a line is no JSON object; a cut-off last line is one.
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
                record: object = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InvalidResults(
                    f"{self.path}, line {number}: not readable JSON ({error}); a run that was cut "
                    "off leaves half a line: remove it, its question then counts as not run"
                ) from error
            yield self._line(record, f"line {number}")

    def _line(self, record: object, place: str) -> Line:
        if not isinstance(record, dict):
            raise InvalidResults(
                f"{self.path}, {place}: a {type(record).__name__}, expected an object"
            )
        return Line(place=place, record=cast("Json", record))


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
    """Return an id or a level as text: whole numbers without a decimal point, None where empty."""
    if value is None or isinstance(value, (dict, list)):
        return None
    if isinstance(value, float) and value.is_integer():
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
