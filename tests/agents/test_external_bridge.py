"""Frameworks inside our process: their model calls are the cell's, counted and held to its limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from inspect_ai.model import ModelOutput
from openai import AsyncOpenAI
from tests.agents.framework_agents import NOWHERE, TOOLS, framework_loop, on_openai
from tests.cells import COLOURS, LogTail, model_name, toolbox
from tests.scripted_model import HttpError, calls, requests_of, says

from taketwo.agents.external_bridge import bridged_models
from taketwo.agents.own_agent import own_agent
from taketwo.errors import RequestError
from taketwo.tools.budget import BudgetExhausted, Limits
from taketwo.tools.toolbox import Toolbox

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def client() -> AsyncOpenAI:
    return AsyncOpenAI(base_url=NOWHERE, api_key="none", max_retries=0)


async def ask(text: str = "hello", model: str = "inspect", **more: Any) -> str:
    messages: list[Any] = [{"role": "user", "content": text}]
    reply = await client().chat.completions.create(model=model, messages=messages, **more)
    return reply.choices[0].message.content or ""


def looking(folder: Path, limits: Limits | None = None) -> Toolbox:
    look = calls(("look", {"second": 3.0}))
    return toolbox(
        folder,
        orchestrator=[look, look, says("FINAL ANSWER: B")],
        observer=["a blue circle"] * 2,
        tools=[],
        limits=limits,
    )


async def test_calls_of_a_framework_are_turns_looks_and_tokens_of_the_cell(tmp_path: Path) -> None:
    box, log = looking(tmp_path), LogTail()

    answer = await on_openai(COLOURS, box)

    assert (answer.status, answer.option_index, answer.forced) == ("answered", 1, False)
    assert [event["role"] for event in log.of("model")] == [
        "orchestrator",
        "observer",
        "orchestrator",
        "observer",
        "orchestrator",
    ]
    assert [event["name"] for event in log.of("tool")] == ["look", "look"]
    assert [event["operation"] for event in log.of("primitive")] == ["extract_video_parts"] * 2
    assert box.budget.used("turns") == 3
    assert box.budget.used("visible_calls") == 2
    assert box.budget.used("frames") == 2
    assert box.budget.used("tokens") == 5 * 15
    assert dict(box.unavailable) == {}


async def test_tools_and_messages_reach_the_model_and_its_own_sampling_does_not(
    tmp_path: Path,
) -> None:
    box = looking(tmp_path)

    await on_openai(COLOURS, box)

    first, second, _ = requests_of(model_name(box, "orchestrator"))
    assert [tool.name for tool in first.tools] == ["look"]
    assert first.text == "Which colour is the circle?"
    assert first.config.temperature is None  # the plan's, which says nothing; asked was 1.5
    assert second.messages[-1].text == "a blue circle"
    assert len(requests_of(model_name(box, "observer"))[0].images) == 1


@pytest.mark.parametrize(
    ("limits", "resource", "sent"),
    [
        (Limits(turns=2), "turns", 2),
        (Limits(model_calls=3), "model_calls", 2),
        (Limits(visible_calls=1), "visible_calls", 2),
        (Limits(tokens=30), "tokens", 1),
        (Limits(frames=1), "frames", 2),
    ],
)
async def test_a_budget_refuses_the_frameworks_next_call(
    tmp_path: Path, limits: Limits, resource: str, sent: int
) -> None:
    box = looking(tmp_path, limits)

    with pytest.raises(BudgetExhausted, match=f"{resource} budget is used up"):
        await on_openai(COLOURS, box)

    assert len(requests_of(model_name(box, "orchestrator"))) == sent


async def test_a_framework_that_answers_after_a_refusal_was_forced(tmp_path: Path) -> None:
    box = looking(tmp_path, Limits(turns=1))

    async with bridged_models(box) as models:
        text = await ask()
        try:
            await ask()
        except BudgetExhausted:
            text = "FINAL ANSWER: C"
    answer = models.answer(text, COLOURS)

    assert (answer.option_index, answer.forced, answer.limit) == (2, True, "turns")
    assert models.answer("no idea", COLOURS).status == "limit"


async def test_a_refusal_in_a_frameworks_own_words_is_still_the_limit(tmp_path: Path) -> None:
    box = looking(tmp_path, Limits(turns=1))

    async def lost() -> None:
        async with bridged_models(box):
            await ask()
            try:
                await ask()
            except BudgetExhausted:
                raise KeyError("the framework is lost") from None

    with pytest.raises(BudgetExhausted, match="turns budget"):
        await lost()


async def test_a_failing_provider_stays_the_cells_fault_whatever_the_framework_says(
    tmp_path: Path,
) -> None:
    box = toolbox(tmp_path, orchestrator=[HttpError(500)] * 2, tools=[], retries=0)

    with pytest.raises(HttpError, match="HTTP 500"):
        async with bridged_models(box):
            await ask()

    assert isinstance(box.failure, HttpError)


@pytest.mark.parametrize("name", ["inspect/eye", "inspect/openai/gpt-4o", "inspect/mockllm/model"])
async def test_a_model_that_is_no_role_is_refused_and_nothing_is_sent(
    tmp_path: Path, name: str
) -> None:
    box = looking(tmp_path)

    with pytest.raises(RequestError, match="in a cell models have the names of roles"):
        async with bridged_models(box):
            await ask(model=name)

    assert requests_of(model_name(box, "orchestrator")) == []


async def test_a_role_without_a_model_is_refused(tmp_path: Path) -> None:
    box = toolbox(tmp_path, orchestrator=["x"], tools=[])

    with pytest.raises(RequestError, match="the model 'inspect/observer'"):
        async with bridged_models(box):
            await ask(model="inspect/observer")


@pytest.mark.parametrize("where", ["http://127.0.0.1:9/x.jpg", "file:///etc/hostname"])
async def test_a_picture_by_address_is_refused_and_not_fetched(tmp_path: Path, where: str) -> None:
    box = looking(tmp_path)
    picture = {"type": "image_url", "image_url": {"url": where}}
    messages: list[Any] = [{"role": "user", "content": [picture]}]

    with pytest.raises(Exception, match="must be an inline 'data:' URI"):
        async with bridged_models(box):
            await client().chat.completions.create(model="inspect", messages=messages)

    assert requests_of(model_name(box, "orchestrator")) == []


async def test_what_the_frameworks_tools_do_is_unknown_and_not_nothing(tmp_path: Path) -> None:
    box = looking(tmp_path)

    async with bridged_models(box):
        pass

    assert set(box.unavailable) == {"primitive_ops", "latency_s"}


async def test_the_form_of_a_reply_is_kept(tmp_path: Path) -> None:
    box = toolbox(tmp_path, orchestrator=['{"x": 1}'], tools=[])
    form = {
        "type": "json_schema",
        "json_schema": {
            "name": "x",
            "schema": {"type": "object", "properties": {"x": {"type": "integer"}}},
        },
    }

    async with bridged_models(box):
        await ask(response_format=form)

    (request,) = requests_of(model_name(box, "orchestrator"))
    assert request.config.response_schema is not None
    assert request.config.response_schema.name == "x"


async def test_two_cells_at_once_do_not_mix(tmp_path: Path) -> None:
    boxes = [looking(tmp_path / str(number)) for number in range(3)]
    answers: list[int | None] = []

    async def run(box: Toolbox) -> None:
        answers.append((await on_openai(COLOURS, box)).option_index)

    async with anyio.create_task_group() as tasks:
        for box in boxes:
            tasks.start_soon(run, box)

    assert answers == [1, 1, 1]
    assert [box.budget.used("turns") for box in boxes] == [3, 3, 3]


async def test_outside_the_block_the_library_is_as_before(tmp_path: Path) -> None:
    box = looking(tmp_path)
    async with bridged_models(box):
        pass

    with pytest.raises(Exception, match="Connection error"):
        await ask()

    assert requests_of(model_name(box, "orchestrator")) == []


def test_a_study_names_it_like_any_agent_of_the_users_own() -> None:
    spec = own_agent("tests.agents.framework_agents:on_openai")

    assert spec.roles == ("orchestrator", "observer")
    assert "async def on_openai" in spec.prompts(spec.checked({}))["code"]


async def test_the_loop_of_the_example_stops_by_itself(tmp_path: Path) -> None:
    look: ModelOutput = calls(("look", {"second": 1.0}))
    box = toolbox(tmp_path, orchestrator=[look] * 2, observer=["x"] * 2, tools=[])

    async with bridged_models(box):
        text = await framework_loop(client(), "?", box, turns=2)

    assert text == ""
    assert TOOLS[0]["function"]["name"] == "look"  # type: ignore[index]
