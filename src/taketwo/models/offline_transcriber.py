"""The offline transcriber: speech to timed segments by local weights, as a model of the role."""

from __future__ import annotations

import hashlib
import io
import json
import time
import wave
from dataclasses import dataclass
from functools import cache
from typing import cast

import numpy as np
from numpy.typing import NDArray

from taketwo.errors import DataError
from taketwo.media.store import MediaStore, derived_key
from taketwo.media.transcript import transcribe, transcriber_identity

__all__ = ["Transcription", "samples_of_wav", "transcribe_wav"]

_RATE = 16_000
_KIND = "transcript-of-wav/1"


@dataclass(frozen=True, kw_only=True)
class Transcription:
    """The reply (JSON with `segments`, `language`, `source`) and the seconds to charge for it."""

    text: str
    charged_s: float


def samples_of_wav(data: bytes) -> NDArray[np.float32]:
    """Return the samples (float32 in -1..1, mono, 16 kHz) of a 16-bit PCM WAV file.

    Several channels are averaged; another rate is converted by linear interpolation.

    Raises
    ------
    DataError
        If the bytes are not such a file.
    """
    try:
        with wave.open(io.BytesIO(data)) as sound:
            width, channels, rate = sound.getsampwidth(), sound.getnchannels(), sound.getframerate()
            frames = sound.readframes(sound.getnframes())
    except (wave.Error, EOFError) as error:
        raise DataError(
            f"{len(data)} bytes of audio are not a WAV file ({error}); send 16-bit PCM WAV"
        ) from error
    if width != 2:
        raise DataError(f"the WAV file has {8 * width} bits a sample; send 16-bit PCM")
    whole = len(frames) - len(frames) % (2 * channels)
    levels = np.frombuffer(frames[:whole], "<i2").reshape(-1, channels)
    samples: NDArray[np.float64] = levels.mean(axis=1, dtype=np.float64) / 32768.0
    if rate != _RATE and len(samples):
        wanted = np.arange(round(len(samples) * _RATE / rate), dtype=np.float64) * (rate / _RATE)
        at = np.arange(len(samples), dtype=np.float64)
        samples = cast("NDArray[np.float64]", np.interp(wanted, at, samples))
    return samples.astype(np.float32)


@cache
def _warm_up() -> None:
    """Load the weights, so that the first sound of a process is not charged for it."""
    transcribe(np.zeros(_RATE // 10, np.float32))


def _transcript_json(data: bytes) -> bytes:
    samples = samples_of_wav(data)
    transcript = transcribe(samples)
    return json.dumps(
        {
            "segments": [
                {"start": round(s.start_s, 2), "end": round(s.end_s, 2), "text": s.text}
                for s in transcript.segments
            ],
            "language": transcript.language,
            "source": transcript.source,
        },
        ensure_ascii=False,
    ).encode()


def transcribe_wav(data: bytes, store: MediaStore | None) -> Transcription:
    """Return what is said in a WAV file; times in seconds from its beginning.

    The transcript is derived media: kept in `store` under the hash of the sound and the identity
    of the weights, and charged at the seconds of its making.

    Raises
    ------
    DataError
        If the bytes are not a 16-bit PCM WAV file.
    """
    if store is None:
        _warm_up()
        started = time.perf_counter()
        reply = _transcript_json(data)
        seconds = time.perf_counter() - started
    else:
        key = derived_key(_KIND, hashlib.sha256(data).hexdigest(), model=transcriber_identity())
        if store.get(key) is None:
            _warm_up()
        stored = store.get_or_make(key, lambda: _transcript_json(data))
        reply, seconds = stored.data, stored.seconds
    return Transcription(text=reply.decode(), charged_s=seconds)
