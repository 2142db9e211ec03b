"""A trajectory as the text that a judge reads: the same for every agent and for imported predictions.

What the agent said, which tools it called with what, what it got back, what its observer told it where
no tool stands between them, remarks of the harness (a forced answer is not a voluntary one) and its
final answer in its own words, in order. Two protocols:
`blind` leaves out who answered, `published` begins with the name of the system as the judge of
AgentVidBench was given it. Neither has the true answer, an answer that somebody else parsed, token
counts or times of the clock; times of the video stay.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import cast

from taketwo.benchmarks.canonical import JsonValue
from taketwo.executions.scoring_spec import Protocol
from taketwo.executions.trajectory import (
    Event,
    ModelCall,
    Note,
    PrimitiveOperation,
    ToolCall,
    Trajectory,
)

__all__ = [
    "Protocol",
    "RenderedTrajectory",
    "own_observations",
    "rendered",
    "rendered_prediction",
    "sentences",
    "text_without",
    "value_without",
]

_NO_TEXT = "(no text)"
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")
_MOST_JSON_STARTS = 20
_DEEPEST = 50
_HEADING = re.compile(
    r"^([ \t]*+)\[[ \t]*+((?:step\b|final[ \t]++answer\b)[^\]\n]{0,80}+)\]?",
    re.IGNORECASE | re.MULTILINE,
)
"""How a step and the final answer are headed, at the beginning of a line."""

_BREAK = re.compile("[\\r\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029]")

_ANSWER_KEYS = frozenset({"answer", "letter", "choice", "option", "final_answer"})


@dataclass(frozen=True, kw_only=True)
class RenderedTrajectory:
    """The text of a trajectory, and the name of its system for the protocol that shows it."""

    text: str
    system: str


def rendered(trajectory: Trajectory, *, system: str) -> RenderedTrajectory:
    """Return the text of a trajectory.

    Two trajectories have the same text exactly where the same was thought, said, called, returned
    and answered; arm, execution, models, tokens and latencies leave no trace.
    """
    seen = own_observations(trajectory.events)
    steps = [
        step
        for at, event in enumerate(trajectory.events)
        if (step := _step(event, is_observation=at in seen)) is not None
    ]
    lines = [f"[step {number}] {step}" for number, step in enumerate(steps, start=1)]
    final = _plain(trajectory.answer_text)
    reasons = trajectory.reasoning.strip()
    shown = "\n".join([trajectory.answer_text, *steps])
    if reasons and _one_line(reasons) not in _one_line(shown):
        final = f"{final}\n\n{_plain(f'Reasons given: {reasons}')}"
    # That a limit ended the cell is for the judge to know; that nobody could read the answer is not.
    status = " (limit)" if trajectory.run_status == "limit" else ""
    forced = ", given because a budget ran out" if trajectory.forced else ""
    lines.append(f"[final answer{status}{forced}]\n{final}")
    return RenderedTrajectory(text="\n\n".join(lines), system=system)


def own_observations(events: Sequence[Event]) -> frozenset[int]:
    """Return the places of what an observer told the agent itself.

    What it tells a tool is in what the tool returns. A turn of the orchestrator that calls no tool
    has none of that kind: an agent that asks its observer directly has its evidence from there.
    What failed or has no words tells nothing.
    """
    found: list[int] = []
    pending: list[int] = []
    has_tool = False
    for at, event in enumerate(events):
        if isinstance(event, ToolCall):
            has_tool = True
        elif isinstance(event, ModelCall) and event.role == "orchestrator":
            found += [] if has_tool else pending
            pending, has_tool = [], False
        elif _has_told(event):
            pending.append(at)
    return frozenset(found if has_tool else [*found, *pending])


def _has_told(event: Event) -> bool:
    if not isinstance(event, ModelCall) or event.role != "observer":
        return False
    return event.error is None and bool(event.text.strip())


def _one_line(text: str) -> str:
    return " ".join(text.replace("\\n", " ").replace('\\"', '"').split())


def _plain(text: str) -> str:
    """Return a text of an agent or a tool that cannot pass for the heading of a step or the final answer.

    Every break of a line is one, and characters that nobody sees are gone, before headings are
    looked for: what is taken out later could make one.
    """
    lines = _BREAK.sub("\n", text.replace("\r\n", "\n"))
    return _HEADING.sub(r"\1(\2)", lines.translate(_hidden()).strip()) or _NO_TEXT


@cache
def _hidden() -> dict[int, None]:
    """Return the characters that nobody sees, as a table that takes them out."""
    return {
        code: None
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in {"Cc", "Cf"} and chr(code) not in "\n\t"
    }


def rendered_prediction(text: str, *, system: str) -> RenderedTrajectory:
    """Return the text of a prediction that another harness wrote, as it stands."""
    return RenderedTrajectory(text=text.strip() or _NO_TEXT, system=system)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text; each line begins a new one."""
    return [part for line in text.split("\n") for part in _SENTENCE_END.split(line) if part.strip()]


def text_without(text: str, is_cut: Callable[[str], bool]) -> tuple[str, int]:
    """Return a text without the sentences that are to go, JSON objects in it kept whole, and how many went."""
    parts: list[str] = []
    cut = place = 0
    for start, end, value in _json_objects(text):
        prose, number = _prose_without(text[place:start], is_cut)
        kept, inside = value_without(value, is_cut)
        parts += [prose, json.dumps(kept, ensure_ascii=False) if inside else text[start:end]]
        cut += number + inside
        place = end
    prose, number = _prose_without(text[place:], is_cut)
    return "".join([*parts, prose]), cut + number


def value_without(
    value: JsonValue, is_cut: Callable[[str], bool], *, depth: int = 0
) -> tuple[JsonValue, int]:
    """Return a JSON value whose texts lack the sentences that are to go; an answer stays.

    What lies deeper than 50 levels stays as it is.
    """
    if depth > _DEEPEST:
        return value, 0
    if isinstance(value, str):
        return _prose_without(value, is_cut)
    if isinstance(value, Mapping):
        kept = {
            key: (item, 0) if key in _ANSWER_KEYS else value_without(item, is_cut, depth=depth + 1)
            for key, item in value.items()
        }
        return {key: item for key, (item, _) in kept.items()}, sum(n for _, n in kept.values())
    if isinstance(value, Sequence):
        items = [value_without(item, is_cut, depth=depth + 1) for item in value]
        return [item for item, _ in items], sum(number for _, number in items)
    return value, 0


def _prose_without(text: str, is_cut: Callable[[str], bool]) -> tuple[str, int]:
    cut = 0
    lines: list[str] = []
    for line in text.split("\n"):
        sentences = _SENTENCE_END.split(line)
        kept = [sentence for sentence in sentences if not is_cut(sentence)]
        cut += len(sentences) - len(kept)
        if len(kept) == len(sentences):
            lines.append(line)
        elif any(sentence.strip() for sentence in kept):
            lines.append(" ".join(kept))
    return "\n".join(lines), cut


def _json_objects(text: str) -> list[tuple[int, int, JsonValue]]:
    """Return the JSON objects that begin a line, with where they stand; at most some starts are tried."""
    found: list[tuple[int, int, JsonValue]] = []
    decoder = json.JSONDecoder()
    place = 0
    for match in list(re.finditer(r"^[ \t]*(?=\{)", text, re.MULTILINE))[:_MOST_JSON_STARTS]:
        if match.end() < place:
            continue
        try:
            value, end = decoder.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            continue
        found.append((match.end(), end, cast("JsonValue", value)))
        place = end
    return found


def _step(event: Event, *, is_observation: bool) -> str | None:
    """Return what a judge sees of an event; None for what is below a visible call."""
    if isinstance(event, Note):
        return f"remark of the harness: {_plain(event.text)}"
    if isinstance(event, ModelCall):
        if is_observation:
            return f"the observer said:\n{_plain(event.text)}"
        thought = f"thinking: {event.reasoning.strip()}" if event.reasoning.strip() else ""
        said = "\n\n".join(part for part in (thought, event.text.strip()) if part)
        if event.role != "orchestrator" or event.error is not None or not said:
            return None
        return f"said:\n{_plain(said)}"
    if isinstance(event, PrimitiveOperation):
        is_own_look = event.operation == "extract_video_parts" and event.call_id is None
        return (
            f"looked at {event.frames} frames of the video"
            if is_own_look and event.frames
            else None
        )
    written = json.dumps(dict(event.arguments), ensure_ascii=False, sort_keys=True)
    # JSON leaves some breaks of a line as they are.
    arguments = _BREAK.sub(lambda found: f"\\u{ord(found[0]):04x}", written)
    outcome = "failed" if event.error is not None else "returned"
    name = " ".join(event.name.split())
    return f"called {name} with {arguments}\n{outcome}:\n{_plain(event.result)}"
