"""Coloured shapes of a picture, counted by hue, connected components and contour geometry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["COLOURS", "SHAPES", "ShapeCount", "background_colour", "count_shapes", "sharpness_of"]

COLOURS = ("red", "green", "blue", "yellow", "orange", "purple")
SHAPES = ("circle", "square", "triangle", "star")

# Upper ends of OpenCV hue (0 to 179, two degrees a unit); red wraps around.
_HUES = ((6, "red"), (22, "orange"), (34, "yellow"), (85, "green"), (128, "blue"), (169, "purple"))
_MIN_SATURATION = 90
_MIN_VALUE = 70
_MIN_AREA = 0.0004  # of the picture: below it compression blocks look like shapes
_MAX_AREA = 0.25  # of the picture: above it a component is scenery

Box = tuple[float, float, float, float]


@dataclass(frozen=True, kw_only=True)
class ShapeCount:
    """How many shapes of one colour and kind a picture shows; `confidence` in 0..1 is of the worst fit."""

    colour: str
    shape: str
    count: int
    confidence: float


def _colour_index(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return 0 for no colour and 1 + index in `COLOURS` else, for each pixel of an RGB picture."""
    hsv = cv2.cvtColor(image, cv2.COLOR_RGB2HSV)
    by_hue = np.full(180, COLOURS.index("red") + 1, np.uint8)
    low = 0
    for high, name in _HUES:
        by_hue[low : high + 1] = COLOURS.index(name) + 1
        low = high + 1
    index = by_hue[np.minimum(hsv[..., 0], 179)]
    index[(hsv[..., 1] < _MIN_SATURATION) | (hsv[..., 2] < _MIN_VALUE)] = 0
    return index


def background_colour(image: NDArray[np.uint8]) -> str:
    """Return what most of the outer rim (one twentieth of each side) shows: a colour or black, grey, white.

    Parameters
    ----------
    image
        RGB, height x width x 3, uint8.
    """
    height, width = image.shape[:2]
    rim_y, rim_x = max(1, height // 20), max(1, width // 20)
    rim = np.ones((height, width), bool)
    rim[rim_y : height - rim_y, rim_x : width - rim_x] = False
    counts = np.bincount(_colour_index(image)[rim], minlength=len(COLOURS) + 1)
    best = int(np.argmax(counts))
    if best > 0:
        return COLOURS[best - 1]
    level = float(np.median(image[rim].max(axis=1)))
    return "black" if level < 60 else "white" if level > 200 else "grey"


def sharpness_of(image: NDArray[np.uint8]) -> float:
    """Return the variance of the Laplacian of the grey picture (grey levels squared); low means blurred."""
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    return float(cv2.Laplacian(grey, cv2.CV_64F).var())


def _kind_of(contour: NDArray[np.int32]) -> tuple[str, float]:
    """Return the shape of an outline and how well it fits, in 0..1.

    Compared are the share of the convex hull that is filled (a star fills little of it) and the
    shares of the smallest enclosing rectangle, triangle and circle.
    """
    area = max(cv2.contourArea(contour), 1.0)
    hull = max(cv2.contourArea(cv2.convexHull(contour)), 1.0)
    solidity = area / hull
    if solidity < 0.8:
        return "star", float(np.clip(1.0 - abs(solidity - 0.6) * 2.0, 0.3, 1.0))
    _, (side_a, side_b), _ = cv2.minAreaRect(contour)
    aspect = min(side_a, side_b) / max(side_a, side_b, 1.0)
    _, radius = cv2.minEnclosingCircle(contour)
    triangle_area, _ = cv2.minEnclosingTriangle(contour.astype(np.float32))
    fits = {
        "square": area / max(side_a * side_b, 1.0) * min(1.0, aspect + 0.15),
        "circle": area / max(np.pi * radius**2, 1.0) * min(1.0, aspect + 0.1),
        "triangle": area / max(float(triangle_area), 1.0),
    }
    best = max(fits, key=lambda name: fits[name])
    return best, float(np.clip(fits[best], 0.0, 1.0))


def _without(index: NDArray[np.uint8], boxes: Sequence[Box]) -> NDArray[np.uint8]:
    """Return a copy of `index` with the boxes (corners in 0..1) blanked."""
    height, width = index.shape
    out = index.copy()
    for x0, y0, x1, y1 in boxes:
        out[
            max(0, int(y0 * height)) : int(np.ceil(y1 * height)),
            max(0, int(x0 * width)) : int(np.ceil(x1 * width)),
        ] = 0
    return out


def count_shapes(image: NDArray[np.uint8], ignore: Sequence[Box] = ()) -> tuple[ShapeCount, ...]:
    """Count filled shapes by colour and kind.

    Parameters
    ----------
    image
        RGB, height x width x 3, uint8.
    ignore
        Boxes (x0, y0, x1, y1 in 0..1) in which nothing is counted, such as text.

    Returns
    -------
    tuple of ShapeCount
        In the order of `COLOURS`, then of `SHAPES`. Shapes that touch in one colour count as one,
        outlines without filling and colours outside `COLOURS` are not seen.
    """
    height, width = image.shape[:2]
    index = _without(_colour_index(image), ignore)
    kernel = np.ones((3, 3), np.uint8)
    out: list[ShapeCount] = []
    for number, colour in enumerate(COLOURS, start=1):
        mask = (index == number).astype(np.uint8)
        if int(mask.sum()) < _MIN_AREA * height * width:
            continue
        mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, kernel)
        contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        fits: dict[str, list[float]] = {}
        for contour in contours:
            outline = cast("NDArray[np.int32]", contour)
            if not _MIN_AREA <= cv2.contourArea(outline) / (height * width) <= _MAX_AREA:
                continue
            shape, fit = _kind_of(outline)
            fits.setdefault(shape, []).append(fit)
        out += [
            ShapeCount(
                colour=colour,
                shape=shape,
                count=len(fits[shape]),
                confidence=round(min(fits[shape]), 2),
            )
            for shape in SHAPES
            if shape in fits
        ]
    return tuple(out)
