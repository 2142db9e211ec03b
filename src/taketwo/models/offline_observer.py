"""The offline observer: reports what was measured in the frames it was handed, and what it cannot see.

It is a measuring instrument, not a language model: the focus only selects which measurements are
named first. It has no sampling, so temperature and seed do not change what it says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from taketwo.media.store import MediaStore
from taketwo.models.perception import FrameFacts, facts_of, motion_between
from taketwo.models.request_media import SentFrame
from taketwo.models.video_lines import count_text, when
from taketwo.models.words import content_words, overlap

__all__ = ["Measured", "Observation", "measure", "observe", "report_of", "sightings", "things_in"]

_MIN_TEXT_CONFIDENCE = 0.5
_SAME_TEXT = 0.8
_MOVES = 0.002  # share of the small picture that changed


@dataclass(frozen=True, kw_only=True)
class Observation:
    """The observer's reply and the seconds to charge for it."""

    text: str
    charged_s: float


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What was measured in the frames of a request, in order of time, and the seconds to charge for it.

    `motion` says in a line how much moved between them; empty for fewer than two frames.
    """

    facts: tuple[FrameFacts, ...] = ()
    motion: str = ""
    charged_s: float = 0.0


@dataclass(kw_only=True)
class _Run:
    """One thing seen in successive frames."""

    key: str
    start_s: float
    end_s: float
    last_frame: int
    confidence: float
    is_text: bool

    def line(self) -> str:
        thing = _stated(self.key, self.confidence, self.is_text)
        return f"{when(self.start_s, self.end_s)} {thing}"


def _things(facts: FrameFacts) -> list[tuple[str, float, bool]]:
    texts = [
        (re.sub(r"\s+", " ", box.text).strip().replace('"', "'"), box.confidence, True)
        for box in facts.texts
        if box.confidence >= _MIN_TEXT_CONFIDENCE and len(box.text.strip()) > 1
    ]
    shapes = [
        (count_text(shape.count, shape.colour, shape.shape), shape.confidence, False)
        for shape in facts.shapes
    ]
    return texts + shapes


def _same(run: _Run, key: str, *, is_text: bool) -> bool:
    if run.is_text != is_text:
        return False
    if not is_text:
        return run.key == key
    return SequenceMatcher(a=run.key.lower(), b=key.lower()).ratio() >= _SAME_TEXT


def _runs(frames: Sequence[FrameFacts]) -> list[_Run]:
    runs: list[_Run] = []
    for number, facts in enumerate(frames):
        for key, confidence, is_text in _things(facts):
            running = (
                run
                for run in runs
                if run.last_frame == number - 1 and _same(run, key, is_text=is_text)
            )
            match = next(running, None)
            if match is None:
                runs.append(
                    _Run(
                        key=key,
                        start_s=facts.time_s,
                        end_s=facts.time_s,
                        last_frame=number,
                        confidence=confidence,
                        is_text=is_text,
                    )
                )
                continue
            match.end_s, match.last_frame = facts.time_s, number
            if is_text and confidence > match.confidence:
                match.key = key  # the best reading of a text stands for all of them
            match.confidence = max(match.confidence, confidence)
    return sorted(runs, key=lambda run: (run.start_s, not run.is_text, run.key))


def sightings(facts: Sequence[FrameFacts]) -> list[str]:
    """Return a line with its seconds for each text and each number of shapes, in order of time."""
    return [run.line() for run in _runs(facts)]


def things_in(facts: FrameFacts) -> str:
    """Return what one frame shows, in a line that `lines_in` reads back after a time."""
    things = [_stated(*thing) for thing in _things(facts)]
    return "; ".join(things) or "nothing was recognised"


def _stated(key: str, confidence: float, is_text: bool) -> str:
    body = f'text "{key}"' if is_text else key
    return f"{body} (confidence {confidence:.2f})"


def _background_lines(frames: Sequence[FrameFacts]) -> list[str]:
    lines: list[str] = []
    start = 0
    for number in range(1, len(frames) + 1):
        if number < len(frames) and frames[number].background == frames[start].background:
            continue
        span = when(frames[start].time_s, frames[number - 1].time_s)
        lines.append(f"{span} background {frames[start].background}")
        start = number
    return lines


def _motion_line(frames: Sequence[SentFrame], times_s: Sequence[float]) -> str:
    shares = [motion_between(earlier.data, later.data) for earlier, later in pairwise(frames)]
    moving = sum(share >= _MOVES for share in shares)
    span = when(times_s[0], times_s[-1])
    return f"{span} motion in {moving} of {len(shares)} steps between frames"


def report_of(facts: Sequence[FrameFacts], focus: str, extra: Sequence[str] = ()) -> str:
    """Return the report on measured frames under the four headings of an observer's reply.

    Parameters
    ----------
    facts
        Measured frames in the order of time; empty for a request without frames.
    focus
        What was asked to look for; its words select the lines under `Focus answer:`.
    extra
        Further lines to list under `Observations:`.
    """
    runs = _runs(facts)
    wanted = content_words(focus)
    chosen = [run for run in runs if overlap(wanted, content_words(run.key)) > 0]
    if not runs:
        coverage = "none"
    elif chosen or not wanted:
        coverage = "rich"
    else:
        coverage = "partial"
    answer = "\n".join(run.line() for run in chosen[:12]) or "not observed"
    blurred = sum(fact.sharpness < 20 for fact in facts)
    uncertainty = (
        "Measured by text recognition and by colour and outline only: people, actions, objects, "
        "places, sound and anything between the sampled frames are not seen; shapes that overlap "
        f"may count as one. {len(facts)} frames were measured, {blurred} of them blurred or flat."
    )
    observations = [*(run.line() for run in runs), *_background_lines(facts), *extra]
    return "\n".join([
        "Focus answer:",
        answer,
        "",
        "Observations:",
        *(observations or ["nothing was recognised"]),
        "",
        f"Coverage: {coverage}",
        "",
        "Uncertainty:",
        uncertainty,
    ])


def measure(frames: Sequence[SentFrame], store: MediaStore | None) -> Measured:
    """Measure `frames`; one without a time label takes its position (0, 1, ...) as its second.

    Raises
    ------
    DataError
        If a frame cannot be decoded.
    """
    labelled = [
        (float(number) if frame.time_s is None else frame.time_s, frame)
        for number, frame in enumerate(frames)
    ]
    labelled.sort(key=lambda pair: pair[0])
    measured = [facts_of(frame.data, time_s, store) for time_s, frame in labelled]
    ordered = [frame for _, frame in labelled]
    times_s = [time_s for time_s, _ in labelled]
    return Measured(
        facts=tuple(facts for facts, _ in measured),
        motion=_motion_line(ordered, times_s) if len(ordered) > 1 else "",
        charged_s=sum(seconds for _, seconds in measured),
    )


def observe(frames: Sequence[SentFrame], focus: str, store: MediaStore | None) -> Observation:
    """Measure `frames` and report on them.

    Raises
    ------
    DataError
        If a frame cannot be decoded.
    """
    measured = measure(frames, store)
    extra = [measured.motion] if measured.motion else []
    return Observation(text=report_of(measured.facts, focus, extra), charged_s=measured.charged_s)
