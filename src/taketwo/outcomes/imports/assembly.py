"""Joining what the readers found: one row per cell and metric, or an error that names both places."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

import polars as pl

from taketwo.errors import InvalidResults, RequestError, UnknownName
from taketwo.outcomes.imports.long_table import factors_by_name
from taketwo.outcomes.imports.options import ReadOptions
from taketwo.outcomes.imports.record import (
    STATUSES,
    Aside,
    ExecutionSource,
    ImportedResults,
    Reading,
)
from taketwo.outcomes.imports.sources import Parsed

__all__ = ["assembled", "in_order"]

_KEY = ("system", "execution", "question_id", "metric")
_CELL = ("system", "execution", "question_id")
_NUMBERS = re.compile(r"(\d+)")


def in_order(names: Sequence[str]) -> tuple[str, ...]:
    """Return names in the order in which people count: `K2` before `K10`.

    Examples
    --------
    >>> in_order(["K10", "K2", "K1"])
    ('K1', 'K2', 'K10')
    """

    def key(name: str) -> tuple[tuple[tuple[int, int, str], ...], str]:
        parts = (
            (0, int(part), "") if part.isdecimal() else (1, 0, part)
            for part in _NUMBERS.split(name)
            if part
        )
        return tuple(parts), name

    return tuple(sorted(names, key=key))


def assembled(
    parts: Sequence[Parsed], options: ReadOptions, asides: Sequence[Aside] = ()
) -> ImportedResults:
    """Return the rows of all files, checked, with the account of how they were understood.

    Raises
    ------
    InvalidResults
        If there is no score at all, two places contradict each other about a cell or a question's
        cluster, or a value is infinite.
    UnknownName
        If a metric was asked for that was not found.
    """
    told = [*asides, *(aside for part in parts for aside in part.asides)]
    rows = _of_wanted_metrics(
        _with_metrics(pl.concat([part.rows for part in parts])), options, told
    )
    _refuse_infinite(rows)
    rows = _without_nan(rows, told)
    rows = _once(rows, told)
    _require_one(rows, "cluster")
    if options.by:
        _require_one(rows, "subgroups")
    is_blocked = all(part.is_blocked for part in parts)
    alignment = options.alignment or ("blocked" if is_blocked else "arbitrary")
    reason = "; ".join(dict.fromkeys(
        part.alignment_reason for part in parts if part.is_blocked == is_blocked
    ))  # fmt: skip
    if options.alignment is not None:
        reason = f"as declared by --alignment; by itself: {reason}"
    systems = in_order(rows["system"].unique().to_list())
    numbers = _numbered(rows, systems, is_blocked=alignment == "blocked")
    found = [factor for part in parts for factor in part.factors]
    factors = _factors([*found, *factors_by_name(systems, options)], systems, options)
    return ImportedResults(
        rows=rows,
        numbers=numbers,
        factors=factors,
        baselines={arm: baseline for part in parts for arm, baseline in part.baselines},
        reading=Reading(
            formats=tuple(dict.fromkeys(part.kind for part in parts)),
            files=tuple(file for part in parts for file in part.files),
            systems=systems,
            executions=_executions(rows, numbers),
            n_questions=rows["question_id"].n_unique(),
            n_common=_in_every_execution(rows, len(numbers)),
            metrics=in_order(rows["metric"].unique().to_list()),
            n_clusters=rows["cluster"].drop_nulls().n_unique() or None,
            cluster_source="; ".join(dict.fromkeys(part.cluster_source for part in parts)),
            statuses=_statuses(rows, numbers, systems),
            alignment=alignment,
            alignment_reason=reason,
            asides=tuple(told),
            notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        ),
    )


def _with_metrics(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with those of unnamed metric (an error is one on all) once for each metric."""
    if not rows["value"].drop_nulls().len():
        counts = ", ".join(
            f"{n} {name}" for name, n in rows["status"].value_counts().sort("status").iter_rows()
        )
        told = "".join(
            f"; first: {source}, {place}" + (f" ({detail})" if detail else "")
            for source, place, detail in rows
            .select("source", "place", "detail")
            .head(1)
            .iter_rows()
        )
        raise InvalidResults(
            f"none of {rows.height} rows carries a score ({counts}); score the runs with the harness "
            f"that made them, then audit{told}"
        )
    named = rows.filter(pl.col("metric").is_not_null())
    unnamed = rows.filter(pl.col("metric").is_null())
    if not unnamed.height:
        return named
    metrics = named.select(pl.col("metric").unique().sort())
    spread = unnamed.drop("metric").join(metrics, how="cross").select(rows.columns)
    # A cell that failed and was then scored is told as a contradiction later, in `_once`.
    return pl.concat([named, spread])


def _of_wanted_metrics(rows: pl.DataFrame, options: ReadOptions, told: list[Aside]) -> pl.DataFrame:
    if not options.metrics:
        return rows
    known = rows["metric"].unique().to_list()
    for name in options.metrics:
        if name not in known:
            raise UnknownName.among("metric", name, known)
    wanted = pl.col("metric").is_in([str(name) for name in known if options.wants(name)])
    others = rows.filter(~wanted)
    for metric in in_order(others["metric"].unique().to_list()):
        own = others.filter(pl.col("metric") == metric)
        told.append(
            Aside(
                what=f"values of {metric!r}",
                count=own.height,
                why="not among the metrics asked for",
                first=f"{own['source'][0]}, {own['place'][0]}",
            )
        )
    return rows.filter(wanted)


def _refuse_infinite(rows: pl.DataFrame) -> None:
    infinite = rows.filter(pl.col("value").is_infinite())
    if infinite.height:
        first = infinite.row(0, named=True)
        raise InvalidResults(
            f"{infinite.height} values are infinite, first {first['metric']} = {first['value']} of "
            f"question {first['question_id']!r}, system {first['system']!r} ({first['source']}, "
            f"{first['place']}); no mean exists: correct the value, or leave it empty"
        )


def _without_nan(rows: pl.DataFrame, told: list[Aside]) -> pl.DataFrame:
    is_nan = pl.col("value").is_nan().fill_null(value=False)
    found = rows.filter(is_nan)
    if not found.height:
        return rows
    told.append(
        Aside(
            what="values that are not a number (NaN)",
            count=found.height,
            why="counted as not judged, never as wrong",
            first=f"{found['source'][0]}, {found['place'][0]}",
        )
    )
    scored = pl.col("status") == "scored"
    return rows.with_columns(
        value=pl.when(~is_nan).then(pl.col("value")),
        status=pl.when(is_nan & scored).then(pl.lit("not_judged")).otherwise(pl.col("status")),
    )


def _once(rows: pl.DataFrame, told: list[Aside]) -> pl.DataFrame:
    """Return one row per cell and metric.

    Raises
    ------
    InvalidResults
        If two rows of one cell differ in value, status or cluster.
    """
    repeated = rows.select(pl.struct(_KEY).is_duplicated()).to_series()
    if not repeated.any():
        return rows
    doubled = rows.filter(repeated).sort(*_KEY, "source", "place")
    apart = doubled.unique([*_KEY, "value", "status", "cluster"], maintain_order=True)
    differing = apart.filter(apart.select(pl.struct(_KEY).is_duplicated()).to_series())
    if differing.height:
        one, other = differing.row(0, named=True), differing.row(1, named=True)
        cells = differing.select(_KEY).n_unique()
        raise InvalidResults(
            f"{cells} cells are recorded twice with different results, first {one['metric']} of "
            f"question {one['question_id']!r}, system {one['system']!r}, execution "
            f"{one['execution']!r}:\n"
            f"  {one['source']}, {one['place']}: {_told(one)}\n"
            f"  {other['source']}, {other['place']}: {_told(other)}\n"
            "  two runs in one file are two executions: give each its own file or execution "
            "column; otherwise remove the wrong row"
        )
    told.append(
        Aside(
            what="rows that repeat another one exactly",
            count=doubled.height - apart.height,
            why="a run found twice is one run",
            first=f"{doubled['source'][1]}, {doubled['place'][1]} repeats "
            f"{doubled['source'][0]}, {doubled['place'][0]}",
        )
    )
    return pl.concat([rows.filter(~repeated), apart])


def _told(row: Mapping[str, object]) -> str:
    shown = "no value" if row["value"] is None else f"{row['value']:g}"
    return f"{shown}, {row['status']}" + (f", cluster {row['cluster']!r}" if row["cluster"] else "")


def _require_one(rows: pl.DataFrame, what: str) -> None:
    """Refuse questions that two rows put into different clusters, or different subgroups."""
    known = rows.filter(pl.col(what).is_not_null())
    pairs = known.unique(["question_id", what], maintain_order=True)
    several = pairs.filter(pl.col("question_id").is_duplicated()).sort("question_id", what)
    if several.height:
        one, other = several.row(0, named=True), several.row(1, named=True)
        named = "cluster" if what == "cluster" else "set of subgroups"
        raise InvalidResults(
            f"{several['question_id'].n_unique()} questions belong to more than one {named}, first "
            f"{one['question_id']!r}: {one[what]!r} ({one['source']}, {one['place']}) and "
            f"{other[what]!r} ({other['source']}, {other['place']})"
        )


def _numbered(
    rows: pl.DataFrame, systems: Sequence[str], *, is_blocked: bool
) -> dict[tuple[str, str], int]:
    """Return the number of each execution: by name over all systems if blocked, else by system."""
    pairs = rows.select("system", "execution").unique()
    everywhere = in_order(pairs["execution"].unique().to_list())
    numbers: dict[tuple[str, str], int] = {}
    for system in systems:
        own = set(pairs.filter(pl.col("system") == system)["execution"].to_list())
        names = [name for name in everywhere if name in own]
        for number, name in enumerate(names, start=1):
            numbers[system, name] = everywhere.index(name) + 1 if is_blocked else number
    return numbers


def _executions(
    rows: pl.DataFrame, numbers: Mapping[tuple[str, str], int]
) -> tuple[ExecutionSource, ...]:
    grouped = rows.group_by("system", "execution").agg(
        pl.col("question_id").n_unique().alias("n"), pl.col("source").unique().sort()
    )
    found = {(s, e): (n, tuple(sources)) for s, e, n, sources in grouped.iter_rows()}
    return tuple(
        ExecutionSource(
            system=system,
            number=number,
            name=name,
            n_questions=found[system, name][0],
            sources=found[system, name][1],
        )
        for (system, name), number in numbers.items()
    )


def _in_every_execution(rows: pl.DataFrame, n_executions: int) -> int:
    cells = rows.select(_CELL).unique()
    return cells.group_by("question_id").len().filter(pl.col("len") == n_executions).height


def _statuses(
    rows: pl.DataFrame, numbers: Mapping[tuple[str, str], int], systems: Sequence[str]
) -> dict[str, dict[str, int]]:
    """Return the cells by system and status, the worst status of a cell's metrics for all of it."""
    order = pl.Enum(STATUSES)
    cells = rows.group_by(_CELL).agg(pl.col("status").cast(order).max())
    counted = cells.group_by("system", "status").len()
    questions = rows["question_id"].n_unique()
    found: dict[str, dict[str, int]] = {}
    for system in systems:
        own = counted.filter(pl.col("system") == system).sort("status")
        counts = {str(status): int(count) for _, status, count in own.iter_rows()}
        planned = questions * sum(name == system for name, _ in numbers)
        absent = planned - sum(counts.values())
        if absent:
            counts["not_run"] = counts.get("not_run", 0) + absent
        found[system] = counts
    return found


def _factors(
    found: Sequence[tuple[str, str, str]], systems: Sequence[str], options: ReadOptions
) -> dict[str, dict[str, str]]:
    levels: dict[str, dict[str, str]] = {system: {} for system in systems}
    for system, factor, level in found:
        held = levels[system].setdefault(factor, level)
        if held != level:
            raise InvalidResults(
                f"system {system!r} has two levels of factor {factor!r}: {held!r} and {level!r}"
            )
    if options.factors and not any(levels.values()):
        written = json.dumps("system:(?P<model>.*)/(?P<framework>.*)")
        raise RequestError(
            f"--factor {', '.join(options.factors)}: neither a column of the table nor a pattern of "
            f"the systems' names; write for example {written}"
        )
    return levels
