from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tests.media.used_memory import made_in_used_memory

from taketwo.benchmarks.scene_encoding import encode_mp4
from taketwo.media.audio import load_audio
from taketwo.media.frames import frames_at
from taketwo.media.video import probe

FPS, FRAMES, BITS = 12, 60, 8


def barcodes() -> Iterator[NDArray[np.uint8]]:
    """Yield frames that carry their own number in 8 black or white squares."""
    for number in range(FRAMES):
        bits = [(number >> bit) & 1 for bit in range(BITS)]
        row = np.repeat(np.array(bits, np.uint8) * 255, 20)
        yield np.repeat(np.tile(row, (96, 1))[:, :, None], 3, axis=2)


def number_of(image: NDArray[np.uint8]) -> int:
    return sum(int(image[48, 20 * bit + 10, 0] > 128) << bit for bit in range(BITS))


def tone() -> NDArray[np.float32]:
    """Return 5 s of silence with 1 s of a 440 Hz tone from second 2 on."""
    times = np.arange(5 * 16_000) / 16_000
    sound = 0.5 * np.sin(2 * np.pi * 440 * times)
    return np.where((times >= 2) & (times < 3), sound, 0.0).astype(np.float32)


def encoded() -> bytes:
    return encode_mp4(barcodes(), tone(), fps=FPS, width=160, height=96)


def test_frame_i_is_shown_from_i_over_fps_on(tmp_path: Path) -> None:
    path = tmp_path / "barcodes.mp4"
    path.write_bytes(encoded())
    times = [(number + share) / FPS for number in range(0, FRAMES, 7) for share in (0.0, 0.9)]
    found = [number_of(frame.image) for frame in frames_at(path, times)]
    assert found == [number for number in range(0, FRAMES, 7) for _ in range(2)]


def test_sound_lies_at_its_seconds(tmp_path: Path) -> None:
    path = tmp_path / "tone.mp4"
    path.write_bytes(encoded())
    sound = load_audio(path)
    loud = np.flatnonzero(np.abs(sound) > 0.2) / 16_000
    assert abs(loud[0] - 2.0) < 0.07
    assert abs(loud[-1] - 3.0) < 0.07
    info = probe(path)
    assert (info.width, info.height, info.codec, info.audio_codec) == (160, 96, "h264", "aac")
    assert info.problems == ()


def test_equal_input_gives_equal_bytes_whatever_lies_in_memory() -> None:
    assert len(made_in_used_memory(encoded)) == 1
