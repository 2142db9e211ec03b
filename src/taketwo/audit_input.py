"""What an audit of a study's judges works on: cells with their texts, judges, labels, ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from taketwo.benchmarks.canonical import sha256_of_text
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.plan import Plan
from taketwo.executions.scoring_spec import TrajectoryScoring
from taketwo.executions.trajectory import Trajectory
from taketwo.scores.judge_audit.audit_findings import CHECKS, AuditCheck
from taketwo.scores.judge_audit.audit_presets import AuditDesign
from taketwo.scores.judge_audit.human_ratings import HumanRatings
from taketwo.scores.judge_audit.judge_agreement import JudgedCell
from taketwo.scores.judgement_pool import JudgementPool
from taketwo.scores.process_labels import ProcessLabels

__all__ = ["AuditInput", "AuditedCell", "drawn_cells", "judged_cells"]

_STREAM = 7


@dataclass(frozen=True, kw_only=True)
class AuditedCell:
    """A cell whose trajectory can be judged: its record, and the accuracy of its answer if it has one."""

    trajectory: Trajectory
    accuracy: float | None
    text: str

    @property
    def name(self) -> tuple[str, str, int]:
        """Return question, arm and execution."""
        return self.trajectory.question_id, self.trajectory.arm, self.trajectory.execution


@dataclass(frozen=True, kw_only=True)
class AuditInput:
    """What an audit works on. `judges` are the primary one and the further ones, in this order."""

    plan: Plan
    scoring: TrajectoryScoring
    design: AuditDesign
    judges: tuple[ModelSpec, ...]
    cells: tuple[AuditedCell, ...]
    pool: JudgementPool
    folder: Path
    ratings: HumanRatings | None

    def rng(self, check: AuditCheck) -> np.random.Generator:
        """Return the source of the draws of one check: the plan's seed and the check decide it."""
        return np.random.default_rng((self.plan.seed, _STREAM, CHECKS.index(check)))


def drawn_cells(
    cells: Sequence[AuditedCell], most: int, *, rng: np.random.Generator
) -> tuple[AuditedCell, ...]:
    """Draw at most `most` cells, a question with one run of each of its arms at a time.

    Arms can only be ranked on questions that have a run of every arm. Further executions follow
    once every question is in.
    """
    if len(cells) <= most:
        return tuple(cells)
    runs: dict[str, dict[str, list[AuditedCell]]] = {}
    for cell in sorted(cells, key=lambda cell: cell.name):
        question, arm, _ = cell.name
        runs.setdefault(question, {}).setdefault(arm, []).append(cell)
    asked = sorted(runs)
    order: list[int] = rng.permutation(len(asked)).tolist()
    rounds = max(len(found) for arms in runs.values() for found in arms.values())
    first: list[int] = rng.integers(rounds, size=len(asked)).tolist()
    groups = [
        [
            found[(number + first[at]) % len(found)]
            for found in runs[asked[at]].values()
            if number < len(found)
        ]
        for number in range(rounds)
        for at in order
    ]
    taken: list[AuditedCell] = []
    for group in groups:
        if len(taken) + len(group) > most:
            break
        taken += group
    return tuple(sorted(taken or groups[0][:most], key=lambda cell: cell.name))


def judged_cells(
    cells: Sequence[AuditedCell], labels: Mapping[str, ProcessLabels]
) -> tuple[JudgedCell, ...]:
    """Return the cells with the judgements that each judge gave."""
    return tuple(
        JudgedCell(
            question_id=cell.trajectory.question_id,
            arm=cell.trajectory.arm,
            execution=cell.trajectory.execution,
            accuracy=cell.accuracy,
            scores={
                name: judgement
                for name, label in labels.items()
                if (judgement := label.process_of(cell.trajectory.question_id, cell.trajectory)[1])
                is not None
            },
            text_sha256=sha256_of_text(cell.text),
        )
        for cell in cells
    )
