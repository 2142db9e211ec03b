"""Small video files whose frames carry their own number as a barcode, and the truth about them.

Each frame shows its number as 20 black or white cells at the bottom, its complement above (so
that a misread is noticed), over a moving noisy background that gives encoders something to
predict. The truth comes from decoding a file from front to back, with no index and no seeking.
"""

from __future__ import annotations

import os
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT, CELLS, CELL = 320, 192, 20, 16
TICK = Fraction(1, 30000)


@dataclass(frozen=True, kw_only=True)
class Clip:
    """How to make one file. `ticks` are presentation times in 1/30000 s; 1000 is one at 30 fps."""

    name: str
    codec: str
    options: Mapping[str, str] = field(default_factory=dict)
    muxer: Mapping[str, str] = field(default_factory=dict)
    frames: int = 96
    gop: int = 24
    b_frames: int | None = None
    ticks: Callable[[int], int] = lambda number: number * 1000
    time_base: Fraction = TICK
    sound: bool = False
    turn: int = 0
    edit: Callable[[bytes], bytes] | None = None
    first: int = 0


X264 = {"preset": "veryfast", "crf": "26"}


def skip_first_frames(data: bytes) -> bytes:
    """Let the edit list of an MP4 begin 10 frames later, inside the first group of pictures."""
    at = data.rindex(b"elst") + 4
    _, count, length, start = struct.unpack(">IIIi", data[at : at + 16])
    assert count == 1
    timescale_at = data.index(b"mdhd") + 4 + 4 + 8
    (timescale,) = struct.unpack(">I", data[timescale_at : timescale_at + 4])
    shift = 10 * timescale // 30
    entry = struct.pack(">II", length - 333, start + shift)
    return data[: at + 8] + entry + data[at + 16 :]


CLIPS = (
    Clip(name="b-frames.mp4", codec="libx264", options=X264, b_frames=3, gop=48, sound=True),
    Clip(name="no-b-frames.mp4", codec="libx264", options=X264, b_frames=0),
    Clip(name="matroska.mkv", codec="libx264", options=X264, b_frames=3, sound=True),
    Clip(name="transport.ts", codec="libx264", options=X264, b_frames=3, sound=True),
    Clip(
        name="open-gop.mp4",
        codec="libx264",
        options=X264 | {"x264-params": "open-gop=1:scenecut=0:b-adapt=0:bframes=3"},
    ),
    Clip(
        name="open-gop.ts",
        codec="libx264",
        options=X264 | {"x264-params": "open-gop=1:scenecut=0:b-adapt=0:bframes=3"},
    ),
    Clip(
        name="variable-rate.mp4",
        codec="libx264",
        options=X264,
        b_frames=2,
        ticks=lambda n: n * 1000 + 350 * (n % 3) + 5000 * (n // 20),
    ),
    Clip(
        name="variable-rate.mkv",
        codec="libx264",
        options=X264,
        b_frames=2,
        ticks=lambda n: n * 700 + 300 * (n % 2) + 30_000 * (n // 50),
    ),
    Clip(
        name="starts-at-10-s.mkv",
        codec="libx264",
        options=X264,
        b_frames=3,
        ticks=lambda n: 300_000 + n * 1000,
    ),
    Clip(
        name="edit-list.mp4",
        codec="libx264",
        options=X264,
        b_frames=3,
        edit=skip_first_frames,
        first=10,
    ),
    Clip(
        name="fragmented.mp4",
        codec="libx264",
        options=X264,
        b_frames=3,
        muxer={"movflags": "frag_keyframe+empty_moov"},
    ),
    Clip(
        name="intra-refresh.mp4",
        codec="libx264",
        options=X264 | {"x264-params": "intra-refresh=1:keyint=24:bframes=0"},
    ),
    Clip(name="reordered.flv", codec="libx264", options=X264, b_frames=2),
    Clip(name="h264.avi", codec="libx264", options=X264, b_frames=2, time_base=Fraction(1, 30)),
    Clip(
        name="hevc.mp4",
        codec="libx265",
        options={"preset": "ultrafast", "x265-params": "log-level=none:bframes=3"},
    ),
    Clip(
        name="hevc-open-gop.mkv",
        codec="libx265",
        options={
            "preset": "ultrafast",
            "x265-params": "log-level=none:bframes=3:open-gop=1:b-adapt=0:scenecut=0",
        },
    ),
    Clip(
        name="hevc-layers.mp4",
        codec="libx265",
        options={
            "preset": "ultrafast",
            "x265-params": "log-level=none:bframes=3:temporal-layers=2:b-pyramid=1:b-adapt=0",
        },
    ),
    Clip(
        name="vp9.webm",
        codec="libvpx-vp9",
        options={"deadline": "realtime", "cpu-used": "8", "lag-in-frames": "12"},
    ),
    Clip(
        name="vp8.webm",
        codec="libvpx",
        options={
            "deadline": "good",
            "cpu-used": "5",
            "lag-in-frames": "12",
            "auto-alt-ref": "1",
            "b": "400k",
        },
    ),
    Clip(
        name="av1.mp4",
        codec="libsvtav1",
        options={"preset": "10", "qp": "20", "svtav1-params": "lp=1"},
        frames=64,
    ),
    Clip(name="turned.mp4", codec="libx264", options=X264, b_frames=3, turn=90),
    Clip(name="turned-back.mp4", codec="libx264", options=X264, frames=40, turn=270),
    Clip(name="mpeg4.avi", codec="mpeg4", b_frames=2, time_base=Fraction(1, 30)),
    Clip(name="mpeg4.mov", codec="mpeg4", b_frames=0),
    Clip(name="mpeg2.ts", codec="mpeg2video", b_frames=2, time_base=Fraction(1, 30)),
)


def paint(number: int, width: int = WIDTH, height: int = HEIGHT) -> NDArray[np.uint8]:
    """Return frame `number`, uint8 (height, width, 3): moving bands, noise, barcode."""
    rng = np.random.default_rng(number)
    columns = (np.arange(width)[None, :] * 2 + number * 5) % 256
    rows = (np.arange(height)[:, None] + number * 3) % 256
    base = ((columns + rows) // 2).astype(np.int16)
    noisy = np.clip(base + rng.integers(-12, 12, size=(height, width)), 0, 255).astype(np.uint8)
    image = np.repeat(noisy[:, :, None], 3, axis=2)
    image[:, :, 1] = np.roll(noisy, number * 4, axis=1)
    cell = width // CELLS
    for bit in range(CELLS):
        is_set = bool(number >> bit & 1)
        image[-2 * cell : -cell, bit * cell : (bit + 1) * cell] = 0 if is_set else 255
        image[-cell:, bit * cell : (bit + 1) * cell] = 255 if is_set else 0
    return image


def barcode(image: NDArray[np.uint8]) -> int:
    """Return the number that a frame shows; -1 where code and complement contradict each other."""
    cell = image.shape[1] // CELLS
    number = complement = 0
    for bit in range(CELLS):
        middle = slice(bit * cell + cell // 4, (bit + 1) * cell - cell // 4)
        number |= int(image[-cell + cell // 4 : -cell // 4, middle].mean() > 128) << bit
        complement |= int(image[-2 * cell + cell // 4 : -5 * cell // 4, middle].mean() > 128) << bit
    return number if number ^ complement == (1 << CELLS) - 1 else -1


@contextmanager
def scheduled_as_before() -> Iterator[None]:
    """Undo what SVT-AV1 does as root: it makes the calling process a real-time one, for good.

    Whatever runs later in that process then keeps every ordinary thread from its core; two of them
    bring a machine with two cores to a stop.
    """
    if not hasattr(os, "sched_getscheduler"):
        yield
        return
    policy, parameter = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        yield
    finally:
        os.sched_setscheduler(0, policy, parameter)


@scheduled_as_before()
def write(clip: Clip, folder: Path) -> Path:
    """Encode a clip and return its path."""
    path = folder / clip.name
    with av.open(str(path), "w", options=dict(clip.muxer)) as container:
        stream = container.add_stream(clip.codec, rate=30, options=dict(clip.options))
        stream.width, stream.height = (HEIGHT, WIDTH) if clip.turn % 180 else (WIDTH, HEIGHT)
        stream.pix_fmt = "yuv420p"
        stream.gop_size = clip.gop
        stream.time_base = stream.codec_context.time_base = clip.time_base
        stream.codec_context.thread_count = 1
        if clip.b_frames is not None:
            stream.codec_context.max_b_frames = clip.b_frames
        if clip.turn:
            stream.set_display_rotation(clip.turn)
        sound = container.add_stream("aac", rate=16_000, layout="mono") if clip.sound else None
        for number in range(clip.frames):
            image = paint(number)
            image = np.ascontiguousarray(np.rot90(image, -clip.turn // 90)) if clip.turn else image
            frame = av.VideoFrame.from_ndarray(image, format="rgb24")
            frame.pts = round(clip.ticks(number) * TICK / clip.time_base)
            frame.time_base = clip.time_base
            container.mux(stream.encode(frame))
            if sound is not None:
                container.mux(sound.encode(_tone(number)))
        container.mux(stream.encode(None))
        if sound is not None:
            container.mux(sound.encode(None))
    if clip.edit is not None:
        path.write_bytes(clip.edit(path.read_bytes()))
    return path


def _tone(number: int) -> av.AudioFrame:
    """Return the sound of 1/30 s (533 or 534 samples at 16 kHz) of a 440 Hz tone."""
    first, last = number * 16_000 // 30, (number + 1) * 16_000 // 30
    wave = 0.3 * np.sin(2 * np.pi * 440 * np.arange(first, last) / 16_000)
    frame = av.AudioFrame.from_ndarray(wave.astype(np.float32)[None], format="fltp", layout="mono")
    frame.sample_rate, frame.pts, frame.time_base = 16_000, first, Fraction(1, 16_000)
    return frame


@dataclass(frozen=True)
class Truth:
    """Seconds from the first timestamp and barcode of every frame, by sequential decoding."""

    seconds: Sequence[float]
    barcodes: Sequence[int]
    end_s: float

    def shown_at(self, time_s: float) -> int:
        return self.barcodes[max(0, bisect_right(self.seconds, time_s + 0.001) - 1)]


def truth_of(path: Path, turn: int = 0) -> Truth:
    """Decode a file from front to back; where it has no usable times, 30 frames a second."""
    stamps: list[Fraction] = []
    barcodes: list[int] = []
    with av.open(str(path)) as container:
        for number, frame in enumerate(container.decode(video=0)):
            has_time = frame.pts is not None and path.name != "h264.avi"
            stamps.append(frame.pts * frame.time_base if has_time else Fraction(number, 30))
            image = frame.to_ndarray(format="rgb24")
            barcodes.append(barcode(np.rot90(image, turn // 90)))
    assert stamps == sorted(stamps)
    seconds = [float(stamp - stamps[0]) for stamp in stamps]
    return Truth(seconds, barcodes, seconds[-1] + 1 / 30)


def without_packet(path: Path, number: int) -> bytes:
    """Return the bytes of a file in which one packet is zeros, so that it gives no frame."""
    data = bytearray(path.read_bytes())
    with av.open(str(path)) as container:
        packet = [packet for packet in container.demux(video=0) if packet.size][number]
        assert packet.pos is not None
        data[packet.pos : packet.pos + packet.size] = bytes(packet.size)
    return bytes(data)
