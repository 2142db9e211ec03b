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
from taketwo.models.option_scores import draw, open_candidates, score_options
from taketwo.models.planning import PlannedCall, next_call
from taketwo.models.timeline import asked_window, inside
from taketwo.models.video_lines import CountLine, TextLine, WordsLine, count_text, lines_in, when

__all__ = ["Turn", "generator_for", "take_turn"]

_SHOWN_LINES = 4  # evidence lines that a reasoning quotes at most


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
    options = conversation.options or open_candidates(asked, conversation)
    scores = score_options(asked, conversation, options) if options else ()
    call = next_call(asked, conversation, scores, list(tools), tool_choice, temperature, rng)
    if call is not None:
        return _calling(call, len(conversation.calls))
    return Turn(text=_answer(asked, conversation, options, scores, temperature, rng))


def _calling(call: PlannedCall, number: int) -> Turn:
    arguments = ", ".join(f"{name}={value}" for name, value in call.arguments.items())
    return Turn(
        text=f"PLAN: {call.name}({arguments})\nREASONING: {call.why}",
        call=ToolCall(
            id=f"call_{number + 1}_{call.name}", function=call.name, arguments=dict(call.arguments)
        ),
    )


def _quoted(line: CountLine | TextLine | WordsLine) -> str:
    body = (
        count_text(line.count, line.colour, line.shape)
        if isinstance(line, CountLine)
        else line.text
    )
    return f"{when(line.start_s, line.end_s)} {body}"


def _reasoning(asked: Asked, conversation: Conversation, chosen: str) -> str:
    evidence = conversation.evidence
    window = asked_window(asked, evidence, conversation.duration_s)
    lines: list[CountLine | TextLine | WordsLine] = []
    if asked.counts:
        lines += [
            line
            for line in evidence.counts
            if asked.colour in {None, line.colour} and asked.shape in {None, line.shape}
        ]
    else:
        lines += [*evidence.texts, *evidence.speech, *evidence.notes]
    near = [line for line in lines if inside(line, window)] or lines
    if not near:
        return f"No evidence decides; {chosen!r} is a guess."
    quoted = "; ".join(_quoted(line) for line in near[:_SHOWN_LINES])
    return f"{chosen!r} agrees best with: {quoted}."


def _answer(
    asked: Asked,
    conversation: Conversation,
    options: Sequence[str],
    scores: Sequence[float],
    temperature: float,
    rng: np.random.Generator,
) -> str:
    """Return the final text in the form that the conversation asks for."""
    answer: str | None = None
    reasoning = "Nothing was found that answers the question."
    evidence = conversation.evidence
    has_evidence = bool(evidence.texts or evidence.counts or evidence.speech or evidence.notes)
    if options and (has_evidence or not conversation.may_abstain):
        index = draw(scores, temperature, rng)
        answer = conversation.labels[index] if conversation.options else options[index]
        reasoning = _reasoning(asked, conversation, options[index])
    if conversation.form == "final_answer":
        return f"{reasoning}\n\nFINAL ANSWER: {'none' if answer is None else answer}"
    block = json.dumps({"answer": answer, "reasoning": reasoning}, ensure_ascii=False)
    return f"PLAN: answer\nREASONING: {reasoning}\n\n```json\n{block}\n```"
