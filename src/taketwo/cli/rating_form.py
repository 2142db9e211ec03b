"""`taketwo rating-form`: trajectories for people to rate, blinded."""

from __future__ import annotations

from pathlib import Path

import click

from taketwo.judge_audits import write_rating_form
from taketwo.scores.judge_audit.audit_presets import DESIGNS

__all__ = ["command"]


@click.command("rating-form")
@click.argument("study", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="Where the forms and their key go.",
)
@click.option(
    "--design",
    type=click.Choice(sorted(DESIGNS)),
    default="published",
    show_default=True,
    help="How many questions and raters.",
)
def command(study: Path, output: Path, design: str) -> None:
    """Draw trajectories that people rate, to see whether the judge rates alike.

    STUDY is a study folder or its YAML file. Writes for each rater a page to read (rater-1.html) and
    a table to fill in (rater-1.csv), in an order of its own and without a sign of who answered, and
    key.json, which raters must not see. Filled tables go back in with: taketwo score STUDY --audit
    --ratings FILE. A file that is there already is never overwritten.

    \b
    Exit status
      0  written
      2  nothing can be rated, or a file is in the way
      3  a log cannot be used

    \b
    Example
      taketwo rating-form studies/march.yaml -o ratings
    """
    form, files = write_rating_form(study, output, design=design)
    arms = sorted({cell.arm for cell in form.cells.values()})
    click.echo(
        f"{len(form.cells)} trajectories of {len(arms)} arms ({', '.join(arms)}) for {len(form.orders)} "
        "raters"
    )
    for reason, count in form.left_out.items():
        click.echo(f"  {count} questions could not be drawn: {reason}")
    for path in files:
        click.echo(path)
