"""STAR's planner: what it is shown before each call, the form of its decision, and how one is read.

The publication reads decisions by a provider's structured output, for four model names only: any
other model ends the loop before the first call. Here every model replies in the form as text; what
does not fit is asked for again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
)
from pydantic import BaseModel, BeforeValidator, Field

from taketwo.agents.prompt_text import filled
from taketwo.agents.star_evidence import calls_block, store_block
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.tools.fencing import fence, question_block, video_length_line
from taketwo.tools.star_frames import StarState
from taketwo.tools.star_known import answer_lines, description_lines, frames_line
from taketwo.tools.star_tool import StarKind, StarTool
from taketwo.tools.structured import form_request, generate_in_form
from taketwo.tools.toolbox import Toolbox

__all__ = ["Decided", "Offer", "PlannerDecision", "decide", "offer_of"]

_LONGEST_NAME = 80


def _as_text(value: object) -> object:
    """Read null as nothing, and an object or a number as the JSON that it is."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


class PlannerDecision(BaseModel):
    """What the planner wants next, or that the evidence is sufficient."""

    reasoning: Annotated[str, BeforeValidator(_as_text)] = Field(
        default="", description="your thoughts, one to three sentences"
    )
    tool_name: Annotated[str, BeforeValidator(_as_text)] = Field(
        description="name of the tool to call next, as it is listed"
    )
    tool_input: Annotated[str, BeforeValidator(_as_text)] = Field(
        description="what the tool is to do"
    )
    info_sufficient: bool = Field(description="whether the evidence settles the question")


@dataclass(frozen=True, kw_only=True)
class Offer:
    """The tools that may be called next, in their order, and the kind whose turn it was to be.

    `required` is None before the first call. `is_relaxed` says that no tool of that kind can work.
    """

    tools: tuple[StarTool, ...]
    required: StarKind | None
    is_relaxed: bool


@dataclass(frozen=True, kw_only=True)
class Decided:
    """A decision and the tool that it comes to; `fallback` says why it is not the one named."""

    decision: PlannerDecision
    tool: StarTool
    fallback: str = ""


def offer_of(working: Sequence[StarTool], last: StarKind | None) -> Offer:
    """Return what may be called after a call of kind `last`: the other kind, else any but a generalist."""
    open_tools = tuple(tool for tool in working if tool.kind != "generalist")
    if last is None:
        return Offer(tools=open_tools, required=None, is_relaxed=False)
    required: Literal["temporal", "spatial"] = "spatial" if last == "temporal" else "temporal"
    due = tuple(tool for tool in open_tools if tool.kind == required)
    return Offer(tools=due or open_tools, required=required, is_relaxed=not due)


async def decide(
    toolbox: Toolbox,
    question: VisibleQuestion,
    state: StarState,
    offer: Offer,
    *,
    most: int,
    asks: int,
    faithful: bool,
) -> Decided | None:
    """Return the planner's decision about call `len(state.log) + 1` of `most`, or None.

    A reply outside the form is sent back up to `asks` times; None is that none fitted. A tool that
    is not on offer becomes the first one that is, unless `faithful` after one more ask.

    Raises
    ------
    BudgetExhausted, ProviderReplyError
        As `RoleModel.generate`.
    """
    model = toolbox.model("orchestrator")
    messages: list[ChatMessage] = [
        ChatMessageSystem(content=filled("star_planner_system")),
        ChatMessageUser(
            content=_state_text(toolbox, question, state, offer, most=most, faithful=faithful)
        ),
    ]
    reply = await generate_in_form(model, messages, PlannerDecision, asks=asks)
    decision = reply.value
    if decision is None:
        toolbox.note(f"no decision in {reply.asked} replies of the planner: {reply.problem}")
        return None
    is_answering = decision.info_sufficient and offer.required != "spatial"
    tool = _named(decision, offer)
    may_ask = not faithful and reply.asked <= asks
    if tool is None and not is_answering and may_ask:
        messages += [
            ChatMessageAssistant(content=reply.text),
            ChatMessageUser(content=_no_such_tool(decision, offer)),
        ]
        again = await generate_in_form(model, messages, PlannerDecision, asks=0)
        decision = again.value or decision
        tool = _named(decision, offer)
    if tool is not None:
        return Decided(decision=decision, tool=tool)
    named = f"{decision.tool_name[:_LONGEST_NAME]!r} is not on offer"
    return Decided(decision=decision, tool=offer.tools[0], fallback=named)


def _named(decision: PlannerDecision, offer: Offer) -> StarTool | None:
    name = decision.tool_name.strip(" \t\r\n`'\"")
    return next((tool for tool in offer.tools if tool.name == name), None)


def _no_such_tool(decision: PlannerDecision, offer: Offer) -> str:
    return filled(
        "star_planner_no_such_tool",
        wanted=fence("tool_name", decision.tool_name[:_LONGEST_NAME]),
        tools=", ".join(tool.name for tool in offer.tools),
        form=form_request(PlannerDecision),
    )


def _state_text(
    toolbox: Toolbox,
    question: VisibleQuestion,
    state: StarState,
    offer: Offer,
    *,
    most: int,
    faithful: bool,
) -> str:
    frames = state.frames.all
    fps = toolbox.video.fps
    length = video_length_line(toolbox.video.duration_s)
    return filled(
        "star_planner_state",
        question=question_block(replace(question, options=())),
        length=length if fps is None else f"{length}, {fps:.2f} frames per second",
        frames=frames_line(frames),
        descriptions=store_block("descriptions", description_lines(frames)),
        answers=store_block("answers", answer_lines(frames)),
        calls=calls_block(state.log, faithful=faithful),
        number=str(len(state.log) + 1),
        most=str(most),
        turn=_turn_text(offer),
        tools=_tool_lines(toolbox, offer),
        form=form_request(PlannerDecision),
    )


def _turn_text(offer: Offer) -> str:
    if offer.required is None:
        return filled("star_planner_first")
    name = (
        "star_planner_after_temporal"
        if offer.required == "spatial"
        else "star_planner_after_spatial"
    )
    text = filled(name)
    return f"{text} {filled('star_planner_relaxed')}" if offer.is_relaxed else text


def _tool_lines(toolbox: Toolbox, offer: Offer) -> str:
    context = toolbox.context()
    lines: list[str] = []
    for tool in offer.tools:
        working = tool.works(context)
        degraded = f" Degraded: {working.reason}." if working.mode == "degraded" else ""
        lines.append(f"- {tool.guidance}{degraded}")
    return "\n".join(lines)
