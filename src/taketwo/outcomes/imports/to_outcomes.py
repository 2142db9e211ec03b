"""From imported rows to the outcomes table: systems become arms, every planned cell gets a row."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import polars as pl

from taketwo.errors import InvalidResults, RequestError, UnknownName
from taketwo.executions.rule import METRICS
from taketwo.outcomes.imports.record import FAILED, UNANSWERED, ImportedResults
from taketwo.outcomes.table import COLUMNS, Outcomes

__all__ = ["accuracy_metric", "to_outcomes"]

_RUN_FAILURES = ("agent_error", "provider_error", "media_error", "not_run")
_CELL = ("arm", "execution", "question_id")


def accuracy_metric(results: ImportedResults) -> str | None:
    """Return which imported metric is the accuracy: the one of that name, or the only one of 0 and 1.

    None where no metric has only the values 0 and 1.

    Raises
    ------
    RequestError
        If several metrics of other names have only the values 0 and 1.
    """
    if "accuracy" in results.reading.metrics:
        return "accuracy"
    others = results.rows.filter(~pl.col("metric").is_in(METRICS) & pl.col("value").is_not_null())
    binary = (
        others
        .group_by("metric")
        .agg(pl.col("value").is_in([0.0, 1.0]).all())
        .filter(pl.col("value"))
    )
    names = sorted(binary["metric"].to_list())
    if len(names) > 1:
        raise RequestError(
            f"{len(names)} metrics say right or wrong ({', '.join(names)}); name the one to compare "
            "as accuracy with --primary"
        )
    return names[0] if names else None


def to_outcomes(
    results: ImportedResults,
    baselines: Mapping[str, str],
    *,
    systems: Sequence[str] | None = None,
    accuracy: str | None = None,
) -> Outcomes:
    """Return the outcomes of the systems that are compared, a row for every cell of the full grid.

    A cell without a row in the source is `not_run`. Executions are numbered as in the account; for
    an arbitrary alignment the number is a label and nothing more. Metrics whose names are columns of
    the table go there; the one that says right or wrong (`accuracy_metric`) goes to `accuracy`; any
    other gets a column of its own name.

    Parameters
    ----------
    baselines
        The baseline of each method, by name of the system.
    systems
        Which systems to keep; all that `baselines` names, or all there are, where it is empty.
    accuracy
        The metric that says right or wrong; by default `accuracy_metric` finds it.

    Raises
    ------
    UnknownName
        If a system is not there.
    InvalidResults
        If a metric called accuracy has values other than 0 and 1.
    """
    known = results.reading.systems
    kept = tuple(systems or dict.fromkeys([*baselines.values(), *baselines]) or known)
    for name in (*kept, *baselines, *baselines.values()):
        if name not in known:
            raise UnknownName.among("system", name, known)
    accuracy = accuracy or accuracy_metric(results)
    rows = _named(results, kept, accuracy)
    _require_binary(rows)
    cells = _cells(rows)
    frame = (
        _grid(rows, results, kept)
        .join(cells, on=_CELL, how="left", nulls_equal=True)
        .with_columns(pl.col("status").fill_null("not_run"))
        .with_columns(_statuses(has_accuracy=accuracy is not None))
    )
    frame = frame.with_columns(
        pl.col("arm").replace_strict(dict(baselines), default=None, return_dtype=pl.String)
        .alias("baseline")
        if baselines
        else pl.lit(None, dtype=pl.String).alias("baseline"),
        _factors(results, kept),
    )  # fmt: skip
    absent = [
        pl.lit(None, dtype=column.dtype).alias(column.name)
        for column in COLUMNS
        if column.name not in frame.columns
    ]
    declared = [pl.col(column.name).cast(column.dtype) for column in COLUMNS]
    others = sorted(set(rows["metric"].unique()) - set(METRICS))
    complete = frame.with_columns(absent)
    return Outcomes(complete.select(*declared, *others).sort(_CELL))


def _named(results: ImportedResults, kept: Sequence[str], accuracy: str | None) -> pl.DataFrame:
    """Return the rows of the kept systems under the names of the outcomes table."""
    pairs = [(s, e, n) for (s, e), n in results.numbers.items()]
    numbers = pl.DataFrame(
        pairs,
        schema={"system": pl.String, "execution": pl.String, "number": pl.Int32},
        orient="row",
    )
    reserved = {column.name for column in COLUMNS} - set(METRICS)
    rows = results.rows.filter(pl.col("system").is_in(kept))
    rows = rows.join(numbers, on=["system", "execution"], how="left", maintain_order="left")
    renamed = rows.drop("execution").rename({"system": "arm", "number": "execution"})
    names = {name: f"score:{name}" for name in results.reading.metrics if name in reserved}
    if accuracy is not None and accuracy != "accuracy":
        names |= {"accuracy": "score:accuracy", accuracy: "accuracy"}
    return renamed.with_columns(pl.col("metric").replace(names))


def _require_binary(rows: pl.DataFrame) -> None:
    values = rows.filter((pl.col("metric") == "accuracy") & pl.col("value").is_not_null())
    wrong = values.filter(~pl.col("value").is_in([0.0, 1.0]))
    if wrong.height:
        first = wrong.row(0, named=True)
        raise InvalidResults(
            f"accuracy has {wrong.height} values other than 0 and 1, first {first['value']:g} "
            f"({first['source']}, {first['place']}); a graded score is not an accuracy: name its "
            "metric otherwise, nothing is rounded"
        )


def _cells(rows: pl.DataFrame) -> pl.DataFrame:
    """Return a row per recorded cell: its status, its values by metric, and where it stands."""
    metrics = sorted(rows["metric"].unique().to_list())
    status = pl.col("status")
    decisive = pl.col("metric") == "accuracy" if "accuracy" in metrics else pl.lit(value=True)
    if len(metrics) == 1:
        plain = rows.rename({"value": metrics[0]}).drop("metric")
        return plain.rename({"source": "log", "detail": "failure"}).drop(
            "place", "subgroups", "cluster"
        )
    values = [
        pl.col("value").filter(pl.col("metric") == name).first().alias(name) for name in metrics
    ]
    failure = status.filter(status.is_in([*_RUN_FAILURES, "no_video", *UNANSWERED])).sort().first()
    return rows.group_by(_CELL).agg(
        *values,
        pl.coalesce(
            failure,
            status.filter(decisive).first(),
            pl.lit("not_judged"),
        ).alias("status"),
        pl.col("detail").drop_nulls().first().alias("failure"),
        pl.col("source").first().alias("log"),
    )


def _grid(rows: pl.DataFrame, results: ImportedResults, kept: Sequence[str]) -> pl.DataFrame:
    """Return every planned cell: questions of any kept system x executions of each system."""
    questions = rows.group_by("question_id").agg(
        pl.col("cluster").drop_nulls().first().alias("video_id"),
        pl.col("subgroups").drop_nulls().min().alias("attributes"),
    )
    questions = questions.with_columns(pl.col("video_id").fill_null(pl.col("question_id")))
    executions = pl.DataFrame(
        [(s, n) for (s, _), n in results.numbers.items() if s in kept],
        schema={"arm": pl.String, "execution": pl.Int32},
        orient="row",
    )
    return executions.join(questions, how="cross")


def _statuses(*, has_accuracy: bool) -> list[pl.Expr]:
    status = pl.col("status")
    is_gone = status == "no_video"
    judged = "scored" if has_accuracy else "not_judged"
    runs = pl.when(status.is_in([*_RUN_FAILURES, *UNANSWERED])).then(status)
    scores = (
        pl
        .when(status.is_in(["scored", *UNANSWERED]))
        .then(pl.lit(judged))
        .when(status.is_in(FAILED) & ~status.is_in([*_RUN_FAILURES, "no_video"]))
        .then(status)
        .otherwise(pl.lit("not_judged"))
    )
    return [
        pl.when(is_gone).then(pl.lit("missing")).otherwise(pl.lit("available")).alias("availability"),
        pl.when(is_gone).then(pl.lit("media_error")).otherwise(runs.otherwise(pl.lit("answered")))
        .alias("run_status"),
        scores.alias("score_status"),
        pl.lit(value=False).alias("forced"),
    ]  # fmt: skip


def _factors(results: ImportedResults, kept: Sequence[str]) -> pl.Expr:
    written = {
        system: json.dumps(dict(results.factors[system]), ensure_ascii=False, sort_keys=True)
        for system in kept
        if results.factors.get(system)
    }
    if not written:
        return pl.lit(None, dtype=pl.String).alias("factors")
    return (
        pl.col("arm").replace_strict(written, default=None, return_dtype=pl.String).alias("factors")
    )
