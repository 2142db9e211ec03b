"""`taketwo plan`: what would run, what it would cost, and what it could detect."""

from __future__ import annotations

import json
from pathlib import Path

import click

from taketwo.analysis.comparison import Comparison
from taketwo.analysis.planning import planning_text, purchase_for
from taketwo.benchmarks.saturation import expected_saturation
from taketwo.errors import InvalidResults, RequestError
from taketwo.study import Planned, plan

__all__ = ["budget_text", "command", "differences_text", "plan_text"]


def differences_text(planned: Planned) -> str:
    """Return in what a frozen plan is not what would run now, and what to do; "" where nothing differs."""
    lines: list[str] = []
    if planned.edited and planned.study_yaml is not None:
        lines += [
            f"THE STUDY FILE DIFFERS FROM THE FROZEN PLAN: {planned.study_yaml}, or a file that it names, "
            f"was edited after {planned.plan.created}",
            *(f"  {difference}" for difference in planned.edited),
            "  The plan counts: it is what is shown here, and what score, compare and report go by. "
            "`taketwo run` refuses until the study file says the same again.",
            *_remedies(planned, planned.study_yaml),
        ]
    if planned.unusable is not None:
        lines += [
            "THE STUDY FILE CANNOT BE USED AS IT STANDS, so whether it differs from the frozen plan is not "
            "known",
            f"  {_indented(planned.unusable)}",
            "  The plan counts: it is what is shown here, and what score, compare and report go by. "
            "`taketwo run` refuses until the file can be used and says the same again.",
        ]
    if planned.installed:
        lines += [
            "WHAT IS INSTALLED DIFFERS FROM THE FROZEN PLAN",
            *(f"  {difference}" for difference in planned.installed),
            "  `taketwo run` refuses until the versions of the plan are installed again; scoring, "
            "comparing and reporting what ran work as before.",
        ]
    return "\n".join(lines)


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def _remedies(planned: Planned, study_yaml: Path) -> list[str]:
    # a study.yaml lies in its study's folder, NAME.yaml beside it
    is_inside = study_yaml.stem == "study"
    other = f"{planned.folder.resolve().name}-2{'' if is_inside else study_yaml.suffix}"
    saved = f"{other}/study.yaml, in a folder of its own" if is_inside else other
    lines = [
        "  Either put it back as it was, or keep the edit as a study of its own: save the file as "
        f"{saved}, put the old text back, and call: taketwo plan {other}"
    ]
    if not planned.is_begun:
        lines.append(
            "  No cell has run yet, so nothing hangs on this plan: to plan the edited file instead, remove "
            f"{planned.folder / 'plan.json'} and call taketwo plan again."
        )
    return lines


def plan_text(planned: Planned) -> str:
    """Return what the terminal shows of a plan."""
    frozen = planned.plan
    present = sum(item.availability == "available" for item in frozen.questions)
    lost = [item for item in frozen.questions if item.availability != "available"]
    saturation = expected_saturation(frozen.benchmark, [item.question for item in frozen.questions])
    lines = [
        f"Study {frozen.study}: plan {frozen.sha256[:12]} "
        f"{'frozen now' if planned.is_new else 'as frozen ' + frozen.created}, in {planned.folder}",
        f"Benchmark {frozen.benchmark} {frozen.benchmark_version}: {len(frozen.questions)} questions, "
        f"{present} with a readable video",
        *(
            f"  {item.question.question_id}: {item.availability}, {item.reason}"
            for item in lost[:10]
        ),
        *([f"  and {len(lost) - 10} more"] if len(lost) > 10 else []),
        *([f"  {saturation}"] if saturation is not None else []),
        f"Arms: {', '.join(f'{arm.name} ({arm.agent}, {arm.role})' for arm in frozen.arms)}",
        f"Executions: {frozen.executions}; seed {frozen.seed}; rule: primary "
        f"{', '.join(frozen.rule.primary)}; level {frozen.rule.level:g}; clusters by "
        f"{frozen.rule.cluster}; missing cells: {frozen.rule.missing}",
        "",
        planned.cost.to_text(),
        *(
            ["", planning_text(present, frozen.executions, level=frozen.rule.level)]
            if present > 1
            else []
        ),
    ]
    return "\n".join(lines)


def budget_text(folder: Path, budget: float) -> str:
    """Return what `budget` cells an arm buy best, by the variation that the study measured.

    Raises
    ------
    RequestError
        If the study in `folder` was not compared yet, or has one execution only.
    """
    path = folder / "comparison.json"
    if not path.is_file():
        raise RequestError(
            f"{path}: a budget is split by what executions varied by, and this study was not "
            f"compared yet; run two executions and: taketwo compare {folder}"
        )
    try:
        comparison = Comparison.from_json(json.loads(path.read_bytes()))
    except (ValueError, RecursionError) as error:
        raise InvalidResults(f"{path}: not a readable comparison ({error})") from error
    lines: list[str] = []
    for pair in comparison.comparisons:
        metric = pair.metrics.get("accuracy")
        if metric is None or metric.variation is None:
            continue
        try:
            found = purchase_for(metric.variation.components, budget)
        except ValueError as error:
            raise RequestError(f"{path}: {pair.method} against {pair.baseline}: {error}") from error
        lines.append(
            f"{budget:g} cells an arm buy best, for {pair.method} against {pair.baseline}: "
            f"{found.executions} executions of {found.questions} questions (standard error of the "
            f"average effect {100 * found.se:.1f} points; by the variation of "
            f"{len(comparison.executions)} executions, which is rough below five)"
        )
    if not lines:
        raise RequestError(
            f"{path}: no accuracy that varied over executions; a budget needs two executions"
        )
    return "\n".join(lines)


@click.command("plan")
@click.argument("study", type=click.Path(path_type=Path))
@click.option(
    "--budget",
    type=click.FloatRange(min=2),
    help="Cells an arm that could be paid; says how many executions of how many questions they buy "
    "best, by what this study's executions varied by so far.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
def command(study: Path, budget: float | None, as_json: bool) -> None:
    """See what a study would run, what it would cost and what it could detect.

    STUDY is a study folder or its YAML file. The plan is frozen into plan.json on the first call;
    its hash names the study. Later calls show that plan, and say in what the study file was edited
    since. Nothing is executed and nothing is paid.

    \b
    Exit status
      0  the plan stands, also where the study file says something else by now
      2  the study file is wrong (every fault is listed with its line)
      3  the benchmark cannot be used

    \b
    Example
      taketwo plan studies/march.yaml --budget 2000
    """
    planned = plan(study)
    if as_json:
        record = {
            "plan": planned.plan.sha256,
            "folder": str(planned.folder),
            "is_new": planned.is_new,
            "differences": {
                "study_file": list(planned.edited),
                "installed": list(planned.installed),
                "study_file_unusable": planned.unusable,
            },
            "cost": planned.cost.to_json(),
        }
        click.echo(json.dumps(record, indent=1))
    else:
        differences = differences_text(planned)
        if differences:
            click.echo(differences + "\n")
        click.echo(plan_text(planned))
        if budget is not None:
            click.echo("")
            click.echo(budget_text(planned.folder, budget))
