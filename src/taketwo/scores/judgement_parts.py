"""Pooled labels on disk: parquet parts in one folder, each written whole by whoever had labels to add.

Several studies, and several processes, may add to one folder at a time: every part has a name of its
own and is never changed. What a part holds is checked when it is read; it may be anybody's file.
"""

from __future__ import annotations

import io
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import polars as pl

from taketwo.errors import InvalidResults
from taketwo.media.store import write_atomically

__all__ = ["Dated", "keep_first", "read_parts", "write_part"]


def write_part(
    folder: Path,
    prefix: str,
    rows: Sequence[Mapping[str, object]],
    schema: Mapping[str, pl.DataType],
) -> Path | None:
    """Add a part of `rows` to `folder`; returns its path, None where there is nothing to write.

    The part is called `<prefix>-<random>.parquet`. It appears as a whole or not at all.
    """
    if not rows:
        return None
    buffer = io.BytesIO()
    whole = [{name: _whole(value) for name, value in row.items()} for row in rows]
    pl.DataFrame(whole, schema=dict(schema)).write_parquet(buffer)
    path = folder / f"{prefix}-{uuid.uuid4().hex}.parquet"
    write_atomically(path, buffer.getvalue())
    return path


def _whole(value: object) -> object:
    """Return a text without half characters (lone surrogates), which no file can hold."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


class Dated(Protocol):
    """A label with the key of what was labelled and the time when."""

    @property
    def key(self) -> str:
        """Return the key of the content."""
        ...

    @property
    def created(self) -> str:
        """Return when it was given, as ISO-8601."""
        ...


DatedT = TypeVar("DatedT", bound=Dated)


def keep_first(found: dict[str, DatedT], item: DatedT, content: Callable[[DatedT], object]) -> None:
    """Keep of several labels of one content the one that was given first.

    Two processes that asked at once may both have an answer; which counts must not depend on who
    reads. Of labels of the same second it is the one whose content sorts first.
    """
    known = found.get(item.key)
    if known is None or (item.created, repr(content(item))) < (
        known.created,
        repr(content(known)),
    ):
        found[item.key] = item


def read_parts(
    folder: Path,
    prefix: str,
    schema: Mapping[str, pl.DataType],
    what: str,
    optional: Collection[str] = (),
    nullable: Collection[str] = (),
) -> Iterator[tuple[Path, Mapping[str, object]]]:
    """Yield the rows of all parts called `<prefix>-*.parquet` in `folder`, each with its file.

    Parameters
    ----------
    what
        What the rows are, for messages (`judgements`).
    optional
        Columns that parts of earlier versions lack; they read as None there.
    nullable
        Columns that may be empty in a row. The optional ones always may.

    Raises
    ------
    InvalidResults
        Before any row is yielded, if a part cannot be read, has other columns or kinds of values,
        or lacks a value. All parts are looked at; the message names each of the wrong ones.
    """
    frames: list[tuple[Path, pl.DataFrame]] = []
    problems: list[str] = []
    for path in sorted(folder.glob(f"{prefix}-*.parquet")):
        try:
            frame = pl.read_parquet(path, glob=False)
        except (pl.exceptions.PolarsError, OSError) as error:
            problems.append(f"{path}: not readable as {what} ({error})")
            continue
        fault = _fault(frame, schema, set(optional), {*optional, *nullable})
        if fault is None:
            frames.append((path, frame))
        else:
            problems.append(f"{path}: not a part of {what}: {fault}")
    if problems:
        these = "it" if len(problems) == 1 else "them"
        raise InvalidResults("\n".join(problems) + f"\nremove {these} and score again")
    for path, frame in frames:
        for row in frame.iter_rows(named=True):
            yield path, {name: row.get(name) for name in schema}


def _fault(
    frame: pl.DataFrame,
    schema: Mapping[str, pl.DataType],
    optional: set[str],
    nullable: set[str],
) -> str | None:
    if not set(schema) - optional <= set(frame.columns) <= set(schema):
        return f"its columns are {frame.columns}"
    for name in frame.columns:
        kind = frame.schema[name]
        if kind != schema[name]:
            return f"its column {name!r} holds {kind}, not {schema[name]}"
        if name not in nullable and frame[name].has_nulls():
            row = frame[name].is_null().arg_max()
            return f"its column {name!r} is empty in row {0 if row is None else row + 1}"
    return None
