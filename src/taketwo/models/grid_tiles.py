"""A picture that is a grid of frames, taken apart again by the list of its tiles in the request.

`Tiles: 1 at 0.00 s, 2 at 1.50 s, ...` says how many there are and when each was shown; a grid is as
square as it can be, at least two columns wide, and filled row by row.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from taketwo.models.fences import unfenced
from taketwo.models.request_media import SentFrame

__all__ = ["apart"]

_LISTED = re.compile(r"^\s*Tiles:\s*(.+)$", re.MULTILINE)
_TILE = re.compile(r"\b(\d+) at (\d+(?:\.\d+)?) s\b")
_MOST_TILES = 64
# The number of a tile stands in its corner and must not be read as a text of the video.
_BADGE = (0.18, 0.20)  # shares of height and width


def apart(frames: Sequence[SentFrame], text: str) -> list[SentFrame]:
    """Return the tiles as frames of their own times, where the one picture is a grid; else `frames`.

    Parameters
    ----------
    text
        The request; only what stands outside fences can list tiles.
    """
    times_s = _listed(unfenced(text))
    if len(frames) != 1 or not times_s:
        return list(frames)
    picture = cv2.imdecode(np.frombuffer(frames[0].data, np.uint8), cv2.IMREAD_COLOR)
    columns = max(2, math.ceil(math.sqrt(len(times_s))))
    rows = math.ceil(len(times_s) / columns)
    if picture is None or min(picture.shape[0] // rows, picture.shape[1] // columns) < 16:
        return list(frames)
    cut = _cut(cast("NDArray[np.uint8]", picture), rows, columns)
    return [
        SentFrame(
            time_s=time_s,
            data=png,
            sha256=hashlib.sha256(png).hexdigest(),
            media_type="image/png",
            message_index=frames[0].message_index,
        )
        for time_s, png in zip(times_s, cut, strict=False)
    ]


def _listed(text: str) -> list[float]:
    """Return the times of the tiles, which must be numbered 1, 2, 3, ..."""
    lists = _LISTED.findall(text)
    tiles = _TILE.findall(lists[-1]) if lists else []
    numbers = [int(number) for number, _ in tiles]
    if numbers != list(range(1, len(tiles) + 1)) or len(tiles) > _MOST_TILES:
        return []
    return [float(time_s) for _, time_s in tiles]


def _cut(picture: NDArray[np.uint8], rows: int, columns: int) -> list[bytes]:
    height, width = picture.shape[0] // rows, picture.shape[1] // columns
    badge_height, badge_width = round(_BADGE[0] * height), round(_BADGE[1] * width)
    tiles: list[bytes] = []
    for row in range(rows):
        for column in range(columns):
            tile = picture[
                row * height : (row + 1) * height, column * width : (column + 1) * width
            ].copy()
            tile[:badge_height, :badge_width] = 0
            tiles.append(cv2.imencode(".png", tile)[1].tobytes())
    return tiles
