"""`sage`: a first look that answers or escalates, then a reasoner that calls tools; Static and Dynamic in one.

The agent of SAGE as it is used by Dynamic-SAGE and the REPAIR paper. Without a `library` it is Static
and sees the six primitives; with one it is Dynamic and sees its composite tools as well. Nothing else
differs: prompts are generated from the tools that are registered.

Chosen here, where paper and published code say nothing, differ, or are at fault:

- Requests are made afresh for each role and step (the code pins the first system prompt of a process).
- Every call of a reply is executed (the code executes the first and drops the others silently);
  `calls_per_turn: 1` executes one and tells the model that the others were not made.
- Calls are native; `call_form: text` has them written as JSON, as in the code.
- A reply that cannot be read is sent back, never taken as an answer and never emptied; an unknown tool
  is an error that the model may correct as often as it has turns.
- `"answerable": "false"` beside a guess commits nothing. Null after the first look is asked about once.
- The last turn has no tools and asks for the best answer, marked `forced`. Turns are counted as they
  are made: one first look and at most `max_steps` steps, replies that were sent back included.
- Results are forgotten oldest first, and shown with their arguments, each once.
- Retries of a failed request keep the sampling; failures are a status of the cell, never an answer.

The published `num_turns` leaves out the first look. From a trajectory it is the number of generations
of the orchestrator after the note `first look: ...`; it is 0 for a direct answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from pydantic import BaseModel

from taketwo.agents.agent_spec import AgentSpec
from taketwo.agents.answer import Answer
from taketwo.agents.called_in_text import call_form_prompts
from taketwo.agents.preset import Preset
from taketwo.agents.prompt_text import template
from taketwo.agents.sage_options import SageOptions, sage_tools
from taketwo.agents.sage_run import SageRun
from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.tools.budget import Limits
from taketwo.tools.catalog import tool_guidance, tool_prompts
from taketwo.tools.expected_work import ExpectedWork
from taketwo.tools.toolbox import Toolbox, ToolSettings

__all__ = ["SPEC", "Sage", "sage_prompts"]

_TEMPLATES = (
    "sage_context_system",
    "sage_context_question",
    "sage_reasoner_system",
    "sage_reasoner_step",
    "sage_ask_context",
    "sage_ask_again",
    "sage_ask_unsettled",
    "sage_ask_answer",
    "sage_last_turn",
    "answer_form_mcq",
    "answer_form_open",
)


def sage_prompts(options: SageOptions) -> Mapping[str, str]:
    """Return the templates by role, the guidance on the tools filled in."""
    tools = sage_tools(options)
    texts = [template(name) for name in _TEMPLATES]
    texts += [*call_form_prompts(options.call_form, tools), tool_guidance(tools)]
    return {"orchestrator": "\n\f\n".join(texts), **tool_prompts(tools)}


@dataclass(frozen=True, kw_only=True)
class Sage:
    """The agent; each call of it works on one question."""

    options: SageOptions

    async def __call__(self, question: VisibleQuestion, toolbox: Toolbox) -> Answer:
        """Return the answer, an abstention, or why there is none."""
        toolbox.budget.tighten(_limits(self.options))
        toolbox.settings = ToolSettings(
            observer_sees_question=self.options.observer_sees_question,
            max_frames=self.options.max_frames,
        )
        return await SageRun(self.options, question, toolbox).answer()


def _limits(options: BaseModel) -> Limits:
    return Limits(turns=cast("SageOptions", options).max_steps + 1)


def _work(options: BaseModel) -> ExpectedWork:
    """Return a rough expectation: a first look, three steps, and about three calls (REPAIR, Table 5)."""
    chosen = cast("SageOptions", options)
    return ExpectedWork(
        turns=4,
        visible_calls=3,
        observer_calls=2,
        observer_frames=16,
        orchestrator_frames=chosen.context_frames + 3 * chosen.media_frames,
        transcriptions=1,
    )


_PAPER_OPTIONS: Mapping[str, JsonValue] = {
    "context_frames": 64,
    "max_steps": 10,
    "history_results": 10,
    "media_frames": 8,
}

SPEC = AgentSpec(
    name="sage",
    summary=(
        "A first look over the video answers or escalates to a reasoner that calls primitives, and "
        "composite tools where a library is given."
    ),
    roles=("orchestrator", "observer", "transcriber"),
    options=SageOptions,
    limits=Limits(),
    limits_of=_limits,
    tools_of=lambda options: sage_tools(cast("SageOptions", options)),
    prompts_of=lambda options: sage_prompts(cast("SageOptions", options)),
    build_from=lambda options: Sage(options=cast("SageOptions", options)),
    work_of=_work,
    presets={
        "repair-paper": Preset(
            summary=(
                "Static-SAGE as audited by the REPAIR paper; with library: composites Dynamic-SAGE. "
                "The transcriber is ours: GPT-4o does not hear, and the paper's WhisperX is not part "
                "of this package."
            ),
            source="REPAIR paper, Sections 4.2 and A; Table 1 and 2",
            options=_PAPER_OPTIONS,
            models={
                "orchestrator": "openai/gpt-4o",
                "observer": "openai/gpt-4o",
                "transcriber": "taketwo/offline-transcriber",
            },
            sampling={
                "orchestrator": {"temperature": 0.0},
                "observer": {"temperature": 0.0},
                "transcriber": {"temperature": 0.0},
            },
        )
    },
)
