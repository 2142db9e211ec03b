"""What the offline models can measure in one frame: text, coloured shapes, background, sharpness.

Deterministic and without any learned notion of meaning. A frame's facts are derived media: kept
in a `MediaStore` under the hash of the JPEG, so that the same frame is read once in a study, and
charged at the seconds that reading it cost the first time.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass
from functools import cache
from typing import TypedDict, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from taketwo.errors import DataError
from taketwo.media.store import MediaStore, derived_key
from taketwo.media.text_in_frames import TextBox, read_text, reader_identity
from taketwo.models.shapes import (
    COLOURS,
    SHAPES,
    ShapeCount,
    background_colour,
    count_shapes,
    sharpness_of,
)

__all__ = ["COLOURS", "SHAPES", "FrameFacts", "ShapeCount", "TextBox", "facts_of", "motion_between"]

_KIND = "frame-facts/1"


@dataclass(frozen=True, kw_only=True)
class FrameFacts:
    """What was measured in the frame at `time_s` (seconds from the first frame of the video)."""

    time_s: float
    texts: tuple[TextBox, ...]
    shapes: tuple[ShapeCount, ...]
    background: str
    sharpness: float


class _TextRecord(TypedDict):
    text: str
    confidence: float
    box: list[float]


class _ShapeRecord(TypedDict):
    colour: str
    shape: str
    count: int
    confidence: float


class _FactsRecord(TypedDict):
    texts: list[_TextRecord]
    shapes: list[_ShapeRecord]
    background: str
    sharpness: float


def _decode(jpeg: bytes) -> NDArray[np.uint8]:
    picture = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR) if jpeg else None
    if picture is None:
        raise DataError(
            f"a frame of {len(jpeg)} bytes is not a picture that can be decoded "
            f"(it begins with {jpeg[:8]!r}); hand over JPEG or PNG bytes"
        )
    return cast("NDArray[np.uint8]", cv2.cvtColor(picture, cv2.COLOR_BGR2RGB))


@cache
def _warm_reader() -> None:
    """Load the text reader, so that the first frame of a process is not charged for it."""
    read_text(np.zeros((32, 32, 3), np.uint8))


def _measure(jpeg: bytes) -> bytes:
    image = _decode(jpeg)
    texts = read_text(image)
    # A single character may be a shape that was misread, so its place is still counted.
    written = [box.box for box in texts if len(box.text.strip()) > 1 and box.confidence >= 0.5]
    record: _FactsRecord = {
        "texts": [
            {"text": box.text, "confidence": round(box.confidence, 3), "box": list(box.box)}
            for box in texts
        ],
        "shapes": [
            {
                "colour": shape.colour,
                "shape": shape.shape,
                "count": shape.count,
                "confidence": shape.confidence,
            }
            for shape in count_shapes(image, ignore=written)
        ],
        "background": background_colour(image),
        "sharpness": round(sharpness_of(image), 1),
    }
    return json.dumps(record, sort_keys=True).encode()


def _facts(record: _FactsRecord, time_s: float) -> FrameFacts:
    return FrameFacts(
        time_s=time_s,
        texts=tuple(
            TextBox(
                text=item["text"],
                confidence=item["confidence"],
                box=(item["box"][0], item["box"][1], item["box"][2], item["box"][3]),
            )
            for item in record["texts"]
        ),
        shapes=tuple(ShapeCount(**item) for item in record["shapes"]),
        background=record["background"],
        sharpness=record["sharpness"],
    )


def facts_of(jpeg: bytes, time_s: float, store: MediaStore | None) -> tuple[FrameFacts, float]:
    """Return what one frame shows, and the seconds to charge for it.

    Parameters
    ----------
    jpeg
        The encoded picture (JPEG, or PNG).
    time_s
        Its second in the video; it does not take part in the stored record.
    store
        Where facts are kept between calls; None measures afresh each time.

    Returns
    -------
    facts, seconds
        The seconds are those of the measurement; for a stored frame, those recorded when it was
        measured.

    Raises
    ------
    DataError
        If the bytes are not a picture.
    """
    if store is None:
        _warm_reader()
        started = time.perf_counter()
        data = _measure(jpeg)
        seconds = time.perf_counter() - started
    else:
        key = derived_key(_KIND, hashlib.sha256(jpeg).hexdigest(), reader=reader_identity())
        if store.get(key) is None:
            _warm_reader()
        stored = store.get_or_make(key, lambda: _measure(jpeg))
        data, seconds = stored.data, stored.seconds
    return _facts(cast("_FactsRecord", json.loads(data)), time_s), seconds


def motion_between(earlier: bytes, later: bytes) -> float:
    """Return the share (0..1) of an eighth-size grey picture that differs by more than 25 levels.

    Pictures of different sizes differ everywhere. Raises `DataError` for bytes that are no picture.
    """
    small: list[NDArray[np.uint8]] = []
    for jpeg in (earlier, later):
        grey = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_REDUCED_GRAYSCALE_8)
        if grey is None:
            raise DataError(f"a frame of {len(jpeg)} bytes is not a picture that can be decoded")
        small.append(cast("NDArray[np.uint8]", grey))
    if small[0].shape != small[1].shape:
        return 1.0
    return float((cv2.absdiff(small[0], small[1]) > 25).mean())
