"""Replies in a form: one JSON object that a model is asked for, checked, and asked for again.

A field is never emptied to make a reply fit, and a reply that does not fit is never used.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from inspect_ai.model import ChatMessage, ChatMessageUser, ModelOutput
from pydantic import BaseModel, ValidationError

from taketwo.benchmarks.canonical import JsonValue
from taketwo.tools.role_model import RoleModel

__all__ = ["FORM_HEADING", "Structured", "form_request", "generate_in_form", "read_in_form"]

FORM_HEADING = "Reply with one JSON object and nothing else. It must fit this JSON Schema:"
"""The line before the schema; offline models recognise a request in a form by it."""

_MOST = 200_000
_Form = TypeVar("_Form", bound=BaseModel)


@dataclass(frozen=True, kw_only=True)
class Structured(Generic[_Form]):
    """A reply in a form: `value` is None where none of the replies fitted, and `problem` says why.

    `text` is the last reply as given, `asked` how many generations it took.
    """

    value: _Form | None
    text: str
    problem: str | None
    asked: int


def form_request(form: type[BaseModel]) -> str:
    """Return what a prompt says about the form of the reply; the same for every model."""
    return f"{FORM_HEADING}\n{json.dumps(_without_titles(cast('JsonValue', form.model_json_schema())), ensure_ascii=False)}"


def read_in_form(text: str, form: type[_Form]) -> tuple[_Form | None, str | None]:
    """Return the last JSON object of `text` that fits, else None and what is wrong with the last one.

    Fences, tags and prose around the object are passed over.
    """
    problem: str | None = "no JSON object in the reply"
    found: _Form | None = None
    for record in _objects(text[-_MOST:]):
        try:
            found, problem = form.model_validate(record), None
        except ValidationError as error:
            if found is None:
                problem = "; ".join(
                    f"{'.'.join(map(str, item['loc'])) or 'the object'}: {item['msg']}"
                    for item in error.errors(include_url=False, include_input=False)[:5]
                )
    return found, problem


async def generate_in_form(
    model: RoleModel, messages: Sequence[ChatMessage], form: type[_Form], *, asks: int = 2
) -> Structured[_Form]:
    """Return the model's reply in `form`; a reply that does not fit is sent back up to `asks` times.

    The messages must already say what form is wanted (`form_request`).

    Raises
    ------
    BudgetExhausted, ProviderReplyError
        As `RoleModel.generate`.
    """
    conversation = list(messages)
    text, problem = "", None
    for number in range(asks + 1):
        output: ModelOutput = await model.generate(conversation)
        text = output.completion
        value, problem = read_in_form(text, form)
        if value is not None:
            return Structured(value=value, text=text, problem=None, asked=number + 1)
        conversation += [
            output.message,
            ChatMessageUser(
                content=f"Your reply does not fit: {problem}. Send the whole object again, "
                f"corrected.\n\n{form_request(form)}"
            ),
        ]
    return Structured(value=None, text=text, problem=problem, asked=asks + 1)


def _objects(text: str) -> Iterator[object]:
    """Yield the outermost JSON objects of `text`, front to back."""
    decoder = json.JSONDecoder(parse_constant=lambda name: name)
    position = text.find("{")
    failures = 0
    while position >= 0 and failures < 1000:
        try:
            record, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            failures += 1
            end = position + 1
        else:
            yield record
        position = text.find("{", end)


def _without_titles(value: JsonValue) -> JsonValue:
    if isinstance(value, Mapping):
        return {
            name: _without_titles(item)
            for name, item in value.items()
            if not (name == "title" and isinstance(item, str))
        }
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_without_titles(item) for item in value]
    return value
