"""From the logs of executions to manifests and outcomes, in a study's folder or wherever the logs lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from taketwo.errors import DataError, ForeignLog
from taketwo.executions.attempts import attempts_in, attempts_of
from taketwo.executions.deaths import deaths_in
from taketwo.executions.logs import LogReader, merge, read_header
from taketwo.executions.manifest import Manifest, build_manifest
from taketwo.executions.plan import Plan, read_plan
from taketwo.executions.stopped import stopped_in
from taketwo.executions.trajectory import Trajectory
from taketwo.outcomes.build import outcomes_of
from taketwo.outcomes.labels import labels_by
from taketwo.outcomes.table import Outcomes
from taketwo.scores.extractions import Extraction, read_extractions
from taketwo.scores.grading import Grader
from taketwo.scores.judgements import Judgement, read_judgements
from taketwo.scores.process_labels import ProcessLabels
from taketwo.scores.trajectory_judgements import (
    TrajectoryJudgement,
    read_trajectory_judgements,
)

__all__ = ["LogResults", "manifests_of", "read_logs"]


def manifests_of(
    folder: Path, plan: Plan, trajectories: Sequence[Trajectory]
) -> tuple[Manifest, ...]:
    """Return the manifest of every execution of a study that has an attempt, from its logs."""
    manifests: list[Manifest] = []
    for execution in range(1, plan.executions + 1):
        attempts = attempts_in(folder / f"K{execution}")
        if attempts:
            manifests.append(build_manifest(plan, execution, trajectories, attempts))
    return tuple(manifests)


@dataclass(frozen=True, kw_only=True)
class LogResults:
    """What a handful of logs hold: the plan of the first, one manifest each, and the outcomes."""

    plan: Plan
    manifests: tuple[Manifest, ...]
    outcomes: Outcomes


def read_logs(logs: Sequence[Path], *, read_unknown: LogReader | None = None) -> LogResults:
    """Read logs of one or more executions; several logs of one execution are its attempts.

    Each log is read under the plan that it was run by, so that logs of two different plans can be
    set against each other; whether they may be compared is for their manifests to say.

    Raises
    ------
    ForeignLog
        If a log is none of ours, its plan is gone, or its cells are not those of the first plan.
    """
    plans: dict[Path, Plan] = {}
    executions: dict[Path, int] = {}
    for log in logs:
        plans[log], executions[log] = _plan_of(log)
    first = plans[logs[0]]
    cells: list[Trajectory] = []
    manifests: list[Manifest] = []
    for execution in sorted(set(executions.values())):
        own = [log for log in logs if executions[log] == execution]
        plan = plans[own[0]]
        merged = _cells_of(plan, execution, own, read_unknown)
        manifests.append(build_manifest(plan, execution, merged, attempts_of(own)))
        cells.extend(merged)
    _require_cells_of(first, cells, logs)
    labels = _labels_near(logs)
    scoring = first.scoring.trajectories
    table = outcomes_of(
        first,
        cells,
        labels_by(Grader(first, labels.answers, labels.extractions)),
        None if scoring is None else ProcessLabels(first, scoring, labels.trajectories).process_of,
    ).to_polars()
    present = table.filter(pl.col("execution").is_in(sorted(set(executions.values()))))
    return LogResults(plan=first, manifests=tuple(manifests), outcomes=Outcomes(present))


def _plan_of(log: Path) -> tuple[Plan, int]:
    if not log.is_file():
        raise ForeignLog(f"{log}: no such log")
    header = read_header(log)
    if header.plan_sha256 is None or header.execution is None:
        raise ForeignLog(
            f"{log}: not the log of a study of ours (task {header.task!r}); results of other "
            "programs are not read here"
        )
    places = [log.parent.parent / "plan.json", log.parent / "plan.json"]
    if header.plan_path is not None:
        places.insert(0, Path(header.plan_path))
    for place in places:
        try:
            plan = read_plan(place)
        except DataError:
            continue
        if plan.sha256 == header.plan_sha256:
            return plan, header.execution
    raise ForeignLog(
        f"{log}: its plan {header.plan_sha256[:12]} is at none of "
        f"{', '.join(map(str, places))}; put plan.json beside the log"
    )


def _cells_of(
    plan: Plan, execution: int, logs: Sequence[Path], read_unknown: LogReader | None
) -> list[Trajectory]:
    by_execution: Mapping[int, Sequence[Path]] = {execution: logs}
    folders = dict.fromkeys(log.parent for log in logs)
    died = [death for folder in folders for death in deaths_in(folder)]
    stop = next((found for place in folders if (found := stopped_in(place, plan))), None)
    merged = merge(
        plan,
        by_execution,
        read_unknown=read_unknown,
        deaths={execution: died},
        stops={execution: stop},
    )
    return [cell for cell in merged if cell.execution == execution]


def _require_cells_of(plan: Plan, cells: Sequence[Trajectory], logs: Sequence[Path]) -> None:
    known = {
        (arm.name, planned.question.question_id) for arm in plan.arms for planned in plan.questions
    }
    foreign = sorted({(cell.arm, cell.question_id) for cell in cells} - known)
    if foreign:
        arm, question_id = foreign[0]
        raise ForeignLog(
            f"{len(foreign)} cells are not in the plan of {logs[0]}, first question "
            f"{question_id!r}, arm {arm!r}; compare logs of one benchmark and the same arms"
        )


@dataclass(frozen=True, kw_only=True)
class _Labels:
    """What judges said of these logs, out of the folders beside them."""

    answers: Mapping[str, Judgement]
    extractions: Mapping[str, Extraction]
    trajectories: Mapping[str, TrajectoryJudgement]


def _labels_near(logs: Sequence[Path]) -> _Labels:
    answers: dict[str, Judgement] = {}
    extractions: dict[str, Extraction] = {}
    trajectories: dict[str, TrajectoryJudgement] = {}
    for folder in dict.fromkeys(log.parent.parent / "judgements" for log in logs):
        if folder.is_dir():
            answers |= read_judgements(folder)
            extractions |= read_extractions(folder)
            trajectories |= read_trajectory_judgements(folder)
    return _Labels(answers=answers, extractions=extractions, trajectories=trajectories)
