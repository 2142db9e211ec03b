from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import av
import pytest
from tests.media.clips import paint

WIDTH, HEIGHT, FPS, LOOP = 1280, 720, 12, 120

PROGRAM = """
import json, sys
from pathlib import Path
from taketwo.media.frames import frames_at
from tests.media.clips import barcode

path, length = Path(sys.argv[1]), int(sys.argv[2])
wrong = count = 0
for frame in frames_at(path, range(length), max_side=448):
    count += 1
    wrong += barcode(frame.image) != round(frame.requested_s) * 12 % 120
peak_kb = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
print(json.dumps({"count": count, "wrong": wrong, "peak_mb": peak_kb / 1024}))
"""


def write_loop(path: Path, repeats: int) -> None:
    """Encode 10 s once and write its packets `repeats` times with later and later times."""
    loop = path.with_name("loop.mp4")
    if not loop.exists():
        options = {"preset": "veryfast", "x264-params": "keyint=60:bframes=3:scenecut=0"}
        with av.open(str(loop), "w") as container:
            stream = container.add_stream("libx264", rate=FPS, options=options)
            stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
            for number in range(LOOP):
                frame = av.VideoFrame.from_ndarray(paint(number, WIDTH, HEIGHT), format="rgb24")
                frame.pts, frame.time_base = number, Fraction(1, FPS)
                container.mux(stream.encode(frame))
            container.mux(stream.encode(None))
    with av.open(str(path), "w") as target:
        out = None
        for repeat in range(repeats):
            with av.open(str(loop)) as source:
                stream = source.streams.video[0]
                if out is None:
                    out = target.add_stream_from_template(stream)
                shift = round(repeat * LOOP / FPS / stream.time_base)
                for packet in source.demux(stream):
                    if packet.size:
                        packet.pts, packet.dts = packet.pts + shift, packet.dts + shift
                        packet.stream = out
                        target.mux(packet)


def streamed(path: Path, length_s: int) -> dict[str, float]:
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path), str(length_s)],
        capture_output=True,
        check=True,
        cwd=root,
    )
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_memory_does_not_grow_with_the_length_of_the_video(tmp_path: Path) -> None:
    write_loop(tmp_path / "short.mp4", 6)
    write_loop(tmp_path / "long.mp4", 180)

    short = streamed(tmp_path / "short.mp4", 60)
    long = streamed(tmp_path / "long.mp4", 1800)

    assert (short["count"], short["wrong"]) == (60, 0)
    assert (long["count"], long["wrong"]) == (1800, 0)
    assert long["peak_mb"] < 100
    assert long["peak_mb"] - short["peak_mb"] < 10
