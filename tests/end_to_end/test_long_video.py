"""Half an hour of 720p through every agent: bounded memory, and no frame decoded twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.agent_cells import SETUPS
from tests.media.test_streaming_memory import write_loop

LENGTH_S = 1800
MOST_MB = 1500
NAMES = ("single_turn", "video_react", "sage dynamic", "dvd", "avp", "star")

PROGRAM = """
import asyncio, json, resource, sys
from dataclasses import replace
from pathlib import Path
from tests.agent_cells import SETUPS, Cells, question
from tests.puppet import Puppet
from taketwo.executions.studio import Studio

video, folder, name, options = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4]
setup = next(item for item in SETUPS if item.name == name)
setup = replace(setup, options={**setup.options, **json.loads(options)})
asked = question(video_path=str(video), video_duration_s=1800.0)
cells = Cells(folder, setup, questions=[asked])

async def twice():
    cells.studio = Studio(cells.plan, folder)
    first = await cells.run(Puppet(wants=3))
    second = await cells.run(Puppet(wants=3))
    cells.studio.close()
    return first, second

first, second = asyncio.run(twice())
peak_kb = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
decoder_kb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss

def kinds(ran):
    return sorted({item.freshness for item in ran.primitives if item.operation == "extract_video_parts"})

print(json.dumps({
    "status": [first.status, second.status],
    "frames": sum(item.frames for item in first.primitives),
    "failure": [str(ran.end.failure) for ran in (first, second)],
    "freshness": [kinds(first), kinds(second)],
    "peak_mb": (peak_kb + 2 * decoder_kb) / 1024,
}))
"""


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("long") / "half_an_hour.mp4"
    write_loop(path, LENGTH_S // 10)
    return path


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("name", "options"),
    [*((name, {}) for name in NAMES), ("single_turn", {"fps": 1.0})],
    ids=[*NAMES, "single_turn at 1 fps"],
)
def test_half_an_hour_of_720p_takes_little_memory_and_is_decoded_once(
    tmp_path: Path, video: Path, name: str, options: dict[str, object]
) -> None:
    assert name in {setup.name for setup in SETUPS}

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(video), str(tmp_path), name, json.dumps(options)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )

    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["status"] == ["answered", "answered"], found["failure"]
    assert found["frames"] > 0
    assert "fresh" not in found["freshness"][1]
    assert found["peak_mb"] < MOST_MB, found
