"""What a video file is: its measured properties and the identity of its bytes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from av.error import FFmpegError

from taketwo.errors import UnreadableVideo
from taketwo.media.opening import audio_stream, one_line, open_media, video_stream
from taketwo.media.packet_index import PacketIndex, read_index

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

__all__ = ["VideoInfo", "file_sha256", "probe", "shown_size"]

_BLOCK_BYTES = 1 << 20
_LYING_SHARE = 0.05
_LYING_S = 1.0


@dataclass(frozen=True, kw_only=True)
class VideoInfo:
    """A readable video file.

    Attributes
    ----------
    path : Path
        As given.
    sha256 : str
        Hash of all bytes of the file: the identity of the video.
    size_bytes : int
        Size of the file.
    duration_s : float
        Seconds from the first video timestamp for which there is something to see: the end of
        the last frame or, where the sound of a complete MP4 or MOV is longer, of the sound, under
        which the last frame stays. Measured from the packets, never from the header.
    fps : float or None
        Mean frames per second as measured, None for a single frame.
    width, height : int
        Size as shown, in square pixels, after rotation.
    rotation : int
        Degrees counter-clockwise by which the stored frames are turned to be shown:
        0, 90, 180 or 270.
    codec, container : str
        Names as FFmpeg gives them.
    frames : int or None
        Number of frames that are shown, None where frames can only be counted by decoding.
    has_audio : bool
        Whether there is an audio track with a decoder.
    audio_codec : str or None
        Its codec.
    problems : tuple of str
        What is missing or wrong, each beginning with its kind: `"truncated: ..."`,
        `"header: ..."`, `"timestamps: ..."`, `"no audio"`. Empty for a faultless file.
    """

    path: Path
    sha256: str
    size_bytes: int
    duration_s: float
    fps: float | None
    width: int
    height: int
    rotation: int
    codec: str
    container: str
    frames: int | None
    has_audio: bool
    audio_codec: str | None
    problems: tuple[str, ...]


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of all bytes of a file, as 64 hexadecimal digits.

    Raises
    ------
    UnreadableVideo
        The file cannot be read.
    """
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK_BYTES):
                digest.update(block)
    except (OSError, ValueError) as error:
        raise UnreadableVideo(f"{path} cannot be read: {one_line(error)}") from error
    return digest.hexdigest()


def probe(path: Path) -> VideoInfo:
    """Measure a video file; at least one frame is decoded, so that "readable" means something.

    Raises
    ------
    UnreadableVideo
        The file is missing, empty, no media file, has no video track, or gives no frame.
    """
    index = read_index(path)
    with open_media(path) as container:
        stream = video_stream(container, path)
        audio = audio_stream(container)
        first = _first_frame(container, stream, path)
        width, height = shown_size(first, stream.sample_aspect_ratio)
        problems = list(index.problems)
        problems += _header_problems(container, stream, index)
        if index.is_counted:
            problems.append("timestamps: no usable ones in the container, frames are counted")
        if audio is None:
            problems.append("no audio")
        return VideoInfo(
            path=path,
            sha256=file_sha256(path),
            size_bytes=path.stat().st_size,
            duration_s=index.held_until_s,
            fps=index.fps,
            width=width,
            height=height,
            rotation=first.rotation % 360,
            codec=stream.codec.canonical_name,
            container=container.format.name,
            frames=None if index.is_counted else len(index.pts),
            has_audio=audio is not None,
            audio_codec=None if audio is None else audio.codec.canonical_name,
            problems=tuple(problems),
        )


def shown_size(frame: VideoFrame, pixel_aspect: Fraction | None) -> tuple[int, int]:
    """Return width and height of a decoded frame as shown: square pixels, turned upright."""
    width, height = frame.width, frame.height
    if pixel_aspect and Fraction(1, 8) < pixel_aspect < 8:
        width = max(1, round(width * pixel_aspect))
    return (height, width) if frame.rotation % 180 == 90 else (width, height)


def _first_frame(container: InputContainer, stream: VideoStream, path: Path) -> VideoFrame:
    stream.codec_context.thread_count = 1
    reason = "the decoder gave none"
    try:
        for frame in container.decode(stream):
            return frame
    except FFmpegError as error:
        reason = one_line(error)
    raise UnreadableVideo(f"{path} has no frame that can be decoded: {reason}")


def _header_problems(
    container: InputContainer, stream: VideoStream, index: PacketIndex
) -> list[str]:
    """Say where the header promises another duration than the packets give."""
    if index.is_truncated:
        return []
    if container.duration is not None:
        promised_s = container.duration / 1_000_000
    elif stream.duration is not None and stream.time_base is not None:
        promised_s = float(stream.duration * stream.time_base)
    else:
        return []
    found_s = index.held_until_s
    if abs(promised_s - found_s) <= max(_LYING_S, _LYING_SHARE * found_s):
        return []
    return [f"header: it says {promised_s:.3f} s, the frames last {found_s:.3f} s"]
