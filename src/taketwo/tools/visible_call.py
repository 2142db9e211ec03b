"""One visible call on its way through the engine: executed, timed, booked and recorded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from typing import Any

from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageTool,
    Content,
    ContentText,
    execute_tools,
)
from inspect_ai.tool import ToolCall, ToolCallError, ToolDef, ToolError, ToolParams

from taketwo.tools.account import CellAccount
from taketwo.tools.aliases import canonical_name
from taketwo.tools.loggable import loggable_text
from taketwo.tools.sent_media import image_content
from taketwo.tools.video_tool import ToolFailure, ToolReply

__all__ = ["ResultOf", "VisibleCall"]

_ANY_ARGUMENTS = ToolParams(additionalProperties=True)
ResultOf = Callable[[ToolCall], Awaitable[ToolReply]]
"""Gives the result of a call, its budget checked and booked, or raises `ToolFailure`."""


class VisibleCall:
    """A tool call, which the engine logs as a tool event.

    `reply` and `failure` say what became of it, once it was executed. `known` are the names of the
    cell's tools.
    """

    def __init__(
        self, account: CellAccount, call: ToolCall, known: Collection[str], result_of: ResultOf
    ) -> None:
        self._account = account
        self._called_as = call.function
        self._call = replace(call, function=canonical_name(call.function, known))
        self._result_of = result_of
        self.failure: ToolFailure | None = None
        self.reply = ToolReply()
        self._latency_s: float | None = None

    async def execute(self, message: ChatMessageAssistant) -> ChatMessageTool:
        """Execute the call, one of those of `message`, and return its one result."""
        account, call = self._account, self._call
        single = message.model_copy(update={"tool_calls": [replace(call, parse_error=None)]})
        definition = ToolDef(
            self._run,
            name=call.function,
            description="tool of the cell",
            parameters=_ANY_ARGUMENTS,
            max_output=0,
        )
        account.call_id = call.id
        try:
            executed = await execute_tools([single], [definition])
        finally:
            account.call_id = None
        found = next(item for item in executed.messages if isinstance(item, ChatMessageTool))
        # The call stands in the conversation under the name that the model used.
        result = found.model_copy(update={"function": self._called_as})
        if self._latency_s is None and result.error is not None:
            # The engine refused the call before the tool was reached.
            self.failure = ToolFailure("invalid_arguments", result.error.message, retryable=True)
        self._record()
        if self.failure is None:
            return result
        text = loggable_text(self.failure.to_text())
        error = ToolCallError("unknown", text)
        return result.model_copy(update={"content": text, "error": error})

    async def _run(self, **kwargs: Any) -> list[Content]:
        account = self._account
        before_s = account.latency_s
        with account.watch() as watch:
            try:
                self.reply = await self._result_of(self._call)
            except ToolFailure as failure:
                self.failure = failure
            except Exception as error:  # noqa: BLE001 around one tool call; the cause is recorded
                code = "tool_failed" if account.failure is None else "fault"
                self.failure = ToolFailure(
                    code, f"{type(error).__name__}: {error!s:.500}", retryable=False
                )
            content = _content_of(self.reply)
        account.charge(watch.own_s)
        self._latency_s = account.latency_s - before_s
        if self.failure is not None:
            raise ToolError(loggable_text(self.failure.to_text()))
        return content

    def _record(self) -> None:
        looked_at = (*self.reply.frames, *self.reply.seen)
        self._account.record(
            "tool",
            {
                "call_id": self._call.id,
                "name": self._call.function,
                "latency_s": self._latency_s or 0.0,
                "frames": [frame.sha256 for frame in looked_at],
                "frame_times_s": [frame.time_s for frame in looked_at],
                "error": None if self.failure is None else self.failure.code,
                "truncated": self.reply.truncated,
            },
        )


def _content_of(reply: ToolReply) -> list[Content]:
    content: list[Content] = [ContentText(text=loggable_text(reply.to_text()) or "(no result)")]
    for frame in reply.frames:
        content.extend(image_content(frame.time_s, frame.jpeg))
    return content
