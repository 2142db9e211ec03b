"""`avp`: plan one look at the video, observe, reflect, until the evidence settles the question.

The loop of Active Video Perception: a planner and a reviewer that never see pixels (the orchestrator)
and an observer that does. Each observation is a visible call of `observe_video`, ordered by the plan;
the planner itself sees no tool schema, it fills in a form.

Where the publication leaves room, or is left on purpose:

- `faithful` or not, a stop needs both the reviewer's own `sufficient` and a confidence of at least
  `threshold`; the last round is not reviewed, its evidence goes to the synthesiser; what is no plan
  after the repeated asks becomes a uniform look at 0.5 frames a second and low resolution; evidence
  is handed on as it was reported, in the order of its rounds and under their true numbers.
- Only where not `faithful`: before the first stop, a second look, closer and without knowledge of
  the earlier reports, at the stretches that the last report calls key evidence, and a second review
  (the published reviewer may stop on one confident and wrong look); speech as a transcript before
  the observer, since frames lose the sound that published clips carry; the planner's goal before the
  observer, which published code drops; frames of a look bounded by estimated tokens and not by a
  number for each resolution.
- In neither mode, because they are faults: a region that shows an earlier region's pictures, a cut
  at the keyframe before, regions at both ends that become the whole video, a duration that is
  forgotten, rates out of bounds, options in the prompt twice or six at most, numbers in a broken
  report taken for times, and an "A" where nothing could be read. A review that stops without naming
  an answer is followed by the synthesiser.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar, cast

from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser
from pydantic import BaseModel

from taketwo.agents.agent_spec import AgentSpec
from taketwo.agents.answer import Answer
from taketwo.agents.avp_options import AVP_PRESETS, AvpOptions
from taketwo.agents.avp_plans import fallback_look, plan_form, planned_look, planner_prompt
from taketwo.agents.avp_second_look import second_look
from taketwo.agents.avp_verdicts import (
    Reflection,
    reflection_form,
    reviewed_answer,
    synthesis_form,
    synthesised_answer,
)
from taketwo.agents.prompt_text import filled, template
from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.tools.avp_evidence import ObservationLog
from taketwo.tools.avp_observation import observe_video_tool
from taketwo.tools.budget import BudgetExhausted, Limits, Resource
from taketwo.tools.catalog import tool_prompts
from taketwo.tools.fencing import fence, question_block, video_length_line
from taketwo.tools.role_model import ModelRole
from taketwo.tools.structured import Structured, form_request, generate_in_form
from taketwo.tools.toolbox import Toolbox, ToolSettings
from taketwo.tools.video_tool import VideoTool

__all__ = ["SPEC", "Avp", "avp_prompts"]

_TEMPLATES = (
    "avp_plan",
    "avp_replan",
    "avp_reflector",
    "avp_synthesizer",
    "avp_judge",
    "avp_answer_mcq",
    "avp_answer_open",
)
_Form = TypeVar("_Form", bound=BaseModel)


def avp_prompts(options: AvpOptions) -> Mapping[str, str]:
    """Return the templates by role, without what is said of fixed controls."""
    texts = [planner_prompt(options.fixed_controls), *(template(name) for name in _TEMPLATES)]
    return {
        "orchestrator": "\n\f\n".join(texts),
        **tool_prompts([observe_video_tool(options.observation())]),
    }


@dataclass(frozen=True, kw_only=True)
class Avp:
    """The agent; each call of it works on one question."""

    options: AvpOptions

    async def __call__(self, question: VisibleQuestion, toolbox: Toolbox) -> Answer:
        """Return the answer, an abstention, or why there is none."""
        toolbox.budget.tighten(self.options.limits())
        toolbox.settings = ToolSettings(max_frames=self.options.most_frames)
        return await _Run(self.options, question, toolbox).answer()


class _Run:
    """One question being worked on."""

    def __init__(self, options: AvpOptions, question: VisibleQuestion, toolbox: Toolbox) -> None:
        self._options = options
        self._question = question
        self._toolbox = toolbox
        self._log = toolbox.state.get(ObservationLog)
        self._said = ""
        self._looked_twice = not options.looks_twice

    async def answer(self) -> Answer:
        try:
            return await self._rounds()
        except BudgetExhausted as error:
            return Answer(status="limit", text=self._said, limit=error.resource)

    async def _rounds(self) -> Answer:
        missing: str | None = None
        for number in range(1, self._options.rounds + 1):
            spent = self._spent()
            if spent is not None:
                return await self._synthesise(spent)
            look = await self._plan(missing)
            self._log.round = number
            failed = await self._observe(look)
            spent = "rounds" if number == self._options.rounds else self._spent()
            if spent is not None:
                return await self._synthesise(spent)
            if failed is not None:
                missing = f"The look could not be made: {failed}"
                continue
            reflection = await self._reflect()
            if self._settles(reflection) and await self._look_again():
                reflection = await self._reflect()
            if self._settles(reflection):
                answer = reviewed_answer(reflection, self._question)
                return answer or await self._synthesise(None)
            missing = "" if reflection.value is None else reflection.value.justification
        raise AssertionError("the last round ends with an answer")

    def _settles(self, reflection: Structured[Reflection]) -> bool:
        """Return whether the loop may stop; a review outside its form never settles anything."""
        found = reflection.value
        return (
            found is not None and found.sufficient and found.confidence >= self._options.threshold
        )

    def _spent(self) -> str | None:
        """Return what is used up, so that what is known must do; one turn is kept for the answer."""
        budget = self._toolbox.budget
        for resource in ("turns", "model_calls"):
            if budget.left(resource) == 1:
                return resource
        for resource in ("visible_calls", "primitive_ops", "frames"):
            if budget.left(resource) == 0:
                return resource
        return None

    async def _plan(self, missing: str | None) -> dict[str, JsonValue]:
        fixed = self._options.fixed_controls
        form = plan_form(fixed)
        if missing is None:
            prompt = filled("avp_plan", **self._asked(), form=form_request(form))
        else:
            prompt = filled(
                "avp_replan",
                **self._asked(),
                evidence=self._evidence(),
                missing=fence("review", missing or "(nothing was said)"),
                form=form_request(form),
            )
        plan = await self._in_form(planner_prompt(fixed), prompt, form)
        if plan.value is None:
            self._toolbox.note(f"no plan in the planner's reply ({plan.problem}): a uniform look")
            return fallback_look(fixed)
        if len(plan.value.steps) > 1:
            self._toolbox.note(f"of {len(plan.value.steps)} planned steps the first is taken")
        return planned_look(plan.value)

    async def _observe(self, look: Mapping[str, JsonValue]) -> str | None:
        """Make a look and return None, or why it could not be made."""
        result = await self._toolbox.run_call("observe_video", look)
        return None if result.failure is None else result.failure.message

    async def _reflect(self) -> Structured[Reflection]:
        form = reflection_form(self._question)
        reflection = await self._in_form(filled("avp_reflector"), self._judging(form), form)
        if reflection.value is None:
            self._toolbox.note(f"no review in the reviewer's reply ({reflection.problem})")
        return reflection

    async def _look_again(self) -> bool:
        """Look once more at what decided, before the first stop; return whether that was done."""
        if self._looked_twice:
            return False
        self._looked_twice = True
        budget = self._toolbox.budget
        # The look and its report; the report, the review and the answer.
        needs: dict[Resource, int] = {"primitive_ops": 3, "model_calls": 3, "turns": 2}
        for resource, needed in needs.items():
            left = budget.left(resource)
            if left is not None and left < needed:
                self._toolbox.note(f"no second look: {left:g} {resource} are left")
                return False
        spent = self._spent()
        if spent is not None:
            self._toolbox.note(f"no second look: the budget of {spent} is used up")
            return False
        look = second_look(self._log, self._options.observation(), self._toolbox.video)
        if look is None:
            self._toolbox.note("no second look: there is no closer one at what decided")
            return False
        return await self._observe(look) is None

    async def _synthesise(self, spent: str | None) -> Answer:
        """Answer from the evidence as it is; `spent` is what forces it."""
        if spent is not None:
            self._toolbox.note(f"forced answer: the budget of {spent} is used up")
        form = synthesis_form(self._question)
        reply = await self._in_form(
            filled("avp_synthesizer"), self._judging(form), form, is_last=True
        )
        answer = synthesised_answer(reply, self._question)
        return replace(answer, forced=spent is not None, limit=spent)

    async def _in_form(
        self, system: str, prompt: str, form: type[_Form], *, is_last: bool = False
    ) -> Structured[_Form]:
        """Return the orchestrator's reply in a form, asked again as often as leaves a turn to answer."""
        asks = self._options.asks
        for resource in ("turns", "model_calls"):
            left = self._toolbox.budget.left(resource)
            if left is not None:
                asks = min(asks, int(left) - (1 if is_last else 2))
        messages: list[ChatMessage] = [
            ChatMessageSystem(content=system),
            ChatMessageUser(content=prompt),
        ]
        model = self._toolbox.model("orchestrator")
        reply = await generate_in_form(model, messages, form, asks=max(0, asks))
        self._said = reply.text
        return reply

    def _judging(self, form: type[BaseModel]) -> str:
        return filled(
            "avp_judge",
            **self._asked(),
            evidence=self._evidence(),
            answer=template(f"avp_answer_{self._question.format}").strip(),
            form=form_request(form),
        )

    def _asked(self) -> dict[str, str]:
        return {
            "question": question_block(self._question),
            "length": video_length_line(self._toolbox.video.duration_s),
        }

    def _evidence(self) -> str:
        return fence("evidence", self._log.to_text() or "(nothing was seen)")


def _options(options: BaseModel) -> AvpOptions:
    return cast("AvpOptions", options)


def _tools(options: BaseModel) -> tuple[VideoTool, ...]:
    return (observe_video_tool(_options(options).observation()),)


def _roles(options: BaseModel) -> tuple[ModelRole, ...]:
    seeing: tuple[ModelRole, ...] = ("orchestrator", "observer")
    return (*seeing, "transcriber") if _options(options).hears else seeing


SPEC = AgentSpec(
    name="avp",
    summary="A planner orders one look at a time, a reviewer says whether the evidence is enough.",
    roles=("orchestrator", "observer", "transcriber"),
    roles_of=_roles,
    options=AvpOptions,
    limits=Limits(),
    limits_of=lambda options: _options(options).limits(),
    tools_of=_tools,
    prompts_of=lambda options: avp_prompts(_options(options)),
    build_from=lambda options: Avp(options=_options(options)),
    presets=AVP_PRESETS,
    work_of=lambda options: _options(options).work(),
)
