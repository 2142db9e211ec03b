"""Notes on standard error: the study file was edited, and the frozen plan is what counts."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import click

from taketwo.errors import TaketwoError
from taketwo.executions.edited_rule import edited_rule
from taketwo.study import plan
from taketwo.study_folder import StudyFolder

__all__ = ["tell_edited_rule", "tell_edited_study"]


def tell_edited_study(study: Path) -> None:
    """Say on standard error in what a study file differs from its plan, before anybody is asked by the plan.

    Nothing is said where there is no plan yet, or without the engine, which resolves study files.
    """
    try:
        if find_spec("inspect_ai") is None or not StudyFolder.locate(study).plan_path.is_file():
            return
        planned = plan(study)
    except TaketwoError:
        return  # the command itself tells it
    if planned.unusable is not None:
        click.echo(
            "Note: the study file cannot be used as it stands; the frozen plan counts, and whether they "
            f"differ is not known\n  what is wrong with it: taketwo plan {study}",
            err=True,
        )
    _tell(study, "the study file", planned.edited)


def tell_edited_rule(what: Sequence[Path]) -> None:
    """Say on standard error in what the rule of a study file differs from the plan's; tables have no file."""
    if len(what) != 1 or what[0].suffix in {".parquet", ".eval", ".json"}:
        return
    try:
        where = StudyFolder.locate(what[0])
        if not where.plan_path.is_file():
            return
        edited = edited_rule(where.plan(), where.folder)
    except TaketwoError:
        return  # the command itself tells it
    _tell(what[0], "the rule in the study file", edited)


def _tell(study: Path, what: str, edited: Sequence[str]) -> None:
    if not edited:
        return
    click.echo(
        f"Note: {what} was edited after the plan was frozen; the plan counts, and the edits have no effect",
        err=True,
    )
    for difference in edited:
        click.echo(f"  {difference}", err=True)
    click.echo(f"  what to do about it: taketwo plan {study}", err=True)
