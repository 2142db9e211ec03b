"""Every agent on silent, very short and long videos, and on one that cannot be decoded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.agent_cells import (
    Cells,
    Ran,
    Setup,
    every_setup,
    quick,  # noqa: F401 a fixture of this module
    tools_of,
)
from tests.agent_requests import pictures_in
from tests.cells import StubWorkers
from tests.puppet import Puppet

from taketwo.errors import UnreadableVideo

_LABEL = re.compile(r"^\[frame at (\d+\.\d+) s\]$", re.MULTILINE)
_MOST_PICTURES = 512
"""The largest cap of any agent with its default options: AVP's look at low resolution."""

VIDEOS: Mapping[str, dict[str, Any]] = {
    "silent": {"has_audio": False, "audio_codec": None},
    "1 s": {"duration_s": 1.0, "frames": 25},
    "0.04 s": {"duration_s": 0.04, "frames": 1},
    "30 min": {"duration_s": 1800.0, "frames": 45_000},
}


@every_setup
@pytest.mark.parametrize("video", VIDEOS)
async def test_it_looks_inside_the_video_only_and_at_a_bounded_number_of_frames(
    setup: Setup, video: str, tmp_path: Path
) -> None:
    info = VIDEOS[video]
    duration_s = info.get("duration_s", 24.0)
    if setup.agent == "dvd":  # fewer and longer clips, so that the long video is quick
        setup = replace(setup, options={**setup.options, "clip_seconds": 60})
    cells = Cells(tmp_path, setup, info=info)

    ran = await cells.run(Puppet(wants=4, window=(0.0, 99_999.0)))

    assert (ran.status, ran.option) == ("answered", 1), ran.end
    asked = [time_s for times_s in cells.workers.calls for time_s in times_s]
    assert all(0 <= time_s <= duration_s for time_s in asked)
    for one in ran.puppet.asked:
        shown = [float(time) for time in _LABEL.findall(one.request.text)]
        assert all(time_s <= duration_s + 0.005 for time_s in shown)
        assert pictures_in(one.request) <= _MOST_PICTURES
    if "has_audio" in info:
        assert not any(one.role == "transcriber" for one in ran.puppet.asked)


@every_setup
async def test_a_window_beyond_the_end_is_an_error_that_the_model_reads(
    setup: Setup, tmp_path: Path
) -> None:
    ran = await Cells(tmp_path, setup).run(Puppet(wants=2, window=(5000.0, 6000.0)))

    assert (ran.status, ran.option) == ("answered", 1), ran.end
    assert {call.error for call in ran.tools} <= {None, "invalid_window"}


@every_setup
async def test_frames_that_cannot_be_decoded_end_the_cell_as_a_fault_of_the_media(
    setup: Setup, tmp_path: Path
) -> None:
    workers = StubWorkers(error=UnreadableVideo("the stub gives nothing"))

    ran = await Cells(tmp_path, setup, workers=workers).run(Puppet(wants=tools_of(setup)))

    if decodes(ran):
        assert (ran.status, ran.end.answer) == ("media_error", None), ran.end
    else:
        assert setup.name == "single_turn native"


def decodes(ran: Ran) -> bool:
    return ran.status != "answered"
