"""`taketwo rejudge`: the trajectories or answers of a finished run, judged again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import get_args

import click
from click.core import ParameterSource

from taketwo.errors import RequestError
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.scoring_spec import JUDGE_PRESETS, RUBRICS, Protocol
from taketwo.rejudging import Rejudged, rejudge
from taketwo.sage_rejudging import SageRejudged, rejudge_sage

__all__ = ["command"]


@click.command("rejudge")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--questions",
    metavar="DATASET_DIR|STUDY",
    type=click.Path(path_type=Path),
    help="For a run folder: the data set's folder with questions.jsonl, or the study that the run was "
    "exported from; no video is needed.",
)
@click.option("--judge", metavar="MODEL", help="The model that judges, such as openai/gpt-5.")
@click.option(
    "--preset",
    type=click.Choice(tuple(JUDGE_PRESETS)),
    help="For a run folder: model and reply length of the paper (published) or of its code "
    "(repository).",
)
@click.option(
    "--protocol",
    type=click.Choice(get_args(Protocol)),
    default="blind",
    show_default=True,
    help="For a run folder: whether the judge is told the system's name, and reads the recorded text "
    "as it stands.",
)
@click.option(
    "--rubric",
    type=click.Choice(RUBRICS),
    default="standard",
    show_default=True,
    help="For a run folder: wording of the instructions.",
)
@click.option(
    "--judgements",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Pooled judgements, read and added to; default: judgements beside the output.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="The new run folder, or the new file of scores (.json); the old one is not touched.",
)
@click.option(
    "--connections", type=click.IntRange(1, 64), default=4, show_default=True, help="At once."
)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
@click.pass_context
def command(
    context: click.Context,
    run: Path,
    questions: Path | None,
    judge: str | None,
    preset: str | None,
    protocol: Protocol,
    rubric: str,
    judgements: Path | None,
    output: Path,
    connections: int,
    as_json: bool,
) -> None:
    """See what another judge makes of the trajectories or answers of a finished run.

    RUN is a run folder of AgentVidBench (inference/ in it), by its own code or by `taketwo export`:
    its trajectories are judged, and the new folder has the old inference and a new evaluation, over
    all questions that were asked for. Or RUN is a file of SAGE, answers (.jsonl) or scores (.json):
    its answers are judged, and the new file has their scores. What the pool knows is not judged again.

    \b
    Exit status
      0  written; failures of the judge are listed and asked again next time
      2  bad usage, the output holds something else or the result of another judge, protocol or rubric,
         judgements would be written into the run, a folder cannot be written, or another process is
         asking for the same judgements
      3  files of the run, the data set or the study cannot be used, the run was asked other questions
         (the message names all of them), or the judgements in use are by two served models

    \b
    Example
      taketwo rejudge exp/ours_gemini-2.5-pro_run1 --questions dataset --judge openai/gpt-5 \\
          -o exp/ours_gemini-2.5-pro_run1-gpt5
      taketwo rejudge exp/base_gpt-5_K1 --questions studies/march --judge openai/gpt-5 -o again/base_K1
      taketwo rejudge results/sage_flash_sage_bench_results.jsonl --judge openai/gpt-5 \\
          -o again/sage_flash_sage_bench_results.json
    """
    if _is_sage(run):
        _refuse_options_of_folders(context, run)
        if judge is None:
            raise RequestError("no judge: name one with --judge")
        rows = rejudge_sage(
            run,
            ModelSpec(name=judge),
            output=output,
            judgements=judgements,
            connections=connections,
            on_work=_tell,
        )
        click.echo(json.dumps(_sage_record(rows), indent=1) if as_json else _sage_text(rows))
        return
    chosen = None if preset is None else JUDGE_PRESETS[preset]
    name = judge or (None if chosen is None else chosen.model)
    if name is None:
        raise RequestError("no judge: name one with --judge, or a published one with --preset")
    if questions is None:
        raise RequestError(
            f"{run}: a run folder does not hold what was asked; name the data set with --questions "
            "DATASET_DIR, or the study that it was exported from with --questions STUDY (files of SAGE "
            "do, and need none)"
        )
    done = rejudge(
        run,
        questions,
        ModelSpec(name=name),
        output=output,
        protocol=protocol,
        rubric=rubric,
        max_tokens=4096 if chosen is None else chosen.max_tokens,
        judgements=judgements,
        connections=connections,
        on_work=_tell,
    )
    click.echo(json.dumps(_record(done), indent=1) if as_json else _text(done))


def _tell(told: str) -> None:
    click.echo(told, err=True)


def _is_sage(run: Path) -> bool:
    """Return whether a run is a file, or bears the name of one that is not there."""
    named = run.name.lower().removesuffix(".gz")
    return run.is_file() or (not run.exists() and named.endswith((".jsonl", ".json")))


def _refuse_options_of_folders(context: click.Context, run: Path) -> None:
    given = [
        f"--{name}"
        for name in ("questions", "preset", "protocol", "rubric")
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]
    if given:
        raise RequestError(
            f"{run}: {', '.join(given)} is for run folders of AgentVidBench; a file of SAGE holds its "
            "questions, and its answers are judged, not its trajectories: leave it out"
        )


def _sage_record(done: SageRejudged) -> dict[str, object]:
    return {
        "output": str(done.output),
        "rows": done.rows,
        "judged_now": done.judged,
        "from_pool": done.pooled,
        "unanswered": done.unanswered,
        "failed_runs": done.failed_runs,
        "ungradable": done.ungradable,
        "failures": dict(done.failures),
        "decided": done.decided,
        "correct": done.correct,
        "accuracy": done.accuracy,
        "compared": done.compared,
        "changed": done.changed,
    }


def _sage_text(done: SageRejudged) -> str:
    accuracy = "-" if done.accuracy is None else f"{done.accuracy:.3f}"
    lines = [
        str(done.output),
        f"{done.rows} rows, different answers: {done.judged} judged now, {done.pooled} from the pool",
        f"accuracy {accuracy} ({done.correct} of {done.decided} decided rows; {done.unanswered} of them "
        "without an answer, which are wrong)",
    ]
    if done.decided < done.rows:
        lines.append(
            f"{done.rows - done.decided} rows without a verdict: {len(done.failures)} the judge failed "
            f"on, {done.ungradable} ungradable, {done.failed_runs} ended in an error of the run"
        )
    if done.compared:
        lines.append(f"{done.changed} of {done.compared} verdicts differ from those in the run")
    return "\n".join(lines + _causes(done.failures.values()))


def _causes(causes: Iterable[str]) -> list[str]:
    return [
        f"  judge failed on {count}: {cause}" for cause, count in Counter(causes).most_common(10)
    ]


def _record(done: Rejudged) -> dict[str, object]:
    return {
        "output": str(done.output),
        "requested": done.requested,
        "judged_now": done.judged,
        "from_pool": done.pooled,
        "not_judged": done.not_judged,
        "unchecked_questions": done.unchecked,
        "failures": {str(number): cause for number, cause in done.failures.items()},
        "means": dict(done.means),
        "summary": dict(done.summary),
    }


def _text(done: Rejudged) -> str:
    means = ", ".join(
        f"{name} {'-' if value is None else f'{value:.3f}'}" for name, value in done.means.items()
    )
    lines = [
        str(done.output),
        f"{done.requested} questions: {done.judged} judged now, {done.pooled} from the pool, "
        f"{len(done.failures)} failures, {done.not_judged} without a trajectory or milestones to judge",
        f"accuracy {done.summary['accuracy']} ({done.summary['n_correct']} of {done.summary['n']})",
        f"means: {means}",
    ]
    if done.unchecked:
        lines.insert(
            2,
            f"{done.unchecked} of them do not say what was asked, and were taken for the questions by "
            "their numbers alone",
        )
    return "\n".join(lines + _causes(done.failures.values()))
