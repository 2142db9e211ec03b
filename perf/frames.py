"""CPU seconds and exactness of frames at given seconds: ours against other libraries, in one run.

    python perf/frames.py                      a few minutes of video, generated
    python perf/frames.py --minutes 30 --count 64

The video is H.264 with 3 B-frames and long groups of pictures (250 frames). Its frames carry
their number as a barcode, so "exact" is read from pixels: the frame shown at t is the last one
with a presentation time of at most t + 1 ms. Every method runs in a process of its own, so that
user + system time and peak memory are its own; importing is not counted. Methods take turns for
some rounds and the median is shown. Ratios are CPU seconds over ours; numbers of different runs
are not comparable.
"""

# pyright: reportUnknownMemberType=false
# (PyAV's stubs leave the stream of a packet open.)

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import av
import numpy as np
from numpy.typing import NDArray

FPS = 30
CELLS = 20
GOAL = 1.8

Image = NDArray[np.uint8]
Method = Callable[[Path, Sequence[float]], Iterator[Image]]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What one method did with one list of seconds."""

    name: str
    exact: int
    asked: int
    cpu_s: float
    wall_s: float
    peak_mb: float
    error: str = ""


def paint(number: int, width: int, height: int, noise: Sequence[Image]) -> Image:
    """Return frame `number`: moving bands and noise over a barcode of 20 cells."""
    columns = (np.arange(width)[None, :] + number * 3) % 256
    rows = (np.arange(height)[:, None] + number) % 256
    grey = ((columns + rows) // 3).astype(np.uint8) + noise[number % len(noise)]
    image = np.stack([grey, np.roll(grey, number * 2, axis=1), grey[::-1]], axis=2)
    cell = width // CELLS
    for bit in range(CELLS):
        image[-cell:, bit * cell : (bit + 1) * cell] = 255 if number >> bit & 1 else 0
    return image


def barcode(image: Image) -> int:
    """Return the number that a frame shows."""
    cell = image.shape[1] // CELLS
    strip = image[-3 * cell // 4 : -cell // 4].mean(axis=(0, 2))
    return sum(
        int(strip[bit * cell + cell // 4 : (bit + 1) * cell - cell // 4].mean() > 128) << bit
        for bit in range(CELLS)
    )


def write_video(path: Path, frames: int, width: int, height: int) -> None:
    """Encode the test video."""
    rng = np.random.default_rng(0)
    noise = [rng.integers(0, 40, (height, width), dtype=np.uint8) for _ in range(16)]
    options = {"preset": "veryfast", "crf": "30", "x264-params": "keyint=250:scenecut=0:bframes=3"}
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=FPS, options=options)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for number in range(frames):
            frame = av.VideoFrame.from_ndarray(paint(number, width, height, noise), format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, FPS)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def ours(path: Path, seconds: Sequence[float]) -> Iterator[Image]:
    """taketwo.media.frames.frames_at, the packet index included."""
    from taketwo.media.frames import frames_at

    for frame in frames_at(path, seconds):
        yield frame.image


def pyav_seek(path: Path, seconds: Sequence[float]) -> Iterator[Image]:
    """PyAV used directly: seek to the keyframe before each second, decode up to it."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.codec_context.thread_count = 1
        base = stream.time_base or Fraction(1, 1000)
        for second in seconds:
            limit = (stream.start_time or 0) + math.floor((second + 1e-3) / base)
            container.seek(limit, stream=stream)
            shown: av.VideoFrame | None = None
            for frame in container.decode(stream):
                if frame.pts is not None and frame.pts > limit:
                    break
                shown = frame
            if shown is not None:
                yield cast("Image", shown.to_ndarray(format="rgb24"))


def opencv_frames(path: Path, seconds: Sequence[float]) -> Iterator[Image]:
    """OpenCV by frame number; right for a constant rate only."""
    import cv2

    cv2.setNumThreads(1)
    video = cv2.VideoCapture(str(path))
    for second in seconds:
        video.set(cv2.CAP_PROP_POS_FRAMES, math.floor((second + 1e-3) * FPS))
        is_read, image = video.read()
        if is_read:
            yield cast("Image", image)[:, :, ::-1]


def opencv_milliseconds(path: Path, seconds: Sequence[float]) -> Iterator[Image]:
    """OpenCV by milliseconds."""
    import cv2

    cv2.setNumThreads(1)
    video = cv2.VideoCapture(str(path))
    for second in seconds:
        video.set(cv2.CAP_PROP_POS_MSEC, second * 1000)
        is_read, image = video.read()
        if is_read:
            yield cast("Image", image)[:, :, ::-1]


def decord_times(path: Path, seconds: Sequence[float]) -> Iterator[Image]:
    """Decord, frame numbers by its own table of times."""
    reader = cast("Any", import_module("decord")).VideoReader(str(path), num_threads=1)
    stamps: NDArray[np.float64] = reader.get_frame_timestamp(range(len(reader)))[:, 0]
    for second in seconds:
        number = int(np.searchsorted(stamps, second + 1e-3, side="right")) - 1
        yield reader[max(0, number)].asnumpy()


METHODS: tuple[Method, ...] = (
    ours,
    pyav_seek,
    opencv_frames,
    opencv_milliseconds,
    decord_times,
)


def measure(method: Method, path: Path, seconds: Sequence[float], expected: Sequence[int]) -> str:
    """Run one method and return `Measured` as JSON; runs in a process of its own."""
    warm = path.parent / "warm.mp4"
    for _ in method(warm, [0.1]):
        pass
    before, started = time.process_time(), time.perf_counter()
    found: list[int] = []
    error = ""
    try:
        found.extend(barcode(image) for image in method(path, seconds))
    except RuntimeError as problem:
        error = str(problem).strip().splitlines()[-1]
    exact = sum(a == b for a, b in zip(found, expected, strict=False))
    return json.dumps({
        "name": method.__name__,
        "exact": exact,
        "asked": len(seconds),
        "cpu_s": time.process_time() - before,
        "wall_s": time.perf_counter() - started,
        "peak_mb": peak_mb(),
        "error": error,
    })


def peak_mb() -> float:
    """Return the peak resident memory of this process since it was started, in MB (Linux)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def table(title: str, rows: Sequence[Measured]) -> list[str]:
    """Return the lines of one table and of what it says about the goal."""
    base = rows[0].cpu_s
    lines = [
        title,
        f"{'method':<20} {'exact':>9} {'CPU s':>8} {'ratio':>6} {'wall s':>8} {'MB':>6}",
    ]
    lines += [
        f"{row.name:<20} {row.exact:>4}/{row.asked:<4} {row.cpu_s:>8.2f} {row.cpu_s / base:>6.2f} "
        f"{row.wall_s:>8.2f} {row.peak_mb:>6.0f} {row.error}"
        for row in rows
    ]
    rivals = [row for row in rows[1:] if row.exact == row.asked]
    if not rivals:
        return [*lines, "no other method is exact", ""]
    nearest = min(rivals, key=lambda row: row.cpu_s)
    ratio = nearest.cpu_s / base
    verdict = "reached" if ratio >= GOAL and rows[0].exact == rows[0].asked else "NOT reached"
    return [
        *lines,
        f"least CPU of an exact other method: {nearest.name}, {ratio:.2f} times ours; "
        f"goal {GOAL}: {verdict}",
        "",
    ]


def run(method: Method, path: Path, seconds: Sequence[float], expected: Sequence[int]) -> Measured:
    """Measure one method in a new process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return Measured(**json.loads(pool.apply(measure, (method, path, seconds, expected))))


def median(rows: Sequence[Measured]) -> Measured:
    """Return the round with the median CPU time; exactness is the worst of all rounds."""
    middle = sorted(rows, key=lambda row: row.cpu_s)[len(rows) // 2]
    return replace(middle, exact=min(row.exact for row in rows))


def main() -> None:
    """Generate the video, run every method on random and on dense seconds, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--count", type=int, default=32, help="random seconds over the whole video")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved; the median is shown")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=720)
    parser.add_argument("--folder", type=Path, help="keep the video here and use it again")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        frames: int = round(float(arguments.minutes) * 60 * FPS)
        path = folder / f"h264-{frames}-{arguments.width}x{arguments.height}.mp4"
        for target, length in ((path, frames), (folder / "warm.mp4", 60)):
            if not target.exists():
                write_video(target, length, arguments.width, arguments.height)
        end: float = frames / FPS
        rng = np.random.default_rng(2)
        cases: dict[str, list[float]] = {
            f"{arguments.count} random seconds of {end:.0f}": sorted(
                rng.uniform(0, end) for _ in range(int(arguments.count))
            ),
            "1 frame a second over the middle third": [
                end / 3 + second for second in range(int(end / 3))
            ],
        }
        for title, seconds in cases.items():
            expected = [min(frames - 1, math.floor((s + 1e-3) * FPS)) for s in seconds]
            rounds = [
                [run(method, path, seconds, expected) for method in METHODS]
                for _ in range(int(arguments.rounds))
            ]
            rows = [median(list(column)) for column in zip(*rounds, strict=True)]
            print("\n".join(table(f"{path.name}: {title}", rows)), flush=True)


if __name__ == "__main__":
    main()
