"""Every resource ends an agent with a forced answer or as `limit`, and nothing is sent past it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest
from inspect_ai.model import ChatMessageUser, ModelOutput
from tests.cells import COLOURS, model_name, toolbox
from tests.scripted_model import Step, calls, requests_of, says

from taketwo.agents.answer import Answer
from taketwo.agents.single_turn import SingleTurn, SingleTurnOptions
from taketwo.agents.video_react import VideoReact, VideoReactOptions
from taketwo.errors import RequestError
from taketwo.tools.budget import BudgetExhausted, Limits
from taketwo.tools.role_model import ModelRole, ProviderReplyError, RoleSettings
from taketwo.tools.toolbox import Toolbox

LOOK = ("analyze_video", {"focus": "the circle"})
PRICE = {"input": 1.0, "output": 10.0}


def working(text: str, *, seconds: float = 1.0) -> ModelOutput:
    """Return a reply of 10 and 5 tokens that says it took `seconds`."""
    reply = says(text)
    reply.metadata = {"charged_s": seconds}
    return reply


def priced(box: Toolbox, price: Mapping[str, float] | None = PRICE) -> Toolbox:
    """Give every model of the cell a price."""
    roles: dict[ModelRole, RoleSettings] = box._roles
    for role, settings in list(roles.items()):
        roles[role] = RoleSettings(
            role=role, model=settings.model, retries=settings.retries, price=price
        )
    return box


# In one round the planner and the observer take 30 tokens, 1 s, and 2 x (10 + 50) millionths.
@pytest.mark.parametrize(
    ("limits", "resource", "is_forced"),
    [
        (Limits(turns=2), "turns", True),
        (Limits(visible_calls=1), "visible_calls", True),
        (Limits(primitive_ops=2), "primitive_ops", True),
        (Limits(model_calls=3), "model_calls", True),
        (Limits(tokens=30), "tokens", False),
        (Limits(latency_s=0.9), "latency_s", False),
        (Limits(cost_usd=120e-6), "cost_usd", False),
    ],
)
async def test_every_end_of_a_budget_is_a_forced_answer_or_a_limit_in_video_react(
    tmp_path: Path, limits: Limits, resource: str, is_forced: bool
) -> None:
    box = priced(
        toolbox(
            tmp_path,
            orchestrator=[calls(LOOK), working('{"answer": "B"}')],
            observer=[working("a blue circle")],
            limits=limits,
        )
    )

    answer = await VideoReact(options=VideoReactOptions())(COLOURS, box)

    assert (answer.limit, answer.forced) == (resource, is_forced)
    assert (answer.status, answer.option_index) == (
        ("answered", 1) if is_forced else ("limit", None)
    )
    assert len(requests_of(model_name(box, "orchestrator"))) == (2 if is_forced else 1)


async def test_without_frames_video_react_is_told_so_and_still_ends(tmp_path: Path) -> None:
    steps: list[Step] = [calls(LOOK), calls(LOOK), working('{"answer": "B"}')]
    box = toolbox(tmp_path, orchestrator=steps, observer=[], limits=Limits(frames=0, turns=3))

    answer = await VideoReact(options=VideoReactOptions())(COLOURS, box)

    assert (answer.option_index, answer.forced, answer.limit) == (1, True, "turns")
    assert "the budget of frames is used up" in requests_of(model_name(box, "orchestrator"))[1].text


@pytest.mark.parametrize(
    ("limits", "resource"),
    [
        (Limits(primitive_ops=0), "primitive_ops"),
        (Limits(frames=0), "frames"),
        (Limits(model_calls=0), "model_calls"),
        (Limits(turns=0), "turns"),
        (Limits(tokens=0), "tokens"),
        (Limits(latency_s=0), "latency_s"),
        (Limits(cost_usd=0), "cost_usd"),
    ],
)
async def test_every_end_of_a_budget_is_a_limit_in_single_turn(
    tmp_path: Path, limits: Limits, resource: str
) -> None:
    box = priced(toolbox(tmp_path, orchestrator=["FINAL ANSWER: B"], limits=limits))

    answer = await SingleTurn(options=SingleTurnOptions())(COLOURS, box)

    assert answer == Answer(status="limit", text="", limit=resource)
    assert requests_of(model_name(box, "orchestrator")) == []


async def together(box: Toolbox, count: int) -> tuple[int, list[BudgetExhausted]]:
    """Ask the observer `count` times at once; return how often it replied, and the refusals."""
    refusals: list[BudgetExhausted] = []
    replies = 0

    async def ask() -> None:
        nonlocal replies
        try:
            await box.model("observer").generate([ChatMessageUser(content="look")])
            replies += 1
        except BudgetExhausted as error:
            refusals.append(error)

    async with anyio.create_task_group() as tasks:
        for _ in range(count):
            tasks.start_soon(ask)
    return replies, refusals


@pytest.mark.parametrize(
    ("limits", "sent"),
    [
        (Limits(model_calls=3), 3),
        (Limits(tokens=20), 2),
        (Limits(latency_s=1.5), 2),
        (Limits(cost_usd=100e-6), 2),
    ],
)
async def test_calls_in_parallel_do_not_go_over_a_limit_by_more_than_the_one_that_reaches_it(
    tmp_path: Path, limits: Limits, sent: int
) -> None:
    box = priced(toolbox(tmp_path, observer=[working("x")] * 5, limits=limits))

    replies, refusals = await together(box, 5)

    assert (replies, len(refusals)) == (sent, 5 - sent)
    assert len(requests_of(model_name(box, "observer"))) == sent


async def test_looks_in_parallel_do_not_go_over_a_limit_of_operations(tmp_path: Path) -> None:
    box = toolbox(tmp_path, limits=Limits(primitive_ops=2))
    refused: list[str] = []

    async def look() -> None:
        try:
            await box.primitives.extract_video_parts([1.0], max_side=None)
        except BudgetExhausted as error:
            refused.append(error.resource)

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(look)

    assert refused == ["primitive_ops"] * 3
    assert box.budget.used("primitive_ops") == 2


async def test_money_is_booked_by_role_and_price(tmp_path: Path) -> None:
    box = priced(toolbox(tmp_path, observer=[working("x")] * 2))

    await together(box, 2)

    assert box.budget.used("cost_usd") == pytest.approx(2 * (10 * 1.0 + 5 * 10.0) / 1e6)


async def test_a_model_without_a_price_is_not_asked_under_a_limit_in_dollars(
    tmp_path: Path,
) -> None:
    box = toolbox(tmp_path, observer=["x"], limits=Limits(cost_usd=1))

    with pytest.raises(
        RequestError, match=r"'scripted/\d+' has no price, .* remove limits.cost_usd"
    ):
        await box.model("observer").generate([ChatMessageUser(content="look")])

    assert requests_of(model_name(box, "observer")) == []


def unreported(text: str) -> ModelOutput:
    reply = says(text)
    reply.usage = None
    return reply


@pytest.mark.parametrize(
    ("limits", "named"), [(Limits(tokens=100), "tokens"), (Limits(cost_usd=1), "cost_usd")]
)
async def test_a_reply_without_usage_ends_the_cell_where_a_limit_needs_it(
    tmp_path: Path, limits: Limits, named: str
) -> None:
    box = priced(toolbox(tmp_path, observer=[unreported("x")] * 3, limits=limits))

    with pytest.raises(
        ProviderReplyError, match=f"reports no usage, so limits.{named} cannot be kept"
    ) as raised:
        await box.model("observer").generate([ChatMessageUser(content="look")])

    assert not raised.value.retryable
    assert box.failure is raised.value
    assert len(requests_of(model_name(box, "observer"))) == 1


@pytest.mark.parametrize("limits", [Limits(turns=5, latency_s=9.0), Limits(cost_usd=1.0)])
async def test_a_reply_without_usage_is_one_where_no_limit_needs_it(
    tmp_path: Path, limits: Limits
) -> None:
    free = {"input": 0.0, "output": 0.0}
    box = priced(toolbox(tmp_path, observer=[unreported("x")], limits=limits), free)

    output = await box.model("observer").generate([ChatMessageUser(content="look")])

    assert output.completion == "x"
    assert box.budget.used("tokens") == 0


async def test_tokens_below_zero_are_no_report(tmp_path: Path) -> None:
    reply = says("x")
    assert reply.usage is not None
    reply.usage.input_tokens = -1_000
    box = toolbox(tmp_path, observer=[reply], limits=Limits(tokens=100))

    with pytest.raises(ProviderReplyError, match="reports no usage"):
        await box.model("observer").generate([ChatMessageUser(content="look")])
