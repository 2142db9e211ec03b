"""A video in a message, for the providers of ours that send video themselves.

It travels as a text part with a reference beside it (`taketwo.models.native_video` reads it), since
the engine's own video content is dropped by some providers without a word. A provider that knows no
references would send the words alone, so `sent_media` lets it through to those that know.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, cast

from inspect_ai.model import ContentText
from pydantic import JsonValue

__all__ = ["REFERENCE", "video_content", "video_reference"]

REFERENCE = "taketwo_video"


def video_content(
    *,
    path: Path,
    sha256: str,
    duration_s: float,
    fps: float,
    resolution: Literal["low", "medium", "high"],
) -> ContentText:
    """Return a whole video as it goes to a model, sampled at `fps` frames per second.

    The words with it name its length; they do not name the file.
    """
    frames = math.floor(duration_s * fps + 1e-6) + 1
    reference: dict[str, JsonValue] = {
        "path": str(path),
        "sha256": sha256,
        "fps": fps,
        "resolution": resolution,
        "frames": frames,
    }
    return ContentText(
        text=f"[video from 0.0 s to {duration_s:.1f} s, {fps:g} frames a second]",
        internal={REFERENCE: reference},
    )


def video_reference(part: ContentText) -> Mapping[str, object] | None:
    """Return the reference that a text part carries: `sha256`, `frames` and more; None for plain text."""
    internal = part.internal
    if not isinstance(internal, dict) or not isinstance(internal.get(REFERENCE), dict):
        return None
    return cast("Mapping[str, object]", internal[REFERENCE])
