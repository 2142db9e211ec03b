"""Agents of other frameworks inside our process: their model calls go through the cell's models.

A framework that speaks to a model through the asynchronous client of OpenAI's, Anthropic's or
Google's library asks for the model `inspect`, or `inspect/observer`. The engine's agent bridge takes
the request out of the library, and the role of the arm answers it: checked against the budget,
seeded, sampled as the plan says, counted and logged like any other generation.

What is not seen is what the framework's own tools do, unless they work through the toolbox.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Never, get_args

from inspect_ai.agent import agent_bridge, current_bridge_request
from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput
from inspect_ai.tool import ToolChoice, ToolInfo

from taketwo.agents.answer import Answer, parse_answer
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.errors import RequestError
from taketwo.tools.budget import BudgetExhausted
from taketwo.tools.role_model import ModelRole
from taketwo.tools.toolbox import Toolbox

__all__ = ["BridgedModels", "bridged_models"]

_NAME = "inspect"


class BridgedModels:
    """The models of a cell while a framework uses them.

    Attributes
    ----------
    exhausted : BudgetExhausted or None
        The first refusal of a call because a budget was used up.
    """

    def __init__(self, toolbox: Toolbox) -> None:
        self.exhausted: BudgetExhausted | None = None
        self._toolbox = toolbox

    def answer(self, text: str, question: VisibleQuestion) -> Answer:
        """Return the answer that a framework's last text holds, `forced` where a budget ended it.

        A text from which none can be read is `limit` after a refusal, else `unparsed`.
        """
        answer = parse_answer(text, question)
        if self.exhausted is None:
            return answer
        if answer.status == "unparsed":
            return Answer(status="limit", text=text, limit=self.exhausted.resource)
        return replace(answer, forced=True, limit=self.exhausted.resource)

    async def generate(
        self,
        model: Model,
        messages: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice | None,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Answer a request of the framework by the role that it names.

        Sampling is the plan's, whatever the framework asks for; of its settings the form of the
        reply (`response_format`) is kept.

        Raises
        ------
        BudgetExhausted
            If the cell may not make this call, or the reply calls more tools than are left; the
            framework then does not get the reply.
        RequestError
            If the name is none of a role.
        """
        del model  # the name that was asked for says the role
        role = _role_asked_for()
        try:
            output = await self._toolbox.model(role).generate(
                messages,
                tools=tools,
                tool_choice=tool_choice,
                response_schema=config.response_schema,
            )
            if role == "orchestrator":
                self._book_calls(output)
        except BudgetExhausted as error:
            self.exhausted = self.exhausted or error
            raise
        return output

    def _book_calls(self, output: ModelOutput) -> None:
        """Book the visible calls of a reply; those of the cell's own tools are booked when they run."""
        calls = [
            call
            for call in output.message.tool_calls or []
            if call.function not in self._toolbox.tools
        ]
        refused: BudgetExhausted | None = None
        try:
            self._toolbox.budget.reserve("visible_calls", len(calls))
        except BudgetExhausted as error:
            refused = error
        for call in calls:
            self._toolbox.account.record(
                "tool",
                {
                    "call_id": call.id,
                    "name": call.function,
                    "latency_s": None,
                    "frames": [],
                    "frame_times_s": [],
                    "error": None if refused is None else "budget_exhausted",
                    "truncated": False,
                },
            )
        if refused is not None:
            raise refused


@asynccontextmanager
async def bridged_models(
    toolbox: Toolbox, *, tools_are_counted: bool = False
) -> AsyncGenerator[BridgedModels]:
    """Let a framework in this block reach the cell's models by the names `inspect` and `inspect/ROLE`.

    Parameters
    ----------
    toolbox
        The cell's world.
    tools_are_counted
        Whether all that the framework's tools do goes through the toolbox (`toolbox.primitives`,
        `toolbox.run_call`). Otherwise operations and seconds of the cell are not known, and null.

    Raises
    ------
    BudgetExhausted
        Where a call was refused for a used-up budget and the framework gave up over it.

    Notes
    -----
    Only asynchronous clients are bridged, without streaming, in the task of the agent or one that it
    started. A request for any other model, or by a synchronous client, goes to the client's own
    address: give it one where nobody listens, so that such a mistake fails and does not spend.
    """
    if not tools_are_counted:
        toolbox.account.unavailable.update({
            "primitive_ops": "the framework's own tools work outside the toolbox",
            "latency_s": (
                "the framework's own tools work outside the toolbox; latency_wall_s is as observed"
            ),
        })
    models = BridgedModels(toolbox)
    async with agent_bridge(
        filter=models.generate,
        web_search=False,
        code_execution=False,
        client_mcp_servers=False,
    ) as bridge:
        bridge.allow_remote_media = False  # a path or an address would be read by this process
        # What is no alias would be any model that this machine has a key for.
        bridge.model_resolver = _refused
        for role in set(toolbox.roles) - {"transcriber"}:
            opened = toolbox.model(role).settings.open()
            bridge.model_aliases[f"{_NAME}/{role}"] = opened
            if role == "orchestrator":
                bridge.model_aliases[_NAME] = opened
        try:
            yield models
        except BudgetExhausted:
            raise
        except Exception as error:
            # A framework may turn the refusal into an exception of its own.
            if models.exhausted is not None and toolbox.failure is None:
                raise models.exhausted from error
            raise


def _role_asked_for() -> ModelRole:
    request = current_bridge_request()
    name = "" if request is None else request.model
    role = "orchestrator" if name == _NAME else name.removeprefix(f"{_NAME}/")
    for known in get_args(ModelRole):
        if role == known:
            return known
    raise _no_role(name)


def _refused(name: str) -> Never:
    raise _no_role(name)


def _no_role(name: str) -> RequestError:
    return RequestError(
        f"the framework asked for the model {name!r:.80}; in a cell models have the names of roles: "
        f"{_NAME!r} (the orchestrator), '{_NAME}/observer'"
    )
