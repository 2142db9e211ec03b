"""`taketwo score`: answers and trajectories to labels, logs to tables; and the audit of the judges."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import click
import polars as pl

from taketwo.cli.audit_text import audit_lines
from taketwo.cli.edited_study import tell_edited_study
from taketwo.judge_audits import audit_judges
from taketwo.scores.judge_audit.audit_presets import DESIGNS
from taketwo.scoring import JudgeWork, Scored, score

__all__ = ["command"]


@click.command("score")
@click.argument("study", type=click.Path(path_type=Path))
@click.option("--no-judge", is_flag=True, help="Call no model; what needs one stays not judged.")
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="MODEL",
    help="A further judge of answers, beside the plan's; repeatable.",
)
@click.option(
    "--stand-in",
    metavar="MODEL",
    help="A judge of answers in place of the plan's one that cannot be asked any more; marked.",
)
@click.option(
    "--trajectory-judge",
    "trajectory_judges",
    multiple=True,
    metavar="MODEL",
    help="A further judge of trajectories; the study's own where the plan has none. Repeatable.",
)
@click.option(
    "--judgements",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Labels that several studies share: equal content is judged once in all of them.",
)
@click.option("--audit", is_flag=True, help="Measure the judges of trajectories themselves.")
@click.option(
    "--design",
    type=click.Choice(sorted(DESIGNS)),
    help="How much an audit judges; quick, where it is not said.",
)
@click.option(
    "--audit-judge",
    "audit_judges_",
    multiple=True,
    metavar="MODEL",
    help="A further judge whose scores an audit compares; repeatable.",
)
@click.option(
    "--ratings",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILE",
    help="A filled form of human ratings (`taketwo rating-form`), for an audit; repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def command(
    study: Path,
    *,
    no_judge: bool,
    judges: tuple[str, ...],
    stand_in: str | None,
    trajectory_judges: tuple[str, ...],
    judgements: Path | None,
    audit: bool,
    design: str | None,
    audit_judges_: tuple[str, ...],
    ratings: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Judge the answers and trajectories of a study from its logs.

    STUDY is a study folder or its YAML file. By the rule `option-match` choices are scored by
    option and open answers by exact match, else by the study's judge; by `published` every answer
    goes to the judge. Each distinct answer and each distinct trajectory is judged once, in all arms
    and executions. Trajectories are judged where the study says so (`scoring: {trajectories: ...}`)
    or a judge is named here. Writes trajectories.parquet, outcomes.parquet and judgements/; no agent
    runs and no log is touched.

    A judge of answers that was retired can be replaced with --stand-in: the plan's judge is asked once
    more, and only if it gives no label while answers lack one does the other judge all answers, now and
    from then on. Labels of the two are never mixed, and every page says so.

    With --audit the judge of trajectories is measured: whether its scores separate right from wrong
    answers, agree with other judges, wordings and people, and withstand assertions, cut evidence,
    other notations of time and injected orders. Writes judge-audit-<design>.json, which the report
    shows; ratings are kept, and later audits use them too.

    \b
    Exit status
      0  scored; failures of a judge are listed and asked again next time
      2  the study has no plan, or a judge cannot be asked
      3  a log, a label or a rating cannot be used

    \b
    Example
      taketwo score studies/march.yaml
      taketwo score studies/march.yaml --audit --audit-judge openai/gpt-5
    """
    for name, is_given in (
        ("--audit-judge", bool(audit_judges_)),
        ("--ratings", bool(ratings)),
        ("--design", design is not None),
    ):
        if is_given and not audit:
            raise click.UsageError(f"{name} is for an audit of the judges; add --audit")
    tell_edited_study(study)
    scored = score(
        study,
        judge=not no_judge,
        judges=judges,
        stand_in=stand_in,
        trajectory_judges=trajectory_judges,
        judgements=judgements,
        on_work=_tell,
    )
    frame = scored.outcomes.to_polars()
    statuses = Counter(frame["score_status"].to_list())
    if as_json:
        record = {
            "cells": frame.height,
            "score_statuses": dict(statuses),
            "trajectory_statuses": dict(Counter(frame["trajectory_status"].to_list())),
            "judged_now": scored.judged,
            "judge_failures": list(scored.failures),
            "pending": scored.pending,
            "work": [
                {
                    "what": item.what,
                    "judge": item.judge,
                    "asked": item.asked,
                    "done": item.done,
                    "failures": list(item.failures),
                    "input_tokens": item.input_tokens,
                    "output_tokens": item.output_tokens,
                    "cost_usd": item.cost_usd,
                }
                for item in scored.work
            ],
        }
        click.echo(json.dumps(record, indent=1))
    else:
        if all(status == "not_run" for status in frame["run_status"]):
            click.echo(
                f"none of the {frame.height} planned cells has run; run the study with: taketwo run "
                f"{study}"
            )
            return
        named = ", ".join(f"{name} {count}" for name, count in sorted(statuses.items()))
        click.echo(f"{frame.height} cells: {named}; {scored.judged} answers judged now")
        for line in [*_answer_lines(frame, scored), *_trajectory_lines(frame, scored)]:
            click.echo(line)
    if audit:
        found = audit_judges(
            study,
            design=design or "quick",
            judges=audit_judges_,
            ratings=ratings,
            judgements=judgements,
            judge=not no_judge,
            on_work=_tell,
        )
        if not as_json:
            for line in audit_lines(found):
                click.echo(line)


def _tell(text: str) -> None:
    click.echo(text, err=True)


def _answer_lines(frame: pl.DataFrame, scored: Scored) -> list[str]:
    """Return what is to be known of the answers: both readings of ungradable ones, failures, what waits."""
    lines: list[str] = []
    for (arm, execution), cells in frame.group_by("arm", "execution", maintain_order=True):
        ungradable = cells.filter(pl.col("score_status") == "ungradable").height
        if ungradable:
            graded = cells.filter(pl.col("score_status") == "scored")["accuracy"]
            right, known = int((graded == 1.0).sum()), graded.count()
            without = f"{right / known:.1%}" if known else "undefined"
            lines.append(
                f"  {arm} K{execution}: {ungradable} answers that nobody can grade; accuracy {without} "
                f"without them, {right / (known + ungradable):.1%} with them as wrong"
            )
    if scored.pending:
        lines.append(
            f"  {scored.pending} answers still need the judge; run the same command again (or, if it cannot "
            "be asked any more, name another one: --stand-in MODEL)"
        )
    return lines


def _trajectory_lines(frame: pl.DataFrame, scored: Scored) -> list[str]:
    lines: list[str] = []
    judged = frame.filter(pl.col("trajectory_status") == "scored")
    errors = frame.filter(pl.col("trajectory_status") == "judge_error").height
    if judged.height or errors:
        failed = f", judge_error {errors}" if errors else ""
        lines.append(f"trajectories: scored {judged.height}{failed}")
    for item in scored.work:
        lines.append(
            f"  {item.judge}: {item.done} of {item.asked} {item.what} judged now{_took(item)}"
        )
        for cause, count in Counter(item.failures).most_common(5):
            lines.append(f"    failed on {count}: {cause}")
    return lines


def _took(work: JudgeWork) -> str:
    """Return what the labels of a judge took, as far as it is known."""
    if work.input_tokens is None or work.output_tokens is None:
        return ""
    cost = "" if work.cost_usd is None else f", US$ {work.cost_usd:,.4f}"
    return f" ({work.input_tokens:,} tokens in, {work.output_tokens:,} out{cost})"
