"""Frames of a scene script: a pure function from script and time to pixels."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, pi, sin

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from taketwo.benchmarks.scene import Shape, Sign, VideoScript

__all__ = ["PALETTE", "ScenePainter", "panel_size"]

PALETTE = {
    "red": (220, 30, 30),
    "green": (30, 170, 50),
    "blue": (35, 80, 225),
    "yellow": (245, 220, 30),
    "orange": (250, 135, 15),
    "purple": (150, 45, 185),
}
_WORD_INK, _WORD_PANEL = (255, 255, 255), (15, 15, 15)
_CODE_INK, _CODE_PANEL = (10, 10, 10), (245, 245, 245)
_PADDING = 6


def _font(size_px: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size_px)


def panel_size(text: str, size_px: int) -> tuple[int, int]:
    """Return width and height in pixels of the panel that carries `text`."""
    left, top, right, bottom = _font(size_px).getbbox(text)
    return int(right - left) + 2 * _PADDING, int(bottom - top) + 2 * _PADDING


def _outline(shape: Shape, x: float, y: float) -> list[tuple[float, float]]:
    """Return the corners of a triangle or star around (x, y)."""
    r = shape.radius_px
    if shape.shape == "triangle":
        angles = [(-90 + 120 * k, 1.15 * r) for k in range(3)]
        y += 0.2 * r
    else:
        angles = [(-90 + 36 * k, 1.15 * r if k % 2 == 0 else 0.48 * r) for k in range(10)]
    return [(x + d * cos(a * pi / 180), y + d * sin(a * pi / 180)) for a, d in angles]


class ScenePainter:
    """Paints the frames of one script; what stays in a stretch of time is painted once."""

    def __init__(self, script: VideoScript) -> None:
        self._script = script
        rng = np.random.default_rng(script.texture_seed)
        coarse = rng.integers(-script.texture, script.texture + 1, (45, 80)).astype(np.int16)
        self._texture = np.asarray(
            Image.fromarray((coarse + 128).astype(np.uint8)).resize(
                (script.width, script.height), Image.Resampling.BILINEAR
            ),
            np.int16,
        )
        self._texture = self._texture - 128
        self._still: tuple[object, Image.Image] | None = None

    def image(self, time_s: float) -> Image.Image:
        """Return the RGB picture at a second."""
        t = time_s + 1e-9
        signs = tuple(s for s in self._script.signs if s.start_s <= t < s.end_s)
        section = next((s for s in self._script.sections if t < s.end_s), self._script.sections[-1])
        key = (section.start_s, signs)
        if self._still is None or self._still[0] != key:
            self._still = (key, self._paint_still(section.grey, signs))
        picture = self._still[1].copy()
        draw = ImageDraw.Draw(picture)
        for shape in self._script.shapes:
            if shape.start_s <= t < shape.end_s:
                self._draw_shape(draw, shape, time_s)
        return picture

    def frames(self) -> Iterator[NDArray[np.uint8]]:
        """Yield every frame, height x width x 3, in order."""
        for index in range(self._script.frames):
            yield np.asarray(self.image(index / self._script.fps), np.uint8)

    def _paint_still(self, grey: int, signs: tuple[Sign, ...]) -> Image.Image:
        level = np.clip(self._texture + grey, 0, 255).astype(np.uint8)
        picture = Image.fromarray(np.repeat(level[:, :, None], 3, axis=2))
        draw = ImageDraw.Draw(picture)
        for sign in signs:
            ink, panel = (
                (_WORD_INK, _WORD_PANEL) if sign.role == "word" else (_CODE_INK, _CODE_PANEL)
            )
            font = _font(sign.size_px)
            left, top, _, _ = font.getbbox(sign.text)
            width, height = panel_size(sign.text, sign.size_px)
            draw.rectangle((sign.x, sign.y, sign.x + width, sign.y + height), fill=panel)
            at = (sign.x + _PADDING - left, sign.y + _PADDING - top)
            draw.text(at, sign.text, fill=ink, font=font)
        return picture

    def _draw_shape(self, draw: ImageDraw.ImageDraw, shape: Shape, time_s: float) -> None:
        x = shape.x + shape.swing_px * sin(2 * pi * (0.4 * time_s + shape.phase))
        y = shape.y + 0.5 * shape.swing_px * cos(2 * pi * (0.4 * time_s + shape.phase))
        colour, r = PALETTE[shape.colour], shape.radius_px
        if shape.shape == "circle":
            draw.ellipse((x - r, y - r, x + r, y + r), fill=colour)
        elif shape.shape == "square":
            draw.rectangle((x - 0.9 * r, y - 0.9 * r, x + 0.9 * r, y + 0.9 * r), fill=colour)
        else:
            draw.polygon(_outline(shape, x, y), fill=colour)
