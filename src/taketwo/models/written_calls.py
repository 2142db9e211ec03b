"""Calls that stand in texts: tools described in a prompt, calls in replies, and earlier calls in a history.

tools     one JSON schema a line with name, description and parameters, outside fences
calls     `{"name": ..., "arguments": {...}}` in a reply of the model itself
history   fenced as a call, `name {arguments}`, in a request that is made afresh each time
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
)
from inspect_ai.tool import ToolCall, ToolInfo
from pydantic import ValidationError

from taketwo.models.fences import fenced, unfenced

__all__ = ["calls_in_texts", "errors_in_texts", "in_writing", "written_tools"]

_HISTORY = re.compile(r"^\s*([\w.-]+)\s+(\{.*\})\s*$", re.DOTALL)


def written_tools(messages: Sequence[ChatMessage]) -> list[ToolInfo]:
    """Return the tools that the instructions describe as JSON schemas; of one name the last one."""
    found: dict[str, ToolInfo] = {}
    for message in messages:
        if not isinstance(message, ChatMessageSystem | ChatMessageUser):
            continue
        for line in unfenced(message.text).splitlines():
            record = _object(line) if line.startswith("{") else None
            if record is None or not {"name", "description", "parameters"} <= set(record):
                continue
            try:
                tool = ToolInfo.model_validate(record)
            except ValidationError:
                continue
            found[tool.name] = tool
    return list(found.values())


def in_writing(call: ToolCall) -> str:
    """Return a call as a reply holds it where tools are called in writing."""
    record = {"name": call.function, "arguments": call.arguments}
    return f"```json\n{json.dumps(record, ensure_ascii=False)}\n```"


def calls_in_texts(messages: Sequence[ChatMessage]) -> Iterator[ToolCall]:
    """Yield the calls that stand in replies of the model and in fenced histories, in their order."""
    number = 0
    for message in messages:
        if isinstance(message, ChatMessageAssistant) and not message.tool_calls:
            found = list(_written(message.text))
        elif isinstance(message, ChatMessageUser):
            found = list(_remembered(message.text))
        else:
            found = []
        for name, arguments in found:
            number += 1
            yield ToolCall(id=f"text_{number}", function=name, arguments=dict(arguments))


def errors_in_texts(messages: Sequence[ChatMessage]) -> list[str]:
    """Return what is fenced as an error in messages of the user: calls that gave no result."""
    return [
        part.text
        for message in messages
        if isinstance(message, ChatMessageUser)
        for part in fenced(message.text)
        if part.name == "error"
    ]


def _written(text: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    for line in text.splitlines():
        record = _object(line) if line.startswith("{") else None
        if record is not None and set(record) == {"name", "arguments"}:
            yield from _call(record["name"], record["arguments"])


def _remembered(text: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    for part in fenced(text):
        match = _HISTORY.match(part.text) if part.name == "call" else None
        if match:
            yield from _call(match.group(1), _object(match.group(2)))


def _call(name: object, arguments: object) -> Iterator[tuple[str, Mapping[str, object]]]:
    if isinstance(name, str) and isinstance(arguments, dict):
        yield name, cast("dict[str, object]", arguments)


def _object(text: str) -> dict[str, object] | None:
    try:
        record: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", record) if isinstance(record, dict) else None
