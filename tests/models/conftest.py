"""Painted pictures with known content, and messages that carry them."""

from __future__ import annotations

import base64
from collections.abc import Callable

import cv2
import numpy as np
import pytest
from inspect_ai.model import Content, ContentImage, ContentText
from numpy.typing import NDArray

Picture = NDArray[np.uint8]
Shape = tuple[str, str, int, int, int]  # colour, shape, centre x, centre y, radius

RGB = {
    "red": (220, 40, 40),
    "green": (40, 170, 70),
    "blue": (40, 90, 220),
    "yellow": (240, 210, 40),
    "orange": (245, 135, 30),
    "purple": (140, 60, 170),
    "grey": (128, 128, 128),
    "white": (245, 245, 245),
    "black": (10, 10, 10),
}


def _corners(shape: str, x: int, y: int, radius: int) -> Picture:
    turns = {"square": 4, "triangle": 3, "star": 10}[shape]
    angles = np.arange(turns) * 2 * np.pi / turns + (np.pi / 4 if shape == "square" else np.pi / 2)
    radii = np.full(turns, float(radius))
    if shape == "star":
        radii[1::2] *= 0.45
    return np.stack([x + radii * np.cos(angles), y + radii * np.sin(angles)], axis=1).astype(
        np.int32
    )


def paint(shapes: tuple[Shape, ...] = (), text: str = "", background: str = "grey") -> Picture:
    picture = np.full((360, 640, 3), RGB[background], np.uint8)
    for colour, shape, x, y, radius in shapes:
        if shape == "circle":
            cv2.circle(picture, (x, y), radius, RGB[colour], -1, cv2.LINE_AA)
        else:
            cv2.fillPoly(picture, [_corners(shape, x, y, radius)], RGB[colour], cv2.LINE_AA)
    if text:
        cv2.putText(
            picture, text, (30, 330), cv2.FONT_HERSHEY_SIMPLEX, 1.6, (255, 255, 255), 4, cv2.LINE_AA
        )
    return picture


def jpeg_of(picture: Picture) -> bytes:
    ok, data = cv2.imencode(".jpg", cv2.cvtColor(picture, cv2.COLOR_RGB2BGR), [1, 85])
    assert ok
    return data.tobytes()


def frame_parts(time_s: float, jpeg: bytes) -> list[Content]:
    uri = f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}"
    return [ContentText(text=f"[frame at {time_s:.2f} s]"), ContentImage(image=uri)]


@pytest.fixture
def painted() -> Callable[..., bytes]:
    """Return a function from shapes, text and background to JPEG bytes."""

    def make(shapes: tuple[Shape, ...] = (), text: str = "", background: str = "grey") -> bytes:
        return jpeg_of(paint(shapes, text, background))

    return make


@pytest.fixture
def pictured() -> Callable[..., Picture]:
    """Return a function from shapes, text and background to an RGB picture."""
    return paint


@pytest.fixture
def labelled() -> Callable[[float, bytes], list[Content]]:
    """Return a function from second and JPEG bytes to the two parts of a frame in a message."""
    return frame_parts
