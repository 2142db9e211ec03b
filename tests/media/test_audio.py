from __future__ import annotations

import io
import wave
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.media.clips import paint

from taketwo.errors import UnreadableVideo
from taketwo.media.audio import SAMPLE_RATE, load_audio, write_wav


def ramp_of_tones(seconds: int, rate: int = SAMPLE_RATE) -> NDArray[np.float32]:
    """Return sound whose pitch tells the second: 300 Hz in the first, 400 Hz in the next, ..."""
    time = np.arange(seconds * rate) / rate
    pitch = 300 + 100 * np.floor(time)
    return (0.5 * np.sin(2 * np.pi * pitch * time)).astype(np.float32)


def pitch(sound: NDArray[np.float32]) -> float:
    spectrum = np.abs(np.fft.rfft(sound * np.hanning(len(sound))))
    return float(spectrum.argmax() * SAMPLE_RATE / len(sound))


def write_movie(
    path: Path, *, sound_starts_s: float, codec: str = "aac", hole: tuple[float, float] = (9, 9)
) -> Path:
    """Write 6 s of pictures and 6 s of stereo tones at 48 kHz that begin at `sound_starts_s`."""
    tones = ramp_of_tones(6, 48_000)
    with av.open(str(path), "w") as container:
        pictures = container.add_stream("libx264", rate=10, options={"preset": "ultrafast"})
        pictures.width, pictures.height, pictures.pix_fmt = 320, 192, "yuv420p"
        sound = container.add_stream(codec, rate=48_000, layout="stereo")
        for number in range(60):
            frame = av.VideoFrame.from_ndarray(paint(number), format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, 10)
            container.mux(pictures.encode(frame))
            first = number * 4800
            if hole[0] <= number / 10 < hole[1]:
                continue
            piece = np.repeat(tones[None, first : first + 4800], 2, axis=0)
            heard = av.AudioFrame.from_ndarray(piece, format="fltp", layout="stereo")
            heard.sample_rate, heard.time_base = 48_000, Fraction(1, 48_000)
            heard.pts = first + round(sound_starts_s * 48_000)
            container.mux(sound.encode(heard))
        container.mux(pictures.encode(None))
        container.mux(sound.encode(None))
    return path


def test_sound_is_16_khz_mono_on_the_clock_of_the_pictures(tmp_path: Path) -> None:
    path = write_movie(tmp_path / "movie.mp4", sound_starts_s=0.0)

    sound = load_audio(path)

    assert sound.dtype == np.float32
    assert sound.ndim == 1
    assert len(sound) == pytest.approx(6 * SAMPLE_RATE, abs=0.1 * SAMPLE_RATE)
    assert [
        round(pitch(sound[int((s + 0.2) * SAMPLE_RATE) : int((s + 0.8) * SAMPLE_RATE)]), -1)
        for s in range(6)
    ] == [300, 400, 500, 600, 700, 800]


@pytest.mark.parametrize("suffix", ["mp4", "mkv", "ts", "mov"])
def test_a_window_holds_the_sound_of_its_seconds(tmp_path: Path, suffix: str) -> None:
    path = write_movie(tmp_path / f"movie.{suffix}", sound_starts_s=0.0)

    window = load_audio(path, 3.0, 5.0)

    assert len(window) == 2 * SAMPLE_RATE
    halves = [window[1600:14_400], window[17_600:30_400]]
    assert [round(pitch(half), -1) for half in halves] == [600, 700]
    whole = load_audio(path)
    shifts = range(-16, 17)  # Matroska rounds stamps to 1 ms.
    apart = [np.abs(window[100:30_000] - whole[48_100 + n : 78_000 + n]).max() for n in shifts]
    assert min(apart) < 0.1


def test_sound_that_begins_late_is_preceded_by_silence(tmp_path: Path) -> None:
    path = write_movie(tmp_path / "late.mkv", sound_starts_s=1.5)

    sound = load_audio(path)

    assert np.abs(sound[: int(1.4 * SAMPLE_RATE)]).max() < 0.01
    assert round(pitch(sound[int(1.7 * SAMPLE_RATE) : int(2.3 * SAMPLE_RATE)]), -1) == 300
    window = load_audio(path, 0.5, 2.5)
    assert len(window) == 2 * SAMPLE_RATE
    assert np.abs(window[: int(0.9 * SAMPLE_RATE)]).max() < 0.01


def test_a_hole_in_the_track_is_silence_of_its_length(tmp_path: Path) -> None:
    path = write_movie(
        tmp_path / "hole.mkv", sound_starts_s=0.0, codec="pcm_s16le", hole=(2.0, 3.0)
    )

    sound = load_audio(path)

    assert np.abs(sound[int(2.1 * SAMPLE_RATE) : int(2.9 * SAMPLE_RATE)]).max() < 0.01
    assert round(pitch(sound[int(3.2 * SAMPLE_RATE) : int(3.8 * SAMPLE_RATE)]), -1) == 600
    assert len(sound) == pytest.approx(6 * SAMPLE_RATE, abs=100)


def test_a_window_beyond_the_sound_is_empty(tmp_path: Path) -> None:
    path = write_movie(tmp_path / "movie.mp4", sound_starts_s=0.0)

    assert len(load_audio(path, 20.0, 30.0)) == 0


def test_a_video_without_sound_says_so(clips: Mapping[str, Path]) -> None:
    with pytest.raises(UnreadableVideo, match=r"no-b-frames\.mp4 has no audio track"):
        load_audio(clips["no-b-frames.mp4"])


@pytest.mark.parametrize("window", [(2.0, 2.0), (3.0, 1.0), (float("nan"), 1.0), (0.0, -1.0)])
def test_an_empty_window_is_refused(clips: Mapping[str, Path], window: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="holds no sound"):
        load_audio(clips["b-frames.mp4"], *window)


def test_a_file_of_sound_only_is_read_and_wav_comes_back_as_written(tmp_path: Path) -> None:
    tones = ramp_of_tones(2)
    path = tmp_path / "tones.wav"
    path.write_bytes(write_wav(tones))

    with wave.open(io.BytesIO(path.read_bytes())) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16_000, 1, 2)
    assert np.abs(load_audio(path) - tones).max() < 1e-4
    assert np.abs(load_audio(path, 1.0, 1.5) - tones[16_000:24_000]).max() < 1e-4


def test_loud_samples_are_clipped_not_wrapped() -> None:
    with wave.open(io.BytesIO(write_wav(np.array([2.0, -2.0], np.float32)))) as file:
        assert np.frombuffer(file.readframes(2), "<i2").tolist() == [32767, -32768]


def test_damaged_sound_gives_what_is_left(tmp_path: Path) -> None:
    path = write_movie(tmp_path / "movie.ts", sound_starts_s=0.0)
    data = bytearray(path.read_bytes())
    rng = np.random.default_rng(3)
    for at in rng.integers(20_000, len(data) - 200, 40):
        data[at : at + 20] = rng.bytes(20)
    path.write_bytes(data)

    sound = load_audio(path)

    assert len(sound) == pytest.approx(6 * SAMPLE_RATE, abs=SAMPLE_RATE)
    assert np.isfinite(sound).all()
