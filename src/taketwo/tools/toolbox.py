"""The toolbox of a cell: an agent's only way to models and media.

Visible calls are executed one after the other. Each is checked against the budget on its own and
always gets a result, so that no evidence is lost and no call of a reply is left without its answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    Content,
    ContentText,
    ModelOutput,
    execute_tools,
)
from inspect_ai.tool import ToolCall, ToolCallError, ToolDef, ToolError, ToolInfo, ToolParams

from taketwo.benchmarks.question import VisibleQuestion
from taketwo.errors import RequestError
from taketwo.media.video import VideoInfo
from taketwo.tools.account import CellAccount
from taketwo.tools.budget import Budget, BudgetExhausted, Limits
from taketwo.tools.catalog import resolved_tools
from taketwo.tools.cell_state import CellState
from taketwo.tools.clean_replies import clean_call
from taketwo.tools.loggable import loggable_text
from taketwo.tools.primitives import CellMedia, Primitives
from taketwo.tools.role_model import ModelRole, RoleModel, RoleSettings
from taketwo.tools.sent_media import image_content
from taketwo.tools.video_tool import ToolContext, ToolFailure, ToolReply, VideoTool

__all__ = ["ToolSettings", "Toolbox"]

_ANY_ARGUMENTS = ToolParams(additionalProperties=True)


@dataclass(frozen=True, kw_only=True)
class ToolSettings:
    """How an agent wants its tools.

    `observer_sees_question` puts the question and its options before the observer as context;
    `max_frames` caps the frames of one look.
    """

    observer_sees_question: bool = True
    max_frames: int = 64


class Toolbox:
    """The world of an agent in one cell.

    Parameters
    ----------
    question
        What the agent may know of the question.
    tools
        Names of the visible tools, or tools themselves (composite or third-party ones).
    roles
        How each role's model is reached.
    limits
        What the cell may spend.
    media
        Its video and where derived media go.

    Attributes
    ----------
    tools : Mapping[str, VideoTool]
        The visible tools by name, sorted.
    budget : Budget
        What may be spent and what is.
    video : VideoInfo
        Facts about the video. Its path and hash must not go into prompts.
    primitives : Primitives
        The counted operations, for agents that look without a visible tool.
    state : CellState
        What the agent and its tools remember inside the cell.
    """

    def __init__(
        self,
        *,
        question: VisibleQuestion,
        tools: Sequence[str | VideoTool],
        roles: Mapping[ModelRole, RoleSettings],
        limits: Limits,
        media: CellMedia,
    ) -> None:
        self.tools: Mapping[str, VideoTool] = MappingProxyType({
            tool.name: tool for tool in resolved_tools(tools)
        })
        self.settings = ToolSettings()
        self.state = CellState()
        self._question = question
        self._account = CellAccount(Budget(limits))
        self._roles = dict(roles)
        self._models: dict[ModelRole, RoleModel] = {}
        self._schemas = [_tool_info(tool) for tool in self.tools.values()]
        self.primitives = Primitives(media, self._account, self.model)

    @property
    def budget(self) -> Budget:
        """Return the cell's budget."""
        return self._account.budget

    @property
    def video(self) -> VideoInfo:
        """Return what is known of the video."""
        return self.primitives.media.info

    @property
    def latency_s(self) -> float:
        """Return the self-timed seconds of the cell so far."""
        return self._account.latency_s

    @property
    def failure(self) -> BaseException | None:
        """Return the first fault of a provider or of the media; a cell with one has no answer."""
        return self._account.failure

    @property
    def is_spent(self) -> bool:
        """Return whether no further visible call can be made."""
        return any(self.budget.left(name) == 0 for name in ("visible_calls", "primitive_ops"))

    def model(self, role: ModelRole) -> RoleModel:
        """Return the model of a role.

        Raises
        ------
        RequestError
            If the arm names no model for it.
        """
        if role not in self._models:
            if role not in self._roles:
                raise RequestError(
                    f"the agent asked for the {role}, but its arm names models for "
                    f"{', '.join(sorted(self._roles)) or 'no role'} only; add one under `models`"
                )
            self._models[role] = RoleModel(
                self._roles[role],
                self._account,
                self._schemas if role == "orchestrator" else (),
                leave_last_call=role != "orchestrator" and "orchestrator" in self._roles,
            )
        return self._models[role]

    def context(self) -> ToolContext:
        """Return what a tool works with in this cell, as the settings have it now."""
        return ToolContext(
            primitives=self.primitives,
            question=self._question if self.settings.observer_sees_question else None,
            max_frames=self.settings.max_frames,
            state=self.state,
        )

    def working_tools(self) -> tuple[VideoTool, ...]:
        """Return the tools that can work in this cell, degraded ones included, sorted by name.

        Prompts and schemas are to show these and no others: pass the names to
        `RoleModel.generate(tools=...)`.
        """
        context = self.context()
        return tuple(tool for tool in self.tools.values() if tool.works(context).mode != "missing")

    def note(self, text: str) -> None:
        """Write a remark into the cell's log."""
        self._account.record("note", {"text": text})

    async def run_tool_calls(self, reply: ModelOutput) -> list[ChatMessage]:
        """Execute the visible calls of `reply` in their order and return one result for each.

        A call past the budget, of an unknown tool or with arguments that do not fit gets a typed
        error as its result and is counted.

        Raises
        ------
        Exception
            The fault of a provider or of the media that ends the cell; a tool's own error never.
        """
        message = reply.message
        results: list[ChatMessage] = []
        for call in message.tool_calls or []:
            visible = _VisibleCall(self, self._account, clean_call(call))
            results.append(await visible.execute(message))
            if self._account.failure is not None:
                raise self._account.failure
        return results

    async def result_of(self, call: ToolCall) -> ToolReply:
        """Return the result of one call; the budget is checked and booked first.

        Raises
        ------
        ToolFailure
            With a code that the orchestrator can act on.
        """
        try:
            self.budget.reserve("visible_calls")
            self.budget.check("primitive_ops", "latency_s", "tokens")
            tool = self.tools.get(call.function)
            if tool is None:
                known = ", ".join(self.tools) or "none"
                raise ToolFailure(
                    "unknown_tool",
                    f"there is no tool {call.function!r:.80}; known are {known}",
                    retryable=True,
                )
            if call.parse_error:
                raise ToolFailure(
                    "invalid_arguments",
                    f"the arguments of {tool.name} are not a JSON object that can be used: "
                    f"{call.parse_error:.300}",
                    retryable=True,
                )
            return await tool.call(self.context(), call.arguments)
        except BudgetExhausted as error:
            raise ToolFailure(
                "budget_exhausted", f"{error}; the call was not made", retryable=False
            ) from error


class _VisibleCall:
    """One visible call on its way through the engine, which logs it as a tool event."""

    def __init__(self, toolbox: Toolbox, account: CellAccount, call: ToolCall) -> None:
        self._toolbox = toolbox
        self._account = account
        self._call = call
        self._failure: ToolFailure | None = None
        self._reply = ToolReply()
        self._latency_s: float | None = None

    async def execute(self, message: ChatMessageAssistant) -> ChatMessageTool:
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
        result = next(item for item in executed.messages if isinstance(item, ChatMessageTool))
        if self._latency_s is None and result.error is not None:
            # The engine refused the call before the tool was reached.
            self._failure = ToolFailure("invalid_arguments", result.error.message, retryable=True)
        self._record()
        if self._failure is None:
            return result
        text = loggable_text(self._failure.to_text())
        error = ToolCallError("unknown", text)
        return result.model_copy(update={"content": text, "error": error})

    async def _run(self, **kwargs: Any) -> list[Content]:
        account = self._account
        before_s = account.latency_s
        with account.watch() as watch:
            try:
                self._reply = await self._toolbox.result_of(self._call)
            except ToolFailure as failure:
                self._failure = failure
            except Exception as error:  # noqa: BLE001 around one tool call; the cause is recorded
                code = "tool_failed" if account.failure is None else "fault"
                self._failure = ToolFailure(
                    code, f"{type(error).__name__}: {error!s:.500}", retryable=False
                )
            content = _content_of(self._reply)
        account.charge(watch.own_s)
        self._latency_s = account.latency_s - before_s
        if self._failure is not None:
            raise ToolError(loggable_text(self._failure.to_text()))
        return content

    def _record(self) -> None:
        looked_at = (*self._reply.frames, *self._reply.seen)
        self._account.record(
            "tool",
            {
                "call_id": self._call.id,
                "name": self._call.function,
                "latency_s": self._latency_s or 0.0,
                "frames": [frame.sha256 for frame in looked_at],
                "frame_times_s": [frame.time_s for frame in looked_at],
                "error": None if self._failure is None else self._failure.code,
                "truncated": self._reply.truncated,
            },
        )


def _content_of(reply: ToolReply) -> list[Content]:
    content: list[Content] = [ContentText(text=loggable_text(reply.to_text()) or "(no result)")]
    for frame in reply.frames:
        content.extend(image_content(frame.time_s, frame.jpeg))
    return content


def _tool_info(tool: VideoTool) -> ToolInfo:
    return ToolInfo.model_validate(tool.schema())
