"""One pooled judge for open answers: each distinct answer is judged once, blind to arm and execution."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import anyio
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, Model
from pydantic import BaseModel, ConfigDict, ValidationError

from taketwo.executions.plan import ModelSpec
from taketwo.scores.grading import PROMPT_SHA256, JudgeRequest, judge_prompt
from taketwo.scores.judge_model import open_judge
from taketwo.scores.judgements import Judgement
from taketwo.tools.fencing import fence

__all__ = ["JudgeFailure", "judge_answers"]


@dataclass(frozen=True, kw_only=True)
class JudgeFailure:
    """An answer that the judge did not label; asked again by the next `score`."""

    key: str
    question_id: str
    cause: str


class _Verdict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    label: Literal["correct", "incorrect", "ungradable"]
    reason: str


async def judge_answers(
    requests: Sequence[JudgeRequest],
    spec: ModelSpec,
    *,
    connections: int,
    retries: int,
    timeout_s: int,
) -> tuple[tuple[Judgement, ...], tuple[JudgeFailure, ...]]:
    """Judge each distinct answer once at temperature 0, in parallel.

    Returns the judgements and the failures; a failure is never a label. A reply that is not the
    JSON object asked for is asked for once more, with what was wrong with it.
    """
    model = open_judge(spec, connections=connections, retries=retries, timeout_s=timeout_s)
    distinct = {request.key(spec.name): request for request in requests}
    judgements: list[Judgement] = []
    failures: list[JudgeFailure] = []
    slots = anyio.CapacityLimiter(connections)

    async def one(key: str, request: JudgeRequest) -> None:
        async with slots:
            try:
                judgements.append(await _judge_one(model, spec.name, key, request))
            except Exception as error:  # noqa: BLE001 - the boundary of one judgement; the cause is kept
                cause = f"{type(error).__name__}: {error}"[:500]
                failures.append(
                    JudgeFailure(key=key, question_id=request.question.question_id, cause=cause)
                )

    async with anyio.create_task_group() as group:
        for key, request in distinct.items():
            group.start_soon(one, key, request)
    judgements.sort(key=lambda judgement: judgement.key)
    failures.sort(key=lambda failure: failure.key)
    return tuple(judgements), tuple(failures)


async def _judge_one(model: Model, judge: str, key: str, request: JudgeRequest) -> Judgement:
    question = request.question
    truth = [question.answer_text or "", *question.accepted_answers]
    messages: list[ChatMessage] = [
        ChatMessageSystem(content=judge_prompt()),
        ChatMessageUser(
            content="\n\n".join((
                fence("question", question.text),
                fence("true answer", "\n".join(dict.fromkeys(form for form in truth if form))),
                fence("answer to grade", request.answer),
            ))
        ),
    ]
    output = await model.generate(messages)
    try:
        verdict = _parsed(output.completion)
    except ValueError as problem:
        again = ChatMessageUser(
            content=f"That was not usable: {problem}. Reply with the JSON object only."
        )
        output = await model.generate([*messages, output.message, again])
        verdict = _parsed(output.completion)
    return Judgement(
        key=key,
        question_id=question.question_id,
        answer=request.answer,
        label=verdict.label,
        judge=judge,
        served_model=output.model,
        prompt_sha256=PROMPT_SHA256,
        reason=verdict.reason[:1000],
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _parsed(reply: str) -> _Verdict:
    start, end = reply.find("{"), reply.rfind("}")
    if start < 0 or end < start:
        raise ValueError("there is no JSON object in the reply")
    try:
        return _Verdict.model_validate(json.loads(reply[start : end + 1]))
    except (ValidationError, ValueError, RecursionError) as error:
        first = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise ValueError(f"the JSON object is wrong: {first}") from error
