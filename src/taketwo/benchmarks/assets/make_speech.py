"""Synthesise the phrases of the rendered videos into `speech.ogg` and `speech.json`.

Run once by hand, never at run time: ``python src/taketwo/benchmarks/assets/make_speech.py``.
Needs the program espeak-ng (1.51 was used) and PyAV with libopus.
"""

# pyright: reportUnknownMemberType=false
# PyAV leaves the codec of its streams and packets open in its annotations.

from __future__ import annotations

import json
import subprocess
import tempfile
import wave
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from taketwo.benchmarks.scene_phrases import phrases

RATE = 16_000
GAP_S = 0.25
VOICE = "en-us"
WORDS_PER_MINUTE = 140
FOLDER = Path(__file__).parent


def spoken(text: str) -> NDArray[np.int16]:
    """Return `text` as 16 kHz mono speech without leading and trailing silence."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "phrase.wav"
        subprocess.run(
            ["espeak-ng", "-v", VOICE, "-s", str(WORDS_PER_MINUTE), "-w", str(path), text],
            check=True,
        )
        with wave.open(str(path)) as file:
            rate = file.getframerate()
            samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    frame = av.AudioFrame.from_ndarray(samples[None, :], format="s16", layout="mono")
    frame.sample_rate = rate
    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
    parts = [
        part.to_ndarray()[0] for part in [*resampler.resample(frame), *resampler.resample(None)]
    ]
    speech = np.concatenate(parts)
    loud = np.flatnonzero(np.abs(speech) > 200)
    return speech[max(loud[0] - 80, 0) : loud[-1] + 400]


def main() -> None:
    """Write both files beside this script."""
    gap = np.zeros(int(GAP_S * RATE), np.int16)
    pieces, at = [gap], len(gap)
    index: dict[str, dict[str, str | float]] = {}
    for key, text in phrases().items():
        speech = spoken(text)
        index[key] = {"text": text, "start_s": at / RATE, "end_s": (at + len(speech)) / RATE}
        pieces += [speech, gap]
        at += len(speech) + len(gap)
    track = np.concatenate(pieces)
    with av.open(str(FOLDER / "speech.ogg"), "w", format="ogg") as container:
        stream = container.add_stream("libopus", rate=RATE, layout="mono", bit_rate=24_000)
        size = stream.codec_context.frame_size or 320
        for start in range(0, len(track), size):
            part = np.pad(track[start : start + size], (0, max(0, start + size - len(track))))
            frame = av.AudioFrame.from_ndarray(part[None, :], format="s16", layout="mono")
            frame.sample_rate, frame.pts = RATE, start
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    record = {
        "format": "taketwo.speech/1",
        "voice": f"espeak-ng {VOICE}, {WORDS_PER_MINUTE} words per minute",
        "phrases": index,
    }
    text = json.dumps(record, indent=0, sort_keys=True)
    (FOLDER / "speech.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
