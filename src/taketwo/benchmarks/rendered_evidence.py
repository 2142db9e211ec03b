"""What is known about a rendered video, and the stretches of time that questions refer to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import cast

from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.scene import VideoScript

__all__ = [
    "Evidence",
    "Heard",
    "Look",
    "Program",
    "Window",
    "Windows",
    "evidence_of_script",
    "plain",
    "spoken_words",
]

Program = Mapping[str, JsonValue]

_WORD = re.compile(r"[A-Z]{5,8}")
_ALIKE = 0.75
_SHORTEST_SECTION_S = 1.5


@dataclass(frozen=True)
class Look:
    """What is visible at a second: texts, and how many shapes of each colour and shape."""

    time_s: float
    texts: tuple[str, ...]
    counts: Mapping[tuple[str, str], int]


@dataclass(frozen=True)
class Heard:
    """Speech between two seconds."""

    start_s: float
    end_s: float
    text: str


@dataclass(frozen=True)
class Evidence:
    """All that is known about a video, in order of time."""

    looks: tuple[Look, ...]
    heard: tuple[Heard, ...]


@dataclass(frozen=True)
class Window:
    """A stretch of time, both ends included."""

    start_s: float
    end_s: float


def evidence_of_script(script: VideoScript) -> Evidence:
    """Return what a perfect observer of every frame and every word knows."""
    times = [index / script.fps for index in range(script.frames)]
    return Evidence(
        tuple(Look(t, script.texts_at(t), script.counts_at(t)) for t in times),
        tuple(Heard(u.start_s, u.end_s, u.text) for u in script.utterances),
    )


def plain(text: str) -> str:
    """Return the capital letters and digits of a text on screen."""
    return re.sub(r"[^A-Z0-9]", "", text.upper())


def spoken_words(text: str) -> set[str]:
    """Return the words of speech in small letters."""
    return set(re.findall(r"[a-z0-9]+", text.lower()))


class Windows:
    """The stretches of time of one body of evidence."""

    def __init__(self, evidence: Evidence) -> None:
        self._looks = evidence.looks
        self._heard = evidence.heard

    def of(self, program: JsonValue) -> Window | None:
        """Return the stretch of time that a window describes, None where it is not found."""
        step = cast("Mapping[str, JsonValue]", program)
        match step["op"]:
            case "while_sign":
                return self._while_sign(cast("str", step["text"]))
            case "while_spoken":
                heard = self._first_heard(cast("Sequence[str]", step["keywords"]))
                return None if heard is None else Window(heard.start_s, heard.end_s)
            case "while_claimed":
                heard = self._first_claim(str(step["colour"]), str(step["shape"]))
                return None if heard is None else Window(heard.start_s, heard.end_s)
            case "section_of":
                at = self.section_number(self.of(step["window"]))
                return None if at is None else self.sections()[at][1]
            case "next_section":
                at = self.section_number(self.of(step["window"]))
                sections = self.sections()
                return None if at is None or at + 1 >= len(sections) else sections[at + 1][1]
            case other:
                raise ValueError(f"unknown window {other!r} in a question's program")

    def _while_sign(self, text: str) -> Window | None:
        times = [look.time_s for look in self._looks if text in map(plain, look.texts)]
        if not times:
            times = [
                look.time_s
                for look in self._looks
                if any(
                    SequenceMatcher(None, text, plain(seen)).ratio() >= _ALIKE
                    for seen in look.texts
                )
            ]
        return Window(times[0], times[-1]) if times else None

    def _first_heard(self, keywords: Sequence[str]) -> Heard | None:
        return next((h for h in self._heard if spoken_words(h.text) & set(keywords)), None)

    def _first_claim(self, colour: str, shape: str) -> Heard | None:
        wanted = {"see", colour, f"{shape}s"}
        return next((h for h in self._heard if wanted <= spoken_words(h.text)), None)

    def sections(self) -> list[tuple[str, Window]]:
        """Return the words on signs with their times, in order; passing misreadings are left out."""
        spans: dict[str, Window] = {}
        for look in self._looks:
            for text in map(plain, look.texts):
                if _WORD.fullmatch(text):
                    first = spans.get(text, Window(look.time_s, look.time_s))
                    spans[text] = Window(first.start_s, look.time_s)
        lasting = [s for s in spans.items() if s[1].end_s - s[1].start_s >= _SHORTEST_SECTION_S]
        return sorted(lasting, key=lambda item: item[1].start_s)

    def section_number(self, window: Window | None) -> int | None:
        """Return the place of the section that shares most time with a window."""
        if window is None:
            return None
        overlaps = [
            min(window.end_s, span.end_s) - max(window.start_s, span.start_s)
            for _, span in self.sections()
        ]
        if not overlaps or max(overlaps) < 0:
            return None
        return overlaps.index(max(overlaps))

    def looks_in(self, window: Window | None) -> Iterator[Look]:
        """Yield what is visible within a window."""
        for look in self._looks:
            if window is not None and window.start_s <= look.time_s <= window.end_s:
                yield look
