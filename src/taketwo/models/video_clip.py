"""A stretch of a video at a frame rate, as a small file of its own, for services without offsets."""

from __future__ import annotations

import io
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from taketwo.errors import RequestError
from taketwo.media.frames import frames_at
from taketwo.media.h264 import h264_options
from taketwo.media.sampling import clamp_window, times_by_fps
from taketwo.media.video import probe

__all__ = ["MAX_CLIP_FRAMES", "clip_of"]

MAX_CLIP_FRAMES = 512


def _even(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    height, width = image.shape[:2]
    return image[: max(2, height - height % 2), : max(2, width - width % 2)]


def clip_of(
    path: Path, start_s: float | None, end_s: float | None, fps: float, max_side: int
) -> bytes:
    """Return an MP4 file (H.264, no sound) with the frames shown from `start_s` to `end_s`.

    Frames are taken `1 / fps` seconds apart, so that the clip plays at normal speed from second 0.
    Equal arguments give equal bytes with the same versions of PyAV and FFmpeg (`h264_options`).

    Raises
    ------
    RequestError
        If the stretch lies outside the video, or would need more than `MAX_CLIP_FRAMES` frames.
    UnreadableVideo
        If the file gives no frames.
    """
    try:
        window = clamp_window(start_s, end_s, probe(path).duration_s)
        times_s = times_by_fps(*window, fps, cap=MAX_CLIP_FRAMES + 1)
    except ValueError as error:
        raise RequestError(f"cannot cut a clip out of {str(path)!r}: {error}") from error
    if len(times_s) > MAX_CLIP_FRAMES:
        raise RequestError(
            f"{window[0]:g} to {window[1]:g} s at {fps:g} frames per second are more than "
            f"{MAX_CLIP_FRAMES} frames; ask for a shorter stretch or a lower rate"
        )
    buffer = io.BytesIO()
    rate = Fraction(fps).limit_denominator(1000)
    with av.open(buffer, "w", format="mp4") as container:
        stream = container.add_stream(  # pyright: ignore[reportUnknownMemberType] av types **kwargs loosely
            "libx264", rate=rate, options=h264_options(quality=20)
        )
        stream.pix_fmt = "yuv420p"
        for number, shown in enumerate(frames_at(path, times_s, max_side=max_side)):
            image = _even(shown.image)
            if number == 0:
                stream.height, stream.width = image.shape[:2]
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format="rgb24")
            frame.pts, frame.time_base = number, 1 / rate
            container.mux(stream.encode(frame))  # pyright: ignore[reportUnknownMemberType] as above
        container.mux(stream.encode())  # pyright: ignore[reportUnknownMemberType] as above
    return buffer.getvalue()
