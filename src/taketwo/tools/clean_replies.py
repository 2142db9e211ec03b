"""A provider whose replies a log can hold: cleaned before the engine or an agent keeps them.

The engine writes a reply into its log inside `Model.generate`, so cleaning it afterwards would be
too late: one lone surrogate ends the whole evaluation. Between the engine and each provider stands
therefore a `ModelAPI` of ours, which is the provider in all but its replies.

What was cleaned is said in the output's metadata under `CLEANED`, with the SHA-256 of what was cut.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, cast

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    Content,
    ContentText,
    GenerateConfig,
    Model,
    ModelAPI,
    ModelCall,
    ModelOutput,
)
from inspect_ai.model import ChatMessage as Message
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo
from pydantic import BaseModel

from taketwo.tools.loggable import MAX_DEPTH, Cleaning, loggable_text

__all__ = ["CLEANED", "CleanReplies", "clean_call", "clean_output", "with_clean_replies"]

CLEANED = "taketwo_cleaned"
_MAX_NAME = 256
_MAX_ERROR = 20_000
_SHOWN = frozenset({"text", "reasoning", "tool_use", "data"})
_OWN = frozenset({"_inner", "generate", "connection_key"})


def with_clean_replies(model: Model) -> Model:
    """Return `model` with replies that a log can hold; `model` itself is left as it is."""
    if type(model.api) is CleanReplies:
        return model
    cleaned = copy(model)
    cleaned.api = CleanReplies(model.api)
    return cleaned


class CleanReplies(ModelAPI):
    """The provider `inner` in everything but its replies, which are cleaned.

    Every attribute, the class included, is that of `inner`, so that the engine treats and names it
    as it would the provider.
    """

    def __init__(self, inner: ModelAPI) -> None:
        # The base class would set up a client of its own.
        object.__setattr__(self, "_inner", inner)

    def __getattribute__(self, name: str) -> Any:
        """Return the provider's attribute."""
        if name in _OWN:
            return object.__getattribute__(self, name)
        return getattr(object.__getattribute__(self, "_inner"), name)

    def __setattr__(self, name: str, value: object) -> None:
        """Set the provider's attribute."""
        setattr(_inner(self), name, value)

    def connection_key(self) -> str:
        """Return the provider's key; the engine would tell providers apart by our one class."""
        return f"{type(_inner(self)).__name__}:{_inner(self).connection_key()}"

    async def generate(
        self,
        input: list[Message],  # noqa: A002  the name is that of ModelAPI
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput | tuple[ModelOutput | Exception, ModelCall]:
        """Return the provider's reply, cleaned; the text of its exceptions is cleaned too."""
        try:
            result = await _inner(self).generate(
                input=input, tools=tools, tool_choice=tool_choice, config=config
            )
        except Exception as error:
            _clean_error(error)
            raise
        if isinstance(result, ModelOutput):
            return clean_output(result)
        if not isinstance(result, tuple):  # pyright: ignore[reportUnnecessaryIsInstance] a provider may return anything
            return result
        output, call = result
        if isinstance(output, ModelOutput):
            output = clean_output(output)
        else:
            _clean_error(output)
        if call.response is not None:
            # In place: a provider may have handed the call to the engine before.
            response = Cleaning(depth=4 * MAX_DEPTH).json(call.response, "response")
            if response is not call.response:
                call.response = cast("dict[str, Any]", response)
        return output, call


def clean_output(output: ModelOutput) -> ModelOutput:
    """Return `output` as a log can hold it, the same object where it already was.

    Texts longer than `MAX_CHARACTERS` lose their middle, lone surrogates become U+FFFD. A call
    whose arguments cannot be kept as they are becomes one that cannot be executed: `parse_error`
    says why, its arguments show what was left of them.
    """
    cleaning = Cleaning()
    choices = [_clean_choice(choice, cleaning) for choice in output.choices]
    changed = _changes(output, "reply", cleaning, but={"choices", "completion"})
    if _differ(choices, output.choices):
        changed["choices"] = choices
    if not changed:
        return output
    metadata = cast("dict[str, Any]", changed.get("metadata", output.metadata) or {})
    more = cleaning.changes - len(cleaning.notes)
    notes = [*cleaning.notes, *([f"and {more} more"] if more else [])]
    changed["metadata"] = metadata | {CLEANED: notes}
    changed["completion"] = choices[0].message.text if choices else ""
    return output.model_copy(update=changed)


def clean_call(call: ToolCall, cleaning: Cleaning | None = None) -> ToolCall:
    """Return `call` as a log can hold it, the same object where it already was."""
    cleaning = cleaning or Cleaning()
    cleaning.take_losses()
    function = cleaning.text(call.function, "the name of a tool", _MAX_NAME)
    arguments = cleaning.json(call.arguments, "arguments")
    error = call.parse_error
    if error is not None:
        error = cleaning.text(error, "the error of a call", _MAX_ERROR)
    losses = cleaning.take_losses()
    if losses:
        error = "; ".join(dict.fromkeys(losses))
    identity = cleaning.text(call.id, "the id of a call", _MAX_NAME)
    is_same = (
        function is call.function
        and arguments is call.arguments
        and error is call.parse_error
        and identity is call.id
    )
    if is_same:
        return call
    return replace(
        call,
        id=identity,
        function=function,
        arguments=cast("dict[str, Any]", arguments),
        parse_error=error,
    )


def _inner(api: CleanReplies) -> ModelAPI:
    return cast("ModelAPI", object.__getattribute__(api, "_inner"))


def _clean_choice(choice: ChatCompletionChoice, cleaning: Cleaning) -> ChatCompletionChoice:
    message = _clean_message(choice.message, cleaning)
    changed = _changes(choice, "reply", cleaning, but={"message"})
    if message is not choice.message:
        changed["message"] = message
    return choice.model_copy(update=changed) if changed else choice


def _clean_message(message: ChatMessageAssistant, cleaning: Cleaning) -> ChatMessageAssistant:
    content = message.content
    if isinstance(content, str):
        said: str | list[Content] = cleaning.text(content, "text")
    else:
        parts = [_clean_part(part, cleaning) for part in content]
        said = parts if _differ(parts, content) else content
    calls = [clean_call(call, cleaning) for call in message.tool_calls or ()]
    changed = _changes(message, "message", cleaning, but={"content", "tool_calls"})
    if said is not content:
        changed["content"] = said
    if _differ(calls, message.tool_calls or ()):
        changed["tool_calls"] = calls
    return message.model_copy(update=changed) if changed else message


def _clean_part(part: Content, cleaning: Cleaning) -> Content:
    changed = _changes(part, part.type, cleaning)
    if not changed:
        return part
    if part.type not in _SHOWN:
        # A picture or a sound that was cut is none.
        return ContentText(text=f"[{part.type} left out: it cannot be kept in a log]")
    return part.model_copy(update=changed)


def _changes(
    item: BaseModel, where: str, cleaning: Cleaning, but: Collection[str] = ()
) -> dict[str, Any]:
    """Return the fields of `item`, except those named, that had to be cleaned."""
    changed: dict[str, Any] = {}
    for name, value in vars(item).items():
        if value is None or name in but:
            continue
        clean = _clean_field(value, where, cleaning)
        if clean is not value:
            changed[name] = clean
    return changed


def _clean_field(value: object, where: str, cleaning: Cleaning) -> object:
    if isinstance(value, str):
        return cleaning.text(value, where)
    if isinstance(value, (int, float)):
        return value  # a typed field must keep its type; what is no JSON is written as null
    if isinstance(value, BaseModel):
        changed = _changes(value, where, cleaning)
        return value.model_copy(update=changed) if changed else value
    records = cast("list[object]", value) if isinstance(value, list) else []
    if records and isinstance(records[0], BaseModel):
        clean = [_clean_field(record, where, cleaning) for record in records]
        return clean if _differ(clean, records) else records
    return cleaning.json(cast("object", value), where)


def _differ(new: Sequence[object], old: Sequence[object]) -> bool:
    return any(a is not b for a, b in zip(new, old, strict=True))


def _clean_error(error: BaseException) -> None:
    """Clean the texts of an exception and of those that led to it, in place: it keeps its class."""
    for _ in range(10):
        clean = [
            loggable_text(item, _MAX_ERROR) if isinstance(item, str) else item
            for item in error.args
        ]
        if _differ(clean, error.args):
            error.args = tuple(clean)
        following = error.__cause__ or error.__context__
        if following is None:
            return
        error = following
