"""`taketwo report`: report.html, tables and figures."""

from __future__ import annotations

from pathlib import Path

import click

from taketwo.cli.compare import by_option, drift_option, missing_option
from taketwo.cli.edited_study import tell_edited_rule
from taketwo.executions.rule import Missing
from taketwo.reporting import write_report

__all__ = ["command"]


@click.command("report")
@click.argument("study", type=click.Path(path_type=Path))
@missing_option
@drift_option
@by_option
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to write into; default: the study's.",
)
def command(
    study: Path,
    missing: Missing | None,
    allow_drift: bool,
    by: tuple[str, ...],
    output: Path | None,
) -> None:
    """Write the report, tables and figures of a study.

    STUDY is a study folder or its YAML file. Writes report.html (one file, no network needed),
    tables/ (Markdown, LaTeX, CSV) and figures/ (SVG, PNG, PDF, Vega-Lite) into the study's folder, or
    into another one: a finished study on a disk that is only read can be reported.

    \b
    Exit status
      0  written
      2  the executions differ in what should be held fixed, or bad usage
      3  the table does not allow a comparison (the message says which rows)

    \b
    Example
      taketwo report studies/march.yaml
    """
    tell_edited_rule((study,))
    files = write_report(
        study, missing=missing, allow_drift=allow_drift, by=by or None, output=output
    )
    click.echo(files.html)
    click.echo(f"{len(files.tables)} tables, {len(files.figures)} figures", err=True)
