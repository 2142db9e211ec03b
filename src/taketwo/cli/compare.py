"""`taketwo compare`: effects, shifts, verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import click

from taketwo.cli.comparison_text import comparison_text
from taketwo.cli.edited_study import tell_edited_rule
from taketwo.executions.rule import Missing
from taketwo.study import compare

__all__ = ["by_option", "command", "drift_option", "missing_option"]

missing_option = click.option(
    "--exploratory-missing",
    "missing",
    type=click.Choice(get_args(Missing)),
    help="Treat failed cells otherwise than planned; marked 'not as planned' on every page.",
)
drift_option = click.option(
    "--allow-drift",
    is_flag=True,
    help="Compare although something that should be held fixed differs; marked on every page.",
)


by_option = click.option(
    "--by",
    multiple=True,
    help="Attribute of the questions to break effects down by, also skill and capability; repeatable.",
)


@click.command("compare")
@click.argument("what", type=click.Path(path_type=Path), nargs=-1, required=True)
@missing_option
@drift_option
@by_option
@click.option("--json", "as_json", is_flag=True, help="Print every number as JSON.")
def command(
    what: tuple[Path, ...],
    missing: Missing | None,
    allow_drift: bool,
    by: tuple[str, ...],
    as_json: bool,
) -> None:
    """Say whether the method's effect survives complete re-execution.

    WHAT is a study (folder or YAML file), an outcomes table with its plan.json beside it, or the
    logs of the executions (.eval). Metrics, margins and level come from the frozen plan: they
    cannot be chosen after the scores are known. One execution gives the single-run table and says
    what it does not tell.

    \b
    Exit status
      0  a verdict was reached, whatever it says
      2  the executions differ in what should be held fixed, or bad usage
      3  the table does not allow a comparison (the message says which rows)

    \b
    Example
      taketwo compare studies/march.yaml
    """
    tell_edited_rule(what)
    comparison = compare(*what, missing=missing, allow_drift=allow_drift, by=by)
    if as_json:
        click.echo(json.dumps(comparison.to_json(), indent=1, ensure_ascii=False))
    else:
        click.echo(comparison_text(comparison, allow_drift=allow_drift))
