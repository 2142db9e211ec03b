"""A table as a Parquet file that appears whole or not at all, or is there already."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl

from taketwo.errors import HarnessError
from taketwo.media.store import write_atomically

__all__ = ["write_table"]


def write_table(path: Path, frame: pl.DataFrame, *, form: str) -> None:
    """Write a table with the name of its format; where nothing can be written, it may be there already.

    A finished study on a disk that is only read (a mounted archive) has the tables that it was scored
    to. The content counts and not the bytes, which other versions of the writer make otherwise.

    Raises
    ------
    HarnessError
        If it cannot be written and the file is not this very table.
    """
    buffer = io.BytesIO()
    frame.write_parquet(buffer, metadata={"format": form})
    try:
        write_atomically(path, buffer.getvalue())
    except HarnessError:
        if not _holds(path, frame, form):
            raise


def _holds(path: Path, frame: pl.DataFrame, form: str) -> bool:
    try:
        if pl.read_parquet_metadata(path).get("format") != form:
            return False
        there = pl.read_parquet(path, glob=False)
    except (pl.exceptions.PolarsError, OSError):
        return False
    return there.schema == frame.schema and there.equals(frame)
