"""The offline orchestrator: plans calls, keeps evidence, scores the options and draws an answer.

Fixed rules about words, times, order and counts stand where a language model would reason. It sees
nothing but the conversation: no file, no truth, no identity of the benchmark.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from inspect_ai.model import ChatMessage
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

from taketwo.models.asked import Asked, understand
from taketwo.models.conversation import Conversation, read_conversation
from taketwo.models.first_note import note_of
from taketwo.models.option_scores import draw, open_candidates, score_options
from taketwo.models.planning import PlannedCall, next_call
from taketwo.models.reasons import reason_for
from taketwo.models.tool_arguments import answering_tool
from taketwo.models.video_lines import WordsLine, lines_in
from taketwo.models.written_calls import in_writing, written_tools

__all__ = ["Turn", "generator_for", "take_turn"]


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What the orchestrator says: text, and a tool call where it wants to know more."""

    text: str
    call: ToolCall | None = None


def generator_for(seed: int | None, messages: Sequence[ChatMessage]) -> np.random.Generator:
    """Return the source of randomness of one call.

    With a seed it is fixed by the seed and the text of the conversation, as for a language model,
    so that two questions under one seed do not share their draws; without, it is fresh.
    """
    if seed is None:
        return np.random.default_rng()
    digest = hashlib.sha256("\x1e".join(message.text for message in messages).encode()).digest()
    return np.random.default_rng(
        np.random.SeedSequence([seed & (2**64 - 1), int.from_bytes(digest[:8], "big")])
    )


def take_turn(
    messages: Sequence[ChatMessage],
    tools: Sequence[ToolInfo],
    tool_choice: ToolChoice,
    *,
    temperature: float,
    rng: np.random.Generator,
    own_report: str = "",
) -> Turn:
    """Return the next turn of the conversation: one tool call, or the answer.

    Without `tools`, those that the instructions describe are called in writing. Where a tool takes
    the answer, the answer is a call of it, as long as calls are allowed. A note on the video that
    the instructions ask for stands before everything else.

    Parameters
    ----------
    temperature
        0 takes the best plan and option (ties drawn by `rng`), above 0 they are drawn from the
        softmax of their scores.
    own_report
        What the model measured itself in pictures of the conversation, in the observer's lines.
    """
    measured = [line for line in lines_in(own_report) if not isinstance(line, WordsLine)]
    conversation = read_conversation(messages, measured)
    asked = understand(conversation.question)
    note = note_of(messages, asked, conversation)
    if note.is_all:
        return Turn(text=note.text)
    options = conversation.options or open_candidates(asked, conversation)
    scores = score_options(asked, conversation, options) if options else ()
    usable = list(tools) or written_tools(messages)
    # A request without tools has no choice of its own: in writing, anything may be called.
    choice = tool_choice if tools else "auto"
    call = next_call(asked, conversation, scores, usable, choice, temperature, rng)
    number = len(conversation.calls)
    if call is not None:
        turn = _calling(call, number)
    else:
        chosen = _chosen(asked, conversation, options, scores, temperature, rng)
        taker = None if choice == "none" else answering_tool(usable)
        turn = _finishing(taker, chosen, number) if taker else _answer(conversation, chosen)
    if turn.call is not None and not tools:
        turn = Turn(text=f"{turn.text}\n\n{in_writing(turn.call)}")
    return Turn(text=f"{note.text}\n\n{turn.text}".strip(), call=turn.call)


def _calling(call: PlannedCall, number: int) -> Turn:
    arguments = ", ".join(f"{name}={value}" for name, value in call.arguments.items())
    return Turn(
        text=f"PLAN: {call.name}({arguments})\nREASONING: {call.why}",
        call=ToolCall(
            id=f"call_{number + 1}_{call.name}", function=call.name, arguments=dict(call.arguments)
        ),
    )


@dataclass(frozen=True, kw_only=True)
class _Chosen:
    """The label or the text that is the answer, None where there is none, and why."""

    answer: str | None
    reasoning: str


def _chosen(
    asked: Asked,
    conversation: Conversation,
    options: Sequence[str],
    scores: Sequence[float],
    temperature: float,
    rng: np.random.Generator,
) -> _Chosen:
    evidence = conversation.evidence
    has_evidence = bool(evidence.texts or evidence.counts or evidence.speech or evidence.notes)
    if not options or not (has_evidence or not conversation.may_abstain):
        return _Chosen(answer=None, reasoning="Nothing was found that answers the question.")
    index = draw(scores, temperature, rng)
    return _Chosen(
        answer=conversation.labels[index] if conversation.options else options[index],
        reasoning=reason_for(asked, conversation, options[index]),
    )


def _finishing(taker: tuple[str, str], chosen: _Chosen, number: int) -> Turn:
    """Return the answer as a call of the tool that takes it; `none` is no answer."""
    name, argument = taker
    call = PlannedCall(
        name=name, arguments={argument: chosen.answer or "none"}, why=chosen.reasoning
    )
    return _calling(call, number)


def _answer(conversation: Conversation, chosen: _Chosen) -> Turn:
    """Return the final text in the form that the conversation asks for."""
    answer, reasoning = chosen.answer, chosen.reasoning
    if conversation.form == "final_answer":
        text = f"{reasoning}\n\nFINAL ANSWER: {'none' if answer is None else answer}"
    else:
        block = json.dumps({"answer": answer, "reasoning": reasoning}, ensure_ascii=False)
        text = f"PLAN: answer\nREASONING: {reasoning}\n\n```json\n{block}\n```"
    return Turn(text=text)
