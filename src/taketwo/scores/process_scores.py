"""What a judge says of a trajectory, checked strictly, and the two scores that follow from it.

Five axes of 0 to 2, a status for each reference milestone and tags out of a closed list, as
AgentVidBench (2026, arXiv 2609.21386, Appendix D) defines them. A reply that breaks a rule is named
with everything that is wrong in it, so that the judge can be asked to mend it; it is never repaired
here.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from taketwo.benchmarks.question import Sweep
from taketwo.scores.unique_keys import unique_keys

__all__ = [
    "AXES",
    "FAILURE_TAGS",
    "MilestoneLabel",
    "MilestoneStatus",
    "ProcessScores",
    "ReplyFault",
    "TrajectoryStatus",
    "mc_rate",
    "read_object",
    "read_reply",
    "trajectory_score",
]

TrajectoryStatus = Literal["scored", "judge_error", "not_judged"]
MilestoneStatus = Literal["covered", "partial", "incorrect", "missing"]

AXES: Mapping[str, tuple[str, str]] = {
    "task_understanding": ("P1", "TU"),
    "gt_evidence_coverage": ("P2", "ECov"),
    "evidence_grounding": ("P3", "EG"),
    "evidence_completeness": ("P4", "ECom"),
    "reasoning_faithfulness": ("P5", "RF"),
}
"""The judge's key of each axis, the key under which it is stored elsewhere, and its short name."""

FAILURE_TAGS: tuple[str, ...] = (
    "misunderstood_condition",
    "wrong_target_entity",
    "visual_misrecognition",
    "ocr_error",
    "audio_transcript_error",
    "unsupported_observation",
    "counting_error",
    "duplicate_counting",
    "excluded_item_counted",
    "wrong_arithmetic",
    "wrong_option_mapping",
    "wrong_temporal_segment",
    "missed_required_segment",
    "insufficient_full_video_scan",
    "spatial_relation_error",
    "premature_fixation",
    "failure_to_expand_search",
    "failure_to_adjust_granularity",
    "evidence_answer_conflict",
    "premature_answer",
    "overconfident_uncertainty",
)
_COMPLETENESS = "evidence_completeness"
_MOST_TAGS = 8
_CREDIT: Mapping[MilestoneStatus, float] = {
    "covered": 1.0,
    "partial": 0.5,
    "incorrect": 0.0,
    "missing": 0.0,
}
_MAX_READ = 200_000
_MOST_TOLD = 20
"""Faults of one kind that a judge is told; a reply can have any number of them."""
_LONGEST_VALUE = 60


class ReplyFault(ValueError):
    """A judge's reply that cannot be used; `problems` says all that is wrong with it."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, kw_only=True)
class MilestoneLabel:
    """What became of one reference milestone, and the words of the trajectory that show it."""

    milestone_id: str
    status: MilestoneStatus
    evidence: str


@dataclass(frozen=True, kw_only=True)
class ProcessScores:
    """A checked reply: axes by the judge's keys (None where an axis does not apply), labels and tags.

    `milestones` stand in the order of the reference.

    Raises
    ------
    ValueError
        If an axis, a status or a tag is none that there is.
    """

    axes: Mapping[str, int | None]
    rationales: Mapping[str, str]
    milestones: tuple[MilestoneLabel, ...]
    failure_tags: tuple[str, ...]
    summary: str

    def __post_init__(self) -> None:
        if set(self.axes) != set(AXES):
            raise ValueError(f"the axes are {', '.join(map(str, self.axes))}")
        for axis, score in self.axes.items():
            may_be_null = axis == _COMPLETENESS
            is_score = type(score) is int and 0 <= score <= 2
            if not is_score and not (score is None and may_be_null):
                raise ValueError(f"{axis} is {score!r}, expected 0, 1 or 2")
        for label in self.milestones:
            if label.status not in _CREDIT:
                raise ValueError(f"milestone {label.milestone_id!r} has status {label.status!r}")
        problems = _tag_problems(self.failure_tags)
        if problems:
            raise ValueError("; ".join(problems))


def trajectory_score(axes: Mapping[str, int | None]) -> float:
    """Return half the mean of the axes that apply, 0 to 1 (AgentVidBench, Section 3.4).

    Raises
    ------
    ValueError
        If none applies.

    Examples
    --------
    >>> trajectory_score({"P1": 2, "P2": 1, "P3": 0, "P4": 1, "P5": 2})
    0.6
    """
    applicable = [score for score in axes.values() if score is not None]
    if not applicable:
        raise ValueError("no axis applies, so there is no trajectory score")
    return 0.5 * math.fsum(applicable) / len(applicable)


def mc_rate(statuses: Sequence[MilestoneStatus], reference: int) -> float:
    """Return covered plus half the partial milestones over the `reference` ones, 0 to 1.

    The denominator is the number of milestones that the question has, as the paper defines it, and
    not the number that a judge returned.

    Raises
    ------
    ValueError
        If the question has no milestones, or there are more statuses than milestones.

    Examples
    --------
    >>> mc_rate(["covered", "covered", "incorrect", "partial"], 4)
    0.625
    """
    if reference < 1 or len(statuses) > reference:
        raise ValueError(f"{len(statuses)} labels cannot be counted against {reference} milestones")
    return math.fsum(_CREDIT[status] for status in statuses) / reference


RecordT = TypeVar("RecordT", bound=BaseModel)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


Score = Annotated[int, Field(ge=0, le=2)]


class _Axes(_Strict):
    task_understanding: Score
    gt_evidence_coverage: Score
    evidence_grounding: Score
    evidence_completeness: Score | None
    reasoning_faithfulness: Score


class _Rationales(_Strict):
    P1: str = Field(max_length=4000)
    P2: str = Field(max_length=4000)
    P3: str = Field(max_length=4000)
    P4: str = Field(max_length=4000)
    P5: str = Field(max_length=4000)


class _Coverage(_Strict):
    milestone_id: str
    status: MilestoneStatus
    evidence_in_prediction: str | None = Field(max_length=8000)


class _Reply(_Strict):
    process_scores: _Axes
    axis_rationales: _Rationales
    milestone_coverage: list[_Coverage]
    failure_tags: list[str]
    summary: str = Field(max_length=8000)


def read_reply(text: str, *, milestones: Sequence[str], sweep: Sweep) -> ProcessScores:
    """Return what a judge's reply says, where it keeps every rule.

    Parameters
    ----------
    text
        The reply. Prose and fences around its one JSON object are passed over.
    milestones
        Ids of the reference milestones. Each must be labelled once and no other may be.
    sweep
        `yes` requires a score of evidence completeness, `no` forbids one, and with `unknown` the
        judge decides.

    Raises
    ------
    ReplyFault
        Naming everything that is wrong.
    """
    reply = read_object(text, _Reply)
    scores = reply.process_scores
    problems: list[str] = []
    if sweep == "yes" and scores.evidence_completeness is None:
        problems.append(
            f"{_COMPLETENESS} is null, but the question requires a sweep; score it 0 to 2"
        )
    if sweep == "no" and scores.evidence_completeness is not None:
        problems.append(
            f"{_COMPLETENESS} is {scores.evidence_completeness}, but the question requires no sweep; "
            "make it null"
        )
    problems += _label_problems(reply.milestone_coverage, milestones)
    problems += _tag_problems(reply.failure_tags)
    if problems:
        raise ReplyFault(problems)
    labels = {item.milestone_id: item for item in reply.milestone_coverage}
    return ProcessScores(
        axes={
            "task_understanding": scores.task_understanding,
            "gt_evidence_coverage": scores.gt_evidence_coverage,
            "evidence_grounding": scores.evidence_grounding,
            "evidence_completeness": scores.evidence_completeness,
            "reasoning_faithfulness": scores.reasoning_faithfulness,
        },
        rationales=reply.axis_rationales.model_dump(),
        milestones=tuple(
            MilestoneLabel(
                milestone_id=name,
                status=labels[name].status,
                evidence=labels[name].evidence_in_prediction or "",
            )
            for name in milestones
        ),
        failure_tags=tuple(reply.failure_tags),
        summary=reply.summary,
    )


def read_object(text: str, record: type[RecordT]) -> RecordT:
    """Return the one JSON object of a judge's reply as `record`; prose and fences around it are passed over.

    Raises
    ------
    ReplyFault
        If there is none, it cannot be read, a key stands twice, or naming what is not as `record`
        has it.
    """
    if len(text) > _MAX_READ:
        raise ReplyFault([f"the reply has {len(text)} characters, more than {_MAX_READ}"])
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        raise ReplyFault(["there is no JSON object in the reply"])
    try:
        found: object = json.loads(text[start : end + 1], object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise ReplyFault([f"the JSON object cannot be read: {error}"]) from error
    try:
        return record.model_validate(found)
    except ValidationError as error:
        faults = [
            f"{'.'.join(map(str, item['loc'])) or 'the object':.{_LONGEST_VALUE}}: {item['msg']}, found "
            f"{item['input']!r:.{_LONGEST_VALUE}}"
            for item in error.errors(include_url=False)
        ]
        raise ReplyFault(_first(faults)) from error


def _first(problems: Sequence[str]) -> list[str]:
    """Return the first faults of one kind and how many more there are, so that no reply makes a long request."""
    more = len(problems) - _MOST_TOLD
    return [*problems[:_MOST_TOLD], *([f"and {more:,} more of this kind"] if more > 0 else [])]


def _brief(value: str) -> str:
    return repr(value) if len(value) <= _LONGEST_VALUE else f"{value[:_LONGEST_VALUE]!r}..."


def _label_problems(found: Sequence[_Coverage], wanted: Sequence[str]) -> list[str]:
    counts = Counter(item.milestone_id for item in found)
    often = [(name, n) for name, n in counts.items() if n > 1]
    return [
        *_first([f"milestone {name:.{_LONGEST_VALUE}} is labelled {n} times" for name, n in often]),
        *_first([f"there is no milestone {_brief(name)}" for name in counts if name not in wanted]),
        *_first([f"milestone {name} has no label" for name in wanted if name not in counts]),
    ]


def _tag_problems(found: Sequence[str]) -> list[str]:
    counts = Counter(found)
    problems = [
        *_first([f"there is no tag {_brief(tag)}" for tag in counts if tag not in FAILURE_TAGS]),
        *_first([f"tag {_brief(tag)} is there twice" for tag, n in counts.items() if n > 1]),
    ]
    if len(found) > _MOST_TAGS:
        problems.append(
            f"{len(found)} tags, at most {_MOST_TAGS} are allowed; keep the decisive ones"
        )
    return problems
