from __future__ import annotations

from pathlib import Path

import pytest
from tests.cells import COLOURS, LogTail, toolbox

from taketwo.agents.catalog import AGENT_NAMES, EXTERNAL_NAMES, agent_spec
from taketwo.errors import RequestError, UnknownName
from taketwo.tools.budget import Limits


def test_the_agents_are_known_by_name() -> None:
    assert AGENT_NAMES == ("avp", "dvd", "sage", "single_turn", "star", "video_react")
    assert EXTERNAL_NAMES == ("command", "http")


def test_a_near_name_is_suggested() -> None:
    with pytest.raises(
        UnknownName, match=r"unknown agent 'video_reakt': did you mean 'video_react'"
    ):
        agent_spec("video_reakt")


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_every_agent_says_what_it_needs(name: str) -> None:
    spec = agent_spec(name)
    options = spec.checked({})

    assert spec.summary.endswith(".")
    assert "orchestrator" in spec.roles_for(options)
    names = [tool.name for tool in spec.tools(options)]
    assert names == sorted(set(names))
    assert all(tool.guidance and tool.description for tool in spec.tools(options))
    prompts = spec.prompts(options)
    assert "orchestrator" in prompts
    assert all(len(prompts[role]) > 200 for role in ("orchestrator", "observer") if role in prompts)
    assert callable(spec.build(options))


def test_options_and_plan_tighten_the_budget_together() -> None:
    spec = agent_spec("video_react")

    limits = spec.limits_for(spec.checked({"max_turns": 5, "max_calls": 40}))

    assert limits == Limits(turns=5, visible_calls=15)


def test_a_transcriber_is_needed_only_for_a_transcript() -> None:
    spec = agent_spec("single_turn")

    assert spec.roles_for(spec.checked({})) == ("orchestrator",)
    assert spec.roles_for(spec.checked({"transcript": True})) == ("orchestrator", "transcriber")


def test_every_wrong_option_is_named_at_once() -> None:
    with pytest.raises(RequestError) as raised:
        agent_spec("single_turn").checked({"frames": 0, "resolutoin": "low"})

    message = str(raised.value)
    assert "frames: Input should be greater than or equal to 1, found 0" in message
    assert "resolutoin: Extra inputs are not permitted" in message
    assert "its options are cap, fps, frames, native_video, resolution, transcript" in message


async def test_an_agent_of_the_users_own_runs_with_its_options(tmp_path: Path) -> None:
    spec = agent_spec("tests.agents.own_agents:first_option")
    log = LogTail()

    answer = await spec.build(spec.checked({"shift": 2}))(COLOURS, toolbox(tmp_path))

    assert answer.option_index == 2
    assert log.of("note") == [{"text": "did not look"}]
    assert spec.summary == "Always take the first option."
    assert "toolbox.note" in spec.prompts(spec.checked({}))["code"]
    assert spec.tools(spec.checked({})) == ()


async def test_a_plain_function_is_an_agent_too(tmp_path: Path) -> None:
    spec = agent_spec("tests.agents.own_agents:not_async")

    answer = await spec.build(spec.checked({}))(COLOURS, toolbox(tmp_path))

    assert answer.status == "abstained"


async def test_an_agent_must_return_an_answer(tmp_path: Path) -> None:
    spec = agent_spec("tests.agents.own_agents:forgetful")

    with pytest.raises(TypeError, match="returns a taketwo Answer, this one returned str"):
        await spec.build(spec.checked({}))(COLOURS, toolbox(tmp_path))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_such_module:agent", "No module named 'no_such_module'"),
        ("tests.agents.own_agents:missing", "has no attribute 'missing'"),
        ("tests.agents.own_agents:NOT_AN_AGENT", "is a int; it must be an AgentSpec"),
        (":agent", "cannot be loaded"),
    ],
)
def test_an_agent_that_cannot_be_loaded_says_why(name: str, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        agent_spec(name)
