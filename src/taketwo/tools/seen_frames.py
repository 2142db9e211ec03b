"""Frames as models see them, and their record in a store of derived media."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from taketwo.media.store import MediaStore

__all__ = ["SeenFrame", "frames_record", "stored_frames"]


@dataclass(frozen=True, kw_only=True)
class SeenFrame:
    """A frame as a model sees it; `time_s` is its presentation time, `sha256` names its JPEG."""

    time_s: float
    requested_s: float
    jpeg: bytes
    sha256: str
    is_corrupt: bool = False


def frames_record(frames: Sequence[SeenFrame]) -> bytes:
    """Return what a store keeps of `frames`: times and hashes, the pictures lie beside it."""
    record = [
        {
            "time_s": frame.time_s,
            "requested_s": frame.requested_s,
            "sha256": frame.sha256,
            "is_corrupt": frame.is_corrupt,
        }
        for frame in frames
    ]
    return json.dumps(record).encode()


def stored_frames(data: bytes, store: MediaStore) -> tuple[SeenFrame, ...] | None:
    """Return the frames of a record, or None where one of its pictures is gone or altered."""
    frames: list[SeenFrame] = []
    for entry in json.loads(data):
        try:
            jpeg = store.image_path(entry["sha256"]).read_bytes()
        except FileNotFoundError:
            return None
        if hashlib.sha256(jpeg).hexdigest() != entry["sha256"]:
            return None
        frames.append(SeenFrame(jpeg=jpeg, **entry))
    return tuple(frames)
