"""The video of a cell: its file, its decoder, the stores of what is derived from it, and its frames."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import anyio
import numpy as np
from numpy.typing import NDArray

from taketwo.errors import UnreadableVideo
from taketwo.media.store import MediaStore, derived_key
from taketwo.media.video import VideoInfo
from taketwo.tools.operation import Freshness
from taketwo.tools.seen_frames import SeenFrame, frames_record, stored_frames

__all__ = ["CellMedia", "DecodedFrames", "FrameWorkers", "decoded_frames"]

_JPEG_QUALITY = 85


class _Jpeg(Protocol):
    @property
    def time_s(self) -> float: ...
    @property
    def requested_s(self) -> float: ...
    @property
    def jpeg(self) -> bytes: ...
    @property
    def is_corrupt(self) -> bool: ...


class FrameWorkers(Protocol):
    """What decodes; `media.worker.MediaWorkers` is one."""

    def jpegs(
        self, path: Path, times_s: Sequence[float], max_side: int | None, quality: int = 85
    ) -> Sequence[_Jpeg]:
        """Return the frames shown at `times_s`, encoded."""
        ...

    def audio(self, path: Path, start_s: float | None, end_s: float | None) -> NDArray[np.float32]:
        """Return 16 kHz mono samples."""
        ...


@dataclass(frozen=True, kw_only=True)
class CellMedia:
    """The video of a cell and where its derived media go.

    `slots` bounds the threads that wait for decoding; with as many tokens as there are workers, no
    wait for a worker is ever timed as work. `subtitles` is a file that stands in for speech
    recognition.
    """

    path: Path
    info: VideoInfo
    workers: FrameWorkers
    frames: MediaStore
    derived: MediaStore
    slots: anyio.CapacityLimiter
    subtitles: Path | None = None


@dataclass(frozen=True, kw_only=True)
class DecodedFrames:
    """Frames, the seconds that decoding them costs, and whether they were found or made."""

    frames: tuple[SeenFrame, ...]
    seconds: float
    freshness: Freshness


def decoded_frames(
    media: CellMedia, times_s: tuple[float, ...], max_side: int | None
) -> DecodedFrames:
    """Return the frames shown at `times_s`, found in the store or decoded; blocks while decoding.

    Raises
    ------
    UnreadableVideo
        If none of them can be decoded.
    """
    key = derived_key(
        "frames/1",
        media.info.sha256,
        times_s=",".join(f"{time_s:.6f}" for time_s in times_s),
        max_side=max_side,
        quality=_JPEG_QUALITY,
    )
    stored = media.derived.get(key)
    found = None if stored is None else stored_frames(stored.data, media.frames)
    if stored is not None and found is not None:
        return DecodedFrames(frames=found, seconds=stored.seconds, freshness="shared")
    started = time.perf_counter()
    jpegs = media.workers.jpegs(media.path, times_s, max_side, _JPEG_QUALITY)
    seconds = time.perf_counter() - started
    frames = tuple(
        SeenFrame(
            time_s=jpeg.time_s,
            requested_s=jpeg.requested_s,
            jpeg=jpeg.jpeg,
            sha256=media.frames.put_image(jpeg.jpeg),
            is_corrupt=jpeg.is_corrupt,
        )
        for jpeg in jpegs
    )
    if not frames:
        raise UnreadableVideo(
            f"none of {len(times_s)} frames could be decoded, first at {times_s[0]:.3f} s"
        )
    media.derived.put(key, frames_record(frames), seconds)
    return DecodedFrames(frames=frames, seconds=seconds, freshness="fresh")
