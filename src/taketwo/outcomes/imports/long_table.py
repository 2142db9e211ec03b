"""Long tables: a row per system, execution, question and metric."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from taketwo.errors import InvalidResults, RequestError
from taketwo.outcomes.imports.options import ReadOptions
from taketwo.outcomes.imports.record import FAILED, ROW_SCHEMA, Aside
from taketwo.outcomes.imports.sources import Parsed, Source
from taketwo.outcomes.imports.table_file import TableFile, read_table

__all__ = ["KIND", "factors_by_name", "read_long_tables"]

KIND = "long table"

_BY_NAME = "system:"

_USUAL: Mapping[str, tuple[str, ...]] = {
    "system": ("system", "model", "agent", "arm"),
    "execution": ("execution", "run", "draw_id", "trial", "epoch"),
    "question": ("question_id", "item_id", "task_id", "question"),
    "score": ("score", "value", "verdict", "correct", "accuracy"),
    "metric": ("metric",),
    "status": ("status",),
    "cluster": ("cluster", "video_id"),
}
"""Column names that are taken for what they say where the option is not given."""


@dataclass(frozen=True, kw_only=True)
class _Columns:
    """Which column is what; None where the table has no such column."""

    system: str | None
    execution: str | None
    question: str
    score: str
    metric: str | None
    status: str | None
    cluster: str | None


def read_long_tables(sources: Sequence[Source], options: ReadOptions) -> Parsed:
    """Return the rows of long tables.

    A table without a system column is one system, named by its file; several tables without an
    execution column are one execution each, named by their files.

    Raises
    ------
    UnknownName, RequestError
        If a column is not there, or has to be named.
    InvalidResults
        If a value cannot be used; the message names the file and the row.
    """
    frames: list[pl.DataFrame] = []
    asides: list[Aside] = []
    notes: dict[str, None] = {}
    factors: dict[tuple[str, str, str], None] = {}
    cluster_source = "no --cluster given"
    for source in sources:
        table = read_table(source)
        columns = _columns_of(table, options)
        frame = _rows(table, columns, options, several=len(sources) > 1)
        set_aside = frame.filter(pl.col("value").is_not_null() & pl.col("status").is_in(FAILED))
        if set_aside.height:
            asides.append(_errors_with_scores(set_aside))
        frames.append(_with_statuses(frame))
        unused = _unused(table, columns, options)
        if unused:
            notes[f"columns not used of {source.path.name}: {', '.join(unused)}"] = None
        notes[_how(source, columns)] = None
        factors.update(dict.fromkeys(_factors(table, frame["system"], options)))
        if columns.cluster is not None:
            cluster_source = f"column {columns.cluster}"
    rows = pl.concat(frames)
    return Parsed(
        kind=KIND,
        files=tuple(source.as_file(KIND) for source in sources),
        rows=rows,
        is_blocked=False,
        alignment_reason="a long table does not say that executions of equal name were run together",
        cluster_source=cluster_source,
        asides=tuple(asides),
        notes=tuple(notes),
        factors=tuple(factors),
    )


def _columns_of(table: TableFile, options: ReadOptions) -> _Columns:
    found = {
        "system": _column(table, options.system, "system"),
        "execution": _column(table, options.execution, "execution"),
        "metric": _column(table, options.metric, "metric"),
        "status": _column(table, options.status, "status"),
        "cluster": _column(table, options.cluster, "cluster"),
    }
    question = _column(table, options.question, "question")
    score = _column(table, options.score, "score")
    for role, column in (("question", question), ("score", score)):
        if column is None:
            raise RequestError(
                f"{table.source.path}: no column that is known to hold the {role} "
                f"(looked for {', '.join(_USUAL[role])}); name it with --{role}, or give the "
                f"pattern of a wide table with --wide. Columns: {', '.join(table.columns)}"
            )
    return _Columns(question=str(question), score=str(score), **found)


def _column(table: TableFile, given: str | None, role: str) -> str | None:
    if given is not None:
        return given
    usual = [name for name in _USUAL[role] if name in table.columns]
    if len(usual) > 1:
        raise RequestError(
            f"{table.source.path}: more than one column may hold the {role}: {', '.join(usual)}; "
            f"say which with --{role}"
        )
    return usual[0] if usual else None


def _rows(
    table: TableFile, columns: _Columns, options: ReadOptions, *, several: bool
) -> pl.DataFrame:
    height = table.frame.height
    name = re.sub(r"(\.[A-Za-z]{1,8})+$", "", table.source.path.name)

    def constant(value: str | None) -> pl.Series:
        return pl.repeat(value, height, dtype=pl.String, eager=True)

    def column(which: str | None, role: str, instead: str) -> pl.Series:
        return constant(instead) if which is None else table.text(which, role)

    is_file_the_execution = columns.system is not None and several
    factor_columns = _factor_columns(table, options)
    if columns.system is None and factor_columns:
        parts = [table.text(factor, "factor") for factor in factor_columns]
        system = pl.DataFrame({str(i): part for i, part in enumerate(parts)}).select(
            pl.concat_str(pl.all(), separator="/").alias("system")
        )["system"]
    else:
        system = column(columns.system, "system", name)
    data = {
        "system": system,
        "execution": column(columns.execution, "execution", name if is_file_the_execution else "1"),
        "question_id": table.text(columns.question, "question"),
        "metric": column(columns.metric, "metric", columns.score),
        "value": table.scores(columns.score),
        "status": constant("scored") if columns.status is None else table.statuses(columns.status),
        "cluster": constant(None)
        if columns.cluster is None
        else table.text(columns.cluster, "cluster"),
        "subgroups": table.levels(options.by, "by"),
        "detail": constant(None)
        if columns.status is None
        else table.text(columns.status, "status", required=False),
        "source": constant(str(table.source.path)),
        "place": table.places,
    }
    return pl.DataFrame({key: series.alias(key) for key, series in data.items()}).cast(
        dict(ROW_SCHEMA)  # pyright: ignore[reportArgumentType] polars wants its own alias of the same mapping
    )


def _errors_with_scores(rows: pl.DataFrame) -> Aside:
    first = rows.row(0, named=True)
    return Aside(
        what="scores of cells that ended in an error",
        count=rows.height,
        why="an error is not an answer; its status counts",
        first=f"{first['source']}, {first['place']}: {first['detail']} with {first['value']:g}",
    )


def _with_statuses(frame: pl.DataFrame) -> pl.DataFrame:
    failed = pl.col("status").is_in(FAILED)
    unscored = pl.col("value").is_null() & (pl.col("status") == "scored")
    return frame.with_columns(
        value=pl.when(~failed).then(pl.col("value")),
        status=pl.when(unscored).then(pl.lit("not_judged")).otherwise(pl.col("status")),
    )


def _unused(table: TableFile, columns: _Columns, options: ReadOptions) -> list[str]:
    named = (
        columns.system,
        columns.execution,
        columns.question,
        columns.score,
        columns.metric,
        columns.status,
        columns.cluster,
        *options.by,
        *options.factors,
    )
    used = {written if written in table.columns else written.partition(":")[0]
            for written in named if written is not None}  # fmt: skip
    return [name for name in table.columns if name not in used]


def _how(source: Source, columns: _Columns) -> str:
    told = [
        f"{role} = {column}"
        for role, column in (
            ("system", columns.system or "the file"),
            ("execution", columns.execution or "the file"),
            ("question", columns.question),
            ("score", columns.score),
            ("metric", columns.metric),
            ("status", columns.status),
        )
        if column is not None
    ]
    return f"columns of {source.path.name}: {', '.join(told)}"


def _factor_columns(table: TableFile, options: ReadOptions) -> list[str]:
    return [
        factor
        for factor in options.factors
        if factor in table.columns
        or (factor.partition(":")[0] in table.columns and not factor.startswith(_BY_NAME))
    ]


def _factors(
    table: TableFile, system: pl.Series, options: ReadOptions
) -> list[tuple[str, str, str]]:
    """Return (system, factor, level) of the factor columns.

    Raises
    ------
    InvalidResults
        If a system has two levels of one factor.
    """
    found: list[tuple[str, str, str]] = []
    for factor in _factor_columns(table, options):
        name = factor if factor in table.columns else factor.partition(":")[0]
        pairs = pl.DataFrame({"system": system, "level": table.text(factor, "factor")}).unique()
        several = pairs.filter(pl.col("system").is_duplicated()).sort("system", "level")
        if several.height:
            raise InvalidResults(
                f"{table.source.path}: system {several['system'][0]!r} has more than one level of "
                f"factor {name!r}: {', '.join(several['level'].to_list()[:5])}"
            )
        found += [(own, name, level) for own, level in pairs.sort("system").iter_rows()]
    return found


def factors_by_name(systems: Sequence[str], options: ReadOptions) -> list[tuple[str, str, str]]:
    """Return (system, factor, level) of factors that are parts of the systems' names.

    They are written `system:REGEX` with a named group for each factor.

    Raises
    ------
    RequestError
        If the expression is none, names no group, or does not match a system.
    """
    found: list[tuple[str, str, str]] = []
    for factor in options.factors:
        if not factor.startswith(_BY_NAME):
            continue
        written = factor.removeprefix(_BY_NAME)
        try:
            pattern = re.compile(written)
        except re.error as error:
            raise RequestError(f"--factor {factor!r}: no regular expression ({error})") from error
        if not pattern.groupindex:
            raise RequestError(
                f"--factor {factor!r}: names no factor; write "
                + json.dumps("system:(?P<model>.*)/(?P<framework>.*)")
            )
        for system in systems:
            match = pattern.fullmatch(system)
            if match is None:
                raise RequestError(f"--factor {factor!r} does not match system {system!r}")
            found += [(system, group, level or "") for group, level in match.groupdict().items()]
    return found
