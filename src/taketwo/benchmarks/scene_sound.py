"""The sound track of a scene script, put together from recorded phrases."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import cast

import av
import numpy as np
from numpy.typing import NDArray

from taketwo.benchmarks.scene import VideoScript

__all__ = ["SAMPLE_RATE", "SpeechRecordings", "decode_mono", "load_speech", "sound_track"]

SAMPLE_RATE = 16_000
_PAUSE_S = 0.05


@dataclass(frozen=True)
class SpeechRecordings:
    """Phrases by key: what is said, and 16 kHz mono samples between -1 and 1."""

    texts: Mapping[str, str]
    samples: Mapping[str, NDArray[np.float32]]

    def say(self, keys: Sequence[str]) -> NDArray[np.float32]:
        """Return the phrases one after the other, with a short pause between them."""
        pause = np.zeros(int(_PAUSE_S * SAMPLE_RATE), np.float32)
        parts = [part for key in keys for part in (self.samples[key], pause)]
        return np.concatenate(parts[:-1])

    def text(self, keys: Sequence[str]) -> str:
        """Return what the phrases say."""
        return " ".join(self.texts[key] for key in keys)

    def seconds(self, keys: Sequence[str]) -> float:
        """Return how long the phrases take."""
        return len(self.say(keys)) / SAMPLE_RATE


def decode_mono(name: str) -> NDArray[np.float32]:
    """Return a sound file of the package as 16 kHz mono samples between -1 and 1."""
    resampler = av.AudioResampler(format="flt", layout="mono", rate=SAMPLE_RATE)
    asset = files("taketwo.benchmarks") / "assets" / name
    with asset.open("rb") as file, av.open(file, "r") as container:
        parts = [
            part.to_ndarray()[0]
            for frame in container.decode(audio=0)
            for part in resampler.resample(frame)
        ]
    parts += [part.to_ndarray()[0] for part in resampler.resample(None)]
    return np.concatenate(parts).astype(np.float32)


def load_speech() -> SpeechRecordings:
    """Return the recorded phrases that come with the package (`assets/LICENCES.md`)."""
    index = (files("taketwo.benchmarks") / "assets" / "speech.json").read_text(encoding="utf-8")
    phrases = cast("dict[str, dict[str, str | float]]", json.loads(index)["phrases"])
    track = decode_mono("speech.ogg")
    texts = {key: str(entry["text"]) for key, entry in phrases.items()}
    samples = {
        key: track[_index(float(entry["start_s"])) : _index(float(entry["end_s"]))]
        for key, entry in phrases.items()
    }
    return SpeechRecordings(texts, samples)


def _index(time_s: float) -> int:
    return round(time_s * SAMPLE_RATE)


def sound_track(script: VideoScript, speech: SpeechRecordings) -> NDArray[np.float32]:
    """Return the whole sound of a video: speech at its times, and noise where the script has it."""
    track = np.zeros(_index(script.duration_s), np.float32)
    power: list[float] = []
    for utterance in script.utterances:
        said = speech.say(utterance.keys)
        start = _index(utterance.start_s)
        track[start : start + len(said)] += said[: len(track) - start]
        power.append(float(np.mean(said**2)))
    if script.noise_db is not None and power:
        rng = np.random.default_rng(script.texture_seed)
        level = np.sqrt(np.mean(power) / 10 ** (script.noise_db / 10))
        track += rng.normal(0.0, level, len(track)).astype(np.float32)
    return np.clip(track, -1.0, 1.0)
