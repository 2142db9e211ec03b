"""Wide tables: a row per question, a column per execution and system, named by a declared pattern."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import polars as pl

from taketwo.errors import InvalidResults, RequestError
from taketwo.outcomes.imports.options import ReadOptions
from taketwo.outcomes.imports.record import ROW_SCHEMA
from taketwo.outcomes.imports.sources import Parsed, Source
from taketwo.outcomes.imports.table_file import TableFile, read_table

__all__ = ["KIND", "columns_by_pattern", "read_wide_tables"]

KIND = "wide table"

_EXECUTION = re.compile(r"[A-Za-z]+[0-9]+")
_FIELDS = ("metric", "execution", "system")
_SCORE = "score"


def columns_by_pattern(
    columns: Sequence[str], pattern: str, *, excluded: Sequence[str] = ()
) -> Mapping[str, Mapping[str, str]]:
    """Return, for each column that the pattern describes, its metric, execution and system.

    The whole name must match; `{execution}` is letters followed by digits, the other fields are any
    text. Columns in `excluded` are left alone.

    Raises
    ------
    RequestError
        If the pattern lacks `{system}`, has an unknown field, or describes no column.
    InvalidResults
        If a name can be split in more than one way, or the grid of all combinations is incomplete.

    Examples
    --------
    >>> columns_by_pattern(["K1_a", "K2_a", "note"], "{execution}_{system}")["K2_a"]
    {'metric': 'score', 'execution': 'K2', 'system': 'a'}
    """
    parts = re.split(r"\{(\w+)\}", pattern)
    fields = parts[1::2]
    unknown = [name for name in fields if name not in _FIELDS]
    if unknown or "system" not in fields or len(set(fields)) < len(fields):
        raise RequestError(
            f"--wide {pattern!r}: made of {{metric}}, {{execution}} and {{system}}, each at most "
            f"once, {{system}} always; for example '{{execution}}_{{system}}'"
        )
    found: dict[str, Mapping[str, str]] = {}
    ambiguous: list[str] = []
    for column in columns:
        if column in excluded:
            continue
        splits = list(_splits(parts, column))
        if len(splits) > 1:
            ways = " or ".join("+".join(split.values()) for split in splits[:3])
            ambiguous.append(f"{column} ({ways})")
        elif splits:
            found[column] = {"metric": _SCORE, "execution": "K1", **splits[0]}
    if ambiguous:
        raise InvalidResults(
            f"--wide {pattern!r} splits {len(ambiguous)} columns in more than one way: "
            f"{', '.join(ambiguous[:8])}; rename them, or name those that hold no scores in "
            "another option"
        )
    if not found:
        raise RequestError(f"--wide {pattern!r} describes none of the columns {', '.join(columns)}")
    _require_grid(found, pattern)
    return found


def _splits(parts: Sequence[str], name: str) -> Iterator[dict[str, str]]:
    """Yield every way to read `name` as literal, field, literal, field, ..., literal."""
    literal = parts[0]
    if not name.startswith(literal):
        return
    rest = name[len(literal) :]
    if len(parts) == 1:
        if not rest:
            yield {}
        return
    for end in range(1, len(rest) + 1):
        piece = rest[:end]
        if parts[1] == "execution" and _EXECUTION.fullmatch(piece) is None:
            continue
        for following in _splits(parts[2:], rest[end:]):
            yield {parts[1]: piece, **following}


def _require_grid(found: Mapping[str, Mapping[str, str]], pattern: str) -> None:
    axes = [sorted({split[field] for split in found.values()}) for field in _FIELDS]
    there = {tuple(split[field] for field in _FIELDS) for split in found.values()}
    lacking = [combination for combination in product(*axes) if combination not in there]
    if lacking:
        names = [
            pattern.format(**dict(zip(_FIELDS, combination, strict=True)))
            for combination in lacking
        ]
        raise InvalidResults(
            f"--wide {pattern!r} found {len(found)} columns ({', '.join(found)}), but the grid of "
            f"metrics, executions and systems also needs {', '.join(names[:12])}; add them, or "
            "name the columns that hold no scores in another option"
        )


def read_wide_tables(sources: Sequence[Source], options: ReadOptions) -> Parsed:
    """Return the rows of wide tables, one file after the other.

    Raises
    ------
    RequestError, InvalidResults
        As `columns_by_pattern`, or if a value cannot be used.
    """
    options.refuse(("system", "execution", "score", "metric", "status"), "wide tables")
    if options.wide is None:
        raise RequestError("a wide table needs the pattern of its columns: --wide PATTERN")
    frames: list[pl.DataFrame] = []
    notes: list[str] = []
    for source in sources:
        table = read_table(source)
        frame, unused = _rows(table, options, options.wide)
        frames.append(frame)
        if unused:
            notes.append(f"columns not used of {source.path.name}: {', '.join(unused)}")
    is_blocked = "{execution}" in options.wide
    return Parsed(
        kind=KIND,
        files=tuple(source.as_file(KIND) for source in sources),
        rows=pl.concat(frames),
        is_blocked=is_blocked,
        alignment_reason="the columns name execution and system together"
        if is_blocked
        else "the columns name no execution",
        cluster_source=f"column {options.cluster}" if options.cluster else "no --cluster given",
        notes=tuple(notes),
    )


def _rows(table: TableFile, options: ReadOptions, pattern: str) -> tuple[pl.DataFrame, list[str]]:
    question = options.question or _only_question(table)
    named = [question, *options.by, *([options.cluster] if options.cluster else [])]
    taken = [
        column
        for column in table.columns
        if any(column == written or written.startswith(f"{column}:") for written in named)
    ]
    found = columns_by_pattern(table.columns, pattern, excluded=taken)
    height = table.frame.height
    shared = {
        "question_id": table.text(question, "question"),
        "cluster": pl.repeat(None, height, dtype=pl.String, eager=True)
        if options.cluster is None
        else table.text(options.cluster, "cluster"),
        "subgroups": table.levels(options.by, "by"),
        "place": table.places,
    }
    base = pl.DataFrame({name: series.alias(name) for name, series in shared.items()})
    frames = [
        base.with_columns(
            pl.lit(split["system"]).alias("system"),
            pl.lit(split["execution"]).alias("execution"),
            pl.lit(split["metric"]).alias("metric"),
            table.scores(column).alias("value"),
            pl.lit(str(table.source.path)).alias("source"),
            pl.lit(None, dtype=pl.String).alias("detail"),
            pl.concat_str(pl.col("place"), pl.lit(f", column {column}")).alias("place"),
        )
        for column, split in found.items()
    ]
    rows = pl.concat(frames).with_columns(
        pl
        .when(pl.col("value").is_null())
        .then(pl.lit("not_judged"))
        .otherwise(pl.lit("scored"))
        .alias("status")
    )
    unused = [name for name in table.columns if name not in found and name not in taken]
    return rows.select(list(ROW_SCHEMA)), unused


def _only_question(table: TableFile) -> str:
    usual = [name for name in ("question_id", "item_id", "task_id", "id") if name in table.columns]
    if len(usual) != 1:
        raise RequestError(
            f"{table.source.path}: which column holds the question? name it with --question "
            f"(columns: {', '.join(table.columns)})"
        )
    return usual[0]
