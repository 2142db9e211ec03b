"""Decoding chosen frames of one file, each from the nearest keyframe.

What seeking lands on differs by container: MP4 and Matroska go to the keyframe asked for,
MPEG-TS often to a later one. So the packets themselves say where decoding may start, and a
landing too late is repeated from an earlier point, in the end from the start of the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from av.error import FFmpegError

from taketwo.errors import UnreadableVideo
from taketwo.media.opening import open_media, video_stream
from taketwo.media.packet_index import PacketIndex

if TYPE_CHECKING:
    from fractions import Fraction

    from av.container import InputContainer
    from av.packet import Packet
    from av.video.codeccontext import VideoCodecContext
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

__all__ = ["Decoder", "Found"]

_STEPS_BACK = (1, 2, 4, 8)

# Frames of these codecs say whether any other frame refers to them. In HEVC that holds inside a
# temporal layer only, so it needs a header that says there is one layer.
_KNOWN_REFERENCES = frozenset({"h264", "mpeg1video", "mpeg2video", "mpeg4", "vp9", "vc1", "wmv3"})


@dataclass(frozen=True)
class Found:
    """A decoded frame: its number in the index, its presentation time, and whether it is whole."""

    number: int
    pts: int
    frame: VideoFrame
    is_corrupt: bool


class Decoder:
    """Frames by number out of one file; a context manager that holds the file open."""

    def __init__(self, path: Path, index: PacketIndex) -> None:
        self._path = path
        self._index = index
        self._container: InputContainer
        self._stream: VideoStream
        self._open()
        self._may_skip = _says_references(self._stream)
        self._seeks_by: Literal["pts", "dts"] = "pts"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._container.close()

    @property
    def pixel_aspect(self) -> Fraction | None:
        """Width of a pixel over its height; None or 0 where the file does not say."""
        return self._stream.sample_aspect_ratio

    def frames(self, numbers: Sequence[int]) -> Iterator[Found]:
        """Yield the frames with these strictly ascending numbers of the index, in that order.

        Raises
        ------
        UnreadableVideo
            Neither a frame nor any one before it can be decoded.
        """
        if self._index.is_counted:
            yield from self._counted(numbers)
            return
        pts = self._index.pts

        def group(number: int) -> int | None:
            return self._index.keyframe_before(int(pts[number]))

        for key, members in groupby(numbers, key=group):
            yield from self._group(key, list(members))

    def _group(self, key: int | None, numbers: list[int]) -> Iterator[Found]:
        """Yield frames that are shown between two keyframes."""
        left = {int(self._index.pts[number]): number for number in numbers}
        for start in _starts(key):
            for frame in self._decoded(self._packets_from(start), set(left), max(left)):
                if frame.pts is None:
                    continue
                if frame.pts > next(iter(left)):
                    if frame.pts not in left:
                        continue
                    break  # The one before it did not come: start earlier.
                if frame.pts in left:
                    number = left.pop(frame.pts)
                    yield Found(number, frame.pts, frame, frame.is_corrupt)
                    if not left:
                        return
        for pts, number in left.items():
            yield self._stand_in(key, pts, number)

    def _stand_in(self, key: int | None, pts: int, number: int) -> Found:
        """Return the last frame up to `pts` that can be decoded, marked as corrupt."""
        for start in _starts(key):
            last: VideoFrame | None = None
            for frame in self._decoded(self._packets_from(start), None, pts):
                if frame.pts is None or frame.pts < self._index.first_pts:
                    continue
                if frame.pts > pts:
                    break
                last = frame
            if last is not None and last.pts is not None:
                return Found(number, last.pts, last, is_corrupt=True)
        raise UnreadableVideo(
            f"{self._path} has no frame that can be decoded at {self._index.seconds(pts):.3f} s"
        )

    def _decoded(
        self,
        packets: Iterable[Packet[VideoStream]],
        wanted: set[int] | None,
        last_pts: int | None,
    ) -> Iterator[VideoFrame]:
        """Decode packets in order until every wanted frame, or all up to `last_pts`, went in.

        `wanted` None wants every frame, `last_pts` None the rest of the file. No frame is shown
        before it is decoded, so packets to be decoded after `last_pts` cannot be needed.
        """
        context = self._stream.codec_context
        context.skip_frame = "DEFAULT"
        is_skipping = False
        for packet in packets:
            if last_pts is not None and packet.dts is not None and packet.dts > last_pts:
                break
            is_wanted = wanted is None or packet.pts in wanted
            skip = self._may_skip and not is_wanted and not packet.is_keyframe
            if skip != is_skipping:
                context.skip_frame = "NONREF" if skip else "DEFAULT"
                is_skipping = skip
            yield from _decode(context, packet)
            if wanted is not None and packet.pts is not None:
                wanted.discard(packet.pts)
                if not wanted:
                    break
        yield from _decode(context, None)

    def _counted(self, numbers: Sequence[int]) -> Iterator[Found]:
        """Yield frames by counting what the decoder gives from the start of the file."""
        wanted, count, last = iter(numbers), -1, None
        due = next(wanted, None)
        for count, last in enumerate(self._decoded(self._packets_from(None), None, None)):
            if due is None:
                return
            if count == due:
                yield Found(due, int(self._index.pts[due]), last, last.is_corrupt)
                due = next(wanted, None)
        if due is not None:
            raise UnreadableVideo(
                f"{self._path} has no frame that can be decoded at "
                f"{self._index.seconds(int(self._index.pts[due])):.3f} s: the decoder gave "
                f"{count + 1} frames of {len(self._index.pts)}"
            )

    def _packets_from(self, key: int | None) -> Iterator[Packet[VideoStream]]:
        """Yield the packets from a keyframe on; None or a negative number is the file's start."""
        if key is None or key < 0:
            self._open()
            yield from self._readable_packets()
            return
        target = int(self._index.key_pts[key])
        for attempt, offset in enumerate(self._offsets(key)):
            if offset is None:
                self._open()
            else:
                try:
                    self._seek(offset)
                except (FFmpegError, OverflowError):
                    continue
            packets = self._readable_packets()
            for packet in packets:
                if not packet.is_keyframe or packet.pts is None or packet.pts < target:
                    continue
                if packet.pts > target:
                    break
                if attempt == 1:
                    self._seeks_by = "dts" if self._seeks_by == "pts" else "pts"
                yield packet
                yield from packets
                return

    def _seek(self, offset: int) -> None:
        self._container.seek(offset, stream=self._stream)

    def _offsets(self, key: int) -> Iterator[int | None]:
        """Yield where to seek for a keyframe, the likeliest first; None is the file's start."""
        pts, dts = int(self._index.key_pts[key]), int(self._index.key_dts[key])
        yield from (pts, dts) if self._seeks_by == "pts" else (dts, pts)
        for back in _STEPS_BACK:
            if key - back >= 0:
                yield int(self._index.key_dts[key - back])
        yield None

    def _readable_packets(self) -> Iterator[Packet[VideoStream]]:
        try:
            for packet in self._container.demux(self._stream):
                if packet.size:
                    yield packet
        except FFmpegError:
            return  # The index ended here as well and says so among its problems.

    def _open(self) -> None:
        if hasattr(self, "_container"):
            self._container.close()
        self._container = open_media(self._path)
        self._stream = video_stream(self._container, self._path)
        self._stream.codec_context.thread_count = 1


def _starts(key: int | None) -> tuple[int | None, ...]:
    """Return the keyframes to try for a group, nearest first."""
    if key is None:
        return (None,)
    return (key, *(key - back for back in _STEPS_BACK if key - back >= 0))


def _decode(context: VideoCodecContext, packet: Packet[VideoStream] | None) -> Iterator[VideoFrame]:
    try:
        # PyAV's stub leaves the type of stream of a packet open.
        yield from context.decode(packet)  # pyright: ignore[reportUnknownMemberType]
    except FFmpegError:
        return  # A damaged packet gives no frame; the frames that miss it say so.


def _says_references(stream: VideoStream) -> bool:
    """Return whether frames that say that nothing refers to them can be left out safely."""
    context = stream.codec_context
    if context.name == "hevc":
        return _has_one_layer(context.extradata or b"")
    return context.name in _KNOWN_REFERENCES


def _has_one_layer(hevc_header: bytes) -> bool:
    """Read the number of temporal layers (ISO/IEC 14496-15 8.3.3.1.2; H.265 7.3.2.1)."""
    if hevc_header[:1] == b"\x01" and len(hevc_header) > 21:
        return (hevc_header[21] >> 3) & 0x7 == 1
    start = hevc_header.find(b"\x00\x00\x01\x40\x01")
    parameters = hevc_header[start + 5 : start + 7] if start >= 0 else b""
    return len(parameters) == 2 and (parameters[1] >> 1) & 0x7 == 0
