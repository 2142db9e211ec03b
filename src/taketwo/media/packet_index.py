"""When each frame of a video is shown, read from the packets without decoding any.

The header of a file may lie about its duration, frame rate and number of frames; the packets
cannot, because they are what a decoder gets. One pass over them (about 7 microseconds of CPU a
packet) gives presentation times, keyframes and the point up to which the file is complete.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from av.error import FFmpegError
from numpy.typing import NDArray

from taketwo.errors import UnreadableVideo
from taketwo.media.opening import audio_stream, one_line, open_media, video_stream

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.packet import Packet
    from av.stream import Stream
    from av.video.stream import VideoStream

__all__ = ["TOLERANCE_S", "PacketIndex", "read_index"]

TOLERANCE_S = 1e-3
"""A frame stamped up to this much after t counts as shown at t: containers round their stamps."""

_NO_PTS = -(2**63)
_HEADER_SLACK_S = 0.5
_LAST_ENTRIES = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class PacketIndex:
    """Presentation times and keyframes of the video track of one file.

    Attributes
    ----------
    time_base : Fraction
        Seconds per tick of every `pts` and `dts` here.
    pts : ndarray of int64, shape (n,)
        Presentation times of the frames that are shown, ascending, at least one. Frames that an
        edit list hides are left out.
    key_pts, key_dts : ndarray of int64, shape (k,)
        Presentation and decoding times of the keyframes, hidden ones included, ascending.
    end_pts : int
        Where the last complete frame ends. In a truncated file this is where the first missing
        frame would have begun, and later frames are not in `pts`.
    held_until_s : float
        Up to which second the last frame is shown: the end of the video or, in a complete MP4
        or MOV whose sound is longer, of the sound.
    is_counted : bool
        The container has no usable presentation times (raw streams, H.264 in AVI): the n-th frame
        that the decoder gives is the n-th of `pts`, which takes decoding from the start.
    is_truncated : bool
        Frames that the file promises are not in it.
    problems : tuple of str
        What is wrong with the file, in words.
    """

    time_base: Fraction
    pts: NDArray[np.int64]
    key_pts: NDArray[np.int64]
    key_dts: NDArray[np.int64]
    end_pts: int
    held_until_s: float
    is_counted: bool
    is_truncated: bool
    problems: tuple[str, ...]

    @property
    def first_pts(self) -> int:
        """The stamp that is second 0."""
        return int(self.pts[0])

    @property
    def end_s(self) -> float:
        """Where the last complete frame ends, in seconds from the first."""
        return self.seconds(self.end_pts)

    @property
    def fps(self) -> float | None:
        """Mean frames per second as measured, None for a single frame."""
        span = self.seconds(int(self.pts[-1]))
        return (len(self.pts) - 1) / span if span > 0 else None

    def seconds(self, pts: int) -> float:
        """Return a presentation time in seconds from the first frame."""
        return float((pts - self.first_pts) * self.time_base)

    def number_at(self, time_s: float) -> int:
        """Return the number in `pts` of the frame shown at `time_s`, 0 for earlier times."""
        ticks = math.floor((time_s + TOLERANCE_S) / self.time_base + 1e-6)
        return max(0, int(np.searchsorted(self.pts, self.first_pts + ticks, side="right")) - 1)

    def keyframe_before(self, pts: int) -> int | None:
        """Return the number of the last keyframe with a presentation time up to `pts`."""
        number = int(np.searchsorted(self.key_pts, pts, side="right")) - 1
        return number if number >= 0 else None


def read_index(path: Path) -> PacketIndex:
    """Return the index of a file, read anew when its size or time of change differs.

    Raises
    ------
    UnreadableVideo
        The file cannot be opened, or its video track has no packet.
    """
    try:
        status = path.stat()
    except (OSError, ValueError):
        return _read(path)
    return _read_once(path.absolute(), status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=8)
def _read_once(path: Path, _size: int, _changed: int) -> PacketIndex:
    return _read(path)


def _read(path: Path) -> PacketIndex:
    with open_media(path) as container:
        stream = video_stream(container, path)
        scan = _scan(container, stream)
        if not scan.pts:
            why = f" ({scan.stopped_by})" if scan.stopped_by else ""
            raise UnreadableVideo(f"{path} has a video track without a single frame{why}")
        if not scan.key_pts or min(scan.pts) < scan.key_pts[0]:
            _drop_before(scan, _first_decodable(path))
        return _index(container, stream, scan)


def _first_decodable(path: Path) -> int | None:
    """Return the stamp of the first frame that a decoder gives.

    A recording cut at an open group of pictures begins with frames that are shown before its
    first keyframe and refer to frames before the cut.
    """
    with open_media(path) as container:
        stream = video_stream(container, path)
        stream.codec_context.thread_count = 1
        try:
            return next((frame.pts for frame in container.decode(stream)), None)
        except FFmpegError:
            return None


def _drop_before(scan: _Scan, first: int | None) -> None:
    kept = [(p, d) for p, d in zip(scan.pts, scan.dts, strict=True) if first is None or p >= first]
    if kept and _NO_PTS not in scan.pts:
        scan.pts, scan.dts = (array("q", column) for column in zip(*kept, strict=True))


@dataclass(kw_only=True)
class _Scan:
    """Packets in file order; a growing list of numbers, 24 bytes a frame."""

    pts: array[int] = field(default_factory=lambda: array("q"))
    dts: array[int] = field(default_factory=lambda: array("q"))
    key_pts: array[int] = field(default_factory=lambda: array("q"))
    key_dts: array[int] = field(default_factory=lambda: array("q"))
    last_duration: int = 0
    next_dts: int | None = None
    audio_end_s: float | None = None
    cuts_short: bool = False
    stopped_by: str | None = None


def _scan(container: InputContainer, stream: VideoStream) -> _Scan:
    scan = _Scan()
    audio = audio_stream(container)
    streams: tuple[Stream, ...] = (stream,) if audio is None else (stream, audio)
    video_number, has_hidden = stream.index, stream.codec_context.name == "vp8"
    try:
        for packet in container.demux(*streams):
            if packet.size == 0:
                continue
            if packet.stream_index != video_number:
                _note_audio(scan, packet)
            elif not (has_hidden and not memoryview(packet)[0] & 0x10):
                _note_video(scan, packet)
    except FFmpegError as error:
        scan.stopped_by = one_line(error)
    return scan


def _note_audio(scan: _Scan, packet: Packet[Stream]) -> None:
    if packet.pts is not None:
        scan.audio_end_s = float((packet.pts + (packet.duration or 0)) * packet.time_base)


def _note_video(scan: _Scan, packet: Packet[Stream]) -> None:
    scan.cuts_short = packet.is_corrupt
    pts = _NO_PTS if packet.pts is None else packet.pts
    dts = _NO_PTS if packet.dts is None else packet.dts
    if packet.is_keyframe:
        scan.key_pts.append(pts)
        scan.key_dts.append(dts)
    if packet.is_discard:
        return
    scan.pts.append(pts)
    scan.dts.append(dts)
    scan.last_duration = packet.duration or scan.last_duration
    scan.next_dts = None if packet.dts is None else packet.dts + (packet.duration or 0)


def _index(container: InputContainer, stream: VideoStream, scan: _Scan) -> PacketIndex:
    time_base = stream.time_base or Fraction(1, 1000)
    stamps, is_counted = _stamps(container, stream, scan)
    tail = _numbers([scan.last_duration])[0] or _typical_step(stamps)
    end = int(stamps[-1]) + max(1, int(tail))
    zero_s = float(int(stamps[0]) * time_base)
    sound_s = 0.0 if scan.audio_end_s is None else scan.audio_end_s - zero_s
    promised = _promised_end(container, stream, stamps, end, sound_s)
    is_truncated = scan.cuts_short or scan.stopped_by is not None or promised is not None
    whole = end
    if not is_counted:
        end = _complete_until(stamps, end, scan, is_truncated=is_truncated)
    is_truncated = is_truncated or end < whole
    shown = stamps[stamps < end] if (stamps < end).any() else stamps[:1]
    end = max(end, int(shown[0]) + 1)
    end_s = float((end - int(shown[0])) * time_base)
    # Only a table of all frames, which is what MP4 has unless fragmented, proves that none is
    # missing between the last one and the end of a longer sound.
    has_table = container.format.name.startswith("mov") and stream.frames > 0
    held = max(end_s, sound_s) if has_table else end_s
    if is_truncated:  # The missing frame counts as shown from 1 ms before its stamp on.
        held = max(0.0, end_s - 2 * TOLERANCE_S)
    order = np.argsort(_numbers(scan.key_pts), kind="stable")
    return PacketIndex(
        time_base=time_base,
        pts=shown,
        key_pts=_numbers(scan.key_pts)[order],
        key_dts=_numbers(scan.key_dts)[order],
        end_pts=end,
        held_until_s=held,
        is_counted=is_counted,
        is_truncated=is_truncated,
        problems=_problems(scan, end_s, promised, is_truncated=is_truncated),
    )


def _stamps(
    container: InputContainer, stream: VideoStream, scan: _Scan
) -> tuple[NDArray[np.int64], bool]:
    """Return ascending presentation times and whether frames must be found by counting."""
    pts, dts = np.sort(_numbers(scan.pts)), np.sort(_numbers(scan.dts))
    if _runs_backwards(_numbers(scan.dts)):
        # Parts with clocks of their own, joined end to end: their times say nothing together.
        return np.arange(len(pts), dtype=np.int64) * (scan.last_duration or 1), True
    if pts[0] != _NO_PTS and bool((np.diff(pts) > 0).all()):
        # AVI stores the order of decoding only, and FFmpeg guesses times of reordered codecs.
        guessed = container.format.name == "avi" and stream.codec_context.name in {"h264", "hevc"}
        return pts, guessed
    for stamps in (pts, dts):
        if stamps[0] != _NO_PTS and bool((np.diff(stamps) > 0).all()):
            return stamps, True
    step = scan.last_duration or 1
    return np.arange(len(pts), dtype=np.int64) * step, True


def _promised_end(
    container: InputContainer,
    stream: VideoStream,
    stamps: NDArray[np.int64],
    end: int,
    sound_s: float,
) -> float | None:
    """Return the duration in seconds that the header promises, where the packets fall short."""
    time_base = stream.time_base or Fraction(1, 1000)
    found_s = float((end - int(stamps[0])) * time_base)
    name = container.format.name
    if name.startswith("mov"):
        entries, size = stream.index_entries, container.size
        last = range(max(0, len(entries) - _LAST_ENTRIES), len(entries))
        if all(entries[i].pos + entries[i].size <= size for i in last):
            return None
        return float((stream.duration or 0) * time_base) or found_s
    if name == "avi" and stream.frames > len(stamps):
        return found_s * stream.frames / len(stamps)
    if name in {"matroska,webm", "flv", "asf"} and container.duration:
        # Matroska says when the last frame ends, from 0 of its clock and not from the first frame.
        promised_s = container.duration / 1_000_000 - max(0.0, float(int(stamps[0]) * time_base))
        return promised_s if promised_s - max(found_s, sound_s) > _HEADER_SLACK_S else None
    return None


def _complete_until(stamps: NDArray[np.int64], end: int, scan: _Scan, *, is_truncated: bool) -> int:
    """Return the stamp up to which no frame is missing.

    Frames are stored in the order of decoding, and none is shown before it is decoded. So all
    frames shown before the decoding time of the first missing packet are there, while among the
    later ones there are holes: showing the frame before a hole would be showing a wrong frame.
    Containers that promise nothing (MPEG-TS) are cut at a hole among those later frames.
    """
    if scan.next_dts is None:
        return int(stamps[-1]) if is_truncated else end
    if is_truncated:
        return min(end, scan.next_dts)
    steps = np.diff(stamps)
    late = stamps[:-1] >= scan.next_dts - _typical_step(stamps)
    holes = np.flatnonzero(late & (steps > 1.5 * _typical_step(stamps)))
    is_regular = len(steps) > 0 and bool((steps[~late] < 1.5 * _typical_step(stamps)).all())
    return int(stamps[holes[0]] + _typical_step(stamps)) if len(holes) and is_regular else end


def _runs_backwards(dts: NDArray[np.int64]) -> bool:
    known = dts[dts != _NO_PTS]
    return bool((np.diff(known) < 0).any())


def _typical_step(stamps: NDArray[np.int64]) -> int:
    return max(1, int(np.median(np.diff(stamps)))) if len(stamps) > 1 else 1


def _problems(
    scan: _Scan, end_s: float, promised_s: float | None, *, is_truncated: bool
) -> tuple[str, ...]:
    problems: list[str] = []
    if is_truncated:
        of = f" of {promised_s:.3f} s" if promised_s and promised_s > end_s else ""
        why = f" ({scan.stopped_by})" if scan.stopped_by else ""
        problems.append(f"truncated: frames are complete up to {end_s:.3f} s{of} only{why}")
    return tuple(problems)


def _numbers(values: Iterable[int]) -> NDArray[np.int64]:
    return np.asarray(values, dtype=np.int64)
