"""Plain tables: CSV, TSV, Parquet and JSON Lines as columns of text, scores and statuses."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from typing import TypeVar

import polars as pl

from taketwo.errors import InvalidResults, RequestError, UnknownName
from taketwo.outcomes.imports.options import ColumnSpec
from taketwo.outcomes.imports.scoring import score_of, status_of
from taketwo.outcomes.imports.sources import Source

__all__ = ["ROW", "TableFile", "read_table"]

ROW = "\0row"
"""Name of the column that numbers the rows of the file, from 1, the header not counted."""

_Value = TypeVar("_Value")


class TableFile:
    """A table of a file, whose columns are read by what they are for."""

    def __init__(self, source: Source, frame: pl.DataFrame) -> None:
        self.source = source
        self.columns = tuple(frame.columns)
        self.frame = frame.with_row_index(ROW, offset=1)

    @property
    def places(self) -> pl.Series:
        """Return where each row stands, for messages."""
        return self.frame.select(pl.format("row {}", pl.col(ROW)).alias("place"))["place"]

    def where(self, row: int) -> str:
        """Return the place of a row (0-based) with its file."""
        return f"{self.source.path}, row {row + 1}"

    def text(self, written: str, role: str, *, required: bool = True) -> pl.Series:
        """Return a column, or the part of it that `written` means, as text.

        Raises
        ------
        InvalidResults
            If a value is empty where one is required, or does not match the expression.
        """
        spec = ColumnSpec.resolve(written, self.columns, role)
        series = self._as_text(spec.column)
        if required and series.null_count():
            row = int(series.is_null().arg_true()[0])
            raise InvalidResults(
                f"{self.where(row)}: no {role} in column {spec.column!r} "
                f"({series.null_count()} of {series.len()} rows lack it)"
            )
        if spec.pattern is None:
            return series
        found = self._mapped(series, spec.value_of, pl.String())
        unmatched = (found.is_null() & series.is_not_null()).arg_true()
        if unmatched.len():
            row = int(unmatched[0])
            raise InvalidResults(
                f"{self.where(row)}: --{role} {written!r} does not match {series[row]!r} "
                f"({unmatched.len()} rows do not match)"
            )
        return found

    def scores(self, column: str) -> pl.Series:
        """Return a column of scores as numbers, null where empty.

        Raises
        ------
        InvalidResults
            If a value is a text without an agreed meaning.
        """
        if column not in self.columns:
            raise UnknownName.among("column for --score", column, self.columns)
        series = self.frame[column]
        if series.dtype.is_numeric() or series.dtype in {pl.Boolean(), pl.Null()}:
            return series.cast(pl.Float64)
        series = self._as_text(column).str.strip_chars()
        numbers = series.cast(pl.Float64, strict=False)
        wordy = series.filter(numbers.is_null())
        if not wordy.drop_nulls().len():
            return numbers
        words = self._mapped(
            pl.select(pl.when(numbers.is_null()).then(series)).to_series(),
            lambda word: score_of(word, self._first(series, word, column)),
            pl.Float64(),
        )
        return numbers.fill_null(words)

    def statuses(self, written: str) -> pl.Series:
        """Return a column of statuses in our own words.

        Raises
        ------
        InvalidResults
            If a word has no agreed meaning.
        """
        series = self.text(written, "status", required=False).fill_null("")
        return self._mapped(
            series, lambda word: status_of(word, self._first(series, word, written)), pl.String()
        )

    def levels(self, columns: Sequence[str], role: str) -> pl.Series:
        """Return several columns as one of JSON objects, empty levels left out."""
        if not columns:
            return pl.Series([None] * self.frame.height, dtype=pl.String)
        named = [
            self.text(column, role, required=False).alias(column.partition(":")[0])
            for column in columns
        ]
        if len({series.name for series in named}) < len(named):
            raise RequestError(f"--{role} names the same column twice: {', '.join(columns)}")
        encoded = pl.DataFrame(named).select(pl.struct(pl.all()).struct.json_encode()).to_series()
        return self._mapped(encoded, _without_nulls, pl.String())

    def _as_text(self, column: str) -> pl.Series:
        series = self.frame[column]
        if series.dtype.is_nested() or series.dtype == pl.Binary():
            raise InvalidResults(
                f"{self.source.path}: column {column!r} holds {series.dtype}, not plain values"
            )
        if series.dtype.is_float():
            whole = series.cast(pl.Int64, strict=False)
            if ((whole == series) | series.is_null()).all():
                series = whole
        return series.cast(pl.String)

    def _mapped(
        self, series: pl.Series, meaning: Callable[[str], _Value], dtype: pl.DataType
    ) -> pl.Series:
        """Return what `meaning` makes of each value, asked once per distinct value."""
        known = series.drop_nulls().unique(maintain_order=True)
        if not known.len():
            return pl.Series(series.name, [None] * series.len(), dtype=dtype)
        values = pl.Series([meaning(text) for text in known.to_list()], dtype=dtype)
        return series.replace_strict(known, values, default=None, return_dtype=dtype)

    def _first(self, series: pl.Series, word: str, column: str) -> str:
        row = int((series == word).arg_true()[0])
        return f"{self.where(row)}, column {column!r}"


def _without_nulls(encoded: str) -> str | None:
    levels = {name: level for name, level in json.loads(encoded).items() if level is not None}
    return json.dumps(levels, ensure_ascii=False, sort_keys=True) if levels else None


def read_table(source: Source) -> TableFile:
    """Read a table: `.csv`, `.tsv`, `.parquet`, `.jsonl` or `.json`, also gzipped.

    All values of text formats stay text, so that ids keep their leading zeros.

    Raises
    ------
    InvalidResults
        If it is no such table, has no rows, or names a column twice.
    """
    names = [suffix.lower() for suffix in source.path.suffixes]
    kind = next((name for name in reversed(names) if name not in {".gz", ".gzip"}), "")
    try:
        if kind in {".parquet", ".pq"}:
            frame = pl.read_parquet(io.BytesIO(source.data))
        elif kind in {".jsonl", ".ndjson", ".json"}:
            frame = _of_objects(source)
        else:
            frame = _of_text(source, "\t" if kind == ".tsv" else ",")
    except pl.exceptions.PolarsError as error:
        raise InvalidResults(f"{source.path}: not a readable table ({error})") from error
    if not frame.height:
        raise InvalidResults(
            f"{source.path}: no rows, only a header with {len(frame.columns)} columns"
        )
    return TableFile(source, frame)


def _of_text(source: Source, separator: str) -> pl.DataFrame:
    text = source.text
    frame = pl.read_csv(io.BytesIO(text.encode("utf-8")), separator=separator, infer_schema=False)
    doubled = [name for name in frame.columns if "_duplicated_" in name]
    if doubled:
        raise InvalidResults(
            f"{source.path}: column {doubled[0].partition('_duplicated_')[0]!r} occurs twice in the "
            "header; nobody can say which is meant, rename one"
        )
    return frame


def _of_objects(source: Source) -> pl.DataFrame:
    records = [line.record for line in source.lines()]
    columns = dict.fromkeys(name for record in records for name in record)
    return pl.DataFrame(
        {name: [_written(record.get(name)) for record in records] for name in columns},
        schema=dict.fromkeys(columns, pl.String()),
    )


def _written(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
