"""`star`: a planner alternates tools that find when to look and tools that say what is there.

The loop of STAR (arXiv 2512.10359) as its repository has it: 16 frames are visible at first; a
planner that sees no pictures names one tool a step; after a temporal tool comes a spatial one and
the other way round, whatever came of the call; the evidence cannot be called sufficient right after
a temporal tool; a tool that answers the whole question is never on offer; a summariser answers.

Where the publication leaves room, or is left on purpose:

- `faithful` keeps the published flow of information: the planner reads the frame store and the
  names and inputs of earlier calls, the summariser reads the answers of single frames, and the text
  of most tools is lost. Otherwise both read a log of what each call returned. Faithful arms also go
  without the tools for text, speech and web, which the publication does not have, and replace a tool
  that is not on offer by the first one that is, without asking again.
- In both modes: 6 calls take 6 decisions (the reference takes 7 and drops one); any model can plan,
  and a decision that cannot be read is asked for again before the answer is given from what is
  known; visible frames are bounded; a selection in the grid and an enlarged patch destroy nothing;
  counts of every class are kept; every tool says what it does; any number of options.
- Models that the reference runs itself (Grounded-Video-LLM, LLaVA-1.5, YOLOE) are served by the
  observer, and the tools that suffer by it say so in each result. A `Detector` can be given to
  `star_spec`.

No result of this agent is expected to match the published STAR row of AgentVidBench (0.13 with
Gemini 2.5 Pro, 0.14 with GPT-5, 0.09 with Qwen3.5-27B): how STAR was run there with planners outside
its four-name list, which end its loop before the first call, is not said; its local vision models
are replaced; and unless `faithful`, what its tools say is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from inspect_ai.model import ChatMessage, ChatMessageUser
from pydantic import BaseModel

from taketwo.agents.agent_spec import AgentSpec
from taketwo.agents.answer import Answer, parse_answer
from taketwo.agents.prompt_text import answer_form, filled, template
from taketwo.agents.star_evidence import has_evidence, summary_evidence
from taketwo.agents.star_options import STAR_PRESETS, StarOptions
from taketwo.agents.star_planner import Decided, decide, offer_of
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.tools.budget import BudgetExhausted, Limits
from taketwo.tools.catalog import tool_guidance, tool_prompts
from taketwo.tools.fencing import question_block, video_length_line
from taketwo.tools.loggable import loggable_text
from taketwo.tools.role_model import ModelRole
from taketwo.tools.star_counting import Detector
from taketwo.tools.star_frames import Observation, StarState
from taketwo.tools.star_tool import StarKind, StarTool, starred
from taketwo.tools.star_toolset import star_tools
from taketwo.tools.toolbox import CallResult, Toolbox, ToolSettings
from taketwo.tools.video_tool import max_side_of

__all__ = ["SPEC", "Star", "star_prompts", "star_spec"]

_MOST_FRAMES_A_LOOK = 96
_TEMPLATES = (
    "star_planner_system",
    "star_planner_state",
    "star_planner_first",
    "star_planner_after_temporal",
    "star_planner_after_spatial",
    "star_planner_relaxed",
    "star_planner_no_such_tool",
    "star_summary",
    "star_generalist",
    "star_generalist_no_evidence",
    "star_generalist_unread",
    "star_ask_answer",
    "answer_form_mcq",
    "answer_form_open",
)


def star_prompts(tools: tuple[StarTool, ...]) -> Mapping[str, str]:
    """Return the templates by role, with what is said of the tools."""
    texts = [*(template(name) for name in _TEMPLATES), tool_guidance(tools)]
    return {"orchestrator": "\n\f\n".join(texts), **tool_prompts(tools)}


@dataclass(frozen=True, kw_only=True)
class Star:
    """The agent; each call of it works on one question."""

    options: StarOptions

    async def __call__(self, question: VisibleQuestion, toolbox: Toolbox) -> Answer:
        """Return the answer, an abstention, or why there is none."""
        options = self.options
        toolbox.budget.tighten(options.limits())
        toolbox.settings = ToolSettings(
            observer_sees_question=options.observer_sees_question, max_frames=_MOST_FRAMES_A_LOOK
        )
        state = StarState(
            start_frames=options.frames,
            max_frames=options.max_frames,
            max_side=max_side_of(options.resolution),
        )
        toolbox.state.put(state)
        return await _Run(options, question, toolbox, state).answer()


class _Run:
    """One question being worked on."""

    def __init__(
        self,
        options: StarOptions,
        question: VisibleQuestion,
        toolbox: Toolbox,
        state: StarState,
    ) -> None:
        self._options = options
        self._question = question
        self._toolbox = toolbox
        self._state = state
        self._order = [tool.name for tool in star_tools()]
        self._said = ""

    async def answer(self) -> Answer:
        try:
            spent = await self._search()
        except BudgetExhausted as error:
            spent = error.resource
        if spent is not None:
            self._toolbox.note(f"answer from what is known: the budget of {spent} is used up")
        try:
            return await self._conclude(spent)
        except BudgetExhausted as error:
            return Answer(status="limit", text=self._said, limit=spent or error.resource)

    async def _search(self) -> str | None:
        """Call tools until the planner is satisfied (None) or something is used up (its name)."""
        await starred(self._toolbox.context())
        last: StarKind | None = None
        while (spent := self._spent()) is None:
            offer = offer_of(self._working(), last)
            if not offer.tools:
                self._toolbox.note("no tool can work on this video")
                return None
            if offer.is_relaxed:
                self._toolbox.note(f"no {offer.required} tool can work: any other may be called")
            decided = await decide(
                self._toolbox,
                self._question,
                self._state,
                offer,
                most=self._options.max_tools,
                asks=self._asks(),
                faithful=self._options.faithful,
            )
            if decided is None:
                return None
            if decided.decision.info_sufficient:
                if last != "temporal":
                    return None
                self._toolbox.note("sufficiency was rejected: the last tool was temporal")
            if decided.fallback:
                self._toolbox.note(f"{decided.fallback}; {decided.tool.name} is called instead")
            await self._call(decided)
            last = decided.tool.kind
        return spent

    def _working(self) -> list[StarTool]:
        """Return the tools that can work here, in the order of the tool set, others last by name."""
        working = [tool for tool in self._toolbox.working_tools() if isinstance(tool, StarTool)]
        places = {name: place for place, name in enumerate(self._order)}
        return sorted(working, key=lambda tool: (places.get(tool.name, len(places)), tool.name))

    async def _call(self, decided: Decided) -> None:
        state, text = self._state, decided.decision.tool_input
        state.step = len(state.log) + 1
        state.ranges = []
        result = await self._toolbox.run_call(decided.tool.name, {"input": text})
        state.log.append(
            Observation(
                step=state.step,
                tool=decided.tool.name,
                kind=decided.tool.kind,
                input=text,
                output=loggable_text(_output_of(result)),
                ranges=tuple(dict.fromkeys(state.ranges)),
            )
        )

    def _spent(self) -> str | None:
        """Return what is used up, so that what is known must do; one turn is kept for the answer."""
        budget = self._toolbox.budget
        for resource in ("turns", "model_calls"):
            left = budget.left(resource)
            if left is not None and left <= 1:
                return resource
        for resource in ("visible_calls", "primitive_ops"):
            if budget.left(resource) == 0:
                return resource
        return None

    def _asks(self) -> int:
        """Return how often a decision may be asked for again with a turn left for the answer."""
        left = [self._toolbox.budget.left(name) for name in ("turns", "model_calls")]
        return min([
            self._options.asks,
            *(max(0, int(each) - 2) for each in left if each is not None),
        ])

    async def _conclude(self, spent: str | None) -> Answer:
        """Ask the summariser, and the generalist where it has nothing to sum up or cannot be read."""
        evidence = summary_evidence(self._state, faithful=self._options.faithful)
        why = "star_generalist_no_evidence"
        if has_evidence(self._state, faithful=self._options.faithful):
            answer = await self._ask([self._request("star_summary", evidence=evidence)])
            if answer.status != "unparsed":
                return _ended(answer, spent)
            self._toolbox.note("the summariser's answer could not be read; the generalist is asked")
            why = "star_generalist_unread"
        messages: list[ChatMessage] = [
            self._request("star_generalist", evidence=evidence, why=template(why).strip())
        ]
        answer = await self._ask(messages)
        for _ in range(self._options.asks):
            if answer.status != "unparsed":
                break
            form = answer_form(self._question)
            messages.append(ChatMessageUser(content=filled("star_ask_answer", answer_form=form)))
            answer = await self._ask(messages)
        return _ended(answer, spent)

    def _request(self, name: str, **values: str) -> ChatMessageUser:
        return ChatMessageUser(
            content=filled(
                name,
                question=question_block(self._question),
                length=video_length_line(self._toolbox.video.duration_s),
                answer_form=answer_form(self._question),
                **values,
            )
        )

    async def _ask(self, messages: list[ChatMessage]) -> Answer:
        """Return the answer in the next reply, which becomes part of `messages`."""
        try:
            output = await self._toolbox.model("orchestrator").generate(messages)
        except BudgetExhausted:
            if not self._said:
                raise
            return parse_answer(self._said, self._question)
        messages.append(output.message)
        self._said = output.completion
        return parse_answer(output.completion, self._question)


def _ended(answer: Answer, spent: str | None) -> Answer:
    return answer if spent is None else replace(answer, forced=True, limit=spent)


def _output_of(result: CallResult) -> str:
    """Return what a call came to as plain text: our own lines, then what the video or a model says."""
    if result.failure is not None:
        return f"Error: {result.failure.code}: {result.failure.message}"
    lines = [f"{name}: {value}" for name, value in result.reply.fields.items()]
    lines += [f"{name}:\n{text}" for name, text in result.reply.untrusted.items()]
    return "\n".join(lines) or "(no result)"


def _options(options: BaseModel) -> StarOptions:
    return cast("StarOptions", options)


def _roles(options: BaseModel) -> tuple[ModelRole, ...]:
    if _options(options).faithful:
        return ("orchestrator", "observer")
    return ("orchestrator", "observer", "transcriber")


def star_spec(*, detector: Detector | None = None) -> AgentSpec:
    """Return STAR as a study names it; with `detector` its counts come from there.

    A module of one's own that has `SPEC = star_spec(detector=...)` makes it the agent `module:SPEC`.
    """

    def tools(options: BaseModel) -> tuple[StarTool, ...]:
        return star_tools(published_only=_options(options).faithful, detector=detector)

    return AgentSpec(
        name="star",
        summary="A planner alternates tools that find when to look and tools that say what is there.",
        roles=("orchestrator", "observer", "transcriber"),
        roles_of=_roles,
        options=StarOptions,
        limits=Limits(),
        limits_of=lambda options: _options(options).limits(),
        tools_of=tools,
        prompts_of=lambda options: star_prompts(tools(options)),
        build_from=lambda options: Star(options=_options(options)),
        presets=STAR_PRESETS,
        work_of=lambda options: _options(options).work(),
    )


SPEC = star_spec()
