"""What AVP's observer reports, as a form; and the list of all reports of a cell, as its readers get it.

Reports are kept as they are, in the order in which they were made, under the number of their round.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, Field

from taketwo.tools.avp_spans import Span
from taketwo.tools.seconds import Seconds
from taketwo.tools.video_tool import Resolution

__all__ = [
    "KeyEvidence",
    "Observation",
    "ObservationForm",
    "ObservationLog",
    "cleaned_evidence",
    "spans_text",
]

_MOST_ENTRIES = 200


class KeyEvidenceForm(BaseModel):
    """One stretch of the video that matters."""

    timestamp_start: Seconds = Field(
        description="Start in seconds of the whole video, rounded down"
    )
    timestamp_end: Seconds = Field(description="End in seconds of the whole video, rounded up")
    description: str = Field(description="What is seen there that bears on the question")


class ObservationForm(BaseModel):
    """A report of what was seen."""

    detailed_response: str = Field(
        min_length=1, description="What the frames show that bears on the question, in detail"
    )
    key_evidence: list[KeyEvidenceForm] = Field(
        default_factory=list[KeyEvidenceForm],
        description="The stretches that matter; empty where nothing was seen",
    )
    reasoning: str = Field(default="", description="How what was seen bears on the question")


@dataclass(frozen=True, kw_only=True)
class KeyEvidence:
    """A stretch of the video that matters, whole seconds inside the video."""

    start_s: float
    end_s: float
    description: str

    def to_text(self) -> str:
        """Return it as one line."""
        return f"{self.start_s:.1f}-{self.end_s:.1f} s: {' '.join(self.description.split())}"


@dataclass(frozen=True, kw_only=True)
class Observation:
    """One look and what came of it.

    `fps` are the frames per second that were really shown. An independent look was made without
    knowledge of the ones before it.
    """

    round: int
    spans: tuple[Span, ...]
    fps: float
    resolution: Resolution
    frames: int
    response: str
    evidence: tuple[KeyEvidence, ...]
    is_independent: bool = False

    def to_text(self) -> str:
        """Return the report under its heading, its key evidence as a list."""
        name = (
            f"Second look in round {self.round}" if self.is_independent else f"Round {self.round}"
        )
        shown = (
            f"shown were {spans_text(self.spans)}, {self.frames} frames, {self.fps:.2g} a second, "
            f"resolution {self.resolution}"
        )
        lines = [f"[{name}; {shown}]", self.response]
        return "\n".join([*lines, *(f"- {item.to_text()}" for item in self.evidence)])


@dataclass
class ObservationLog:
    """All looks of a cell; `round` is the round that the next one belongs to."""

    round: int = 1
    observations: list[Observation] = field(default_factory=list[Observation])

    def to_text(self) -> str:
        """Return all reports, the earliest first; empty where there is none."""
        return "\n\n".join(item.to_text() for item in self.observations)


def spans_text(spans: Sequence[Span]) -> str:
    """Return parts as `3.0-9.0 s, 20.0-24.0 s`."""
    return ", ".join(f"{start_s:.1f}-{end_s:.1f} s" for start_s, end_s in spans)


def cleaned_evidence(
    entries: Sequence[KeyEvidenceForm], duration_s: float
) -> tuple[tuple[KeyEvidence, ...], tuple[str, ...]]:
    """Return the entries as intervals of whole seconds inside the video, and remarks.

    Starts are rounded down and ends up. Entries that lie outside the video or end before they start
    are left out, and so are those after the first 200; of equal intervals the descriptions are
    joined.
    """
    found: dict[Span, list[str]] = {}
    left_out = 0
    remarks: list[str] = []
    if len(entries) > _MOST_ENTRIES:
        remarks.append(f"{len(entries)} intervals were named, the first {_MOST_ENTRIES} are kept")
    for entry in entries[:_MOST_ENTRIES]:
        start_s = max(0.0, float(math.floor(entry.timestamp_start)))
        end_s = min(duration_s, float(math.ceil(entry.timestamp_end)))
        if entry.timestamp_start == entry.timestamp_end <= duration_s:
            start_s = min(start_s, max(0.0, duration_s - 1.0))
            end_s = min(duration_s, max(end_s, start_s + 1.0))
        if entry.timestamp_end < entry.timestamp_start or start_s >= end_s:
            left_out += 1
            continue
        said = found.setdefault((start_s, end_s), [])
        if entry.description not in said:
            said.append(entry.description)
    evidence = tuple(
        KeyEvidence(start_s=start_s, end_s=end_s, description="; ".join(said))
        for (start_s, end_s), said in found.items()
    )
    if left_out:
        remarks.append(f"{left_out} intervals outside the video or without length were left out")
    return evidence, tuple(remarks)
