from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from tests.analysis.judged_outcomes import Row, judged, outcomes_of, unjudged

from taketwo.analysis.grid_rates import milestone_grid, tag_grid
from taketwo.analysis.process_grid import ArmGrid, arm_grid, measure_grid
from taketwo.errors import InvalidResults, UnknownName
from taketwo.outcomes.table import Outcomes

ONES = (1, 1, 1, 1, 1)
PUBLISHED = {
    ("Gemini 2.5 Pro", "single_turn"): 51,
    ("Gemini 2.5 Pro", "avp"): 56,
    ("Gemini 2.5 Pro", "ours"): 58,
    ("Gemma-4-31B", "single_turn"): 38,
    ("Gemma-4-31B", "avp"): 48,
    ("Gemma-4-31B", "ours"): 51,
}
"""Right answers of 100 questions: six accuracies of AgentVidBench's Table 1."""


def placed(model: str, agent: str, **more: str) -> dict[str, object]:
    return {"factors": json.dumps({"agent": agent, "orchestrator": model, **more})}


def cell(model: str, agent: str, question: str = "q1", **changes: object) -> Row:
    return judged(f"{model}-{agent}", question, ONES, **{**placed(model, agent), **changes})


def published() -> Outcomes:
    return outcomes_of([
        cell(model, agent, f"q{i:03d}", accuracy=float(i < right))
        for (model, agent), right in PUBLISHED.items()
        for i in range(100)
    ])


def found_grid(outcomes: Outcomes, **options: str) -> ArmGrid:
    grid = arm_grid(outcomes, **options)
    assert grid is not None
    return grid


def test_accuracies_and_changes_come_out_as_the_paper_prints_them() -> None:
    outcomes = published()
    grid = found_grid(outcomes)

    found = measure_grid(outcomes, grid, "accuracy")

    assert grid.columns_factor == "agent"
    assert (grid.columns, grid.reference) == (("single_turn", "avp", "ours"), "single_turn")
    shown = {place: (c.value, c.change) for place, c in found.cells.items()}
    assert shown["Gemini 2.5 Pro", "ours"] == (pytest.approx(0.58), pytest.approx(0.07))
    assert shown["Gemma-4-31B", "avp"] == (pytest.approx(0.48), pytest.approx(0.10))
    assert shown["Gemma-4-31B", "single_turn"] == (pytest.approx(0.38), None)
    assert found.averages == {
        "single_turn": pytest.approx(0.445),
        "avp": pytest.approx(0.52),
        "ours": pytest.approx(0.545),
    }
    assert found.changes["ours"] == pytest.approx(0.1)


def test_a_hole_is_a_hole_and_its_row_is_in_no_average() -> None:
    outcomes = outcomes_of([
        cell("big", "single_turn", trajectory_score=0.4),
        cell("big", "ours", trajectory_score=0.8),
        cell("small", "single_turn", trajectory_score=0.0),
        cell("new", "single_turn", trajectory_score=0.2),
        unjudged("new-ours", "q1", "not_judged", **placed("new", "ours")),
        cell("late", "single_turn", trajectory_score=0.2),
        unjudged(
            "late-ours", "q1", "not_judged", run_status="not_run", accuracy=None,
            **placed("late", "ours"),
        ),
    ])  # fmt: skip

    found = measure_grid(outcomes, found_grid(outcomes), "trajectory_score")

    assert found.cells["small", "ours"].hole == "not run"
    assert found.cells["new", "ours"].hole == "not measured"
    assert found.cells["late", "ours"].hole == "not run"
    assert found.cells["small", "ours"].value is None
    assert found.cells["small", "single_turn"].value == 0.0
    assert found.averaged == ("big",)
    assert found.left_out == ("small", "new", "late")
    assert found.averages == {"single_turn": 0.4, "ours": 0.8}


def test_without_a_whole_row_there_is_no_average() -> None:
    outcomes = outcomes_of([
        cell("big", "single_turn"),
        cell("small", "ours"),
        unjudged("small-single_turn", "q1", **placed("small", "single_turn")),
    ])

    found = measure_grid(outcomes, found_grid(outcomes), "trajectory_score")

    assert found.averages == {"single_turn": None, "ours": None}


def test_a_failed_judgement_on_one_side_does_not_pass_for_a_change() -> None:
    scores = {"q1": 0.2, "q2": 0.8}
    outcomes = outcomes_of([
        *(cell("m", "single_turn", q, trajectory_score=s) for q, s in scores.items()),
        cell("m", "ours", "q1", trajectory_score=0.2),
        unjudged("m-ours", "q2", **placed("m", "ours")),
        cell("n", "single_turn"),
    ])

    found = measure_grid(outcomes, found_grid(outcomes), "trajectory_score").cells["m", "ours"]

    assert (found.value, found.n, found.planned) == (0.2, 1, 2)
    assert (found.change, found.paired) == (0.0, 1)


def test_rows_are_all_settings_of_the_other_factors() -> None:
    outcomes = outcomes_of([
        judged(f"{model}-{think}-{agent}", "q1", ONES, **placed(model, agent, thinking=think))
        for model in ("a", "b")
        for think in ("off", "on")
        for agent in ("single_turn", "ours")
    ])

    grid = found_grid(outcomes)

    assert grid.rows == ("a, thinking off", "a, thinking on", "b, thinking off", "b, thinking on")
    assert len(grid.arms) == 8


def test_a_factor_that_goes_with_the_columns_makes_no_rows() -> None:
    tools = {"single_turn": "none", "ours": "video"}
    outcomes = outcomes_of([
        judged(f"{model}-{agent}", "q1", ONES, **placed(model, agent, tools=tools[agent]))
        for model in ("a", "b")
        for agent in tools
    ])

    assert found_grid(outcomes).rows_factors == ("orchestrator",)


def test_the_column_of_the_baselines_is_the_reference() -> None:
    outcomes = outcomes_of([
        cell(model, agent, baseline=None if agent == "avp" else f"{model}-avp")
        for model in ("a", "b")
        for agent in ("single_turn", "avp")
    ])

    assert found_grid(outcomes).columns == ("avp", "single_turn")
    assert found_grid(outcomes, reference="single_turn").reference == "single_turn"


def test_arms_without_factors_are_named() -> None:
    rows = [cell(m, a) for m in ("a", "b") for a in ("single_turn", "ours")]

    assert found_grid(outcomes_of([*rows, judged("alone", "q1", ONES)])).left_out == ("alone",)


@pytest.mark.parametrize(
    "levels",
    [
        [{"agent": "x", "orchestrator": "m"}, {"agent": "y", "orchestrator": "m"}],
        [{"seed": "1"}, {"seed": "2"}],
        [{}, {}],
    ],
)
def test_one_factor_or_none_makes_no_grid(levels: list[Mapping[str, str]]) -> None:
    rows = [judged(f"arm{i}", "q1", ONES, factors=json.dumps(one)) for i, one in enumerate(levels)]

    assert arm_grid(outcomes_of(rows)) is None


def test_unknown_factors_levels_and_shared_places_are_refused() -> None:
    rows = [cell(m, a) for m in ("a", "b") for a in ("single_turn", "ours")]
    outcomes = outcomes_of(rows)

    with pytest.raises(UnknownName, match="unknown factor of the arms with several levels 'agnt'"):
        arm_grid(outcomes, columns="agnt")
    with pytest.raises(UnknownName, match="unknown level of 'agent' 'sngle'"):
        arm_grid(outcomes, reference="sngle")
    twin = judged("twin", "q1", ONES, **placed("a", "ours"))
    with pytest.raises(InvalidResults, match="arms 'a-ours' and 'twin' have the same place"):
        arm_grid(outcomes_of([*rows, twin]))


def test_tags_are_averaged_over_backbones_and_the_dominant_one_is_named() -> None:
    tags = {
        ("a", "single_turn"): [["unsupported_observation"], ["unsupported_observation"]],
        ("b", "single_turn"): [["counting_error"], []],
        ("a", "ours"): [["counting_error"], ["ocr_error"]],
        ("b", "ours"): [[], []],
        ("c", "single_turn"): [["ocr_error"], ["ocr_error"]],
    }
    outcomes = outcomes_of([
        judged(f"{m}-{a}", f"q{i}", ONES, tags=given, **placed(m, a))
        for (m, a), cells in tags.items()
        for i, given in enumerate(cells)
    ])

    found = tag_grid(outcomes, found_grid(outcomes))

    rates = found.tags.rates
    assert rates["unsupported_observation", "single_turn"] == 50.0
    assert rates["counting_error", "single_turn"] == 25.0
    assert rates["ocr_error", "single_turn"] == 0.0  # c has no agent and is left out
    assert found.tags.left_out == ("c",)
    assert found.tags.names == ("unsupported_observation", "counting_error", "ocr_error")
    assert found.dominant == {
        "single_turn": ("unsupported_observation",),
        "ours": ("counting_error", "ocr_error"),
    }
    assert found.by_arm["b", "ours"] == ()


def test_milestone_types_are_averaged_over_backbones() -> None:
    statuses = {
        ("a", "single_turn"): "missing",
        ("b", "single_turn"): "partial",
        ("a", "ours"): "covered",
        ("b", "ours"): "partial",
    }
    outcomes = outcomes_of([
        judged(f"{m}-{a}", "q1", ONES, {"counting": status}, **placed(m, a))
        for (m, a), status in statuses.items()
    ])

    found = milestone_grid(outcomes, found_grid(outcomes))

    assert found.names == ("counting",)
    assert found.rates == {("counting", "single_turn"): 0.25, ("counting", "ours"): 0.75}
    assert found.rows == {"counting": 2}
