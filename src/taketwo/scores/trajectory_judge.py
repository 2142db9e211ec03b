"""The judge of trajectories: one text in, axes, milestones and tags out, or an error that is no score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import anyio
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
from taketwo.scores.process_scores import ProcessScores, ReplyFault, read_reply
from taketwo.scores.trajectory_judgements import TrajectoryJudgement
from taketwo.scores.trajectory_request import TrajectoryRequest, judge_request, rubric
from taketwo.tools.fencing import fence

__all__ = ["TrajectoryJudgeFailure", "judge_trajectories"]

_REPAIRS = 2


@dataclass(frozen=True, kw_only=True)
class TrajectoryJudgeFailure:
    """A trajectory that the judge did not score; asked again by the next `score`."""

    key: str
    question_id: str
    cause: str


async def judge_trajectories(
    requests: Sequence[TrajectoryRequest],
    spec: ModelSpec,
    *,
    connections: int,
    retries: int,
    timeout_s: int,
    max_tokens: int | None = None,
) -> tuple[tuple[TrajectoryJudgement, ...], tuple[TrajectoryJudgeFailure, ...]]:
    """Judge each distinct trajectory once at temperature 0, in parallel.

    A reply that breaks a rule is sent back, with all that is wrong in it, up to twice; after that,
    and where the provider fails, the trajectory has a failure and no score.
    """
    model = open_judge(
        spec,
        connections=connections,
        retries=retries,
        timeout_s=timeout_s,
        max_tokens=max_tokens,
    )
    distinct = {request.key(spec.name): request for request in requests}
    judgements: list[TrajectoryJudgement] = []
    failures: list[TrajectoryJudgeFailure] = []
    slots = anyio.CapacityLimiter(connections)

    async def one(key: str, request: TrajectoryRequest) -> None:
        async with slots:
            try:
                judgements.append(await _judge_one(model, spec.name, key, request))
            except Exception as error:  # noqa: BLE001 - the boundary of one judgement; the cause is kept
                failures.append(
                    TrajectoryJudgeFailure(
                        key=key,
                        question_id=request.question.question_id,
                        cause=f"{type(error).__name__}: {error}"[:500],
                    )
                )

    async with anyio.create_task_group() as group:
        for key, request in distinct.items():
            group.start_soon(one, key, request)
    judgements.sort(key=lambda judgement: judgement.key)
    failures.sort(key=lambda failure: failure.key)
    return tuple(judgements), tuple(failures)


async def _judge_one(
    model: Model, judge: str, key: str, request: TrajectoryRequest
) -> TrajectoryJudgement:
    question = request.question
    instructions = rubric(request.rubric)
    messages: list[ChatMessage] = [
        ChatMessageSystem(content=instructions),
        ChatMessageUser(content=judge_request(request)),
    ]
    outputs: list[ModelOutput] = []
    while True:
        output = await model.generate(messages)
        outputs.append(output)
        try:
            scores: ProcessScores = read_reply(
                output.completion,
                milestones=[step.milestone_id for step in question.milestones],
                sweep=question.sweep or "unknown",
            )
            break
        except ReplyFault as fault:
            if len(outputs) > _REPAIRS:
                raise
            listed = "\n".join(f"- {problem}" for problem in fault.problems)
            messages += [
                output.message,
                ChatMessageUser(
                    content=f"That reply breaks these rules:\n{fence('faults', listed)}\n"
                    "Send the whole JSON object again, with these mended and nothing else changed."
                ),
            ]
    served = {output.model for output in outputs}
    if len(served) > 1:
        raise ValueError(f"the replies came from different models: {', '.join(sorted(served))}")
    return TrajectoryJudgement(
        key=key,
        question_id=question.question_id,
        judge=judge,
        served_model=served.pop(),
        protocol=request.protocol,
        rubric=request.rubric,
        prompt_sha256=sha256_of_text(instructions),
        scores=scores,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        input_tokens=_total([o.usage.input_tokens if o.usage else None for o in outputs]),
        output_tokens=_total([o.usage.output_tokens if o.usage else None for o in outputs]),
    )


def _total(values: Sequence[int | None]) -> int | None:
    """Return the sum, or None where a reply did not report its usage."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
