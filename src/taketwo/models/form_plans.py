"""What an offline orchestrator writes into a plan: which part of the video to look at next, and how closely."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from taketwo.models.known import Known
from taketwo.models.option_scores import draw
from taketwo.models.sought import found_in, wants_text
from taketwo.models.timeline import asked_window

__all__ = ["PlannedLook", "chosen_numbers", "look_next", "thing_asked"]

_WIDE_FPS = ((0.5, 0.7), (1.0, 0.9), (2.0, 0.6))  # rate, preference
_CLOSE_FPS = ((2.0, 0.9), (4.0, 0.7))
_PADDING_S = ((0.0, 0.6), (1.0, 0.8), (2.0, 0.6))
_WIDER_S = 3.0
_LOOKED = re.compile(r"\[(?:Round|Second look in round) \d+;")
_LISTED = re.compile(
    r"^\s*(?:[-*]\s*)?\[?(\d+)[\].:)]*\s+(?:from\s+)?"
    r"(\d+(?:\.\d+)?)\s*s?\s*(?:-|–|to)\s*(\d+(?:\.\d+)?)\s*s\b"
)


@dataclass(frozen=True, kw_only=True)
class PlannedLook:
    """A look at parts of the video (seconds); no part means all of it. Sizes are of frames."""

    spans: tuple[tuple[float, float], ...]
    fps: float
    resolution: Literal["low", "medium"] = "medium"

    @property
    def goal(self) -> str:
        """Return what the look does, in words."""
        if not self.spans:
            return "One pass over the whole video"
        where = ", ".join(f"{start:.1f} s to {end:.1f} s" for start, end in self.spans)
        return f"A closer look from {where}"


def _pick(known: Known, choices: Sequence[tuple[float, float]]) -> float:
    return choices[draw([weight for _, weight in choices], known.temperature, known.rng)][0]


def thing_asked(known: Known) -> str:
    """Return what to look for in a few words: a kind of shape, the anchor of the question, or itself."""
    asked = known.asked
    if asked.counts and (asked.colour or asked.shape):
        return " ".join(part for part in (asked.colour, f"{asked.shape or 'shape'}s") if part)
    return asked.anchor or known.conversation.question


def look_next(known: Known) -> PlannedLook:
    """Return the next look: all of the video first, then the stretch that the question points to.

    Where the question points nowhere, a place where the thing asked for was seen does; else the
    whole video is looked at again, more closely. From the third look on the stretch is wider.
    """
    conversation = known.conversation
    looks = len(_LOOKED.findall(known.said))
    if not looks and not known.has_evidence and known.asked.window_s is None:
        is_fine = wants_text(conversation.question) or known.asked.counts
        return PlannedLook(
            spans=(), fps=_pick(known, _WIDE_FPS), resolution="medium" if is_fine else "low"
        )
    window = asked_window(known.asked, conversation.evidence, conversation.duration_s)
    if window is None:
        evidence = conversation.evidence
        found = found_in([*evidence.texts, *evidence.counts], thing_asked(known))
        window = None if found is None else (found.start_s, found.end_s)
    if window is None:
        return PlannedLook(spans=(), fps=_pick(known, _CLOSE_FPS))
    padding_s = _pick(known, _PADDING_S) + _WIDER_S * max(0, looks - 1)
    start_s = float(max(0, math.floor(window[0] - padding_s)))
    end_s = float(math.ceil(window[1] + padding_s))
    if conversation.duration_s is not None:
        end_s = min(conversation.duration_s, end_s)
        start_s = min(start_s, max(0.0, end_s - 1.0))
    return PlannedLook(spans=((start_s, end_s),), fps=_pick(known, _CLOSE_FPS))


def chosen_numbers(known: Known) -> list[JsonValue]:
    """Return which of the numbered stretches in the request touch the one that the question points to.

    All of them where it points nowhere.
    """
    listed = [
        (int(match.group(1)), float(match.group(2)), float(match.group(3)))
        for line in known.said.splitlines()
        if (match := _LISTED.match(line))
    ]
    conversation = known.conversation
    window = asked_window(known.asked, conversation.evidence, conversation.duration_s)
    touching = [
        number
        for number, start_s, end_s in listed
        if window is None or (start_s <= window[1] and end_s >= window[0])
    ]
    return [*(touching or [number for number, _, _ in listed])]
