"""Judgements of trajectories: scores of what happened in a cell, pooled by the content that was judged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, cast, get_args

import polars as pl

from taketwo.benchmarks.canonical import sha256_of
from taketwo.benchmarks.question import Question
from taketwo.errors import InvalidResults
from taketwo.scores.judgement_parts import keep_first, read_parts, write_part
from taketwo.scores.process_scores import (
    MilestoneLabel,
    MilestoneStatus,
    ProcessScores,
    mc_rate,
    trajectory_score,
)
from taketwo.scores.trajectory_text import Protocol, RenderedTrajectory

__all__ = [
    "Reference",
    "TrajectoryJudgement",
    "read_trajectory_judgements",
    "trajectory_key",
    "write_trajectory_judgements",
]

Reference = Literal["milestones", "explanation"]
"""What a trajectory is judged against: the question's milestones, or what a human wrote of it."""

_TEXTS = (
    "key",
    "question_id",
    "judge",
    "served_model",
    "protocol",
    "prompt_sha256",
    "rubric",
    "created",
    "reference",
)
_RECORDS = ("axes", "rationales", "milestones", "failure_tags")
_SCHEMA = {name: pl.String() for name in (*_TEXTS, *_RECORDS, "summary")} | {
    "input_tokens": pl.Int64(),
    "output_tokens": pl.Int64(),
}
_NULLABLE = ("served_model", "input_tokens", "output_tokens")


@dataclass(frozen=True, kw_only=True)
class TrajectoryJudgement:
    """What one judge said of one trajectory's text, whichever cell had it.

    `rubric` names the wording of the instructions, `protocol` what the judge was shown. Tokens are
    those of the judging, all replies together; None where the provider reports none. Where the
    `reference` was an explanation, there are no milestones. `part` is the file that it was read
    from, None for one that was made just now.
    """

    key: str
    question_id: str
    judge: str
    protocol: Protocol
    rubric: str
    prompt_sha256: str
    scores: ProcessScores
    created: str
    served_model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    reference: Reference = "milestones"
    part: str | None = field(default=None, compare=False, repr=False)

    @property
    def trajectory_score(self) -> float:
        """Return half the mean of the axes that apply, 0 to 1."""
        return trajectory_score(self.scores.axes)

    @property
    def mc_rate(self) -> float:
        """Return the share of the reference milestones that were reached, partial ones half, 0 to 1.

        Raises
        ------
        ValueError
            If the reference was an explanation, which has no milestones.
        """
        labels: list[MilestoneStatus] = [label.status for label in self.scores.milestones]
        return mc_rate(labels, len(labels))


def trajectory_key(
    *,
    question: Question,
    trajectory: RenderedTrajectory,
    judge: str,
    protocol: Protocol,
    prompt_sha256: str,
    reference: Reference = "milestones",
) -> str:
    """Return the key of a judgement: all that the judge is shown, and nothing else."""
    milestones = [[step.milestone_id, step.kind, step.text] for step in question.milestones]
    return sha256_of({
        "question": question.text,
        "options": list(question.options),
        "sweep": question.sweep or "unknown",
        **(
            {"milestones": milestones}
            if reference == "milestones"
            else {"explanation": question.explanation}
        ),
        "trajectory": trajectory.text,
        "system": trajectory.system if protocol == "published" else None,
        "judge": judge,
        "protocol": protocol,
        "prompt": prompt_sha256,
    })


def write_trajectory_judgements(
    folder: Path, judgements: Iterable[TrajectoryJudgement]
) -> Path | None:
    """Add a part to the judgements in `folder`; returns its path, None where there is nothing to write."""
    rows = [_row(judgement) for judgement in judgements]
    return write_part(folder, "trajectories", rows, _SCHEMA)


def read_trajectory_judgements(folder: Path) -> Mapping[str, TrajectoryJudgement]:
    """Read all parts in `folder`, by key; of several judgements of one content the first counts.

    Raises
    ------
    InvalidResults
        If a part cannot be read.
    """
    found: dict[str, TrajectoryJudgement] = {}
    parts = read_parts(
        folder,
        "trajectories",
        _SCHEMA,
        "judgements of trajectories",
        optional=("reference",),
        nullable=_NULLABLE,
    )
    for path, row in parts:
        judgement = _judgement(path, row)
        keep_first(found, judgement, lambda item: item.scores)
    return found


def _row(judgement: TrajectoryJudgement) -> dict[str, object]:
    scores = judgement.scores
    return {
        **{name: getattr(judgement, name) for name in _TEXTS},
        "axes": json.dumps(dict(scores.axes)),
        "rationales": json.dumps(dict(scores.rationales), ensure_ascii=False),
        "milestones": json.dumps(
            [asdict(label) for label in scores.milestones], ensure_ascii=False
        ),
        "failure_tags": json.dumps(list(scores.failure_tags)),
        "summary": scores.summary,
        "input_tokens": judgement.input_tokens,
        "output_tokens": judgement.output_tokens,
    }


def _judgement(path: Path, row: Mapping[str, object]) -> TrajectoryJudgement:
    try:
        records = {name: json.loads(cast("str", row[name])) for name in _RECORDS}
        scores = ProcessScores(
            axes=cast("dict[str, int | None]", records["axes"]),
            rationales=cast("dict[str, str]", records["rationales"]),
            milestones=tuple(
                MilestoneLabel(**label)
                for label in cast("list[dict[str, Any]]", records["milestones"])
            ),
            failure_tags=tuple(cast("list[str]", records["failure_tags"])),
            summary=cast("str", row["summary"]),
        )
        # Parts from before there was a choice of reference do not name it.
        texts = {name: row[name] for name in _TEXTS} | {
            "reference": row["reference"] or "milestones"
        }
        judgement = TrajectoryJudgement(
            **cast("dict[str, Any]", texts),
            scores=scores,
            input_tokens=cast("int | None", row["input_tokens"]),
            output_tokens=cast("int | None", row["output_tokens"]),
            part=str(path),
        )
        _ = judgement.trajectory_score
        for label in scores.milestones:
            if not isinstance(label.milestone_id, str) or not isinstance(label.evidence, str):  # pyright: ignore[reportUnnecessaryIsInstance] it is anybody's file
                raise TypeError(f"a milestone's label is {label!r:.80}")
        if judgement.protocol not in get_args(Protocol):
            raise ValueError(f"there is no protocol {judgement.protocol!r:.40}")
        if judgement.reference == "milestones":
            _ = judgement.mc_rate
        elif judgement.reference != "explanation":
            raise ValueError(f"there is no reference {judgement.reference!r:.40}")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InvalidResults(
            f"{path}: a row is no judgement of a trajectory ({error}); remove the file and score again"
        ) from error
    return judgement
