from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest
from inspect_ai.model import ChatMessageTool
from tests.cells import StubWorkers, model_name, toolbox
from tests.scripted_model import calls, requests_of

from taketwo.tools.analyze_video import ANALYZE_VIDEO, analyze_video_tool
from taketwo.tools.fixed_controls import FREE_CONTROLS, FixedControls
from taketwo.tools.video_tool import VideoTool

ARGUMENTS = {
    "fps": {"fps": 4.0},
    "resolution": {"resolution": "high"},
    "interval": {"start_time": 2, "end_time": 4},
}
FIXED = {
    "fps": {"fps": 2.0},
    "resolution": {"resolution": "low"},
    "interval": {"is_full_video": True},
}
EVERY = [
    FixedControls(fps=fps, resolution=resolution, is_full_video=full)  # type: ignore[arg-type]
    for fps, resolution, full in product((None, 1.0), (None, "low"), (False, True))
]


async def look(folder: Path, tool: VideoTool, **arguments: object) -> tuple[str, StubWorkers]:
    workers = StubWorkers()
    box = toolbox(folder, observer=["1 red circle"], tools=[tool], workers=workers)
    (message,) = await box.run_tool_calls(calls(("analyze_video", arguments)))
    assert isinstance(message, ChatMessageTool)
    return message.text, workers


def test_without_fixed_controls_all_are_the_planners() -> None:
    properties = ANALYZE_VIDEO.schema()["parameters"]["properties"]  # type: ignore[index, call-overload]

    assert sorted(properties) == ["end_time", "focus", "fps", "resolution", "start_time"]
    assert analyze_video_tool(FREE_CONTROLS).guidance == ANALYZE_VIDEO.guidance
    assert ANALYZE_VIDEO.guidance.endswith(
        "Scan at fps 1 and resolution low or medium; look closely at narrow windows with fps 3 to 10, "
        "and with resolution high at small text."
    )


@pytest.mark.parametrize("fixed", EVERY)
def test_what_is_fixed_is_in_neither_schema_nor_guidance(fixed: FixedControls) -> None:
    tool = analyze_video_tool(fixed)
    shown = json.dumps(tool.schema()) + tool.guidance

    for control, words in {
        "fps": ["fps", "Frames per second"],
        "resolution": ["resolution"],
        "interval": ["start_time", "end_time", "window", "a part of"],
    }.items():
        for word in words:
            assert (word in shown) is (control not in fixed.fixed), word
    assert "focus" in shown
    assert tool.guidance.endswith(".")
    assert "  " not in tool.guidance


@pytest.mark.parametrize("control", ["fps", "resolution", "interval"])
async def test_naming_what_is_fixed_is_refused_and_nothing_is_looked_at(
    tmp_path: Path, control: str
) -> None:
    fixed = FixedControls(**FIXED[control])  # type: ignore[arg-type]

    text, workers = await look(tmp_path, analyze_video_tool(fixed), **ARGUMENTS[control])

    error = json.loads(text)["error"]
    assert (error["code"], error["retryable"]) == ("invalid_arguments", True)
    assert f"it is fixed here ({fixed.describe()}); leave it out" in error["message"]
    assert workers.calls == []


@pytest.mark.parametrize("control", ["fps", "resolution", "interval"])
async def test_a_null_is_no_argument(tmp_path: Path, control: str) -> None:
    fixed = FixedControls(**FIXED[control])  # type: ignore[arg-type]
    nulls = dict.fromkeys(ARGUMENTS[control])

    text, _ = await look(tmp_path, analyze_video_tool(fixed), **nulls)

    assert "1 red circle" in text


async def test_a_fixed_rate_holds_for_each_look(tmp_path: Path) -> None:
    tool = analyze_video_tool(FixedControls(fps=0.5))

    text, workers = await look(tmp_path, tool, start_time=2, end_time=8)

    assert workers.calls == [(2.0, 4.0, 6.0, 8.0)]
    assert "fps: 0.5\nresolution: medium" in text
    assert "note" not in text


async def test_a_fixed_resolution_and_interval_hold_for_each_look(tmp_path: Path) -> None:
    tool = analyze_video_tool(FixedControls(resolution="low", is_full_video=True))

    text, workers = await look(tmp_path, tool, fps=1, focus="circle")

    assert workers.calls == [tuple(float(second) for second in range(25))]
    assert text.startswith("window: 0.0-24.0 s\nframes: 25\nfps: 1\nresolution: low\n")


async def test_the_observer_is_told_the_window_and_not_what_is_fixed(tmp_path: Path) -> None:
    tool = analyze_video_tool(FixedControls(fps=1.0))
    box = toolbox(tmp_path, observer=["x"], tools=[tool])

    await box.run_tool_calls(calls(("analyze_video", {"end_time": 2})))

    (request,) = requests_of(model_name(box, "observer"))
    assert "Window: 0.0-2.0 s" in request.text
    assert "fps" not in request.text


@pytest.mark.parametrize("fps", [0.0, -1.0, float("nan"), float("inf")])
def test_a_fixed_rate_is_more_than_0_and_finite(fps: float) -> None:
    with pytest.raises(ValueError, match="must be finite and more than 0, found"):
        FixedControls(fps=fps)


@pytest.mark.parametrize("arguments", [{"start": 1, "end": "0:02"}, {"start_time": 1, "end": 2}])
async def test_the_transcript_takes_the_names_of_the_paper(
    tmp_path: Path, arguments: dict[str, object]
) -> None:
    box = toolbox(tmp_path, tools=["get_transcript"], info={"has_audio": False})

    (message,) = await box.run_tool_calls(calls(("get_transcript", arguments)))

    assert message.text.startswith("window: 1.0-2.0 s\n")
    properties = box.tools["get_transcript"].schema()["parameters"]["properties"]  # type: ignore[index, call-overload]
    assert sorted(properties) == ["end_time", "start_time"]
