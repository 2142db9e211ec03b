"""The frames that are shown at given seconds: exact by presentation time, in bounded memory.

The frame at t is the last one whose presentation time is at most t + 1 ms, in seconds from the
first presentation time. Each wanted frame is decoded from the last keyframe that is shown before
it, and frames that no other frame depends on are not decoded unless they are wanted themselves.
Frames are resized while their colours are converted and handed out one by one.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from taketwo.errors import UnreadableVideo
from taketwo.media.decoding import Decoder
from taketwo.media.packet_index import TOLERANCE_S, PacketIndex, read_index
from taketwo.media.video import shown_size

if TYPE_CHECKING:
    from fractions import Fraction

    from av.video.frame import VideoFrame

__all__ = ["Frame", "encode_jpeg", "frames_at"]


@dataclass(frozen=True, eq=False)
class Frame:
    """One frame as shown.

    Attributes
    ----------
    time_s : float
        Presentation time in seconds from the first video timestamp.
    requested_s : float
        The second that was asked for, `time_s <= requested_s + 0.001`.
    image : ndarray of uint8, shape (height, width, 3)
        RGB, square pixels, upright.
    is_corrupt : bool
        The decoder reported damage, or the frame due here could not be decoded and the last one
        before it, whose time `time_s` is, stands in.
    """

    time_s: float
    requested_s: float
    image: NDArray[np.uint8]
    is_corrupt: bool


def frames_at(
    path: Path, times_s: Sequence[float], *, max_side: int | None = None
) -> Iterator[Frame]:
    """Yield the frame shown at each of the given seconds, in ascending order of time.

    Parameters
    ----------
    path : Path
        A video file in any container and codec that FFmpeg decodes.
    times_s : sequence of float
        Seconds from the first video timestamp, in any order; a second that occurs twice is
        answered twice. The last frame answers every second up to the end of the video
        (`VideoInfo.duration_s`).
    max_side : int, optional
        Frames with a longer side are scaled down to it; none is scaled up.

    Raises
    ------
    UnreadableVideo
        At the call, before anything is decoded: the file cannot be read, or a second lies before
        the start or beyond the end. In a truncated file the end is where frames begin to be
        missing. While iterating: neither the frame due nor one before it can be decoded.
    ValueError
        `max_side` is below 1.
    """
    if max_side is not None and max_side < 1:
        raise ValueError(f"max_side is a number of pixels of at least 1, got {max_side}")
    index = read_index(path)
    wanted = sorted(float(time_s) for time_s in times_s)
    for time_s in wanted:
        _require_inside(path, index, time_s)
    return _stream(path, index, wanted, max_side)


def encode_jpeg(image: NDArray[np.uint8], quality: int = 85) -> bytes:
    """Return an RGB image, shape (height, width, 3), as JPEG; equal images give equal bytes."""
    buffer = io.BytesIO()
    Image.fromarray(image, mode=None).save(buffer, format="JPEG", quality=quality)
    return buffer.getvalue()


def _require_inside(path: Path, index: PacketIndex, time_s: float) -> None:
    if -TOLERANCE_S <= time_s <= index.held_until_s + TOLERANCE_S:
        return
    if not math.isfinite(time_s) or time_s < 0:
        raise UnreadableVideo(f"{path} has no frame at {time_s} s: a video starts at 0 s")
    because = f" ({'; '.join(index.problems)})" if index.is_truncated else ""
    raise UnreadableVideo(
        f"{path} has no frame at {time_s:.3f} s: it ends at {index.held_until_s:.3f} s{because}"
    )


def _stream(
    path: Path, index: PacketIndex, wanted_s: Sequence[float], max_side: int | None
) -> Iterator[Frame]:
    numbers = [index.number_at(time_s) for time_s in wanted_s]
    with Decoder(path, index) as decoder:
        position = 0
        for found in decoder.frames(sorted(set(numbers))):
            image = _image(found.frame, decoder.pixel_aspect, max_side)
            while position < len(numbers) and numbers[position] == found.number:
                yield Frame(
                    time_s=index.seconds(found.pts),
                    requested_s=wanted_s[position],
                    image=image,
                    is_corrupt=found.is_corrupt,
                )
                position += 1


def _image(
    frame: VideoFrame, pixel_aspect: Fraction | None, max_side: int | None
) -> NDArray[np.uint8]:
    """Convert, scale and turn in as few passes as possible."""
    width, height = shown_size(frame, pixel_aspect)
    if max_side is not None and max(width, height) > max_side:
        scale = max_side / max(width, height)
        width, height = max(1, round(width * scale)), max(1, round(height * scale))
    is_on_its_side = frame.rotation % 180 == 90
    stored_width, stored_height = (height, width) if is_on_its_side else (width, height)
    pixels = cast(
        "NDArray[np.uint8]",
        frame.to_ndarray(
            format="rgb24", width=stored_width, height=stored_height, interpolation="BILINEAR"
        ),
    )
    turns = round(frame.rotation / 90) % 4
    return np.ascontiguousarray(np.rot90(pixels, turns)) if turns else pixels
