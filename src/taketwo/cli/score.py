"""`taketwo score`: judges the answers of a study from its logs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import click

from taketwo.study import score

__all__ = ["command"]


@click.command("score")
@click.argument("study", type=click.Path(path_type=Path))
@click.option(
    "--no-judge", is_flag=True, help="Call no model; answers that need the judge stay open."
)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
def command(study: Path, no_judge: bool, as_json: bool) -> None:
    """Judge the answers of a study from its logs.

    STUDY is a study folder or its YAML file. Choices are matched by option; open answers by exact
    match, else by the study's judge, once for each distinct answer of all arms and executions.
    Writes trajectories.parquet, outcomes.parquet and judgements/.

    \b
    Exit status
      0  scored; failures of the judge are listed and asked again next time
      2  the study has no plan
      3  a log cannot be used

    \b
    Example
      taketwo score studies/march.yaml
    """
    scored = score(study, judge=not no_judge)
    frame = scored.outcomes.to_polars()
    statuses = Counter(frame["score_status"].to_list())
    if as_json:
        record = {
            "cells": frame.height,
            "score_statuses": dict(statuses),
            "judged_now": scored.judged,
            "judge_failures": list(scored.failures),
            "pending": scored.pending,
        }
        click.echo(json.dumps(record, indent=1))
        return
    named = ", ".join(f"{name} {count}" for name, count in sorted(statuses.items()))
    click.echo(f"{frame.height} cells: {named}; {scored.judged} answers judged now")
    for cause, count in Counter(scored.failures).most_common(10):
        click.echo(f"  judge failed on {count}: {cause}")
    if scored.pending:
        click.echo(f"  {scored.pending} answers still need the judge; run the same command again")
