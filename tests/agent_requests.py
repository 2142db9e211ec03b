"""What can be said of a request that an agent sent: its identity, its pictures, its calls and results."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ContentImage
from tests.puppet import Asked
from tests.scripted_model import Request

__all__ = ["assert_paired", "identity", "pictures_in", "record_of"]


def record_of(asked: Asked) -> dict[str, Any]:
    """Return all that a request says, shows, offers and sets, without ids of messages.

    A video by reference has its place on the disk beside its words, for the provider only; it is
    left out.
    """
    request = asked.request
    messages = [
        message.model_dump(mode="json", include={"role", "content", "tool_calls", "error"})
        for message in request.messages
    ]
    for message in messages:
        for part in message["content"] if isinstance(message["content"], list) else []:
            part.pop("internal", None)
    return {
        "role": asked.role,
        "messages": messages,
        "tools": [tool.model_dump(mode="json") for tool in request.tools],
        "choice": str(request.tool_choice),
        "config": request.config.model_dump(mode="json"),
    }


def identity(asked: Asked) -> str:
    """Return the hash of `record_of`."""
    return hashlib.sha256(json.dumps(record_of(asked), sort_keys=True).encode()).hexdigest()


def pictures_in(request: Request) -> int:
    """Return how many pictures a request carries."""
    return sum(
        isinstance(part, ContentImage)
        for message in request.messages
        if not isinstance(message.content, str)
        for part in message.content
    )


def assert_paired(request: Request) -> None:
    """Fail unless each call has exactly one result, in order, before anything else is said."""
    waiting: list[str] = []
    for message in request.messages:
        if isinstance(message, ChatMessageTool):
            assert waiting, "a result without its call"
            assert message.tool_call_id == waiting.pop(0)
            continue
        assert waiting == [], "a call without its result"
        if isinstance(message, ChatMessageAssistant):
            waiting = [call.id for call in message.tool_calls or []]
    assert waiting == [], "a call without its result"
