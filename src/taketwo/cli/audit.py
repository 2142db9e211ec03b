"""`taketwo audit`: the verdicts of a study, on results of other harnesses and plain tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import click

from taketwo.auditing import Question, audit_results, read_for_audit
from taketwo.cli.comparison_text import comparison_text
from taketwo.executions.rule import Missing
from taketwo.outcomes.imports.options import Alignment, ReadOptions

__all__ = ["command"]

_COLUMN = "COLUMN[:REGEX]"


@click.command("audit")
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--baseline", metavar="SYSTEM", help="Compare with this system; default: all pairs.")
@click.option(
    "--method",
    "methods",
    metavar="SYSTEM",
    multiple=True,
    help="Compare this one; repeatable; default: all others.",
)
@click.option(
    "--primary",
    metavar="METRIC",
    multiple=True,
    help="A metric of the primary family; repeatable; default: the metrics found. One that says right or wrong becomes the accuracy.",
)
@click.option(
    "--cluster", metavar=_COLUMN, help="What questions have in common, such as the video."
)
@click.option("--by", metavar="COLUMN", multiple=True, help="A subgroup factor; repeatable.")
@click.option(
    "--missing",
    type=click.Choice(get_args(Missing)),
    default="refuse",
    show_default=True,
    help="What a cell without a score is.",
)
@click.option(
    "--alignment",
    type=click.Choice(get_args(Alignment)),
    help="Were executions of equal name run together? Default: by the format.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level.")
@click.option(
    "--system",
    metavar=_COLUMN,
    help="Column of the system (of inspect logs: model, task, solver or a key of the metadata).",
)
@click.option("--execution", metavar=_COLUMN, help="Column of the execution.")
@click.option("--question", metavar=_COLUMN, help="Column of the question's id.")
@click.option("--score", metavar="COLUMN", help="Column of the score.")
@click.option(
    "--metric", metavar=_COLUMN, help="Column of the metric's name, if rows hold several."
)
@click.option("--status", metavar=_COLUMN, help="Column that says how the cell ended.")
@click.option(
    "--wide",
    metavar="PATTERN",
    help="Names of the value columns of a wide table, made of {metric}, {execution} and {system}.",
)
@click.option(
    "--factor",
    "factors",
    metavar=_COLUMN,
    multiple=True,
    help="A factor of the systems, by column, or by name: system:REGEX with named groups; repeatable.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print every number as one JSON object; the account then goes to stderr.",
)
@click.option(
    "--report",
    metavar="OUT.HTML",
    type=click.Path(path_type=Path),
    help="Also write the report, one HTML file.",
)
def command(
    files: tuple[Path, ...],
    baseline: str | None,
    methods: tuple[str, ...],
    primary: tuple[str, ...],
    cluster: str | None,
    by: tuple[str, ...],
    missing: Missing,
    alignment: Alignment | None,
    level: float,
    system: str | None,
    execution: str | None,
    question: str | None,
    score: str | None,
    metric: str | None,
    status: str | None,
    wide: str | None,
    factors: tuple[str, ...],
    as_json: bool,
    report: Path | None,
) -> None:
    """Say whether a claim survives, from results that other harnesses wrote.

    FILES are files or folders: tables (CSV, TSV, Parquet, JSON Lines; long, or wide with --wide),
    inspect logs, results of lmms-eval, lm-evaluation-harness, VLMEvalKit, HAL, tau-bench,
    tau2-bench and Terminal-Bench, run folders of AgentVidBench, rows of SAGE, or our own
    outcomes.parquet. What was understood is shown before
    any number: systems, executions, questions, statuses, how they are paired, what is not used.

    \b
    Exit status
      0  a verdict was reached, whatever it says
      2  bad usage: a column, system or metric that is not there
      3  the results do not allow a comparison (the message says which rows)

    \b
    Examples
      taketwo audit scores.csv --question question_id --wide "{execution}_{system}" \\
          --baseline static --method dynamic --cluster video_id --by format
      taketwo audit runs.csv.gz --system model --execution draw_id --question item_id \\
          --score verdict --cluster "item_id:^(.*?)__" --alignment arbitrary
      taketwo audit logs/gpt-4o logs/qwen
    """
    options = ReadOptions(
        system=system,
        execution=execution,
        question=question,
        score=score,
        metric=metric,
        status=status,
        cluster=cluster,
        by=by,
        factors=factors,
        wide=wide,
        metrics=primary,
        alignment=alignment,
    )
    results = read_for_audit(files, options)
    click.echo(results.reading.text(), err=as_json)
    asked = Question(
        baseline=baseline, methods=methods, primary=primary, by=by, missing=missing, level=level
    )
    found = audit_results(results, asked)
    for note in found.notes:
        click.echo(f"Note: {note}", err=as_json)
    if as_json:
        click.echo(json.dumps(found.to_json(), indent=1, ensure_ascii=False, allow_nan=False))
    else:
        click.echo(f"\n{comparison_text(found.comparison)}")
    if report is not None:
        click.echo(f"report: {found.write_report(report)}", err=True)
