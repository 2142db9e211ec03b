"""The plan of one look of AVP: its form, what the planner is told of it, and the plan without a planner.

A fixed control is in none of them.
"""

from __future__ import annotations

import json
from functools import cache
from types import GenericAlias
from typing import Annotated, cast

from pydantic import BaseModel, BeforeValidator, Field, create_model

from taketwo.agents.prompt_text import filled, template
from taketwo.benchmarks.canonical import JsonValue
from taketwo.tools.avp_controls import free_controls_form
from taketwo.tools.fixed_controls import Control, FixedControls

__all__ = [
    "Plan",
    "PlanStep",
    "fallback_look",
    "plan_form",
    "planned_look",
    "planner_prompt",
    "without_fixed",
]

_FIELDS: dict[Control, tuple[str, ...]] = {
    "interval": ("load_mode", "regions"),
    "fps": ("fps",),
    "resolution": ("spatial_token_rate",),
}


def _number_as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class PlanStep(BaseModel):
    """One look at the video."""

    step_id: Annotated[str, BeforeValidator(_number_as_text)] = Field(
        default="1", description='Always "1"'
    )
    description: str = Field(description="What this look is to find out")
    sub_query: str = Field(default="", description="The question, repeated in full")


class Plan(BaseModel):
    """A plan of one look at the video."""

    reasoning: str = Field(description="Why this look")
    completion_criteria: str = Field(
        default="", description="What would have to be seen to settle the question"
    )
    steps: list[PlanStep] = Field(min_length=1, description="Exactly one step")


@cache
def plan_form(fixed: FixedControls) -> type[Plan]:
    """Return the form of a plan with the controls that are left to the planner."""
    step = free_controls_form(PlanStep, fixed, "Step")
    steps = cast("type[list[PlanStep]]", GenericAlias(list, (step,)))
    return create_model(
        "Plan",
        __base__=Plan,
        __doc__=Plan.__doc__,
        steps=(steps, Field(min_length=1, description="Exactly one step")),
    )


def planned_look(plan: Plan) -> dict[str, JsonValue]:
    """Return the first step of a plan as arguments of `observe_video`."""
    return cast("dict[str, JsonValue]", plan.steps[0].model_dump(mode="json", exclude={"step_id"}))


def fallback_look(fixed: FixedControls) -> dict[str, JsonValue]:
    """Return the look that is made where the planner's reply is no plan: wide, slow and coarse."""
    look: dict[str, JsonValue] = {
        "description": "See what the video shows",
        "load_mode": "uniform",
        "regions": [],
        "fps": 0.5,
        "spatial_token_rate": "low",
    }
    return without_fixed(look, fixed)


def without_fixed(look: dict[str, JsonValue], fixed: FixedControls) -> dict[str, JsonValue]:
    """Return the arguments of a look without those that are not the planner's to choose."""
    hidden = {name for control in fixed.fixed for name in _FIELDS[control]}
    return {name: value for name, value in look.items() if name not in hidden}


def planner_prompt(fixed: FixedControls) -> str:
    """Return the planner's system prompt; of a fixed control it says nothing."""
    free = [control for control in ("interval", "fps", "resolution") if control not in fixed.fixed]
    controls = "\n".join(template(f"avp_control_{control}").strip() for control in free)
    return filled(
        "avp_planner",
        controls=f"You choose:\n{controls}" if free else "You choose what the look is for.",
        examples=_examples(fixed),
    )


def _examples(fixed: FixedControls) -> str:
    shown = ["Steps that would fit other questions:"]
    for line in template("avp_examples").splitlines():
        example = cast("dict[str, JsonValue]", json.loads(line))
        question = cast("str", example["question"])
        step = cast("dict[str, JsonValue]", example["step"])
        step = {"step_id": "1", **without_fixed(step, fixed)}
        shown.append(f"- {question}\n  {json.dumps(step, ensure_ascii=False)}")
    return "\n".join(shown)
