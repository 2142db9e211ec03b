"""`video_react`: a planner that never sees pixels calls tools until the evidence settles the question.

The loop of the Video-ReAct agent of AgentVidBench, without its faults: results are delivered
together with the notice that the budget is used up, the last turn allows no call, each call is
checked on its own, a call that cannot be read is corrected and never taken for an answer, and no way
out of the loop makes up an answer.

Where the publication leaves room, or is left on purpose:

- The observer sees frames after their times, at most `max_frames` a look, spread over the window
  where more were asked for; the published one is sent a clip of the video. What was left out is said.
- Whether the observer knows the question is an option (`observer_sees_question`, as published).
- A first answer without any call is sent back once; any tool satisfies that, since a question may
  hang on speech alone.
- Models of the Qwen and Gemma families write their calls as text in the presets, as published.
- Nothing of the conversation is cut. Where it outgrows the planner's context the cell ends as
  `limit`, of the resource `context`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from inspect_ai.model import ChatMessageSystem, ChatMessageUser
from pydantic import BaseModel, ConfigDict, Field

from taketwo.agents.agent_spec import AgentSpec
from taketwo.agents.answer import Answer, parse_answer
from taketwo.agents.called_in_text import call_form_prompts
from taketwo.agents.conversation import CallForm, Conversation
from taketwo.agents.prompt_text import answer_form, filled, template
from taketwo.agents.video_react_presets import VIDEO_REACT_PRESETS
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.tools.analyze_video import analyze_video_tool
from taketwo.tools.budget import BudgetExhausted, Limits
from taketwo.tools.catalog import tool_guidance, tool_prompts
from taketwo.tools.expected_work import ExpectedWork
from taketwo.tools.fencing import question_block, video_length_line
from taketwo.tools.fixed_controls import FixedControls
from taketwo.tools.toolbox import Toolbox, ToolSettings
from taketwo.tools.video_tool import Resolution, VideoTool

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
    without any call, once. `observer_sees_question` puts the question before the observer, beside
    the focus. `call_form` is how the planner calls tools: as its provider does, or in text.

    `fixed_fps` (frames per second), `fixed_resolution` and `full_video` take a control of
    `analyze_video` out of the planner's hands.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_turns: int = Field(default=20, ge=1, le=200)
    max_calls: int = Field(default=15, ge=0, le=200)
    asks: int = Field(default=2, ge=0, le=5)
    look_first: bool = True
    observer_sees_question: bool = True
    max_frames: int = Field(default=64, ge=1, le=512)
    call_form: CallForm = "native"
    fixed_fps: float | None = Field(default=None, gt=0, le=20)
    fixed_resolution: Resolution | None = None
    full_video: bool = False

    @property
    def fixed_controls(self) -> FixedControls:
        """Return the controls that are not the planner's."""
        return FixedControls(
            fps=self.fixed_fps,
            resolution=self.fixed_resolution,
            is_full_video=self.full_video,
        )

    def tools(self) -> tuple[str | VideoTool, ...]:
        """Return the tools that the planner sees."""
        return (analyze_video_tool(self.fixed_controls), "get_transcript")


def video_react_prompts(options: VideoReactOptions | None = None) -> Mapping[str, str]:
    """Return the templates by role, the guidance on the tools filled in."""
    chosen = options or VideoReactOptions()
    tools = chosen.tools()
    texts = [template(name) for name in _TEMPLATES]
    texts += [_method(chosen.fixed_controls), tool_guidance(tools)]
    texts += call_form_prompts(chosen.call_form, tools)
    return {"orchestrator": "\n\f\n".join(texts), **tool_prompts(tools)}


def _method(fixed: FixedControls) -> str:
    """Return how to work with the controls that the planner has, without a word on the others."""
    scan = "video_react_scan_whole" if fixed.is_full_video else "video_react_scan_windows"
    ways = [
        *(["more frames per second"] if fixed.fps is None else []),
        *(["a higher resolution"] if fixed.resolution is None else []),
    ]
    if not ways:
        return template(scan).strip()
    where = "where a first look left something open" if fixed.is_full_video else "at narrow windows"
    closer = filled("video_react_closer", ways=", ".join(ways), where=where)
    return f"{template(scan).strip()}\n{closer}"


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
        system = filled(
            "video_react_system",
            tools=tool_guidance(toolbox.working_tools()),
            method=_method(options.fixed_controls),
            answer_form=answer_form(question),
        )
        task = filled(
            "video_react_question",
            question=question_block(question),
            length=video_length_line(toolbox.video.duration_s),
        )
        self._talk = Conversation(
            toolbox,
            [ChatMessageSystem(content=system), ChatMessageUser(content=task)],
            form=options.call_form,
        )

    async def answer(self) -> Answer:
        try:
            while True:
                spent = self._spent()
                if spent is not None:
                    return await self._last_turn(spent)
                turn = await self._talk.turn()
                if turn.wants_tools:
                    self._has_called = self._has_called or bool(turn.calls)
                    await self._talk.run(turn)
                    continue
                if self._sends_to_look():
                    continue
                answer = parse_answer(turn.text, self._question)
                if answer.status != "unparsed" or self._asked >= self._options.asks:
                    return answer
                self._asked += 1
                form = answer_form(self._question)
                self._talk.tell(filled("video_react_ask_json", answer_form=form))
        except BudgetExhausted as error:
            return Answer(status="limit", text=self._talk.said, limit=error.resource)

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
        self._talk.tell(
            filled("video_react_last_turn", resource=spent.replace("_", " "), answer_form=form)
        )
        self._toolbox.note(f"last turn: the budget of {spent} is used up")
        turn = await self._talk.turn(tool_choice="none")
        answer = parse_answer(turn.text, self._question)
        if answer.status == "unparsed" and turn.wants_tools:
            # The model insisted on a call: it gave no answer that could be read.
            return Answer(status="limit", text=self._talk.said, limit=spent, forced=True)
        return replace(answer, forced=True, limit=spent)

    def _sends_to_look(self) -> bool:
        """Send a reply back, once, that was given before anything was looked at."""
        turns = self._toolbox.budget.left("turns")
        if self._has_called or self._nudged or not self._options.look_first:
            return False
        if not self._toolbox.working_tools() or (turns is not None and turns < 2):
            return False
        self._nudged = True
        self._talk.tell(filled("video_react_look_first"))
        return True


def _limits(options: BaseModel) -> Limits:
    chosen = cast("VideoReactOptions", options)
    return Limits(turns=chosen.max_turns, visible_calls=chosen.max_calls)


def _work(options: BaseModel) -> ExpectedWork:
    """Return a rough expectation: four turns, three looks at 16 frames, the speech once."""
    chosen = cast("VideoReactOptions", options)
    return ExpectedWork(
        turns=4,
        visible_calls=3,
        observer_calls=3,
        observer_frames=min(16, chosen.max_frames),
        transcriptions=1,
    )


SPEC = AgentSpec(
    name="video_react",
    summary="A planner that sees no pixels calls an observer and the transcript in turns.",
    roles=("orchestrator", "observer", "transcriber"),
    options=VideoReactOptions,
    limits=VIDEO_REACT_LIMITS,
    limits_of=_limits,
    tools_of=lambda options: cast("VideoReactOptions", options).tools(),
    prompts_of=lambda options: video_react_prompts(cast("VideoReactOptions", options)),
    build_from=lambda options: VideoReact(options=cast("VideoReactOptions", options)),
    work_of=_work,
    presets=VIDEO_REACT_PRESETS,
)
