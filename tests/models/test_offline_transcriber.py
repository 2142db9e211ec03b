from __future__ import annotations

import io
import wave

import numpy as np
import pytest

from taketwo.errors import DataError
from taketwo.models.offline_transcriber import samples_of_wav


def wav(samples: np.ndarray, rate: int, width: int = 2) -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as sound:
        sound.setnchannels(samples.shape[1])
        sound.setsampwidth(width)
        sound.setframerate(rate)
        sound.writeframes(samples.tobytes())
    return buffer.getvalue()


def test_channels_are_averaged_and_scaled() -> None:
    stereo = np.array([[16384, 0], [-16384, -16384]], "<i2")

    assert samples_of_wav(wav(stereo, 16_000)).tolist() == [0.25, -0.5]


def test_another_rate_becomes_16_khz() -> None:
    ramp = np.arange(8, dtype="<i2")[:, None] * 1000

    samples = samples_of_wav(wav(ramp, 8_000))

    assert samples.dtype == np.float32
    assert samples[:5] * 32768 == pytest.approx([0, 500, 1000, 1500, 2000])
    assert len(samples) == 16


def test_other_sample_sizes_are_refused() -> None:
    with pytest.raises(DataError, match="8 bits a sample"):
        samples_of_wav(wav(np.zeros((4, 1), np.uint8), 16_000, width=1))
