"""`taketwo export`: a study in the files of others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import click

from taketwo.exporting import Form, export_study

__all__ = ["command"]


@click.command("export")
@click.argument("study", type=click.Path(path_type=Path))
@click.option(
    "--to",
    "form",
    type=click.Choice(get_args(Form)),
    required=True,
    help="Run folders of AgentVidBench, rows of SAGE, or a trajectory a file (ATIF).",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="The folder to write into: a new or an empty one.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def command(study: Path, form: Form, output: Path, as_json: bool) -> None:
    """Open the runs of a study in the viewers and scripts of others.

    STUDY is a study folder or its YAML file. Each arm and execution becomes a run folder or a pair of
    files, each cell a trajectory. Scores are ours and errors stay errors; what the other format has no
    place for stands under the key taketwo, or is left out where the guide says so. No model is called.

    \b
    Exit status
      0  written
      2  the output holds something already, or bad usage
      3  the study's logs or tables cannot be used

    \b
    Example
      taketwo export studies/march --to agentvidbench -o exp
    """
    done = export_study(study, form=form, output=output)
    if as_json:
        record = {
            "to": done.form,
            "output": str(done.output),
            "cells": done.cells,
            "paths": [str(path) for path in done.paths],
            "notes": list(done.notes),
        }
        click.echo(json.dumps(record, indent=1, ensure_ascii=False))
        return
    for path in done.paths[:20]:
        click.echo(path)
    if len(done.paths) > 20:
        click.echo(f"and {len(done.paths) - 20} more in {done.output}")
    click.echo(f"{done.cells} cells", err=True)
    for note in done.notes:
        click.echo(f"Note: {note}", err=True)
