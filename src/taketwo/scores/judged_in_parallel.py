"""Asking a judge: many requests at once, each reply read strictly or asked for once more.

A failure of one request is kept with its cause and stops no other. It is never a label.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import anyio
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    Model,
    ModelOutput,
)
from pydantic import BaseModel, ValidationError

from taketwo.scores.judge_work import total_tokens
from taketwo.scores.unique_keys import unique_keys

__all__ = [
    "Asked",
    "Judged",
    "ask_for_object",
    "cause_of",
    "judged_in_parallel",
    "object_in",
    "sent_back",
]

RequestT = TypeVar("RequestT")
ResultT = TypeVar("ResultT")
RecordT = TypeVar("RecordT", bound=BaseModel)

_LONGEST_CAUSE = 500
_KEPT_AT_AN_END = 20_000
"""Characters of an over-long reply that are sent back from its begin and from its end."""


@dataclass(frozen=True, kw_only=True)
class Judged(Generic[ResultT]):
    """What became of the requests, by key and in the order of the keys: a result or a cause of failure."""

    results: Mapping[str, ResultT]
    causes: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Asked(Generic[ResultT]):
    """What a model replied, the one model that served all of its replies, and the tokens of them all.

    Tokens are None where a reply did not report them.
    """

    value: ResultT
    served_model: str
    input_tokens: int | None = None
    output_tokens: int | None = None


async def judged_in_parallel(
    requests: Mapping[str, RequestT],
    judge_one: Callable[[str, RequestT], Awaitable[ResultT]],
    *,
    connections: int,
    rescue: Callable[[Sequence[ResultT]], object] | None = None,
) -> Judged[ResultT]:
    """Ask about each request, at most `connections` at a time, and keep what went wrong by key.

    Parameters
    ----------
    requests
        What is asked, by the key of its judgement: equal content is asked about once.
    judge_one
        Asks about one request; whatever it raises is that request's failure.
    rescue
        Handed the results so far where the asking is stopped before its end (an interrupt): they
        are paid for. It must not wait for anything.
    """
    results: dict[str, ResultT] = {}
    causes: dict[str, str] = {}
    slots = anyio.CapacityLimiter(connections)

    async def one(key: str, request: RequestT) -> None:
        async with slots:
            try:
                results[key] = await judge_one(key, request)
            except Exception as error:  # noqa: BLE001 - the boundary of one judgement; the cause is kept
                causes[key] = cause_of(error)

    try:
        async with anyio.create_task_group() as group:
            for key, request in requests.items():
                group.start_soon(one, key, request)
    except BaseException:
        if rescue is not None and results:
            rescue(tuple(results.values()))
        raise
    return Judged(
        results={key: results[key] for key in sorted(results)},
        causes={key: causes[key] for key in sorted(causes)},
    )


def cause_of(error: BaseException) -> str:
    """Return a failure in words; of a request that was tried again, the failure of its last try."""
    last = getattr(error, "last_attempt", None)
    inner = last.exception() if last is not None else None
    told = error if inner is None else inner
    return f"{type(told).__name__}: {' '.join(str(told).split())}"[:_LONGEST_CAUSE]


async def ask_for_object(
    model: Model,
    messages: Sequence[ChatMessage],
    read: Callable[[str], ResultT],
) -> Asked[ResultT]:
    """Ask for a JSON object; a reply that `read` refuses is asked for once more, with what was wrong.

    Raises
    ------
    ValueError
        If the second reply is refused too, or was served by another model than the first.
    """
    first = await model.generate(list(messages))
    try:
        return _asked(read(first.completion), [first])
    except ValueError as problem:
        again = ChatMessageUser(
            content=f"That was not usable: {problem}. Reply with the JSON object only."
        )
    second = await model.generate([*messages, *sent_back(first), again])
    if second.model != first.model and not first.empty:
        raise ValueError(
            f"the two replies were served by different models, {first.model!r} and {second.model!r}"
        )
    return _asked(read(second.completion), [first, second])


def _asked(value: ResultT, outputs: Sequence[ModelOutput]) -> Asked[ResultT]:
    return Asked(
        value=value,
        served_model=outputs[-1].model,
        input_tokens=total_tokens([
            one.usage.input_tokens if one.usage else None for one in outputs
        ]),
        output_tokens=total_tokens([
            one.usage.output_tokens if one.usage else None for one in outputs
        ]),
    )


def sent_back(output: ModelOutput) -> list[ChatMessage]:
    """Return a reply as a judge sees it again when asked to mend it.

    Nothing where the reply has no choice at all. Of more than 40,000 characters both ends are kept
    and what is left out is said between them: a request is paid for by its length.
    """
    if output.empty:
        return []
    text = output.message.text
    if len(text) <= 2 * _KEPT_AT_AN_END:
        return [output.message]
    begin, end = text[:_KEPT_AT_AN_END], text[-_KEPT_AT_AN_END:]
    shown = f"{begin}\n[the middle of this reply is left out here: it is too long]\n{end}"
    return [ChatMessageAssistant(content=shown, model=output.message.model)]


def object_in(reply: str, record: type[RecordT]) -> RecordT:
    """Return the one JSON object of a reply as `record`; words around it do no harm.

    Raises
    ------
    ValueError
        If there is none, it is not the record, or one of its keys stands twice. The message repeats
        nothing of the reply.
    """
    start, end = reply.find("{"), reply.rfind("}")
    if start < 0 or end < start:
        raise ValueError("there is no JSON object in the reply")
    try:
        found: object = json.loads(reply[start : end + 1], object_pairs_hook=unique_keys)
        return record.model_validate(found)
    except ValidationError as error:
        raise ValueError(f"the JSON object is wrong: {_first_fault(error)}") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"the JSON object is wrong: {error.msg}") from error
    except ValueError as error:
        raise ValueError(f"the JSON object is wrong: {error}") from error
    except RecursionError as error:
        raise ValueError("the JSON object is wrong: it is nested too deep") from error


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
    known = [str(part) for part in fault["loc"] if fault["type"] != "extra_forbidden"]
    return f"{'.'.join(known)}: {fault['msg']}" if known else fault["msg"]
