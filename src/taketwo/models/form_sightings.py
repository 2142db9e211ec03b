"""What an offline observer writes into a form: what it measured, frame by frame or stretch by stretch."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import cast

from pydantic import JsonValue

from taketwo.models.fences import fenced
from taketwo.models.known import Known, measured_lines
from taketwo.models.offline_observer import things_in
from taketwo.models.perception import FrameFacts
from taketwo.models.shapes import COLOURS, SHAPES
from taketwo.models.sought import Line, body_of, found_in, wants_shapes, wants_text
from taketwo.models.video_lines import CountLine, TextLine, clock, lines_in, when
from taketwo.models.words import content_words, overlap

__all__ = [
    "all_lines",
    "counted_in",
    "frame_answer",
    "known_lines",
    "patch_of",
    "relevant_lines",
    "report",
    "subjects",
    "tile_span",
    "told",
]

_MOST_TOLD = 60
_MOST = 12  # stretches that a report lists
_LIMITS = (
    "Measured by text recognition and by colour and outline only: people, actions, objects and "
    "places are not seen."
)


def known_lines(known: Known) -> list[Line]:
    """Return what may be reported, by time: of frames what was measured, else all that was handed over."""
    if known.is_observer and known.measured.facts:
        return [*measured_lines(known.measured)]
    evidence = known.conversation.evidence
    lines: list[Line] = [*evidence.texts, *evidence.counts, *evidence.speech, *evidence.notes]
    return sorted(lines, key=lambda line: line.start_s)


def relevant_lines(known: Known) -> list[Line]:
    """Return the lines that share a word with what is asked or offered, at most 12."""
    wanted = content_words(f"{known.target} {known.conversation.question}")
    wanted = wanted.union(*(content_words(option) for option in known.conversation.options))
    kinds = f"{known.target} {known.conversation.question}"
    return [
        line
        for line in known_lines(known)
        if overlap(wanted, content_words(body_of(line))) > 0
        or (wants_text(kinds) and body_of(line).startswith("text "))
    ][:_MOST]


def all_lines(known: Known) -> list[str]:
    """Return everything that may be reported, a line each with its seconds."""
    return [f"{when(line.start_s, line.end_s)} {body_of(line)}" for line in known_lines(known)]


def report(known: Known) -> str:
    """Return everything that may be reported, and what is not seen at all."""
    lines = all_lines(known)
    frames = known.measured.facts
    if not frames:
        return "\n".join(lines) or "Nothing is known of the video."
    if not lines:
        lines = [f"Nothing was recognised in {len(frames)} frames."]
    elif not relevant_lines(known):
        lines.insert(0, "Nothing here bears on the question; a look over the whole video may help.")
    motion = [known.measured.motion] if known.measured.motion else []
    return "\n".join([*lines, *motion, _LIMITS])


def told(known: Known) -> str:
    """Return what texts that were handed over say about what is asked: those lines first, then the rest."""
    first = relevant_lines(known)
    rest = [line for line in known_lines(known) if line not in first]
    lines = [f"{when(line.start_s, line.end_s)} {body_of(line)}" for line in [*first, *rest]]
    return "\n".join(lines[:_MOST_TOLD]) or "Nothing in these texts bears on what is asked."


def frame_answer(facts: FrameFacts, target: str) -> str:
    """Return what one frame shows of `target`: shapes of a kind, texts, shapes, or everything."""
    kind = _Kind.of(target)
    things = things_in(facts).split("; ")
    if kind is not None:
        things = [thing for thing in things if kind.is_in(thing)]
    elif wants_text(target) != wants_shapes(target):
        things = [thing for thing in things if thing.startswith("text ") == wants_text(target)]
    return "; ".join(things) or "not visible"


@dataclass(frozen=True, kw_only=True)
class _Kind:
    """A colour, a shape, or both; an empty part is any."""

    colours: frozenset[str]
    shapes: frozenset[str]

    @classmethod
    def of(cls, target: str) -> _Kind | None:
        words = content_words(target)
        colours, shapes = words & set(COLOURS), words & set(SHAPES)
        is_kind = bool(colours or shapes or "shape" in words)
        return cls(colours=frozenset(colours), shapes=frozenset(shapes)) if is_kind else None

    def holds(self, colour: str, shape: str) -> bool:
        return (not self.colours or colour in self.colours) and (
            not self.shapes or shape in self.shapes
        )

    def is_in(self, thing: str) -> bool:
        lines = lines_in(f"[0.0 s] {thing}")
        return any(
            isinstance(line, CountLine) and self.holds(line.colour, line.shape) for line in lines
        )


def counted_in(facts: FrameFacts, target: str) -> int:
    """Return how many shapes of the colour and kind that `target` names one frame shows."""
    kind = _Kind.of(target)
    if kind is None:
        return 0
    return sum(shape.count for shape in facts.shapes if kind.holds(shape.colour, shape.shape))


def patch_of(known: Known, choices: Sequence[JsonValue]) -> str | None:
    """Return in which part of the picture the text stands that is looked for; shapes have no place."""
    names = [str(choice) for choice in choices]
    for facts in known.measured.facts:
        for box in facts.texts:
            line = next(lines_in(f'[0.0 s] text "{box.text}"'), None)
            if line is None or found_in([line], known.target) is None:
                continue
            x, y = (box.box[0] + box.box[2]) / 2, (box.box[1] + box.box[3]) / 2
            is_middle = abs(x - 0.5) < 0.15 and abs(y - 0.5) < 0.15
            side = f"{'top' if y < 0.5 else 'bottom'} {'left' if x < 0.5 else 'right'}"
            wanted = ("centre", "center") if is_middle else (side,)
            return next((name for name in names if name.lower() in wanted), None)
    return None


def tile_span(known: Known) -> tuple[int, int] | None:
    """Return the numbers of the first and the last tile that show what is looked for, else of all."""
    frames = known.measured.facts
    if not frames:
        return None
    found = found_in(known_lines(known), known.target)
    if found is None:
        return 1, len(frames)
    inside = [
        number
        for number, facts in enumerate(frames, start=1)
        if found.start_s <= facts.time_s <= found.end_s
    ]
    return (inside[0], inside[-1]) if inside else (1, len(frames))


def subjects(known: Known) -> dict[str, JsonValue]:
    """Return a record of each kind of shape and each text, by an id made of its name.

    Where no frame was seen, those of the registries that were handed over, of one name one.
    """
    if not known.measured.facts:
        return _merged(known.said)
    found: dict[str, JsonValue] = {}
    for line in known_lines(known):
        name = re.sub(r"^\d+ ", "", body_of(line)).removesuffix("s")
        key = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
        if key and key not in found:
            kind = "text on screen" if isinstance(line, TextLine) else "painted shape"
            found[key] = {
                "name": name,
                "appearance": body_of(line),
                "identity": kind,
                "first_seen": clock(line.start_s),
            }
    return found


def _merged(text: str) -> dict[str, JsonValue]:
    """Return the subjects of registries that stand in fences, one JSON object a line, the earliest of a name."""
    by_name: dict[str, tuple[str, dict[str, JsonValue]]] = {}
    for line in (line for part in fenced(text) for line in part.text.splitlines()):
        for key, subject in _registry_in(line).items():
            if not isinstance(subject, dict):
                continue
            name = str(subject.get("name", key))
            earlier = by_name.get(name)
            if earlier is None or str(subject.get("first_seen", "")) < str(
                earlier[1].get("first_seen", "")
            ):
                by_name[name] = (earlier[0] if earlier else key, subject)
    merged: dict[str, JsonValue] = {}
    for key, subject in by_name.values():
        free = next(k for k in chain([key], (f"{key}_{n}" for n in count(2))) if k not in merged)
        merged[free] = subject
    return merged


def _registry_in(line: str) -> dict[str, JsonValue]:
    if not line.startswith("{"):
        return {}
    try:
        record: object = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, JsonValue]", record) if isinstance(record, dict) else {}
