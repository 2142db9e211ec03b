"""Pictures that STAR makes of frames: a numbered grid of several, and an enlarged patch of one."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from PIL import Image, ImageDraw

from taketwo.media.store import MediaStore
from taketwo.tools.seen_frames import SeenFrame
from taketwo.tools.star_forms import Patch

__all__ = ["GRID_TILES", "PATCH_BOXES", "grid_picture", "patch_picture"]

GRID_TILES = 16
"""The most frames of one grid."""

PATCH_BOXES: Mapping[Patch, tuple[float, float, float, float]] = MappingProxyType({
    "top left": (0.0, 0.0, 0.55, 0.55),
    "top right": (0.45, 0.0, 1.0, 0.55),
    "bottom left": (0.0, 0.45, 0.55, 1.0),
    "bottom right": (0.45, 0.45, 1.0, 1.0),
    "centre": (0.225, 0.225, 0.775, 0.775),
})
"""What each patch covers, as shares of width and height: half of each side and a tenth more."""

_TILE_WIDTH = 320
_QUALITY = 85
_PATCH_SIDE = 1280


def grid_picture(frames: Sequence[SeenFrame], store: MediaStore) -> SeenFrame:
    """Return `frames` as one picture: rows from left to right, a number in each upper left corner.

    A row has 2 tiles for up to 4 frames, 3 for up to 9, else 4; a tile is 320 pixels wide.
    The picture's time is that of its first tile.

    Raises
    ------
    ValueError
        If there is no frame, or more than 16.
    """
    if not 1 <= len(frames) <= GRID_TILES:
        raise ValueError(f"a grid holds 1 to {GRID_TILES} frames, got {len(frames)}")
    columns = max(2, math.ceil(math.sqrt(len(frames))))
    tiles = [_tile(frame.jpeg) for frame in frames]
    height = max(tile.height for tile in tiles)
    rows = math.ceil(len(frames) / columns)
    grid = Image.new("RGB", (columns * _TILE_WIDTH, rows * height), "black")
    for number, tile in enumerate(tiles):
        row, column = divmod(number, columns)
        grid.paste(tile, (column * _TILE_WIDTH, row * height))
        _badge(grid, column * _TILE_WIDTH, row * height, str(number + 1))
    return _picture(grid, frames[0], store)


def patch_picture(frame: SeenFrame, patch: Patch, store: MediaStore) -> SeenFrame:
    """Return a patch of `frame` in the pixels that it has, at most 1280 of them a side.

    Raises
    ------
    KeyError
        If the patch is `none`.
    """
    x0, y0, x1, y1 = PATCH_BOXES[patch]
    with Image.open(io.BytesIO(frame.jpeg)) as image:
        width, height = image.size
        left, top = round(x0 * width), round(y0 * height)
        right, bottom = round(x1 * width), round(y1 * height)
        cut = image.convert("RGB").crop((left, top, max(left + 1, right), max(top + 1, bottom)))
    cut.thumbnail((_PATCH_SIDE, _PATCH_SIDE), Image.Resampling.LANCZOS)
    return _picture(cut, frame, store)


def _tile(jpeg: bytes) -> Image.Image:
    with Image.open(io.BytesIO(jpeg)) as image:
        height = max(1, round(image.height * _TILE_WIDTH / image.width))
        return image.convert("RGB").resize((_TILE_WIDTH, height), Image.Resampling.LANCZOS)


def _badge(grid: Image.Image, left: int, top: int, number: str) -> None:
    draw = ImageDraw.Draw(grid)
    draw.rectangle((left, top, left + 16 + 14 * len(number), top + 30), fill="black")
    draw.text((left + 8, top + 2), number, fill="white", font_size=24)


def _picture(image: Image.Image, frame: SeenFrame, store: MediaStore) -> SeenFrame:
    file = io.BytesIO()
    image.save(file, format="JPEG", quality=_QUALITY)
    jpeg = file.getvalue()
    return SeenFrame(
        time_s=frame.time_s,
        requested_s=frame.requested_s,
        jpeg=jpeg,
        sha256=store.put_image(jpeg),
        is_corrupt=frame.is_corrupt,
    )
