from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.agents.avp_replies import plan, report, review, sent
from tests.cells import COLOURS, LogTail, toolbox

from taketwo.agents.avp import SPEC
from taketwo.agents.avp_options import AVP_PRESETS
from taketwo.errors import RequestError
from taketwo.tools.video_tool import ToolFailure

ALL = {"load_mode", "regions", "fps", "spatial_token_rate"}
ABLATIONS = [
    ({}, ALL),
    ({"fixed_fps": 1.0}, ALL - {"fps"}),
    ({"fixed_resolution": "low"}, ALL - {"spatial_token_rate"}),
    ({"full_video": True}, ALL - {"load_mode", "regions"}),
    ({"fixed_fps": 2.0, "fixed_resolution": "medium", "full_video": True}, set[str]()),
]


@pytest.mark.parametrize(("fixed", "free"), ABLATIONS)
async def test_a_fixed_control_is_in_no_prompt_no_form_and_no_schema(
    tmp_path: Path, fixed: dict[str, Any], free: set[str]
) -> None:
    options = SPEC.checked({"faithful": True, **fixed})
    (tool,) = SPEC.tools(options)
    box = toolbox(
        tmp_path,
        orchestrator=[plan(), review(True, 0.9, "B")],
        observer=[report("blue")],
        tools=[tool],
        info={"has_audio": False},
    )

    await SPEC.build(options)(COLOURS, box)

    told = sent(box)[0].text
    form = json.loads(told.splitlines()[-1])
    assert set(form["$defs"]["Step"]["properties"]) & ALL == free
    assert {name for name in ALL if name in told} == free
    parameters = tool.schema()["parameters"]
    assert isinstance(parameters, dict)
    shown = parameters["properties"]
    assert isinstance(shown, dict)
    assert set(shown) == free | {"description", "sub_query"}
    template = SPEC.prompts(options)["orchestrator"]
    assert {name for name in ALL if name in template} == free


async def test_what_is_fixed_holds_whatever_the_planner_writes(tmp_path: Path) -> None:
    options = SPEC.checked({
        "faithful": True,
        "fixed_fps": 1.0,
        "fixed_resolution": "high",
        "full_video": True,
    })
    box, log = (
        toolbox(
            tmp_path,
            orchestrator=[
                plan(fps=5, load_mode="region", regions=[[1, 2]]),
                review(True, 0.9, "B"),
            ],
            observer=[report("blue")],
            tools=SPEC.tools(options),
            info={"has_audio": False},
        ),
        LogTail(),
    )

    await SPEC.build(options)(COLOURS, box)

    assert log.of("tool")[0]["frame_times_s"] == [float(second) for second in range(25)]
    assert "resolution high" in sent(box)[-1].text


async def test_the_tool_refuses_a_control_that_is_fixed(tmp_path: Path) -> None:
    (tool,) = SPEC.tools(SPEC.checked({"fixed_fps": 1.0}))
    box = toolbox(tmp_path, observer=[], tools=[tool])

    with pytest.raises(ToolFailure, match="fps: Extra inputs are not permitted"):
        await tool.call(
            box.context(), {"load_mode": "uniform", "spatial_token_rate": "low", "fps": 2}
        )


@pytest.mark.parametrize(
    ("name", "fixed"),
    [
        ("full", {}),
        ("fps-1", {"fixed_fps": 1.0}),
        ("resolution-low", {"fixed_resolution": "low"}),
        ("resolution-medium", {"fixed_resolution": "medium"}),
        ("full-interval", {"full_video": True}),
    ],
)
def test_the_presets_of_the_ablation_differ_in_one_control(name: str, fixed: object) -> None:
    full = SPEC.checked(AVP_PRESETS["full"].options_for(None)).model_dump()
    found = SPEC.checked(AVP_PRESETS[name].options_for(None)).model_dump()

    assert {key: value for key, value in found.items() if value != full[key]} == fixed
    assert "Table 2" in AVP_PRESETS[name].source


@pytest.mark.parametrize("name", sorted(AVP_PRESETS))
def test_every_preset_can_be_built(name: str) -> None:
    preset = SPEC.preset(name)

    assert preset.summary.endswith(".")
    assert preset.source
    assert callable(SPEC.build(SPEC.checked(preset.options_for("any/model"))))


def test_the_benchmarked_preset_leaves_the_main_agent_to_the_arm() -> None:
    preset = SPEC.preset("agentvidbench")

    assert preset.models == {"observer": "google/gemini-2.5-pro"}
    assert preset.options == {"faithful": True, "transcript": True}
    assert preset.sampling_for("google/gemini-2.5-pro") == {
        "observer": {"temperature": 0.0},
        "orchestrator": {"temperature": 0.0},
    }


def test_options_that_cannot_be_met_are_refused() -> None:
    with pytest.raises(RequestError, match="full_video: Input should be a valid boolean"):
        SPEC.checked({"full_video": "half"})
    with pytest.raises(RequestError, match="fixed_fps: Input should be greater than 0"):
        SPEC.checked({"fixed_fps": 0})


def test_the_work_of_a_cell_is_declared() -> None:
    work = SPEC.work_for(SPEC.checked({"faithful": True, "asks": 0}))

    assert work is not None
    assert work.calls_most == 9
    assert (work.turns, work.observer_calls, work.transcriptions) == (4, 2, 0)
