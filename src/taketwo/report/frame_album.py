"""Frames for the page: checked by hash, made small, and never more than the page can carry."""

from __future__ import annotations

import base64
import hashlib
import importlib
import importlib.util
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from taketwo.media.store import MediaStore

__all__ = ["FrameAlbum", "Picture"]

_SIDE = 240
_QUALITY = 68
_LARGEST = 80_000
_BUDGET = 1_500_000
_JPEG = b"\xff\xd8\xff"  # the first bytes of every JPEG


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A frame as a data URI, or the reason why it is not on the page."""

    uri: str = ""
    reason: Literal["", "not in the frame store", "damaged", "left out to keep the page small"] = ""


class FrameAlbum:
    """Hands out frames of a store as data URIs until `budget` bytes of images are used up.

    With Pillow (part of `taketwo[run]`) frames are scaled to 240 pixels; without it they are taken
    as they are, where they have at most 80 kB.
    """

    def __init__(self, root: Path | None, budget: int = _BUDGET) -> None:
        self._store = None if root is None or not root.is_dir() else MediaStore(root)
        self._left = budget
        self._shrink = _shrinker()
        self._made: dict[str, Picture] = {}

    def picture(self, sha256: str) -> Picture:
        """Return the frame with that hash."""
        known = self._made.get(sha256)
        if known is None or (known.uri and len(known.uri) > self._left):
            known = self._make(sha256)
            self._made[sha256] = known
        self._left -= len(known.uri)
        return known

    def _make(self, sha256: str) -> Picture:
        if self._store is None:
            return Picture(reason="not in the frame store")
        try:
            data = self._store.image_path(sha256).read_bytes()
        except (OSError, ValueError):
            return Picture(reason="not in the frame store")
        if hashlib.sha256(data).hexdigest() != sha256 or not data.startswith(_JPEG):
            return Picture(reason="damaged")
        if self._left <= 0:
            return Picture(reason="left out to keep the page small")
        try:
            small = self._shrink(data)
        except (OSError, ValueError):
            return Picture(reason="damaged")
        uri = f"data:image/jpeg;base64,{base64.b64encode(small).decode()}"
        if len(small) > _LARGEST or len(uri) > self._left:
            return Picture(reason="left out to keep the page small")
        return Picture(uri=uri)


def _shrinker() -> Callable[[bytes], bytes]:
    if importlib.util.find_spec("PIL") is None:
        return bytes
    image = importlib.import_module("PIL.Image")

    def shrink(data: bytes) -> bytes:
        with image.open(io.BytesIO(data), formats=("JPEG",)) as picture:
            picture.draft("RGB", (_SIDE, _SIDE))
            picture.thumbnail((_SIDE, _SIDE))
            buffer = io.BytesIO()
            picture.convert("RGB").save(buffer, "JPEG", quality=_QUALITY, optimize=True)
        return buffer.getvalue()

    return shrink
