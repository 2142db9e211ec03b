"""The toolbox of a cell: an agent's only way to models and media.

Visible calls are executed one after the other. Each is checked against the budget on its own and
always gets a result, so that no evidence is lost and no call of a reply is left without its answer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ModelOutput,
)
from inspect_ai.tool import ToolCall, ToolInfo

from taketwo.benchmarks.question import VisibleQuestion
from taketwo.errors import RequestError
from taketwo.media.video import VideoInfo
from taketwo.tools.account import CellAccount
from taketwo.tools.aliases import canonical_name
from taketwo.tools.budget import KNOWN_AFTERWARDS, Budget, BudgetExhausted, Limits
from taketwo.tools.catalog import resolved_tools
from taketwo.tools.cell_state import CellState
from taketwo.tools.clean_replies import clean_call
from taketwo.tools.context_overflow import ContextOverflow
from taketwo.tools.primitives import CellMedia, Primitives
from taketwo.tools.role_model import ModelRole, RoleModel, RoleSettings
from taketwo.tools.video_index_store import IndexStore
from taketwo.tools.video_tool import ToolContext, ToolFailure, ToolReply, VideoTool
from taketwo.tools.visible_call import VisibleCall
from taketwo.tools.web import Web

__all__ = ["CallResult", "ToolSettings", "Toolbox"]


@dataclass(frozen=True, kw_only=True)
class ToolSettings:
    """How an agent wants its tools.

    `observer_sees_question` puts the question and its options before the observer as context;
    `max_frames` caps the frames of one look.
    """

    observer_sees_question: bool = True
    max_frames: int = 64


@dataclass(frozen=True, kw_only=True)
class CallResult:
    """What one visible call came to.

    `message` is the result as an orchestrator sees it, `reply` the same in its parts (empty where
    the call failed), and `failure` why there is none.
    """

    message: ChatMessageTool
    reply: ToolReply
    failure: ToolFailure | None


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
    index
        Where an index of the video is kept, and by which models it is made; None is nowhere.
    web
        Where it may search and read; None leaves the tools that do without work.

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
    index : IndexStore or None
        For agents that work with an index of the video (`tools.video_index_build.open_index`).
    """

    def __init__(
        self,
        *,
        question: VisibleQuestion,
        tools: Sequence[str | VideoTool],
        roles: Mapping[ModelRole, RoleSettings],
        limits: Limits,
        media: CellMedia,
        index: IndexStore | None = None,
        web: Web | None = None,
    ) -> None:
        self.tools: Mapping[str, VideoTool] = MappingProxyType({
            tool.name: tool for tool in resolved_tools(tools)
        })
        self.settings = ToolSettings()
        self.state = CellState()
        self.index = index
        self._question = question
        self._account = CellAccount(Budget(limits))
        self._roles = dict(roles)
        self._models: dict[ModelRole, RoleModel] = {}
        self._schemas = [_tool_info(tool) for tool in self.tools.values()]
        self._direct_calls = 0
        self.primitives = Primitives(media, self._account, self.model, web)

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
    def account(self) -> CellAccount:
        """Return the cell's account, for agents whose work is done elsewhere and reported."""
        return self._account

    @property
    def roles(self) -> tuple[ModelRole, ...]:
        """Return the roles that the arm names models for."""
        return tuple(self._roles)

    @property
    def unavailable(self) -> Mapping[str, str]:
        """Return the metrics that nobody measured in this cell, each with the reason."""
        return MappingProxyType(self._account.unavailable)

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

    async def run_tool_calls(
        self, reply: ModelOutput, *, offered: Collection[str] | None = None
    ) -> list[ChatMessage]:
        """Execute the visible calls of `reply` in their order and return one result for each.

        A call past the budget, of an unknown tool or with arguments that do not fit gets a typed
        error as its result and is counted; so does one of a tool that is not among those `offered`
        to this reply, if they are given.

        Raises
        ------
        Exception
            The fault of a provider or of the media that ends the cell; a tool's own error never.
        """
        message = reply.message
        results: list[ChatMessage] = []
        for call in message.tool_calls or []:
            visible = self._visible(call, offered)
            results.append(await visible.execute(message))
            if self._account.failure is not None:
                raise self._account.failure
        return results

    async def run_call(self, name: str, arguments: Mapping[str, object]) -> CallResult:
        """Execute one visible call for an agent whose orchestrator names tools in words of its own.

        It is checked, booked, logged and recorded as the calls of a reply are.

        Raises
        ------
        Exception
            The fault of a provider or of the media that ends the cell; a tool's own error never.
        """
        self._direct_calls += 1
        call = ToolCall(id=f"direct-{self._direct_calls}", function=name, arguments=dict(arguments))
        visible = self._visible(call)
        message = await visible.execute(ChatMessageAssistant(content="", tool_calls=[call]))
        if self._account.failure is not None:
            raise self._account.failure
        return CallResult(message=message, reply=visible.reply, failure=visible.failure)

    async def result_of(
        self, call: ToolCall, *, offered: Collection[str] | None = None
    ) -> ToolReply:
        """Return the result of one call; the budget is checked and booked first.

        `offered` are the tools that may be called now; None is all of them.

        Raises
        ------
        ToolFailure
            With a code that the orchestrator can act on.
        """
        try:
            self.budget.reserve("visible_calls")
            self.budget.check("primitive_ops", *KNOWN_AFTERWARDS)
            call = replace(call, function=canonical_name(call.function, self.tools))
            tool = self.tools.get(call.function)
            if tool is None:
                known = ", ".join(tool.name for tool in self.working_tools()) or "none"
                raise ToolFailure(
                    "unknown_tool",
                    f"there is no tool {call.function!r:.80}; known are {known}",
                    retryable=True,
                )
            if offered is not None and call.function not in offered:
                raise ToolFailure(
                    "not_offered",
                    f"{call.function} cannot be called in this turn; on offer are "
                    f"{', '.join(sorted(offered)) or 'no tools'}",
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
        except ContextOverflow as error:
            raise ToolFailure(
                "too_long",
                f"{error}; look at a shorter window, at fewer frames a second or a lower resolution",
                retryable=True,
            ) from error
        except BudgetExhausted as error:
            raise ToolFailure(
                "budget_exhausted", f"{error}; the call was not made", retryable=False
            ) from error

    def _visible(self, call: ToolCall, offered: Collection[str] | None = None) -> VisibleCall:
        async def result_of(cleaned: ToolCall) -> ToolReply:
            return await self.result_of(cleaned, offered=offered)

        return VisibleCall(self._account, clean_call(call), tuple(self.tools), result_of)


def _tool_info(tool: VideoTool) -> ToolInfo:
    return ToolInfo.model_validate(tool.schema())
