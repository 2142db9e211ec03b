"""The script of a rendered video: everything that is seen and heard, with exact times.

The script is the ground truth. The painter and the sound track are functions of it, and so are
the answers and milestones of the questions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from taketwo.benchmarks.canonical import JsonValue, sha256_of

__all__ = ["Difficulty", "Section", "Shape", "Sign", "Utterance", "UtteranceRole", "VideoScript"]

Difficulty = Literal["easy", "medium", "hard"]
ShapeRole = Literal["group", "marker", "flash"]
UtteranceRole = Literal["topic", "claim", "count_cue", "sign_cue"]

_PAINTER = "taketwo.painter/1"


@dataclass(frozen=True, kw_only=True)
class Sign:
    """Text on a panel; `x` and `y` are the top left corner of the panel in pixels."""

    text: str
    role: Literal["word", "code"]
    start_s: float
    end_s: float
    x: int
    y: int
    size_px: int


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A coloured shape around a centre (pixels), swinging by `swing_px` to each side."""

    colour: str
    shape: str
    role: ShapeRole
    start_s: float
    end_s: float
    x: int
    y: int
    radius_px: int
    swing_px: int = 0
    phase: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Utterance:
    """Recorded phrases spoken one after the other; `text` is what is said, `about` its key fact."""

    keys: tuple[str, ...]
    text: str
    role: UtteranceRole
    about: str
    start_s: float
    end_s: float


@dataclass(frozen=True, kw_only=True)
class Section:
    """A stretch of the video under one word, with one code and one topic of the narrator."""

    word: str
    code: str
    topic: str
    start_s: float
    end_s: float
    grey: int


@dataclass(frozen=True, kw_only=True)
class VideoScript:
    """One rendered video. Times are seconds, on the grid of the frame rate where they are visual.

    Something is shown on the frames with ``start_s <= time < end_s``. `noise_db` is the
    signal-to-noise ratio of the sound track in decibels, None for none.
    """

    video_id: str
    difficulty: Difficulty
    duration_s: float
    sections: tuple[Section, ...]
    signs: tuple[Sign, ...]
    shapes: tuple[Shape, ...]
    utterances: tuple[Utterance, ...]
    texture_seed: int
    texture: int
    noise_db: float | None
    fps: int = 12
    width: int = 640
    height: int = 360

    @property
    def frames(self) -> int:
        """Return the number of frames; frame i is shown from ``i / fps`` on."""
        return round(self.duration_s * self.fps)

    def counts_at(self, time_s: float) -> dict[tuple[str, str], int]:
        """Return how many shapes of each colour and shape are visible at a second."""
        counts: dict[tuple[str, str], int] = {}
        for item in self.shapes:
            if item.start_s <= time_s + 1e-9 < item.end_s:
                key = (item.colour, item.shape)
                counts[key] = counts.get(key, 0) + 1
        return counts

    def texts_at(self, time_s: float) -> tuple[str, ...]:
        """Return the texts on screen at a second."""
        return tuple(s.text for s in self.signs if s.start_s <= time_s + 1e-9 < s.end_s)

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record that is kept beside the benchmark."""
        return cast("dict[str, JsonValue]", dataclasses.asdict(self))

    @classmethod
    def from_json(cls, record: Mapping[str, JsonValue]) -> VideoScript:
        """Read what `to_json` wrote."""
        values = cast("dict[str, list[dict[str, str]]]", dict(record))
        parts = {
            "sections": tuple(Section(**item) for item in values["sections"]),  # pyright: ignore[reportArgumentType] written by to_json
            "signs": tuple(Sign(**item) for item in values["signs"]),  # pyright: ignore[reportArgumentType] written by to_json
            "shapes": tuple(Shape(**item) for item in values["shapes"]),  # pyright: ignore[reportArgumentType] written by to_json
            "utterances": tuple(
                Utterance(**{**item, "keys": tuple(item["keys"])})  # pyright: ignore[reportArgumentType] written by to_json
                for item in values["utterances"]
            ),
        }
        return cls(**{**values, **parts})  # pyright: ignore[reportArgumentType] written by to_json

    @property
    def sha256(self) -> str:
        """Return the identity of the video's content: the script and the painter's version."""
        return sha256_of({"painter": _PAINTER, "script": self.to_json()})
