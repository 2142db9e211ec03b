"""What the log of every agent says agrees with what was done, and is the same for equal replies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.agent_cells import (
    Cells,
    Ran,
    Setup,
    every_setup,
    quick,  # noqa: F401 a fixture of this module
)
from tests.agent_requests import identity, pictures_in
from tests.puppet import Puppet

from taketwo.executions.trajectory import ToolCall

PRICE = {"input": 1.0, "output": 10.0}
_MEASURED = frozenset({
    "uuid", "timestamp", "working_start", "completed", "working_time", "time", "span_id", "started_s",
    "latency_s", "latency_wall_s", "seconds", "charged_s",
})  # fmt: skip


@every_setup
async def test_the_metrics_are_what_was_done(setup: Setup, tmp_path: Path) -> None:
    cells = Cells(tmp_path, setup, price=PRICE)
    ran = await cells.run(Puppet(wants=3, seconds=1000.0))
    own, row = ran.puppet.own, ran.outcome()

    assert row["run_status"] == "answered"
    assert row["accuracy"] == 1.0
    assert row["turns"] == len(ran.puppet.of("orchestrator"))
    assert row["visible_calls"] == len(ran.infos("tool")) == len(kinds(ran, "tool"))
    assert row["primitive_ops"] == len(ran.infos("primitive"))
    if setup.name != "single_turn native":  # which is handed a video by reference
        assert row["frames"] == sum(pictures_in(one.request) for one in own)
    assert (row["input_tokens"], row["output_tokens"]) == (10 * len(own), 5 * len(own))
    assert row["cost_usd"] == pytest.approx(len(own) * 60e-6)
    # What a model says it took, once each, and again where a transcript is used again; the rest is
    # the stub's decoding.
    again = [one for one in ran.primitives if one.operation == "transcribe_speech"][1:]
    charged_s = 1000 * (len(own) + len(again))
    assert charged_s <= row["latency_s"] < charged_s + 500


def kinds(ran: Ran, kind: str) -> list[dict[str, Any]]:
    """Return the engine's own events of a kind."""
    return [event for event in ran.events if event["event"] == kind]


@every_setup
async def test_every_call_has_its_result_and_every_operation_its_place(
    setup: Setup, tmp_path: Path
) -> None:
    ran = await Cells(tmp_path, setup).run(Puppet(wants=3))

    assert all(call.result.strip() for call in ran.tools)
    assert len({call.call_id for call in ran.tools}) == len(ran.tools)
    ids = {call.call_id for call in ran.tools}
    assert {one.call_id for one in ran.primitives} <= ids | {None}
    inside = sum(one.model_calls for one in ran.primitives)
    assert inside == sum(one.role != "orchestrator" for one in ran.puppet.own)
    events = ran.trajectory.events
    for place, event in enumerate(events):
        if event.kind == "primitive" and event.call_id is not None:
            # An operation of a call stands beside it: no turn of the orchestrator between them.
            at = next(n for n, one in enumerate(events) if is_call(one, event.call_id))
            between = events[min(at, place) : max(at, place)]
            assert not any(one.kind == "model" and one.role == "orchestrator" for one in between)


def is_call(event: object, call_id: str) -> bool:
    return isinstance(event, ToolCall) and event.call_id == call_id


@every_setup
async def test_equal_replies_leave_equal_requests_and_an_equal_trajectory(
    setup: Setup, tmp_path: Path
) -> None:
    first, second = [
        await Cells(tmp_path / name, setup).run(Puppet(wants=3, observed="a blue circle"))
        for name in ("first", "second")
    ]

    assert [identity(one) for one in first.puppet.own] == [
        identity(one) for one in second.puppet.own
    ]
    assert Counter(map(identity, first.puppet.asked)) == Counter(map(identity, second.puppet.asked))
    assert timeless(first.trajectory.to_json()) == timeless(second.trajectory.to_json())
    for source in ("model", "tool", "primitive", "note", "cell"):
        assert timeless(first.infos(source)) == timeless(second.infos(source)), source


def timeless(value: Any) -> Any:
    """Return `value` without ids of events and measured times; parallel work on an index is sorted."""
    if isinstance(value, Mapping):
        found = {name: timeless(part) for name, part in value.items() if name not in _MEASURED}
        if "clips" in found and "events" in found:
            found["events"] = sorted(map(repr, found["events"]))
        return found
    if isinstance(value, list | tuple):
        return [timeless(item) for item in value]
    return value
