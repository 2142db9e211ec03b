"""The judge of trajectories: one text in, axes, milestones and tags out, or an error that is no score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, TypeVar

from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    Model,
    ModelOutput,
)

from taketwo.benchmarks.canonical import sha256_of_text
from taketwo.executions.plan import ModelSpec
from taketwo.scores.judge_model import open_judge
from taketwo.scores.judge_work import total_tokens
from taketwo.scores.judged_in_parallel import judged_in_parallel, sent_back
from taketwo.scores.process_scores import ReplyFault, read_reply
from taketwo.scores.reference_trajectory import (
    ExplanationRequest,
    explanation_request,
    explanation_rubric,
)
from taketwo.scores.trajectory_judgements import Reference, TrajectoryJudgement
from taketwo.scores.trajectory_request import TrajectoryRequest, judge_request, rubric
from taketwo.tools.fencing import fence

__all__ = [
    "StrictReply",
    "TrajectoryJudgeFailure",
    "judge_trajectories",
    "strict_reply",
]

_REPAIRS = 2

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class TrajectoryJudgeFailure:
    """A trajectory that the judge did not score; asked again by the next `score`."""

    key: str
    question_id: str
    cause: str


@dataclass(frozen=True, kw_only=True)
class StrictReply(Generic[T]):
    """What a judge's first reply that keeps every rule says, who gave it, and the tokens of all replies."""

    value: T
    served_model: str
    input_tokens: int | None
    output_tokens: int | None


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What a judge is sent, and the milestones that it must label."""

    instructions: str
    shown: str
    milestones: tuple[str, ...]
    reference: Reference


async def judge_trajectories(
    requests: Sequence[TrajectoryRequest],
    spec: ModelSpec,
    *,
    connections: int,
    retries: int,
    timeout_s: int,
    max_tokens: int | None = None,
    rescue: Callable[[Sequence[TrajectoryJudgement]], object] | None = None,
) -> tuple[tuple[TrajectoryJudgement, ...], tuple[TrajectoryJudgeFailure, ...]]:
    """Judge each distinct trajectory once at temperature 0, in parallel.

    A reply that breaks a rule is sent back, with all that is wrong in it, up to twice; after that,
    and where the provider fails, the trajectory has a failure and no score. `rescue` is handed the
    judgements so far where the asking is interrupted.
    """
    model = open_judge(
        spec,
        connections=connections,
        retries=retries,
        timeout_s=timeout_s,
        max_tokens=max_tokens,
    )

    async def one(key: str, request: TrajectoryRequest) -> TrajectoryJudgement:
        return await _judge_one(model, spec.name, key, request)

    distinct = {request.key(spec.name): request for request in requests}
    judged = await judged_in_parallel(distinct, one, connections=connections, rescue=rescue)
    failures = tuple(
        TrajectoryJudgeFailure(key=key, question_id=distinct[key].question.question_id, cause=cause)
        for key, cause in judged.causes.items()
    )
    return tuple(judged.results.values()), failures


async def strict_reply(
    model: Model, *, instructions: str, shown: str, read: Callable[[str], T]
) -> StrictReply[T]:
    """Ask a judge and return what it says, once `read` finds nothing wrong with it.

    Raises
    ------
    ReplyFault
        If the reply still breaks a rule after it was sent back twice.
    ValueError
        If the replies came from different models.
    """
    messages: list[ChatMessage] = [
        ChatMessageSystem(content=instructions),
        ChatMessageUser(content=shown),
    ]
    outputs: list[ModelOutput] = []
    while True:
        output = await model.generate(messages)
        outputs.append(output)
        try:
            value = read(output.completion)
            break
        except ReplyFault as fault:
            if len(outputs) > _REPAIRS:
                raise
            listed = "\n".join(f"- {problem}" for problem in fault.problems)
            messages += [
                *sent_back(output),
                ChatMessageUser(
                    content=f"That reply breaks these rules:\n{fence('faults', listed)}\n"
                    "Send the whole JSON object again, with these mended and nothing else changed."
                ),
            ]
    served = {output.model for output in outputs if not output.empty}
    if len(served) > 1:
        raise ValueError(f"the replies came from different models: {', '.join(sorted(served))}")
    return StrictReply(
        value=value,
        served_model=served.pop(),
        input_tokens=total_tokens([o.usage.input_tokens if o.usage else None for o in outputs]),
        output_tokens=total_tokens([o.usage.output_tokens if o.usage else None for o in outputs]),
    )


async def _judge_one(
    model: Model, judge: str, key: str, request: TrajectoryRequest
) -> TrajectoryJudgement:
    question = request.question
    asked = _asked(request)
    reply = await strict_reply(
        model,
        instructions=asked.instructions,
        shown=asked.shown,
        read=lambda text: read_reply(
            text, milestones=asked.milestones, sweep=question.sweep or "unknown"
        ),
    )
    return TrajectoryJudgement(
        key=key,
        question_id=question.question_id,
        judge=judge,
        served_model=reply.served_model,
        protocol=request.protocol,
        rubric=request.rubric,
        reference=asked.reference,
        prompt_sha256=sha256_of_text(asked.instructions),
        scores=reply.value,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
    )


def _asked(request: TrajectoryRequest) -> _Asked:
    if isinstance(request, ExplanationRequest):
        return _Asked(
            instructions=explanation_rubric(),
            shown=explanation_request(request),
            milestones=(),
            reference="explanation",
        )
    return _Asked(
        instructions=rubric(request.rubric),
        shown=judge_request(request),
        milestones=tuple(step.milestone_id for step in request.question.milestones),
        reference="milestones",
    )
