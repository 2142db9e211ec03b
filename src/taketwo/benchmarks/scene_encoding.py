"""Pictures and sound to one MP4 file (H.264 and AAC)."""

# pyright: reportUnknownMemberType=false
# PyAV leaves the codec of its streams and packets open in its annotations.

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from fractions import Fraction

import av
import numpy as np
from numpy.typing import NDArray

from taketwo.benchmarks.scene_sound import SAMPLE_RATE
from taketwo.media.h264 import h264_options

__all__ = ["encode_mp4"]


def encode_mp4(
    frames: Iterable[NDArray[np.uint8]],
    sound: NDArray[np.float32],
    *,
    fps: int,
    width: int,
    height: int,
    quality: int = 23,
) -> bytes:
    """Return the bytes of an MP4 file.

    Parameters
    ----------
    frames
        RGB pictures, height x width x 3 bytes each; frame i is shown from ``i / fps`` seconds on.
    sound
        Mono samples at 16 kHz between -1 and 1, starting at 0 seconds.
    fps, width, height
        Frame rate, and size in pixels (even numbers).
    quality
        The encoder's constant rate factor (0 lossless to 51).

    Notes
    -----
    Equal input gives equal bytes with the same versions of PyAV and FFmpeg: the encoder's settings
    are those of `h264_options`, and the file holds no time of making.
    """
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        video = container.add_stream("libx264", rate=fps, options=h264_options(quality=quality))
        video.width, video.height, video.pix_fmt = width, height, "yuv420p"
        video.codec_context.time_base = Fraction(1, fps)
        video.codec_context.gop_size = 4 * fps
        audio = container.add_stream("aac", rate=SAMPLE_RATE, layout="mono", bit_rate=48_000)
        packets = _sound_frames(sound, audio.codec_context.frame_size or 1024)
        heard_s = 0.0
        for index, picture in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = index, Fraction(1, fps)
            container.mux(video.encode(frame))
            while heard_s <= index / fps and (part := next(packets, None)) is not None:
                container.mux(audio.encode(part))
                heard_s += part.samples / SAMPLE_RATE
        for part in packets:
            container.mux(audio.encode(part))
        container.mux(video.encode(None))
        container.mux(audio.encode(None))
    return file.getvalue()


def _sound_frames(sound: NDArray[np.float32], size: int) -> Iterator[av.AudioFrame]:
    for start in range(0, len(sound), size):
        part = np.ascontiguousarray(sound[None, start : start + size])
        frame = av.AudioFrame.from_ndarray(part, format="fltp", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = SAMPLE_RATE, start, Fraction(1, SAMPLE_RATE)
        yield frame
