"""`taketwo run`: executes or resumes a study."""

from __future__ import annotations

from pathlib import Path

import click

from taketwo.cli.plan import plan_text
from taketwo.cli.progress_lines import ProgressLines
from taketwo.study import plan, run

__all__ = ["command"]


@click.command("run")
@click.argument("study", type=click.Path(path_type=Path))
@click.option(
    "--retry-errors",
    is_flag=True,
    help="Start cells again that ended in an error of agent or media.",
)
@click.option("--quiet", "-q", is_flag=True, help="No plan and no progress.")
def command(study: Path, retry_errors: bool, quiet: bool) -> None:
    """Execute a study, or resume it.

    STUDY is a study folder or its YAML file. Prints what is planned before the first call, then
    the progress of each execution on standard error. Finished cells are never run again; after an
    interruption, even kill -9, the same command goes on.

    \b
    Exit status
      0  every planned cell has a record; those that failed or had no video are counted, and the first
         of them is shown
      2  the plan no longer matches what would run; nothing was spent
      4  the process that runs an execution broke down; what it finished is kept
      130  interrupted; run it again to go on

    \b
    Example
      taketwo run studies/march.yaml
    """
    planned = plan(study)
    if quiet:
        ran = run(study, retry_errors=retry_errors)
    else:
        click.echo(plan_text(planned), err=True)
        with ProgressLines() as lines:
            ran = run(study, on_progress=lines.show, retry_errors=retry_errors)
    named = ", ".join(f"{name} {count}" for name, count in sorted(ran.statuses.items()))
    click.echo(f"{sum(ran.statuses.values())} cells: {named}", err=True)
    if ran.first_failure is not None:
        click.echo(
            f"  {ran.failed} without an answer, first {ran.first_failure}\n"
            f"  errors of providers are tried again by the same command, those of agents and media "
            f"with --retry-errors; {ran.plan.rule.attempts} starts a cell at most",
            err=True,
        )
    if ran.first_without_video is not None:
        click.echo(
            f"  {ran.without_video} without a video, first {ran.first_without_video}\n"
            "  their questions leave the comparison and are listed in it; put the videos there and run "
            "with --retry-errors to have them in",
            err=True,
        )
    click.echo(f"next: taketwo score {study}", err=True)
