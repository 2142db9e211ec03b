"""`taketwo plan`: what would run, what it would cost, and what it could detect."""

from __future__ import annotations

import json
from pathlib import Path

import click

from taketwo.analysis.planning import planning_text
from taketwo.study import Planned, plan

__all__ = ["command", "plan_text"]


def plan_text(planned: Planned) -> str:
    """Return what the terminal shows of a plan."""
    frozen = planned.plan
    present = sum(item.availability == "available" for item in frozen.questions)
    lost = [item for item in frozen.questions if item.availability != "available"]
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


@click.command("plan")
@click.argument("study", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
def command(study: Path, as_json: bool) -> None:
    """See what a study would run, what it would cost and what it could detect.

    STUDY is a study folder or its YAML file. The plan is frozen into plan.json on the first call;
    its hash names the study. Nothing is executed and nothing is paid.

    \b
    Exit status
      0  the plan stands
      2  the study file is wrong (every fault is listed with its line)
      3  the benchmark cannot be used

    \b
    Example
      taketwo plan studies/march.yaml
    """
    planned = plan(study)
    if as_json:
        record = {
            "plan": planned.plan.sha256,
            "folder": str(planned.folder),
            "is_new": planned.is_new,
            "cost": planned.cost.to_json(),
        }
        click.echo(json.dumps(record, indent=1))
    else:
        click.echo(plan_text(planned))
