"""The verdicts of a study, on results that anybody's harness wrote: reading, comparing, reporting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

import polars as pl

from taketwo.analysis.compare import compare
from taketwo.analysis.comparison import Comparison
from taketwo.benchmarks.canonical import JsonValue, sha256_of
from taketwo.errors import InvalidResults, RequestError, UnknownName, UnpairedCells
from taketwo.executions.rule import METRICS, Metric, Missing, Rule
from taketwo.outcomes.imports.detect import read_results
from taketwo.outcomes.imports.options import Alignment, ReadOptions
from taketwo.outcomes.imports.record import ImportedResults, Reading
from taketwo.outcomes.imports.to_outcomes import accuracy_metric, to_outcomes
from taketwo.outcomes.table import Outcomes
from taketwo.report.document import Sources, build_document
from taketwo.report.html import write_report

__all__ = ["Audit", "Question", "audit", "audit_results", "read_for_audit"]


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked of imported results: who against whom, on what, and what a hole means.

    Without `baseline` every system is compared with every other (our own tables name their
    baselines); with it, each of `methods`, or every other system. `primary` is the family of metrics
    that Holm's correction runs over; empty means the metrics found.
    """

    baseline: str | None = None
    methods: tuple[str, ...] = ()
    primary: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    missing: Missing = "refuse"
    level: float = 0.95
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What was read, and what it shows."""

    reading: Reading
    outcomes: Outcomes
    comparison: Comparison
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, JsonValue]:
        """Return the comparison as JSON, with the account of the reading beside it."""
        notes: list[JsonValue] = list(self.notes)
        return {**self.comparison.to_json(), "reading": self.reading.to_json(), "notes": notes}

    def write_report(self, out: Path | str) -> Path:
        """Write the report as one self-contained HTML file; return its path."""
        return write_report(
            build_document(Sources(comparison=self.comparison, outcomes=self.outcomes)), Path(out)
        )


def audit(
    *files: Path | str,
    baseline: str | None = None,
    method: str | Sequence[str] = (),
    primary: str | Sequence[str] = (),
    cluster: str | None = None,
    by: Sequence[str] = (),
    missing: Missing = "refuse",
    alignment: Alignment | None = None,
    level: float = 0.95,
    system: str | None = None,
    execution: str | None = None,
    question: str | None = None,
    score: str | None = None,
    metric: str | None = None,
    status: str | None = None,
    wide: str | None = None,
    factor: Sequence[str] = (),
    report: Path | str | None = None,
) -> Audit:
    """Say of results that other harnesses wrote whether a difference survives re-execution.

    Parameters
    ----------
    files
        Files or folders: tables (CSV, TSV, Parquet, JSON Lines), logs of inspect, results of
        lmms-eval, lm-evaluation-harness, VLMEvalKit, HAL, tau-bench, tau2-bench, Terminal-Bench,
        run folders of AgentVidBench, rows of SAGE, or our own outcomes.
    baseline, method
        Whom to compare; without a baseline all pairs.
    primary
        The family of metrics; the metrics found, by default. Naming a metric that says right or
        wrong makes it the accuracy.
    cluster, by
        Column or field (`NAME` or `NAME:REGEX`) of the cluster; columns of subgroups.
    missing
        What a cell without a score is: a reason to refuse, wrong, or a reason to drop its question.
    alignment
        `blocked` where executions of equal name were run together, `arbitrary` where their numbers
        mean nothing; the format's own by default.
    level
        Confidence level, between 0 and 1.
    system, execution, question, score, metric, status, wide, factor
        Which column of a table is what (`NAME` or `NAME:REGEX`); `wide` is the pattern of a wide
        table's columns, such as `{execution}_{system}`.
    report
        Where to write the HTML report, if one is wanted.

    Raises
    ------
    RequestError
        If the options do not fit what was found.
    InvalidResults, UnpairedCells
        If the results cannot be used; the message names file, place and remedy.
    """
    options = ReadOptions(
        system=system,
        execution=execution,
        question=question,
        score=score,
        metric=metric,
        status=status,
        cluster=cluster,
        by=tuple(by),
        factors=tuple(factor),
        wide=wide,
        metrics=_listed(primary),
        alignment=alignment,
    )
    asked = Question(
        baseline=baseline,
        methods=_listed(method),
        primary=_listed(primary),
        by=tuple(by),
        missing=missing,
        level=level,
    )
    found = audit_results(read_for_audit(files, options), asked)
    if report is not None:
        found.write_report(Path(report))
    return found


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def read_for_audit(files: Sequence[Path | str], options: ReadOptions) -> ImportedResults:
    """Read the files, so that the account can be shown before any number.

    Options name metrics as the files do: our own names that no file holds are left to the
    comparison, which says that they were not measured.
    """
    return read_results(files, options)


def audit_results(results: ImportedResults, asked: Question) -> Audit:
    """Compare what was read.

    Raises
    ------
    RequestError
        If the systems or metrics asked for cannot be compared.
    InvalidResults, UnpairedCells
        If the results do not allow a comparison.
    """
    if not 0 < asked.level < 1:
        raise RequestError(f"the level is a share between 0 and 1, found {asked.level!r}")
    baselines, systems, pairs = _who(results, asked)
    accuracy = _accuracy(results, asked)
    outcomes = to_outcomes(results, baselines, systems=systems, accuracy=accuracy)
    rule = Rule(
        primary=_family(results, asked, accuracy),
        level=asked.level,
        cluster="video" if results.reading.n_clusters is not None else "question",
        missing=asked.missing,
    )
    try:
        comparison = compare(
            outcomes,
            rule,
            study=_name_of(results.reading),
            seed=asked.seed,
            alignment=results.reading.alignment,
            by=[_column_of(name) for name in asked.by],
            pairs=pairs,
        )
    except (UnpairedCells, InvalidResults) as error:
        raise type(error)(_for_imports(str(error))) from error
    return Audit(
        reading=results.reading,
        outcomes=outcomes,
        comparison=_of_what_is_there(comparison),
        notes=_notes(results, systems, accuracy, rule),
    )


def _who(
    results: ImportedResults, asked: Question
) -> tuple[Mapping[str, str], tuple[str, ...], Literal["baseline", "all"]]:
    """Return the baseline of each method, the systems compared, and which pairs."""
    known = results.reading.systems
    for name in (*([asked.baseline] if asked.baseline else []), *asked.methods):
        if name not in known:
            raise UnknownName.among("system", name, known)
    if len(known) == 1:
        raise InvalidResults(_one_system(results))
    if asked.baseline is not None:
        methods = asked.methods or tuple(name for name in known if name != asked.baseline)
        if asked.baseline in methods:
            raise RequestError(f"{asked.baseline!r} is both baseline and method; name two systems")
        return dict.fromkeys(methods, asked.baseline), (asked.baseline, *methods), "baseline"
    if len(asked.methods) == 1:
        raise RequestError(
            f"--method {asked.methods[0]} has no baseline; add --baseline with one of "
            f"{', '.join(name for name in known if name not in asked.methods)}"
        )
    if results.baselines and not asked.methods:
        return results.baselines, known, "baseline"
    return {}, asked.methods or known, "all"


def _one_system(results: ImportedResults) -> str:
    system = results.reading.systems[0]
    metric = results.reading.metrics[0]
    means = results.rows.filter(pl.col("metric") == metric, pl.col("value").is_not_null())
    by_name = dict(means.group_by("execution").agg(pl.col("value").mean()).iter_rows())
    told = ", ".join(
        f"K{item.number} {by_name[item.name]:.4g}"
        for item in results.reading.executions_of(system)
        if item.name in by_name
    )
    return (
        f"only one system was found, {system!r} (mean {metric}: {told}); an effect needs two: add the "
        "results of another, or name the column that tells systems apart with --system"
    )


def _accuracy(results: ImportedResults, asked: Question) -> str | None:
    """Return the imported metric that is the accuracy, the one asked for first.

    Raises
    ------
    RequestError
        If what was asked for is neither a metric of ours nor says right or wrong.
    """
    foreign = [name for name in asked.primary if name not in METRICS]
    if not foreign:
        return accuracy_metric(results)
    values = results.rows.filter(pl.col("metric").is_in(foreign), pl.col("value").is_not_null())
    graded = values.filter(~pl.col("value").is_in([0.0, 1.0]))
    if graded.height:
        first = graded.row(0, named=True)
        raise RequestError(
            f"--primary {first['metric']} has values other than 0 and 1, first {first['value']:g} "
            f"({first['source']}, {first['place']}); graded scores can be compared under one of the "
            f"names {', '.join(METRICS)} only: name the metric so in the file, nothing is rounded"
        )
    if len(foreign) > 1:
        raise RequestError(
            f"{', '.join(foreign)}: all say right or wrong; audit them one by one with --primary"
        )
    return foreign[0]


def _family(results: ImportedResults, asked: Question, accuracy: str | None) -> tuple[Metric, ...]:
    """Return the primary metrics by our names.

    Raises
    ------
    InvalidResults
        If none of the metrics found can be compared.
    """
    if asked.primary:
        named = ["accuracy" if name == accuracy else name for name in asked.primary]
        return cast("tuple[Metric, ...]", tuple(dict.fromkeys(named)))
    names = {"accuracy" if name == accuracy else name for name in results.reading.metrics}
    family: tuple[Metric, ...] = tuple(metric for metric in METRICS if metric in names)
    if not family:
        raise InvalidResults(
            f"none of the metrics found ({', '.join(results.reading.metrics)}) is 0 or 1 throughout "
            f"or has one of the names {', '.join(METRICS)}; name them so in the file"
        )
    return family


def _of_what_is_there(comparison: Comparison) -> Comparison:
    """Return the comparison without the metrics that the source never speaks of."""
    return replace(
        comparison,
        comparisons=tuple(
            replace(pair, not_measured=tuple(item for item in pair.not_measured if item.primary))
            for pair in comparison.comparisons
        ),
    )


def _column_of(written: str) -> str:
    return written.partition(":")[0]


def _name_of(reading: Reading) -> str:
    """Return a name of what was audited: its files, by hash."""
    digest = sha256_of(sorted(file.sha256 for file in reading.files))
    return f"audit-{digest[:12]}"


def _for_imports(message: str) -> str:
    """Return a message of the comparison with remedies that fit results of others."""
    lines = message.split("\n")
    kept = [line for line in lines if "taketwo " not in line and "not as planned" not in line]
    if len(kept) == len(lines):
        return message
    return "\n".join([
        *kept,
        "  either complete the results, or say what a cell without a score is:",
        "    --missing as-wrong        failed and absent runs count as wrong",
        "    --missing drop-question   their questions leave all systems and executions",
    ])


def _notes(
    results: ImportedResults, systems: Sequence[str], accuracy: str | None, rule: Rule
) -> tuple[str, ...]:
    told: list[str] = []
    if accuracy is not None and accuracy != "accuracy":
        told.append(f"{accuracy!r} says right or wrong and is compared as accuracy")
    others = [
        name
        for name in results.reading.metrics
        if name != accuracy
        and (name not in METRICS or (name == "accuracy" and accuracy is not None))
    ]
    if others:
        told.append(f"metrics that are read but not compared: {', '.join(others)}")
    left = [name for name in results.reading.systems if name not in systems]
    if left:
        told.append(f"systems that are read but not compared: {', '.join(left)}")
    plural = "metric" if len(rule.primary) == 1 else "metrics"
    told.append(f"the primary family is {len(rule.primary)} {plural}: {', '.join(rule.primary)}")
    return tuple(told)
