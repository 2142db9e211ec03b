"""Every resource that runs out ends every agent with a forced answer or as `limit`, and not past it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.agent_cells import (
    ARM,
    Cells,
    Ran,
    Setup,
    every_setup,
    quick,  # noqa: F401 a fixture of this module
)
from tests.agent_requests import pictures_in
from tests.puppet import Puppet

from taketwo.tools.budget import Limits, Resource

PRICE = {"input": 1.0, "output": 10.0}
A_CALL: dict[Resource, float] = {"tokens": 15, "latency_s": 1.0, "cost_usd": 60e-6}
"""What one reply of a puppet takes of each resource that is known afterwards."""

AMOUNTS: tuple[tuple[Resource, float], ...] = (
    ("turns", 1),
    ("turns", 3),
    ("visible_calls", 0),
    ("visible_calls", 2),
    ("primitive_ops", 0),
    ("primitive_ops", 1),
    ("primitive_ops", 4),
    ("model_calls", 1),
    ("model_calls", 4),
    ("frames", 1),
    ("frames", 20),
    ("tokens", 40),
    ("latency_s", 2.5),
    ("cost_usd", 200e-6),
)


def used(ran: Ran, resource: Resource) -> float:
    """Return what the cell used, counted from what its models were asked and its log."""
    own = ran.puppet.own
    if resource in A_CALL:
        return A_CALL[resource] * len(own)
    return {
        "turns": len(ran.puppet.of("orchestrator")),
        "visible_calls": sum(call.error != "budget_exhausted" for call in ran.tools),
        "primitive_ops": len(ran.primitives),
        "model_calls": len(own),
        "frames": sum(pictures_in(one.request) for one in own),
    }[resource]


@every_setup
@pytest.mark.parametrize(("resource", "amount"), AMOUNTS)
async def test_a_budget_that_runs_out_ends_the_cell_as_such_and_not_past_it(
    setup: Setup, resource: Resource, amount: float, tmp_path: Path
) -> None:
    ran = await pressed(setup, tmp_path, {resource: amount})

    assert_within(ran, resource, amount)
    end = (ran.status, ran.option, ran.answer.forced, ran.answer.limit)
    if setup.agent == "single_turn":  # one turn is all it has: it answers, or could not ask
        assert end in {("answered", 1, False, None), ("limit", None, False, resource)}
    elif resource in A_CALL:
        assert end == ("limit", None, False, resource)
    elif resource == "frames":  # without pictures the agent may go on until something else runs out
        assert end in {
            ("answered", 1, True, limit) for limit in ("frames", "turns", "visible_calls", "rounds")
        }
    else:
        assert end in {("answered", 1, True, resource), ("limit", None, False, resource)}


@every_setup
@pytest.mark.parametrize(
    ("resource", "amount"), [("turns", 2), ("visible_calls", 1), ("model_calls", 5)]
)
async def test_who_will_not_answer_at_the_end_has_no_answer(
    setup: Setup, resource: Resource, amount: float, tmp_path: Path
) -> None:
    ran = await pressed(setup, tmp_path, {resource: amount}, is_stubborn=True)

    assert_within(ran, resource, amount)
    assert ran.status in {"limit", "unparsed", "abstained"}
    assert ran.option is None
    if setup.agent != "single_turn":
        assert ran.answer.limit == resource


@every_setup
async def test_the_limits_that_a_plan_names_hold_for_an_agent_that_never_ends(
    setup: Setup, tmp_path: Path
) -> None:
    ran = await pressed(setup, tmp_path, {}, is_stubborn=True)

    limits = ran.plan.arm(ARM).limits
    assert ran.option is None
    assert limits.turns is not None
    assert used(ran, "turns") <= limits.turns
    assert limits.visible_calls is None or used(ran, "visible_calls") <= limits.visible_calls


async def pressed(
    setup: Setup, folder: Path, limits: Mapping[Resource, float], *, is_stubborn: bool = False
) -> Ran:
    """Run a cell whose orchestrator goes on for as long as it may."""
    cells = Cells(folder, setup, limits=Limits(**limits), price=PRICE)  # type: ignore[arg-type]
    return await cells.run(Puppet(wants=1000, seconds=1.0, is_stubborn=is_stubborn))


def assert_within(ran: Ran, resource: Resource, amount: float) -> None:
    """Fail where more was used; of what is known afterwards, where a call was made past it."""
    spent = used(ran, resource)
    if resource in A_CALL:
        assert spent - A_CALL[resource] < amount, (resource, spent)
    else:
        assert spent <= amount, (resource, spent)
