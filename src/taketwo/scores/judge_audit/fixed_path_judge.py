"""A judge that compares a trajectory with one fixed path: what the judge of milestones is held against.

MINERVA (2025, arXiv 2505.00681) scores reasoning against a reference trace by perceptual correctness,
temporal localisation, logical reasoning and completeness. This is a judge in its manner, with our
wording and a strict reply, on the path that a human took to the question's answer. No score of a
study comes from it: it serves the audit, to see which of the two minds the notation of times.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, cast

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from taketwo.benchmarks.canonical import sha256_of, sha256_of_text
from taketwo.benchmarks.question import Question
from taketwo.errors import InvalidResults
from taketwo.executions.plan import ModelSpec
from taketwo.scores.answer_words import options_text
from taketwo.scores.judge_audit.audit_findings import AuditCase, AuditFinding
from taketwo.scores.judge_audit.format_probes import FormatScores, format_findings
from taketwo.scores.judge_audit.judge_probes import Probe
from taketwo.scores.judge_model import open_judge
from taketwo.scores.judged_in_parallel import judged_in_parallel
from taketwo.scores.judgement_parts import keep_first, read_parts, write_part
from taketwo.scores.process_scores import read_object
from taketwo.scores.trajectory_judge import (
    TrajectoryJudgeFailure,
    strict_reply,
)
from taketwo.scores.trajectory_text import RenderedTrajectory
from taketwo.tools.fencing import fence

__all__ = [
    "RUBRIC_NAMES",
    "FixedPathJudgement",
    "FixedPathRequest",
    "by_fixed_path",
    "fixed_path_prompt",
    "fixed_path_requests",
    "fixed_path_scores",
    "fixed_path_text",
    "judge_fixed_path",
    "read_fixed_path_formats",
    "read_fixed_path_judgements",
    "write_fixed_path_judgements",
]

RUBRIC_NAMES: tuple[str, ...] = (
    "perceptual_correctness",
    "temporal_localization",
    "logical_reasoning",
    "completeness",
)
_TEXTS = ("key", "question_id", "judge", "served_model", "prompt_sha256", "created")
_RECORDS = ("scores", "rationales")
_SCHEMA = {name: pl.String() for name in (*_TEXTS, *_RECORDS)} | {
    "input_tokens": pl.Int64(),
    "output_tokens": pl.Int64(),
}
_NULLABLE = ("served_model", "input_tokens", "output_tokens")


@dataclass(frozen=True, kw_only=True)
class FixedPathRequest:
    """A trajectory to be compared with the path that a human took.

    Raises
    ------
    ValueError
        If nobody wrote a path or an explanation for the question.
    """

    question: Question
    trajectory: RenderedTrajectory

    def __post_init__(self) -> None:
        if fixed_path_text(self.question) is None:
            raise ValueError(
                f"question {self.question.question_id!r} has neither a curated path nor an "
                "explanation to compare with"
            )

    def key(self, judge: str) -> str:
        """Return the key of its judgement by `judge`: all that the judge is shown."""
        return sha256_of({
            "question": self.question.text,
            "options": list(self.question.options),
            "path": fixed_path_text(self.question),
            "trajectory": self.trajectory.text,
            "judge": judge,
            "prompt": sha256_of_text(fixed_path_prompt()),
        })


@dataclass(frozen=True, kw_only=True)
class FixedPathJudgement:
    """What a judge said of one trajectory beside the fixed path: four scores of 0 to 2, with reasons.

    `part` is the file that it was read from, None for one that was made just now.
    """

    key: str
    question_id: str
    judge: str
    prompt_sha256: str
    scores: Mapping[str, int]
    rationales: Mapping[str, str]
    created: str
    served_model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    part: str | None = field(default=None, compare=False, repr=False)

    @property
    def score(self) -> float:
        """Return half the mean of the four scores, 0 to 1."""
        return 0.5 * sum(self.scores[name] for name in RUBRIC_NAMES) / len(RUBRIC_NAMES)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


_Score = Annotated[int, Field(ge=0, le=2)]
_Reason = Annotated[str, Field(max_length=4000)]


class _Scores(_Strict):
    perceptual_correctness: _Score
    temporal_localization: _Score
    logical_reasoning: _Score
    completeness: _Score


class _Rationales(_Strict):
    perceptual_correctness: _Reason
    temporal_localization: _Reason
    logical_reasoning: _Reason
    completeness: _Reason


class _Reply(_Strict):
    scores: _Scores
    rationales: _Rationales


def fixed_path_prompt() -> str:
    """Return the instructions of the judge."""
    path = resources.files("taketwo.scores") / "prompts" / "fixed_path_judge.txt"
    return path.read_text("utf-8")


def fixed_path_text(question: Question) -> str | None:
    """Return the path that a human took, with its times: the curated steps, then the explanation.

    None where there is neither.
    """
    steps = [
        f"{number}. {step.tool} {step.arguments}\n{step.thought}\n{step.observation}".strip()
        for number, step in enumerate(question.reference, start=1)
    ]
    explanation = (question.explanation or "").strip()
    return "\n\n".join([*steps, *([explanation] if explanation else [])]) or None


def fixed_path_requests(probes: Sequence[Probe]) -> tuple[FixedPathRequest, ...]:
    """Return the same trajectories for this judge; questions without a path are left out."""
    return tuple(
        FixedPathRequest(question=probe.request.question, trajectory=probe.request.trajectory)
        for probe in probes
        if fixed_path_text(probe.request.question) is not None
    )


async def judge_fixed_path(
    requests: Sequence[FixedPathRequest],
    spec: ModelSpec,
    *,
    connections: int,
    retries: int,
    timeout_s: int,
    max_tokens: int | None = None,
    rescue: Callable[[Sequence[FixedPathJudgement]], object] | None = None,
) -> tuple[tuple[FixedPathJudgement, ...], tuple[TrajectoryJudgeFailure, ...]]:
    """Judge each distinct trajectory once at temperature 0, in parallel; a failure is no score.

    `rescue` is handed the judgements so far where the asking is interrupted.
    """
    model = open_judge(
        spec,
        connections=connections,
        retries=retries,
        timeout_s=timeout_s,
        max_tokens=max_tokens,
    )
    instructions = fixed_path_prompt()

    async def one(key: str, request: FixedPathRequest) -> FixedPathJudgement:
        reply = await strict_reply(
            model, instructions=instructions, shown=_shown(request), read=_read
        )
        return FixedPathJudgement(
            key=key,
            question_id=request.question.question_id,
            judge=spec.name,
            served_model=reply.served_model,
            prompt_sha256=sha256_of_text(instructions),
            scores=reply.value.scores.model_dump(),
            rationales=reply.value.rationales.model_dump(),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
        )

    distinct = {request.key(spec.name): request for request in requests}
    judged = await judged_in_parallel(distinct, one, connections=connections, rescue=rescue)
    failures = tuple(
        TrajectoryJudgeFailure(key=key, question_id=distinct[key].question.question_id, cause=cause)
        for key, cause in judged.causes.items()
    )
    return tuple(judged.results.values()), failures


def by_fixed_path(judge: str) -> str:
    """Return what a judge is called where it compares with one fixed path."""
    return f"{judge}, by one fixed path"


def read_fixed_path_formats(
    probes: Sequence[Probe],
    judgements: Mapping[str, FixedPathJudgement],
    judge: str,
    *,
    rng: np.random.Generator,
) -> tuple[tuple[AuditFinding, ...], tuple[AuditCase, ...]]:
    """Say how far the notation of times moves this judge's score, of the probes of `format_probes`."""
    names = [p.question_id for p in probes if fixed_path_text(p.request.question) is not None]
    scores = fixed_path_scores(probes, judgements, judge)
    return format_findings(names, scores, by_fixed_path(judge), rng=rng)


def fixed_path_scores(
    probes: Sequence[Probe], judgements: Mapping[str, FixedPathJudgement], judge: str
) -> FormatScores:
    """Return the scores by this judge of those probes that it judged."""
    possible = [p for p in probes if fixed_path_text(p.request.question) is not None]
    return {
        (probe.question_id, probe.subject): judgement.score
        for probe, request in zip(possible, fixed_path_requests(possible), strict=True)
        if (judgement := judgements.get(request.key(judge))) is not None
    }


def write_fixed_path_judgements(
    folder: Path, judgements: Iterable[FixedPathJudgement]
) -> Path | None:
    """Add a part to the judgements in `folder`; returns its path, None where there is nothing to write."""
    rows = [
        {
            **{name: getattr(judgement, name) for name in _TEXTS},
            "scores": json.dumps(dict(judgement.scores)),
            "rationales": json.dumps(dict(judgement.rationales), ensure_ascii=False),
            "input_tokens": judgement.input_tokens,
            "output_tokens": judgement.output_tokens,
        }
        for judgement in judgements
    ]
    return write_part(folder, "fixed-path", rows, _SCHEMA)


def read_fixed_path_judgements(folder: Path) -> Mapping[str, FixedPathJudgement]:
    """Read all parts in `folder`, by key; of several judgements of one content the first counts.

    Raises
    ------
    InvalidResults
        If a part cannot be read.
    """
    found: dict[str, FixedPathJudgement] = {}
    parts = read_parts(
        folder, "fixed-path", _SCHEMA, "judgements by a fixed path", nullable=_NULLABLE
    )
    for path, row in parts:
        judgement = _judgement(path, row)
        keep_first(found, judgement, lambda item: sorted(item.scores.items()))
    return found


def _judgement(path: Path, row: Mapping[str, object]) -> FixedPathJudgement:
    try:
        records = {name: json.loads(cast("str", row[name])) for name in _RECORDS}
        reply = _Reply.model_validate(records)
        return FixedPathJudgement(
            **cast("dict[str, Any]", {name: row[name] for name in _TEXTS}),
            scores=reply.scores.model_dump(),
            rationales=reply.rationales.model_dump(),
            input_tokens=cast("int | None", row["input_tokens"]),
            output_tokens=cast("int | None", row["output_tokens"]),
            part=str(path),
        )
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidResults(
            f"{path}: a row is no judgement by a fixed path ({error}); remove the file and audit again"
        ) from error


def _shown(request: FixedPathRequest) -> str:
    question = request.question
    options = options_text(question)
    return "\n\n".join([
        fence("question", question.text),
        *([fence("options", options)] if options else []),
        fence("path", fixed_path_text(question) or ""),
        fence("trajectory", request.trajectory.text),
        "Reply with the JSON object only.",
    ])


def _read(text: str) -> _Reply:
    return read_object(text, _Reply)
