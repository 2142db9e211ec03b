from __future__ import annotations

from dataclasses import replace

import pytest
from tests.plans import make_plan, make_trajectory

from taketwo.benchmarks.question import Question
from taketwo.executions.trajectory import (
    IndexUse,
    ModelCall,
    ModelTokens,
    PrimitiveOperation,
    RunStatus,
    Trajectory,
)
from taketwo.outcomes.build import outcomes_of

PLAN = replace(
    make_plan(
        questions=[
            Question(
                question_id="q",
                text="Which?",
                video_id="v",
                video_path="v.mp4",
                options=("a", "b"),
                answer_index=1,
            )
        ]
    ),
    prices={"eye": {"input": 2.0, "output": 10.0}, "head": {"input": 1.0, "output": 1.0}},
)
OWN = ModelCall(role="orchestrator", model="head", input_tokens=30, output_tokens=10)
MADE = ModelCall(role="observer", model="eye", input_tokens=999, media_sha256=("x",) * 20)
LOOK = PrimitiveOperation(
    operation="analyze", succeeded=True, freshness="fresh", seconds=9, charged_s=9
)
USE = IndexUse(
    index="abc-1",
    source="built",
    clips=3,
    cells=4,
    model_calls=6,
    operations=10,
    frames=40,
    latency_s=8.0,
    usage=(ModelTokens(model="eye", input_tokens=1000, output_tokens=100),),
    events=(MADE, LOOK),
)
COLUMNS = (
    "index_tokens",
    "index_cost_usd",
    "index_latency_s",
    "index_model_calls",
    "index_frames",
)


def row(index: IndexUse | None, run_status: RunStatus = "answered") -> dict[str, object]:
    cell: Trajectory = make_trajectory("q", run_status=run_status, events=[OWN])
    frame = outcomes_of(PLAN, [replace(cell, latency_s=1.0, index=index)]).frame
    return frame.filter(arm="base", execution=1).row(0, named=True)


def test_the_cost_of_an_index_is_divided_over_its_cells_and_apart_from_their_own() -> None:
    found = row(USE)

    assert [found[name] for name in COLUMNS] == pytest.approx([275.0, 0.00075, 2.0, 1.5, 10.0])
    assert (found["tokens"], found["frames"], found["primitive_ops"]) == (40.0, 0.0, 0.0)
    assert found["cost_usd"] == pytest.approx(40 / 1e6)
    assert found["latency_s"] == 1.0
    assert found["tokens_by_role"] == '{"orchestrator": {"input": 30, "output": 10}}'


def test_a_charged_share_is_in_the_cells_own_numbers_as_well() -> None:
    found = row(replace(USE, charged=True))

    assert found["index_tokens"] == 275.0
    assert (found["tokens"], found["input_tokens"], found["output_tokens"]) == (315.0, 280.0, 35.0)
    assert found["cost_usd"] == pytest.approx(40 / 1e6 + 0.00075)
    assert found["latency_s"] == 1.0  # booked while the cell ran
    assert (found["frames"], found["turns"]) == (0.0, 1.0)


def test_an_agent_without_an_index_has_none_rather_than_a_free_one() -> None:
    assert [row(None)[name] for name in COLUMNS] == [None] * 5


@pytest.mark.parametrize("status", ["provider_error", "agent_error", "media_error"])
def test_a_cell_that_failed_has_no_share(status: RunStatus) -> None:
    assert [row(USE, status)[name] for name in COLUMNS] == [None] * 5


def test_an_index_that_did_not_get_whole_has_no_cost_yet() -> None:
    assert row(IndexUse(events=(MADE,)))["index_tokens"] is None


def test_what_was_not_reported_or_has_no_price_is_null() -> None:
    unreported = ModelTokens(model="eye", input_tokens=None, output_tokens=None)
    unpriced = ModelTokens(model="other", input_tokens=4, output_tokens=4)

    first = row(replace(USE, usage=(*USE.usage, unreported)))
    second = row(replace(USE, usage=(*USE.usage, unpriced), charged=True))

    assert (first["index_tokens"], first["index_cost_usd"]) == (None, None)
    assert (first["index_frames"], first["tokens"]) == (10.0, 40.0)
    assert (second["index_tokens"], second["index_cost_usd"], second["cost_usd"]) == (
        277.0,
        None,
        None,
    )


def test_an_index_without_any_generation_costs_no_tokens() -> None:
    found = row(replace(USE, model_calls=0, frames=0, usage=()))

    assert (found["index_tokens"], found["index_cost_usd"], found["index_latency_s"]) == (0, 0, 2)


def test_generations_for_an_index_are_not_the_cells_and_are_not_forgotten() -> None:
    cell = replace(make_trajectory("q", events=[OWN]), index=USE)

    assert cell.model_calls == (OWN,)
    assert cell.all_model_calls == (MADE, OWN)
    assert cell.primitives == ()
    assert Trajectory.from_json(cell.to_json()) == cell
