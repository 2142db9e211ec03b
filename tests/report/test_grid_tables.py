from __future__ import annotations

import json

import pytest
from tests.analysis.judged_outcomes import Row, judged, outcomes_of, unjudged

from taketwo.analysis.grid_rates import milestone_grid, tag_grid
from taketwo.analysis.process_grid import ArmGrid, arm_grid, measure_grid
from taketwo.outcomes.table import Outcomes
from taketwo.report.grid_tables import (
    dominant_table,
    grid_table,
    milestone_grid_table,
    tag_grid_table,
)
from taketwo.report.tables import Table, to_csv, to_markdown

ONES = (1, 1, 1, 1, 1)


def cell(model: str, agent: str, question: str, score: float | None, *tags: str) -> Row:
    factors = json.dumps({"agent": agent, "orchestrator": model})
    if score is None:
        return unjudged(f"{model}-{agent}", question, factors=factors)
    return judged(
        f"{model}-{agent}",
        question,
        ONES,
        {"counting": "covered" if score > 0.5 else "missing"},
        tags,
        trajectory_score=score,
        factors=factors,
    )


@pytest.fixture
def outcomes() -> Outcomes:
    """Two backbones by two agents; of the second backbone one arm is missing."""
    return outcomes_of([
        cell("big", "single_turn", "q1", 0.4, "unsupported_observation"),
        cell("big", "single_turn", "q2", 0.6),
        cell("big", "ours", "q1", 0.7, "counting_error", "ocr_error"),
        cell("big", "ours", "q2", None),
        cell("<b>small</b>", "single_turn", "q1", 0.0),
        cell("<b>small</b>", "single_turn", "q2", 0.0),
    ])


@pytest.fixture
def grid(outcomes: Outcomes) -> ArmGrid:
    found = arm_grid(outcomes)
    assert found is not None
    return found


def texts(table: Table | None) -> list[list[str]]:
    assert table is not None
    return [[f"{cell.text} {cell.detail}".strip() for cell in row] for row in table.rows]


def test_cells_show_mean_change_and_denominator_and_holes_are_said(
    outcomes: Outcomes, grid: ArmGrid
) -> None:
    table = grid_table(measure_grid(outcomes, grid, "trajectory_score"))

    assert table.caption == "Trajectory score by orchestrator and agent"
    assert texts(table) == [
        # Two questions: t has 1 degree of freedom, and the interval is all that a score can be.
        ["big", "0.500 0.000 to 1.000", "0.700 +0.300\nn = 1 / 2"],
        ["<b>small</b>", "0.000", "not run"],
        ["mean over rows 1 / 2", "0.500 0.000 to 1.000", "0.700 +0.300"],
    ]
    assert "against single_turn, on the questions that both have" in table.note
    assert "Left out of it: <b>small</b>." in table.note


def test_a_hole_is_empty_in_csv_and_names_are_text_in_markdown(
    outcomes: Outcomes, grid: ArmGrid
) -> None:
    table = grid_table(measure_grid(outcomes, grid, "trajectory_score"))

    lines = to_csv(table).splitlines()
    assert lines[0] == (
        "metric,row,column,arm,value,n,planned,low,high,interval,change,change_low,change_high,"
        "change_interval,paired_questions,hole"
    )
    assert "trajectory_score,<b>small</b>,ours,,,0,0,,,,,,,,0,not run" in lines
    assert "<b>" not in to_markdown(table)


def test_percentages_and_points_are_those_of_the_metric(outcomes: Outcomes, grid: ArmGrid) -> None:
    table = grid_table(measure_grid(outcomes, grid, "mc_rate"))

    assert texts(table)[0] == [
        "big", "50.0 % 0.0 % to 100.0 %", "100.0 % +100.0 pp\nn = 1 / 2"
    ]  # fmt: skip


def test_changes_and_means_over_rows_stand_with_their_intervals_and_what_these_draw() -> None:
    rows = [
        cell(model, agent, f"q{i}", base + gain * (agent == "ours"))
        for model in ("big", "small")
        for agent in ("single_turn", "ours")
        for i, (base, gain) in enumerate([(0.1, 0.2), (0.3, 0.4), (0.5, 0.3), (0.5, 0.3)])
    ]
    outcomes = outcomes_of(rows)
    grid = arm_grid(outcomes)
    assert grid is not None

    table = grid_table(measure_grid(outcomes, grid, "trajectory_score"))

    # Both rows are alike, and t has 3 degrees of freedom: 3.182 x sd / 2 on each side, with an sd of
    # 0.238 for the scores 0.3, 0.7, 0.8, 0.8 and of 0.0816 for the gains.
    assert [row[2] for row in texts(table)] == [
        "0.650 0.271 to 1.000\n+0.300 [+0.170, +0.430]",
        "0.650 0.271 to 1.000\n+0.300 [+0.170, +0.430]",
        "0.650 0.271 to 1.000\n+0.300 [+0.170, +0.430]",
    ]
    assert "Intervals at 95 % (paired t): whole questions" in table.note
    assert "they are about other questions, not other rows" in table.note


def test_tags_by_column_name_the_dominant_one_and_ties(outcomes: Outcomes, grid: ArmGrid) -> None:
    found = tag_grid(outcomes, grid)

    assert texts(tag_grid_table(found)) == [
        ["ocr error", "0.0", "100.0"],
        ["counting error", "0.0", "100.0"],
        ["unsupported observation", "50.0 0.0 to 100.0\ndominant", "0.0"],
        ["dominant tag", "unsupported observation", "ocr error, counting error"],
    ]
    assert texts(dominant_table(found)) == [
        ["big", "unsupported observation", "ocr error, counting error"],
        ["<b>small</b>", "—", "not run"],
    ]


def test_milestone_types_say_over_how_many_rows_they_are(outcomes: Outcomes, grid: ArmGrid) -> None:
    table = milestone_grid_table(milestone_grid(outcomes, grid))

    assert texts(table) == [["counting", "50.0 % 0.0 % to 100.0 %", "100.0 %"]]
    assert table is not None
    assert table.note.startswith(
        "Unweighted means over the 1 of 2 rows of orchestrator that have a judged arm in every "
        "column. Left out: <b>small</b>."
    )


def test_without_tags_or_milestones_there_is_no_table() -> None:
    rows = [
        judged(f"{m}-{a}", "q1", ONES, factors=json.dumps({"agent": a, "orchestrator": m}))
        for m in ("x", "y")
        for a in ("single_turn", "ours")
    ]
    outcomes = outcomes_of(rows)
    grid = arm_grid(outcomes)
    assert grid is not None

    assert tag_grid_table(tag_grid(outcomes, grid)) is None
    assert milestone_grid_table(milestone_grid(outcomes, grid)) is None
