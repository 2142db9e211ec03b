"""Opening a media file that nobody vouches for.

Only regular files are opened, only by formats that hold video or audio themselves: playlists,
concatenation scripts and network addresses, through which a file could reach other files or
hosts, are refused.
"""

from __future__ import annotations

import stat
from pathlib import Path
from typing import TYPE_CHECKING, cast

import av
from av.error import FFmpegError
from av.stream import Disposition

from taketwo.errors import UnreadableVideo

if TYPE_CHECKING:
    from av.audio.stream import AudioStream
    from av.container import InputContainer
    from av.video.stream import VideoStream

__all__ = ["audio_stream", "one_line", "open_media", "video_stream"]

_FORMATS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts,mpeg,mpegvideo,avi,flv,asf,ogg,mxf,nut,ivf,gif,"
    "h264,hevc,obu,m4v,rm,dv,wtv,wav,mp3,flac,aac,aiff,ac3,eac3,amr,caf,au,w64,opus"
)
_MOST_PIXELS = 8192 * 8192
_HEAD_BYTES = 12


def open_media(path: Path) -> InputContainer:
    """Open a file for reading; the caller closes it (it is a context manager).

    Raises
    ------
    UnreadableVideo
        The file is missing, empty, no regular file, or in no format that is read here.
    """
    path = path.absolute()
    _require_regular(path)
    options = {"format_whitelist": _FORMATS, "protocol_whitelist": "file"}
    try:
        return av.open(str(path), mode="r", options=options, metadata_errors="ignore")
    except (FFmpegError, ValueError) as error:
        raise UnreadableVideo(f"{path} cannot be read: {_explained(path, error)}") from error


def video_stream(container: InputContainer, path: Path) -> VideoStream:
    """Return the first stream of moving pictures; the cover picture of a song is none.

    Raises
    ------
    UnreadableVideo
        There is none, no decoder for it, or its pictures are larger than 67 million pixels.
    """
    for stream in container.streams.video:
        if stream.disposition & Disposition.attached_pic:
            continue
        # The stubs promise a context; a stream in an unknown codec has none.
        if cast("object", stream.codec_context) is None:
            raise UnreadableVideo(f"{path} cannot be decoded: no decoder for its video track")
        if stream.codec_context.width * stream.codec_context.height > _MOST_PIXELS:
            raise UnreadableVideo(
                f"{path} cannot be decoded: its frames have {stream.codec_context.width} x "
                f"{stream.codec_context.height} pixels, more than {_MOST_PIXELS}"
            )
        return stream
    has_audio = "it holds audio only" if container.streams.audio else "it holds no media stream"
    raise UnreadableVideo(f"{path} has no video track: {has_audio}")


def audio_stream(container: InputContainer) -> AudioStream | None:
    """Return the first audio stream with a decoder, or None."""
    for stream in container.streams.audio:
        if cast("object", stream.codec_context) is not None:
            return stream
    return None


def one_line(error: BaseException) -> str:
    """Return what an error of FFmpeg says, without its number and file name."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())


def _require_regular(path: Path) -> None:
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise UnreadableVideo(f"{path} cannot be read: there is no such file") from error
    except (OSError, ValueError) as error:
        raise UnreadableVideo(f"{path} cannot be read: {one_line(error)}") from error
    if stat.S_ISDIR(status.st_mode):
        raise UnreadableVideo(f"{path} cannot be read: it is a folder, not a file")
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableVideo(f"{path} cannot be read: it is not a regular file")
    if status.st_size == 0:
        raise UnreadableVideo(f"{path} cannot be read: it is empty (0 bytes)")


def _explained(path: Path, error: Exception) -> str:
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return one_line(error)
    if head[4:8] == b"ftyp":
        return (
            f"{one_line(error)}; it begins like an MP4 but its table of frames (moov) is missing "
            "or damaged, as after a download or recording that was cut off"
        )
    return f"{one_line(error)}; it is in no video or audio format that is read here"
