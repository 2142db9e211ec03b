"""`taketwo demo`: a full study, offline."""

from __future__ import annotations

from pathlib import Path

import click

from taketwo.cli.comparison_text import comparison_text
from taketwo.cli.plan import plan_text
from taketwo.cli.progress_lines import ProgressLines
from taketwo.demonstration import demo

__all__ = ["command"]


@click.command("demo")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("demo"))
@click.option("--quiet", "-q", is_flag=True, help="No plan and no progress.")
def command(folder: Path, quiet: bool) -> None:
    """Watch a full study run offline, and read its verdict.

    Two agents answer questions about rendered and real videos, twice, with models that need no
    network and no key; the effect of the second agent over the first is compared between both
    executions. Everything lies in FOLDER (default: demo) and can be looked at, resumed or removed.

    \b
    Exit status
      0  the report is written
      2  FOLDER holds another study
      4  a fault of Take Two or of the machine
      130  interrupted; the same command goes on

    \b
    Example
      taketwo demo
    """

    def say(text: str) -> None:
        if not quiet:
            click.echo(text, err=True)

    with ProgressLines() as lines:
        shown = demo(
            folder,
            on_step=say,
            on_planned=lambda planned: say(plan_text(planned)),
            on_progress=None if quiet else lines.show,
        )
    click.echo(comparison_text(shown.report.comparison))
    click.echo("")
    click.echo(
        f"To read the accuracy by: chance is {shown.chance:.1%}; what the perception alone allows "
        f"is at most {shown.perception_bound:.1%} (of {shown.bound_questions} questions on rendered "
        "videos)."
    )
    click.echo(f"Report: {shown.report.html}")
