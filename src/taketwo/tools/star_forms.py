"""The forms in which the observer replies to STAR's tools."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, create_model, model_validator

from taketwo.tools.seconds import Seconds

__all__ = [
    "FrameAnswers",
    "FrameCounts",
    "GridAnswer",
    "GridSpan",
    "Patch",
    "PatchChoice",
    "SegmentChoice",
    "TimedAnswer",
    "TimedCount",
    "grid_span",
    "segment_choice",
]

Patch = Literal["top left", "top right", "bottom left", "bottom right", "centre", "none"]


class SegmentChoice(BaseModel):
    """Which unseen segments are worth seeing, by their numbers."""

    analysis: str = Field(default="", description="why these segments")
    segments: list[int] = Field(description="numbers of the segments; empty for none")


class GridAnswer(BaseModel):
    """An answer from a grid of frames."""

    analysis: str = Field(default="", description="what the tiles show, by number")
    answer: str = Field(description="the answer in a sentence or two")


class GridSpan(BaseModel):
    """The part of a grid that matters, by the numbers of its first and last tile."""

    analysis: str = Field(default="", description="why this part")
    start: int = Field(ge=1, description="number of the first tile")
    end: int = Field(ge=1, description="number of the last tile")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.end < self.start:
            raise ValueError(f"end {self.end} lies before start {self.start}")
        return self


class TimedAnswer(BaseModel):
    """What one frame shows."""

    time_s: Seconds = Field(description="the time before the frame, in seconds")
    answer: str


class FrameAnswers(BaseModel):
    """One answer for each frame, by its time."""

    answers: list[TimedAnswer]


class PatchChoice(BaseModel):
    """The part of one frame that holds what is looked for."""

    analysis: str = Field(default="", description="where it is and what it looks like")
    patch: Patch


class TimedCount(BaseModel):
    """How many of them one frame shows."""

    time_s: Seconds = Field(description="the time before the frame, in seconds")
    count: int = Field(ge=0)


class FrameCounts(BaseModel):
    """One count for each frame, by its time."""

    counts: list[TimedCount]


def segment_choice(segments: int) -> type[SegmentChoice]:
    """Return the form that allows the numbers 1 to `segments` only."""
    chosen = Field(description=f"numbers of the segments, 1 to {segments}; empty for none")
    return create_model(
        "SegmentChoice",
        __base__=SegmentChoice,
        segments=(list[Annotated[int, Field(ge=1, le=segments)]], chosen),
    )


def grid_span(tiles: int) -> type[GridSpan]:
    """Return the form that allows the numbers 1 to `tiles` only."""
    first = Field(ge=1, le=tiles, description="number of the first tile")
    last = Field(ge=1, le=tiles, description="number of the last tile")
    return create_model("GridSpan", __base__=GridSpan, start=(int, first), end=(int, last))
