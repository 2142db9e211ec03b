"""Text that can be read in a frame (optical character recognition).

RapidOCR with the PP-OCRv6 models inside its wheel. Four settings differ from its defaults and
make it 5 to 8 times cheaper without losing a string of our test set: the longer side is limited
to 640 pixels instead of raising the shorter one to 736, upside-down text is not looked for, one
thread, and no log lines. Text below about 12 pixels in the scaled frame is not found.
"""

from __future__ import annotations

import os
import queue
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["TextBox", "read_text", "reader_identity"]

_SETTINGS: dict[str, object] = {
    "Det.limit_type": "max",
    "Det.limit_side_len": 640,
    "Global.use_cls": False,
    "Global.log_level": "error",
    "EngineConfig.onnxruntime.intra_op_num_threads": 1,
}


@dataclass(frozen=True, kw_only=True)
class TextBox:
    """One line of text in a frame.

    Attributes
    ----------
    text : str
        As read.
    confidence : float
        0 to 1, as the recogniser gives it; not calibrated.
    box : tuple of four float
        Upright rectangle around it: x0, y0, x1, y1 as shares of width and height, 0 to 1, from
        the upper left corner.
    """

    text: str
    confidence: float
    box: tuple[float, float, float, float]


def read_text(image: NDArray[np.uint8]) -> tuple[TextBox, ...]:
    """Return the lines of text in an RGB image, top to bottom, then left to right.

    Parameters
    ----------
    image : ndarray of uint8, shape (height, width, 3)
        RGB.

    Notes
    -----
    About 0.1 s of CPU for 640 x 360. One engine a core is loaded in a process, each when it is
    first needed (0.5 s), and used by one thread at a time.
    """
    height, width = image.shape[:2]
    found = _engines().read(np.ascontiguousarray(image[:, :, ::-1]))
    if found.boxes is None or found.txts is None or found.scores is None:
        return ()
    boxes = (
        TextBox(
            text=text.strip(),
            confidence=float(score),
            box=_rectangle(corners, width, height),
        )
        for corners, text, score in zip(found.boxes, found.txts, found.scores, strict=True)
        if text.strip()
    )
    return tuple(sorted(boxes, key=lambda box: (round(box.box[1], 2), box.box[0], box.text)))


def reader_identity() -> str:
    """Return which reader this is, for keys of stored results."""
    return f"rapidocr {version('rapidocr')}, PP-OCRv6 small, longer side 640"


class _Lines(Protocol):
    boxes: Sequence[NDArray[np.float32]] | None
    txts: Sequence[str] | None
    scores: Sequence[float] | None


class _Engines:
    """RapidOCR keeps state between the steps of one image: one thread an engine, one engine a core."""

    def __init__(self, size: int) -> None:
        self._free: queue.LifoQueue[Callable[[NDArray[np.uint8]], object] | None]
        self._free = queue.LifoQueue()
        for _ in range(size):
            self._free.put(None)

    def read(self, image_bgr: NDArray[np.uint8]) -> _Lines:
        # last in, first out: an engine that is loaded is taken before a new one is
        engine = self._free.get()
        try:
            if engine is None:
                engine = _loaded()
            return cast("_Lines", engine(image_bgr))
        finally:
            self._free.put(engine)


def _loaded() -> Callable[[NDArray[np.uint8]], object]:
    # Imported here because loading it takes the extra `offline`, which reading frames does not.
    from rapidocr import RapidOCR

    return cast("Callable[[NDArray[np.uint8]], object]", RapidOCR(params=_SETTINGS))


@cache
def _engines() -> _Engines:
    return _Engines(max(1, min(4, os.cpu_count() or 1)))


def _rectangle(
    corners: NDArray[np.float32], width: int, height: int
) -> tuple[float, float, float, float]:
    points = np.asarray(corners, dtype=float).reshape(-1, 2) / (width, height)
    x0, y0 = np.clip(points.min(axis=0), 0.0, 1.0)
    x1, y1 = np.clip(points.max(axis=0), 0.0, 1.0)
    return round(float(x0), 4), round(float(y0), 4), round(float(x1), 4), round(float(y1), 4)
