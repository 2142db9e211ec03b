"""One pooled judge for answers: each distinct answer is judged once a repeat, blind to arm and execution."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, Model
from pydantic import BaseModel, ConfigDict

from taketwo.executions.plan import ModelSpec
from taketwo.scores.answer_words import option_text, options_text
from taketwo.scores.grading import PROMPT_SHA256, JudgeRequest, judge_prompt
from taketwo.scores.judge_model import open_judge
from taketwo.scores.judged_in_parallel import ask_for_object, judged_in_parallel, object_in
from taketwo.scores.judgements import Judgement, answer_string
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
    rescue: Callable[[Sequence[Judgement]], object] | None = None,
) -> tuple[tuple[Judgement, ...], tuple[JudgeFailure, ...]]:
    """Judge each distinct answer and repeat once at temperature 0, in parallel.

    Returns the judgements and the failures; a failure is never a label. A reply that is not the
    JSON object asked for is asked for once more, with what was wrong with it. The judgements are of
    one served model: where several served the requests, those of all but the most frequent one are
    failures. Repeats are asked at temperature 0 too, without any cache: they measure how far the
    judge repeats itself, not how it samples. `rescue` is handed the judgements so far where the
    asking is interrupted.
    """
    model = open_judge(spec, connections=connections, retries=retries, timeout_s=timeout_s)
    distinct = {request.key(spec.name): request for request in requests}

    async def ask(key: str, request: JudgeRequest) -> Judgement:
        return await _judge_one(model, spec.name, key, request)

    def save(results: Sequence[Judgement]) -> None:
        others = _served_otherwise(results)
        if rescue is not None:
            rescue([one for one in results if one.key not in others])

    done = await judged_in_parallel(distinct, ask, connections=connections, rescue=save)
    found = tuple(done.results.values())
    strangers = _served_otherwise(found)
    causes = {**done.causes, **strangers}
    judgements = tuple(one for one in found if one.key not in strangers)
    failures = tuple(
        JudgeFailure(key=key, question_id=distinct[key].question.question_id, cause=causes[key])
        for key in sorted(causes)
    )
    return judgements, failures


def _served_otherwise(judgements: Sequence[Judgement]) -> dict[str, str]:
    """Return why, by key, judgements do not count that the most frequent served model did not give."""
    counts = Counter(one.served_model or "" for one in judgements)
    if len(counts) < 2:
        return {}
    usual = min(counts, key=lambda model: (-counts[model], model))
    return {
        one.key: f"served by {one.served_model!r}, while {counts[usual]} of {len(judgements)} were served "
        f"by {usual!r}; a judge is one model"
        for one in judgements
        if one.served_model != usual
    }


async def _judge_one(model: Model, judge: str, key: str, request: JudgeRequest) -> Judgement:
    answer = answer_string(request.answer)
    messages: list[ChatMessage] = [
        ChatMessageSystem(content=judge_prompt()),
        ChatMessageUser(content=_shown(request, answer)),
    ]
    asked = await ask_for_object(model, messages, lambda reply: object_in(reply, _Verdict))
    return Judgement(
        key=key,
        question_id=request.question.question_id,
        answer=answer,
        label=asked.value.label,
        judge=judge,
        served_model=asked.served_model,
        prompt_sha256=PROMPT_SHA256,
        reason=asked.value.reason[:1000],
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        repeat=request.repeat,
        input_tokens=asked.input_tokens,
        output_tokens=asked.output_tokens,
    )


def _shown(request: JudgeRequest, answer: str) -> str:
    """Return the question, its options, its truth and the answer, each in a fence of its own."""
    question = request.question
    options = options_text(question)
    if question.answer_index is None:
        truth = [question.answer_text or "", *question.accepted_answers]
    else:
        truth = [option_text(question, question.answer_index)]
    return "\n\n".join((
        fence("question", question.text),
        *([fence("options", options)] if options else []),
        fence("true answer", "\n".join(dict.fromkeys(form for form in truth if form))),
        fence("answer to grade", answer),
    ))
