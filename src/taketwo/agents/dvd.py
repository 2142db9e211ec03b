"""`dvd`: Deep Video Discovery, an orchestrator without eyes that searches an index made beforehand.

Before the question is asked the video is cut into clips, an observer describes each, and the
subjects that appear are merged into one registry: the index, which all cells of an arm and an
execution share and no others. Then the orchestrator browses it, searches it, has frames of time
ranges inspected, and ends with `finish`.

Where the publication leaves room, or is left on purpose:

- Always: frames are taken by presentation time, two a second, none left out at the end of a clip;
  a clip is its position, so that equal descriptions stay two clips; a clip that could not be
  described is named in each result; no tool shows a `database` argument; speech is part of the
  descriptions, not only of the lite mode; a failing call, arguments that are no JSON, and ranges past
  the end of the video are results that the orchestrator reads; a reply in plain text may be the answer.
- The last turn: with `faithful` it asks for `finish` and leaves the model its choice, as in the code;
  without, nothing but `finish` is on offer, and a reply without a readable answer is asked for once
  more in plain text. A reply that still names no option is `unparsed` or `limit`, never a guess.
- A plain reply before the last turn is the answer if one can be read from it, else it is sent back; the
  published code fails there.
- `finish` is the form of the answer, not a look at the video: it is read from the reply, is not
  executed, and is no visible call. Calls that stand before it in the same reply are executed, those
  after it are not.
- Search is by words or by static embeddings, in place of a provider's embeddings, and says which. A clip
  that has nothing in common with a description is no result.
- The registry is merged in portions, and where that fails the registries of the clips stand side by
  side, in place of none at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from inspect_ai.model import ChatMessageSystem, ChatMessageUser
from inspect_ai.tool import ToolCall, ToolFunction
from pydantic import BaseModel, ValidationError

from taketwo.agents.agent_spec import AgentSpec
from taketwo.agents.answer import Answer, parse_answer
from taketwo.agents.called_in_text import call_form_prompts
from taketwo.agents.conversation import Conversation, Turn
from taketwo.agents.dvd_options import DVD_PRESETS, DvdOptions
from taketwo.agents.prompt_text import answer_form, filled, template
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.tools.budget import BudgetExhausted, Limits
from taketwo.tools.catalog import tool_guidance, tool_prompts
from taketwo.tools.clip_index import clock
from taketwo.tools.dvd_tools import FINISH, Finish
from taketwo.tools.fencing import question_block
from taketwo.tools.text_search import search_identity
from taketwo.tools.toolbox import Toolbox, ToolSettings
from taketwo.tools.video_index_build import index_prompts, open_index

__all__ = ["SPEC", "Dvd", "DvdOptions", "dvd_prompts"]

_TEMPLATES = (
    "dvd_system",
    "dvd_question",
    "dvd_go_on",
    "dvd_last_turn",
    "dvd_insist",
    "dvd_finish_mcq",
    "dvd_finish_open",
    "answer_form_mcq",
    "answer_form_open",
)


def dvd_prompts(options: DvdOptions) -> Mapping[str, str]:
    """Return the templates by role, those of the index, and the identity of the search."""
    tools = options.tools()
    texts = [template(name) for name in _TEMPLATES]
    texts += [tool_guidance(tools), *call_form_prompts(options.call_form, tools)]
    return {
        "orchestrator": "\n\f\n".join(texts),
        **tool_prompts(tools),
        **({} if options.lite else {"index": index_prompts()}),
        "search": search_identity(options.search_kind),
    }


@dataclass(frozen=True, kw_only=True)
class Dvd:
    """The agent; each call of it works on one question."""

    options: DvdOptions

    async def __call__(self, question: VisibleQuestion, toolbox: Toolbox) -> Answer:
        """Return the answer, an abstention, or why there is none."""
        toolbox.budget.tighten(self.options.limits())
        toolbox.settings = ToolSettings(observer_sees_question=False)
        said = ""
        try:
            await open_index(toolbox, self.options.index_settings)
            run = _Run(self.options, question, toolbox)
            try:
                return await run.answer()
            finally:
                said = run.talk.said
        except BudgetExhausted as error:
            return Answer(status="limit", text=said, limit=error.resource)


class _Run:
    """One question being worked on."""

    def __init__(self, options: DvdOptions, question: VisibleQuestion, toolbox: Toolbox) -> None:
        self._options = options
        self._question = question
        self._toolbox = toolbox
        self._turns = 0
        self._form = template(f"dvd_finish_{question.format}").strip()
        system = filled(
            "dvd_system", tools=tool_guidance(toolbox.working_tools()), finish_form=self._form
        )
        duration_s = toolbox.video.duration_s
        task = filled(
            "dvd_question",
            question=question_block(question),
            length=f"{clock(duration_s)} ({duration_s:.1f} s)",
        )
        self.talk = Conversation(
            toolbox,
            [ChatMessageSystem(content=system), ChatMessageUser(content=task)],
            form=options.call_form,
        )

    async def answer(self) -> Answer:
        while True:
            self._turns += 1
            spent = self._spent()
            if spent is not None:
                return await self._last_turn(spent)
            turn = await self.talk.turn()
            finished = await self._finished(turn)
            if finished is not None:
                return finished
            if turn.wants_tools:
                await self.talk.run(turn)
                continue
            answer = parse_answer(turn.text, self._question)
            if answer.status != "unparsed":
                return answer
            self.talk.tell(filled("dvd_go_on", finish_form=self._form))

    async def _finished(self, turn: Turn) -> Answer | None:
        """Return the answer of the first usable `finish`, after the calls that stand before it."""
        for number, call in enumerate(turn.calls):
            value = _value_of(call)
            if value is not None:
                if number:
                    await self.talk.run(_beginning(turn, number))
                return replace(_read(value, self._question), reasoning=turn.text.strip())
        return None

    def _spent(self) -> str | None:
        """Return what is used up, so that this turn must be the last one."""
        budget = self._toolbox.budget
        if self._turns >= self._options.turns:
            return "turns"
        for resource in ("turns", "model_calls"):
            left = budget.left(resource)
            if left is not None and left <= 1:
                return resource
        for resource in ("visible_calls", "primitive_ops"):
            if budget.left(resource) == 0:
                return resource
        return None

    async def _last_turn(self, spent: str) -> Answer:
        resource = f"{spent.replace('_', ' ')} used up"
        self.talk.tell(filled("dvd_last_turn", resource=resource, finish_form=self._form))
        self._toolbox.note(f"last turn: the budget of {spent} is used up")
        if self._options.faithful:
            turn = await self.talk.turn()
        else:
            choice = ToolFunction(name=FINISH.name)
            turn = await self.talk.turn(tools=(FINISH.name,), tool_choice=choice)
        answer = _forced(turn, self._question)
        for _ in range(self._options.asks):
            if answer is not None and answer.status != "unparsed":
                break
            if not self._may_ask_again():
                break
            turn = await self._asked_again(turn)
            answer = _forced(turn, self._question) or answer
        if answer is None:
            return Answer(status="limit", text=self.talk.said, limit=spent, forced=True)
        return replace(answer, forced=True, limit=spent)

    def _may_ask_again(self) -> bool:
        left = (self._toolbox.budget.left(name) for name in ("turns", "model_calls"))
        return all(number is None or number >= 1 for number in left)

    async def _asked_again(self, turn: Turn) -> Turn:
        """Return a reply in plain text, after every call of `turn` got its result."""
        if turn.wants_tools:
            await self.talk.run(turn)
        self.talk.tell(filled("dvd_insist", answer_form=answer_form(self._question)))
        return await self.talk.turn(tools=(FINISH.name,), tool_choice="none")


def _value_of(call: ToolCall) -> str | None:
    """Return the answer that a call of `finish` carries; None for other and for unusable calls."""
    if call.function != FINISH.name or call.parse_error:
        return None
    try:
        return Finish.model_validate(call.arguments).answer
    except ValidationError:
        return None


def _beginning(turn: Turn, count: int) -> Turn:
    """Return `turn` with its first `count` calls only."""
    calls = turn.calls[:count]
    choice = turn.output.choices[0]
    message = choice.message.model_copy(update={"tool_calls": list(calls)})
    choices = [choice.model_copy(update={"message": message})]
    return replace(turn, calls=calls, output=turn.output.model_copy(update={"choices": choices}))


def _forced(turn: Turn, question: VisibleQuestion) -> Answer | None:
    """Return what a last reply answers, by `finish` or in plain text; None where it says nothing."""
    for call in turn.calls:
        value = _value_of(call)
        if value is not None:
            return replace(_read(value, question), reasoning=turn.text.strip())
    return _read(turn.text, question) if turn.text.strip() else None


def _read(value: str, question: VisibleQuestion) -> Answer:
    """Read a text that is meant as the answer and nothing else."""
    found = parse_answer(value, question)
    if found.status == "unparsed":
        found = parse_answer(json.dumps({"answer": value}, ensure_ascii=False), question)
    return replace(found, text=value) if question.options else found


def _limits(options: BaseModel) -> Limits:
    return cast("DvdOptions", options).limits()


SPEC = AgentSpec(
    name="dvd",
    summary="A planner without eyes searches descriptions of clips and has frames inspected.",
    roles=("orchestrator", "observer", "transcriber"),
    options=DvdOptions,
    limits=Limits(),
    limits_of=_limits,
    tools_of=lambda options: cast("DvdOptions", options).tools(),
    prompts_of=lambda options: dvd_prompts(cast("DvdOptions", options)),
    build_from=lambda options: Dvd(options=cast("DvdOptions", options)),
    presets=DVD_PRESETS,
    work_of=lambda options: cast("DvdOptions", options).work(),
)
