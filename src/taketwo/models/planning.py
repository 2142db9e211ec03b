"""What the offline orchestrator does next: listen, look at everything, look closer, or answer.

Each possible step has a preference in 0..1 that follows from the kind of question and from how
far the best option leads; the step, the sampling rate and the margin around a window are drawn by
the same softmax as the answer, so that temperature 0 always does the most preferred thing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from inspect_ai.tool import ToolChoice, ToolFunction, ToolInfo
from pydantic import JsonValue

from taketwo.models.asked import Asked
from taketwo.models.conversation import Conversation
from taketwo.models.option_scores import draw
from taketwo.models.timeline import asked_window
from taketwo.models.tool_arguments import (
    LISTENING,
    LOOKING,
    Look,
    arguments_for,
    other_tools,
    usable,
)

__all__ = ["MAX_CALLS", "PlannedCall", "next_call"]

MAX_CALLS = 6
_MAX_FAILED = 2
_MAX_LOOKS = 3
_BROAD_FRAMES = 48  # a first pass over a long video is thinned to about this many
# Rates and windows lie on one grid of whole and quarter seconds, so that frames are shared.
_BROAD_FPS = ((1.0, 0.9), (2.0, 0.6))  # rate, preference
_CLOSE_FPS = ((2.0, 0.9), (4.0, 0.7))
_OTHER = 0.8  # preference for a first call of a tool that is known by its arguments only
_LATER = 1e-4
_AGAIN = 0.6  # factor for each call of it that was made
_PADDING_S = ((0.0, 0.6), (1.0, 0.8), (2.0, 0.6))


@dataclass(frozen=True, kw_only=True)
class PlannedCall:
    """A tool call and why it is made."""

    name: str
    arguments: dict[str, JsonValue]
    why: str


@dataclass(frozen=True, kw_only=True)
class _Step:
    preference: float
    call: PlannedCall | None


def _pick(
    choices: tuple[tuple[float, float], ...], temperature: float, rng: np.random.Generator
) -> float:
    return choices[draw([preference for _, preference in choices], temperature, rng)][0]


def _focus(asked: Asked, question: str) -> str:
    if asked.counts and (asked.colour or asked.shape):
        return " ".join(part for part in (asked.colour, f"{asked.shape or 'shape'}s") if part)
    return question


def _margin(scores: tuple[float, ...]) -> float:
    ordered = sorted(scores, reverse=True)
    if not ordered:
        return 0.0
    return ordered[0] - (ordered[1] if len(ordered) > 1 else 0.0)


def _listen(tool: ToolInfo | None, duration_s: float | None) -> PlannedCall | None:
    if tool is None:
        return None
    arguments = arguments_for(tool, Look(start_s=0.0, end_s=duration_s))
    if arguments is None:
        return None
    return PlannedCall(name=tool.name, arguments=arguments, why="What is said may fix the answer.")


def _broad(
    tool: ToolInfo | None,
    asked: Asked,
    conversation: Conversation,
    temperature: float,
    rng: np.random.Generator,
) -> PlannedCall | None:
    if tool is None:
        return None
    fps = _pick(_BROAD_FPS, temperature, rng)
    if conversation.duration_s is not None and conversation.duration_s > _BROAD_FRAMES:
        fps = min(fps, max(0.05, _BROAD_FRAMES / conversation.duration_s))
    look = Look(
        start_s=0.0,
        end_s=conversation.duration_s,
        fps=fps,
        focus=_focus(asked, conversation.question),
    )
    arguments = arguments_for(tool, look)
    if arguments is None:
        return None
    return PlannedCall(
        name=tool.name, arguments=arguments, why="One pass over the whole video comes first."
    )


def _close(
    tool: ToolInfo | None,
    asked: Asked,
    conversation: Conversation,
    temperature: float,
    rng: np.random.Generator,
) -> PlannedCall | None:
    """Return a look at the stretch that the question points to, or a finer pass over everything."""
    if tool is None:
        return None
    duration_s = conversation.duration_s
    window = asked_window(asked, conversation.evidence, duration_s)
    start_s, end_s = window or (0.0, duration_s)
    if window is not None and end_s is not None:
        padding_s = _pick(_PADDING_S, temperature, rng)
        start_s = float(max(0, math.floor(start_s - padding_s)))
        end_s = float(math.ceil(end_s + padding_s))
        end_s = end_s if duration_s is None else min(duration_s, end_s)
        if end_s - start_s < 0.5:
            return None
    look = Look(
        start_s=start_s,
        end_s=end_s,
        fps=_pick(_CLOSE_FPS, temperature, rng),
        focus=_focus(asked, conversation.question),
        is_close=True,
    )
    arguments = arguments_for(tool, look)
    repeated = any(call.arguments == arguments for call in conversation.calls_of(tool.name))
    if arguments is None or repeated:
        return None
    return PlannedCall(
        name=tool.name, arguments=arguments, why="The evidence does not decide between the options."
    )


def _has_evidence(conversation: Conversation) -> bool:
    evidence = conversation.evidence
    return bool(evidence.texts or evidence.counts or evidence.speech or evidence.notes)


def _thing(asked: Asked, question: str) -> str:
    """Return what may be searched for in a few words: what the question places itself by, else its focus."""
    return asked.anchor if asked.anchor and asked.relation else _focus(asked, question)


def _by_arguments(
    tool: ToolInfo,
    asked: Asked,
    conversation: Conversation,
    lead: float,
    place: int,
) -> _Step | None:
    """Return a call of a tool that is known by its arguments only: less liked each time it was made.

    Of tools that are liked the same, the one with the first `place` is liked a little more.
    """
    duration_s = conversation.duration_s
    window = asked_window(asked, conversation.evidence, duration_s)
    start_s, end_s = window or (0.0, duration_s)
    if window is not None:
        start_s, end_s = float(math.floor(window[0])), float(math.ceil(window[1]))
        end_s = end_s if duration_s is None else min(duration_s, end_s)
    made = conversation.calls_of(tool.name)
    look = Look(
        start_s=start_s,
        end_s=end_s,
        focus=_focus(asked, conversation.question),
        is_close=bool(made),
        thing=_thing(asked, conversation.question),
        items=conversation.options,
    )
    arguments = arguments_for(tool, look)
    if arguments is None or any(call.arguments == arguments for call in made):
        return None
    preference = _OTHER * _AGAIN ** len(made) - 0.3 * lead - _LATER * place
    why = "No call of this kind was made yet." if not made else "The place is known better now."
    return _Step(
        preference=max(0.0, preference),
        call=PlannedCall(name=tool.name, arguments=arguments, why=why),
    )


def _steps(
    asked: Asked,
    conversation: Conversation,
    scores: tuple[float, ...],
    tools: list[ToolInfo],
    temperature: float,
    rng: np.random.Generator,
) -> list[_Step]:
    """Return what could be done next, answering first."""
    looks = len(conversation.calls_of(*LOOKING))
    has_heard = bool(conversation.calls_of(*LISTENING)) or bool(conversation.evidence.speech)
    wants_sound = asked.is_spoken or asked.anchor_is_spoken
    wants_sight = asked.counts or asked.is_shown or not asked.is_spoken
    lead = _margin(scores)
    eye, ear = usable(tools, LOOKING), usable(tools, LISTENING)
    steps: list[_Step] = []
    if not has_heard and (call := _listen(ear, conversation.duration_s)):
        steps.append(
            _Step(preference=1.0 if wants_sound else 0.65 if lead < 0.1 else 0.2, call=call)
        )
    if looks == 0 and (call := _broad(eye, asked, conversation, temperature, rng)):
        preference = 0.9 if wants_sight else 0.3
        steps.append(_Step(preference=preference, call=call))
    elif 0 < looks < _MAX_LOOKS and (call := _close(eye, asked, conversation, temperature, rng)):
        preference = (0.75 if wants_sight else 0.4) - 0.2 * (looks - 1)
        steps.append(_Step(preference=preference, call=call))
    others = [
        _by_arguments(tool, asked, conversation, lead, place)
        for place, tool in enumerate(other_tools(tools))
    ]
    steps += [step for step in others if step is not None]
    lacking = (wants_sound and not has_heard and ear is not None) or (
        wants_sight and looks == 0 and eye is not None
    )
    if any(others) and not _has_evidence(conversation):
        lacking = True
    return [_Step(preference=0.05 if lacking else 0.6 + 0.4 * lead, call=None), *steps]


def next_call(
    asked: Asked,
    conversation: Conversation,
    scores: tuple[float, ...],
    tools: list[ToolInfo],
    tool_choice: ToolChoice,
    temperature: float,
    rng: np.random.Generator,
) -> PlannedCall | None:
    """Return the next tool call, None to answer now.

    Tools that are not known, or that require arguments which are not known, are never called. At
    most `MAX_CALLS` calls are made in a conversation, two failed calls end the search, and a
    notice that asks for the answer is obeyed.

    Parameters
    ----------
    scores
        Agreement (0..1) of the options with the evidence so far.
    tool_choice
        `none` answers, `any` calls something as long as there is something to call, a named
        function is called where its arguments can be filled.
    """
    over = len(conversation.calls) >= MAX_CALLS or conversation.failed_calls >= _MAX_FAILED
    if tool_choice == "none" or not tools or over or conversation.must_answer:
        return None
    if isinstance(tool_choice, ToolFunction):
        tools = [tool for tool in tools if tool.name == tool_choice.name]
    steps = _steps(asked, conversation, scores, tools, temperature, rng)
    if tool_choice != "auto":
        steps = [step for step in steps if step.call is not None]
    if not steps:
        return None
    return steps[draw([step.preference for step in steps], temperature, rng)].call
