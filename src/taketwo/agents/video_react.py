"""`video_react`: a planner that never sees pixels calls tools until the evidence settles the question.

The loop of the Video-ReAct agent of AgentVidBench, without its faults: results are delivered
together with the notice that the budget is used up, the last turn allows no call, each call is
checked on its own, and no way out of the loop makes up an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, ModelOutput
from pydantic import BaseModel, ConfigDict, Field

from taketwo.agents.agent_spec import AgentSpec
from taketwo.agents.answer import Answer, parse_answer
from taketwo.agents.prompt_text import answer_form, filled, template
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.tools.budget import BudgetExhausted, Limits
from taketwo.tools.catalog import tool_guidance, tool_prompts
from taketwo.tools.fencing import question_block, video_length_line
from taketwo.tools.toolbox import Toolbox, ToolSettings

__all__ = [
    "SPEC",
    "VIDEO_REACT_LIMITS",
    "VIDEO_REACT_TOOLS",
    "VideoReact",
    "VideoReactOptions",
    "video_react_prompts",
]

VIDEO_REACT_TOOLS = ("analyze_video", "get_transcript")
VIDEO_REACT_LIMITS = Limits(turns=20, visible_calls=15)
_TEMPLATES = (
    "video_react_system",
    "video_react_question",
    "video_react_look_first",
    "video_react_last_turn",
    "video_react_ask_json",
    "answer_form_mcq",
    "answer_form_open",
)


class VideoReactOptions(BaseModel):
    """How the planner works.

    `max_turns` and `max_calls` can only tighten what the plan allows. `asks` is how often a reply
    without a readable answer is sent back. `look_first` sends back a first reply that was given
    without any call, once.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_turns: int = Field(default=20, ge=1, le=200)
    max_calls: int = Field(default=15, ge=0, le=200)
    asks: int = Field(default=2, ge=0, le=5)
    look_first: bool = True
    observer_sees_question: bool = True
    max_frames: int = Field(default=64, ge=1, le=512)


def video_react_prompts() -> Mapping[str, str]:
    """Return the templates by role, the guidance on the tools filled in."""
    texts = [template(name) for name in _TEMPLATES]
    texts.append(tool_guidance(VIDEO_REACT_TOOLS))
    return {"orchestrator": "\n\f\n".join(texts), **tool_prompts(VIDEO_REACT_TOOLS)}


@dataclass(frozen=True, kw_only=True)
class VideoReact:
    """The agent; each call of it works on one question."""

    options: VideoReactOptions

    async def __call__(self, question: VisibleQuestion, toolbox: Toolbox) -> Answer:
        """Return the answer, an abstention, or why there is none."""
        options = self.options
        toolbox.budget.tighten(Limits(turns=options.max_turns, visible_calls=options.max_calls))
        toolbox.settings = ToolSettings(
            observer_sees_question=options.observer_sees_question, max_frames=options.max_frames
        )
        return await _Run(options, question, toolbox).answer()


class _Run:
    """One question being worked on."""

    def __init__(
        self, options: VideoReactOptions, question: VisibleQuestion, toolbox: Toolbox
    ) -> None:
        self._options = options
        self._question = question
        self._toolbox = toolbox
        self._asked = 0
        self._nudged = False
        self._has_called = False
        self._said = ""
        self._messages: list[ChatMessage] = [
            ChatMessageSystem(
                content=filled(
                    "video_react_system",
                    tools=tool_guidance(toolbox.tools),
                    answer_form=answer_form(question),
                )
            ),
            ChatMessageUser(
                content=filled(
                    "video_react_question",
                    question=question_block(question),
                    length=video_length_line(toolbox.video.duration_s),
                )
            ),
        ]

    async def answer(self) -> Answer:
        try:
            while True:
                spent = self._spent()
                if spent is not None:
                    return await self._last_turn(spent)
                output = await self._generate()
                if output.message.tool_calls:
                    self._has_called = True
                    self._messages += await self._toolbox.run_tool_calls(output)
                    continue
                if self._sends_to_look():
                    continue
                answer = parse_answer(output.completion, self._question)
                if answer.status != "unparsed" or self._asked >= self._options.asks:
                    return answer
                self._asked += 1
                self._ask(filled("video_react_ask_json", answer_form=answer_form(self._question)))
        except BudgetExhausted as error:
            return Answer(status="limit", text=self._said, limit=error.resource)

    def _spent(self) -> str | None:
        """Return what is used up, so that this turn must be the last one."""
        budget = self._toolbox.budget
        if budget.left("turns") == 1:
            return "turns"
        if budget.left("model_calls") == 1:
            return "model_calls"
        for resource in ("visible_calls", "primitive_ops"):
            if budget.left(resource) == 0:
                return resource
        return None

    async def _last_turn(self, spent: str) -> Answer:
        form = answer_form(self._question)
        self._ask(
            filled("video_react_last_turn", resource=spent.replace("_", " "), answer_form=form)
        )
        self._toolbox.note(f"last turn: the budget of {spent} is used up")
        output = await self._generate(is_last=True)
        answer = parse_answer(output.completion, self._question)
        if answer.status == "unparsed" and not output.completion.strip():
            # The model insisted on a call: there is no text to read an answer from.
            return Answer(status="limit", text=self._said, limit=spent, forced=True)
        return replace(answer, forced=True, limit=spent)

    def _sends_to_look(self) -> bool:
        """Send a reply back, once, that was given before anything was looked at."""
        turns = self._toolbox.budget.left("turns")
        if self._has_called or self._nudged or not self._options.look_first:
            return False
        if not self._toolbox.tools or (turns is not None and turns < 2):
            return False
        self._nudged = True
        self._ask(filled("video_react_look_first"))
        return True

    async def _generate(self, *, is_last: bool = False) -> ModelOutput:
        output = await self._toolbox.model("orchestrator").generate(
            self._messages, tools=True, tool_choice="none" if is_last else "auto"
        )
        self._messages.append(output.message)
        self._said = output.completion or self._said
        return output

    def _ask(self, text: str) -> None:
        self._messages.append(ChatMessageUser(content=text))


def _limits(options: BaseModel) -> Limits:
    chosen = cast("VideoReactOptions", options)
    return Limits(turns=chosen.max_turns, visible_calls=chosen.max_calls)


SPEC = AgentSpec(
    name="video_react",
    summary="A planner that sees no pixels calls an observer and the transcript in turns.",
    roles=("orchestrator", "observer", "transcriber"),
    options=VideoReactOptions,
    limits=VIDEO_REACT_LIMITS,
    limits_of=_limits,
    tools_of=lambda _: VIDEO_REACT_TOOLS,
    prompts_of=lambda _: video_react_prompts(),
    build_from=lambda options: VideoReact(options=cast("VideoReactOptions", options)),
)
