"""The sound of a video as 16 kHz mono samples on the clock of its pictures."""

from __future__ import annotations

import io
import math
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from av.audio.resampler import AudioResampler
from av.error import FFmpegError
from numpy.typing import NDArray

from taketwo.errors import UnreadableVideo
from taketwo.media.opening import audio_stream, open_media
from taketwo.media.packet_index import read_index

if TYPE_CHECKING:
    from av.audio.frame import AudioFrame
    from av.audio.stream import AudioStream
    from av.container import InputContainer

__all__ = ["SAMPLE_RATE", "load_audio", "write_wav"]

SAMPLE_RATE = 16_000
"""Samples per second of all sound here."""

_LONGEST_S = 6 * 3600.0
_SEEK_MARGIN_S = 0.5
_JITTER_S = 0.05


def load_audio(
    path: Path, start_s: float | None = None, end_s: float | None = None
) -> NDArray[np.float32]:
    """Return the sound of a window, decoded to 16 kHz mono.

    Parameters
    ----------
    path : Path
        A video, or a file of sound only.
    start_s, end_s : float, optional
        The window in seconds from the first video timestamp (from the first sound where there is
        no video); by default all of it.

    Returns
    -------
    ndarray of float32, shape (samples,)
        Values in -1 to 1; sample i belongs to second `start_s + i / 16000`. Where the track
        begins late or has holes there is silence; it ends where the sound ends, so it may be
        shorter than the window, or empty.

    Raises
    ------
    UnreadableVideo
        The file cannot be read, has no audio track, or the window is longer than 6 hours.
    ValueError
        The window is empty or not finite.
    """
    start = 0.0 if start_s is None else float(start_s)
    end = math.inf if end_s is None else float(end_s)
    if not math.isfinite(start) or math.isnan(end) or end <= max(0.0, start):
        raise ValueError(f"the window from {start_s} s to {end_s} s holds no sound")
    start = max(0.0, start)
    with open_media(path) as container:
        stream = audio_stream(container)
        if stream is None:
            raise UnreadableVideo(f"{path} has no audio track")
        stream.codec_context.thread_count = 1
        zero_s = _zero_s(container, path)
        if start > _SEEK_MARGIN_S:
            _seek(container, stream, zero_s + start - _SEEK_MARGIN_S)
        track = _Track(path, zero_s + start, zero_s + end)
        for frame in _decoded(container, stream):
            if frame.time is not None and frame.time >= zero_s + end:
                break
            track.add(frame)
        return track.samples()


def write_wav(audio: NDArray[np.float32], rate: int = SAMPLE_RATE) -> bytes:
    """Return mono samples in -1 to 1 as a WAV file of 16 bits; louder ones are clipped."""
    samples = np.clip(np.round(audio * 32767.0), -32768, 32767).astype("<i2")
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.tobytes())
    return buffer.getvalue()


class _Track:
    """Samples put where their timestamps say, cut to a window of absolute seconds."""

    def __init__(self, path: Path, start_s: float, end_s: float) -> None:
        self._path, self._start_s, self._end_s = path, start_s, end_s
        self._resampler = AudioResampler(format="flt", layout="mono", rate=SAMPLE_RATE)
        self._pieces: list[NDArray[np.float32]] = []
        self._begun_s: float | None = None
        self._next_s: float | None = None
        self._count = 0

    def add(self, frame: AudioFrame) -> None:
        """Take the next decoded frame; a jump of its time beyond 50 ms becomes silence or a cut."""
        time_s = frame.time
        if time_s is None:
            time_s = self._start_s if self._next_s is None else self._next_s
        if self._begun_s is None:
            self._begun_s = time_s
        elif self._next_s is not None and abs(time_s - self._next_s) > _JITTER_S:
            self._flush()
            self._move_to(time_s)
        self._next_s = time_s + frame.samples / frame.sample_rate
        frame.pts = None
        self._keep(self._resampler.resample(frame))

    def samples(self) -> NDArray[np.float32]:
        """Return what was added, cut to the window."""
        if self._begun_s is None:
            return np.zeros(0, dtype=np.float32)
        self._flush()
        joined = np.concatenate(self._pieces) if self._pieces else np.zeros(0, dtype=np.float32)
        lead = round((self._begun_s - self._start_s) * SAMPLE_RATE)
        joined = joined[-lead:] if lead < 0 else np.pad(joined, (lead, 0))
        if math.isfinite(self._end_s):
            joined = joined[: round((self._end_s - self._start_s) * SAMPLE_RATE)]
        return np.ascontiguousarray(joined, dtype=np.float32)

    def _move_to(self, time_s: float) -> None:
        begun_s = time_s if self._begun_s is None else self._begun_s
        missing = round((time_s - begun_s) * SAMPLE_RATE) - self._count
        self._require_short(missing)
        if missing > 0:
            self._pieces.append(np.zeros(missing, dtype=np.float32))
        elif missing < 0:
            kept = np.concatenate(self._pieces)[: max(0, self._count + missing)]
            self._pieces = [kept]
        self._count = max(0, self._count + missing)

    def _flush(self) -> None:
        self._keep(self._resampler.resample(None))
        self._resampler = AudioResampler(format="flt", layout="mono", rate=SAMPLE_RATE)

    def _keep(self, frames: list[AudioFrame]) -> None:
        for frame in frames:
            piece = cast("NDArray[np.float32]", frame.to_ndarray()).reshape(-1)
            self._require_short(len(piece))
            self._pieces.append(piece)
            self._count += len(piece)

    def _require_short(self, more: int) -> None:
        if self._count + more > _LONGEST_S * SAMPLE_RATE:
            raise UnreadableVideo(
                f"{self._path}: the window holds more than {_LONGEST_S / 3600:g} hours of sound; "
                "ask for a shorter one"
            )


def _zero_s(container: InputContainer, path: Path) -> float:
    """Return the absolute timestamp that is second 0."""
    try:
        index = read_index(path)
    except UnreadableVideo:
        start = container.start_time
        return start / 1_000_000 if start else 0.0
    return float(index.first_pts * index.time_base)


def _seek(container: InputContainer, stream: AudioStream, time_s: float) -> None:
    if stream.time_base is None:
        return
    try:
        container.seek(max(0, int(time_s / stream.time_base)), stream=stream)
    except (FFmpegError, OverflowError):
        container.seek(0)


def _decoded(container: InputContainer, stream: AudioStream) -> Iterator[AudioFrame]:
    """Yield decoded frames; damaged packets are left out and become silence."""
    try:
        for packet in container.demux(stream):
            try:
                yield from packet.decode()
            except FFmpegError:
                continue
    except FFmpegError:
        return
