"""`taketwo rejudge`: the trajectories of a finished run, judged again."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import get_args

import click

from taketwo.errors import RequestError
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.scoring_spec import JUDGE_PRESETS, RUBRICS, Protocol
from taketwo.rejudging import Rejudged, rejudge

__all__ = ["command"]


@click.command("rejudge")
@click.argument("run_folder", type=click.Path(path_type=Path))
@click.option(
    "--questions",
    metavar="DATASET_DIR",
    type=click.Path(path_type=Path),
    required=True,
    help="The data set's folder with questions.jsonl; no video is needed.",
)
@click.option("--judge", metavar="MODEL", help="The model that judges, such as openai/gpt-5.")
@click.option(
    "--preset",
    type=click.Choice(tuple(JUDGE_PRESETS)),
    help="Model and reply length of the paper (published) or of its code (repository).",
)
@click.option(
    "--protocol",
    type=click.Choice(get_args(Protocol)),
    default="blind",
    show_default=True,
    help="Whether the judge is told the system's name, and reads the recorded text as it stands.",
)
@click.option(
    "--rubric",
    type=click.Choice(RUBRICS),
    default="standard",
    show_default=True,
    help="Wording of the instructions.",
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
    help="The new run folder; the old one is not touched.",
)
@click.option(
    "--connections", type=click.IntRange(1, 64), default=4, show_default=True, help="At once."
)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
def command(
    run_folder: Path,
    questions: Path,
    judge: str | None,
    preset: str | None,
    protocol: Protocol,
    rubric: str,
    judgements: Path | None,
    output: Path,
    connections: int,
    as_json: bool,
) -> None:
    """See what another judge makes of the trajectories of a finished run.

    RUN_FOLDER is a run folder of AgentVidBench (inference/ in it), by its own code or by
    `taketwo export`. Each trajectory is judged once; a trajectory that the pool knows is not judged
    again. The new folder has the old inference and a new evaluation, over all questions that were
    asked for.

    \b
    Exit status
      0  written; failures of the judge are listed and asked again next time
      2  bad usage, or the output holds something else
      3  files of the run or the data set cannot be used (the message names all of them)

    \b
    Example
      taketwo rejudge exp/ours_gemini-2.5-pro_run1 --questions dataset --judge openai/gpt-5 \\
          -o exp/ours_gemini-2.5-pro_run1-gpt5
    """
    chosen = None if preset is None else JUDGE_PRESETS[preset]
    name = judge or (None if chosen is None else chosen.model)
    if name is None:
        raise RequestError("no judge: name one with --judge, or a published one with --preset")
    done = rejudge(
        run_folder,
        questions,
        ModelSpec(name=name),
        output=output,
        protocol=protocol,
        rubric=rubric,
        max_tokens=4096 if chosen is None else chosen.max_tokens,
        judgements=judgements,
        connections=connections,
        on_work=lambda told: click.echo(told, err=True),
    )
    click.echo(json.dumps(_record(done), indent=1) if as_json else _text(done))


def _record(done: Rejudged) -> dict[str, object]:
    return {
        "output": str(done.output),
        "requested": done.requested,
        "judged_now": done.judged,
        "from_pool": done.pooled,
        "not_judged": done.not_judged,
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
        f"{len(done.failures)} failures, {done.not_judged} without a trajectory to judge",
        f"accuracy {done.summary['accuracy']} ({done.summary['n_correct']} of {done.summary['n']})",
        f"means: {means}",
    ]
    lines += [
        f"  judge failed on {count}: {cause}"
        for cause, count in Counter(done.failures.values()).most_common(10)
    ]
    return "\n".join(lines)
