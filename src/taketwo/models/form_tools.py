"""Which tool an offline planner names where tools are listed in words, and what it tells it to do.

A list has a line a tool, "- `name` (kind): what it does. Input: what it takes."; calls that were made
stand above it as `Call 2: name (kind)` and their inputs in fences.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from taketwo.models.fences import CLOSE, OPEN, unfenced
from taketwo.models.form_plans import thing_asked
from taketwo.models.known import Known
from taketwo.models.option_scores import draw
from taketwo.models.sought import wants_text
from taketwo.models.timeline import asked_window

__all__ = ["NamedTool", "named_tool"]

_LISTED = re.compile(r"^\s*-\s*`([\w.-]+)`\s*(?:\(\w+\))?:\s*(.*)$", re.MULTILINE)
_CALLED = re.compile(r"^Call \d+: ([\w.-]+)\b")
_OUTSIDE = re.compile(r"\bweb\b|internet", re.IGNORECASE)
_HEARS = re.compile(r"\bis said\b|\bspeech\b", re.IGNORECASE)
_COUNTS = re.compile(r"\bcounts\b", re.IGNORECASE)
_READS = re.compile(r"\breads all text\b|\btext recognition\b", re.IGNORECASE)
_FINDS = re.compile(r"\bfor an event\b|\bbetween which seconds\b", re.IGNORECASE)
_ASKS = re.compile(r"\bquestion\b", re.IGNORECASE)
_NEEDS_TIME = re.compile(r"\bnames the time\b", re.IGNORECASE)
_AGAIN = 0.6  # factor for each call of the same tool
_LATER = 1e-4
_REPEATED = 0.02  # preference for a call that was made already, word for word


@dataclass(frozen=True, kw_only=True)
class NamedTool:
    """A tool by name and its input in words."""

    name: str
    input: str


@dataclass(frozen=True, kw_only=True)
class _Listed:
    name: str
    does: str
    takes: str


def named_tool(known: Known) -> NamedTool | None:
    """Return the tool to call next, drawn by preference; None where none is listed."""
    listed = _listed(known.said)
    if not listed:
        return None
    made = _made(known.said)
    inputs = [_input(tool, known) for tool in listed]
    preferences: list[float] = []
    for place, (tool, text) in enumerate(zip(listed, inputs, strict=True)):
        times = sum(name == tool.name for name, _ in made)
        is_repeated = (tool.name, text) in made
        # Of tools that are liked the same, the one that is listed first is liked a little more.
        wanted = _preference(tool, known) * _AGAIN**times - _LATER * place
        preferences.append(_REPEATED * wanted if is_repeated else wanted)
    chosen = draw(preferences, known.temperature, known.rng)
    return NamedTool(name=listed[chosen].name, input=inputs[chosen])


def _listed(text: str) -> list[_Listed]:
    found: list[_Listed] = []
    for name, about in _LISTED.findall(unfenced(text)):
        does, _, takes = about.partition(" Input: ")
        found.append(_Listed(name=name, does=does, takes=takes))
    kept = [tool for tool in found if not _OUTSIDE.search(f"{tool.name} {tool.does}")]
    return kept or found


def _made(text: str) -> list[tuple[str, str]]:
    """Return name and input of each call in the request."""
    made: list[tuple[str, str]] = []
    name, inside = "", False
    for line in text.splitlines():
        if called := _CALLED.match(line):
            name, inside = called.group(1), False
        elif name and (opened := OPEN.match(line)):
            inside = opened.group(1) == "tool_input"
            if inside:
                made.append((name, ""))
        elif inside and CLOSE.match(line):
            name, inside = "", False
        elif inside:
            made[-1] = (made[-1][0], f"{made[-1][1]}\n{line}".strip())
    return made


def _preference(tool: _Listed, known: Known) -> float:
    asked, evidence = known.asked, known.conversation.evidence
    wants_sound = asked.is_spoken or asked.anchor_is_spoken
    if _HEARS.search(tool.does):
        return 0.95 if wants_sound and not evidence.speech else 0.3
    if _COUNTS.search(tool.does):
        return 0.95 if asked.counts else 0.2
    if _READS.search(tool.does):
        return 0.9 if wants_text(known.conversation.question) else 0.5
    if _NEEDS_TIME.search(tool.takes):
        return 0.75 if _window(known) else 0.0
    if _FINDS.search(tool.does):
        return 0.85 if asked.anchor and not asked.anchor_is_spoken else 0.6
    return 0.7 if _ASKS.search(tool.takes) else 0.65


def _window(known: Known) -> tuple[float, float] | None:
    conversation = known.conversation
    return asked_window(known.asked, conversation.evidence, conversation.duration_s)


def _input(tool: _Listed, known: Known) -> str:
    takes, asked = tool.takes, known.asked
    if takes.startswith("nothing"):
        return ""
    thing = thing_asked(known)
    if _COUNTS.search(tool.does):
        kind = " ".join(part for part in (asked.colour, asked.shape) if part)
        return kind or "shape"
    if _HEARS.search(tool.does):
        return asked.anchor or thing
    window = _window(known)
    if _NEEDS_TIME.search(takes) and window is not None:
        return f"What is shown from {window[0]:.1f} to {window[1]:.1f} seconds?"
    if _ASKS.search(takes):
        return _frame_question(known)
    return asked.anchor or thing


def _frame_question(known: Known) -> str:
    """Return what a single picture can answer of the question."""
    asked = known.asked
    if asked.counts:
        kind = " ".join(part for part in (asked.colour, f"{asked.shape or 'shape'}s") if part)
        return f"How many {kind} can be seen?"
    return "Which text can be seen?" if wants_text(known.conversation.question) else "What is seen?"
