from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats
from tests.analysis.judged_outcomes import Row, judged, outcomes_of

from taketwo.analysis.dominant_tags import tag_intervals
from taketwo.analysis.effects import Interval
from taketwo.analysis.grid_rates import milestone_grid, tag_grid
from taketwo.analysis.milestone_rates import milestone_intervals
from taketwo.analysis.process_grid import MeasureGrid, arm_grid, measure_grid
from taketwo.analysis.unit_intervals import (
    Drawing,
    Parts,
    linearised,
    mean_interval,
    mean_of_ratios,
)

ONES = (1, 1, 1, 1, 1)
BY_QUESTION = Drawing(by="question")


def ends(found: Interval | None) -> tuple[float, float]:
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def t_ends(values: Sequence[float]) -> tuple[float, float]:
    """Return the t interval of a mean: the oracle where every unit is one value."""
    found = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    return float(found.low), float(found.high)


def ratios(rng: np.random.Generator, n: int, rows: int = 3) -> list[Parts]:
    """Return ratios over `n` questions with an effect of the question, a fifth of them missing."""
    of_question = rng.normal(0.5, 0.1, n)
    return [
        {
            f"q{i:03d}": (float(size * (of_question[i] + rng.normal(0, 0.1))), float(size))
            for i in range(n)
            if rng.random() > 0.2
            for size in [rng.integers(1, 4)]
        }
        for _ in range(rows)
    ]


def themselves(parts: Sequence[Parts]) -> dict[str, str]:
    return {name: name for part in parts for name in part}


def test_without_a_hole_the_values_are_the_means_of_the_questions() -> None:
    scores = np.random.default_rng(1).random((7, 3))

    values, is_used = linearised(scores, np.ones((7, 3)))

    assert values == pytest.approx(scores.mean(axis=1))
    assert is_used.all()


def test_a_question_that_is_nowhere_is_no_observation() -> None:
    values, is_used = linearised(np.array([[1.0], [0.0], [0.0]]), np.array([[1.0], [1.0], [0.0]]))

    assert values == pytest.approx([1.0, 0.0])
    assert is_used.tolist() == [True, True, False]


def test_with_holes_the_spread_is_that_of_drawing_questions_again() -> None:
    parts = ratios(np.random.default_rng(4), 120)
    questions = sorted(themselves(parts))
    array = np.array([[part.get(name, (0.0, 0.0)) for part in parts] for name in questions])
    rng = np.random.default_rng(5)
    drawn = array[rng.integers(len(questions), size=(4_000, len(questions)))].sum(axis=1)
    replicates = (drawn[:, :, 0] / drawn[:, :, 1]).mean(axis=1)

    found = mean_of_ratios(parts, themselves(parts), BY_QUESTION)

    assert found is not None
    assert found.se == pytest.approx(replicates.std(ddof=1), rel=0.06)
    middle = array.sum(axis=0)
    assert sum(ends(found)) / 2 == pytest.approx((middle[:, 0] / middle[:, 1]).mean(), abs=0.003)


def test_the_interval_holds_what_it_promises() -> None:
    rng = np.random.default_rng(6)
    hits = 0
    for _ in range(600):
        parts = ratios(rng, 30)
        low, high = ends(mean_of_ratios(parts, themselves(parts), BY_QUESTION))
        hits += low <= 0.5 <= high

    assert hits / 600 == pytest.approx(0.95, abs=0.025)


def test_the_order_of_questions_and_rows_does_not_matter() -> None:
    parts = ratios(np.random.default_rng(7), 20)
    other = [dict(reversed(list(part.items()))) for part in reversed(parts)]

    found, again = (mean_of_ratios(p, themselves(parts), BY_QUESTION) for p in (parts, other))

    assert ends(again) == pytest.approx(ends(found), abs=1e-12)


def test_one_unit_and_equal_values_have_no_interval() -> None:
    assert mean_interval(np.array([0.2, 0.8]), ["v", "v"], BY_QUESTION) is None
    assert mean_interval(np.array([0.5, 0.5]), ["a", "b"], BY_QUESTION) is None
    assert mean_interval(np.array([0.5]), ["a"], BY_QUESTION) is None
    assert mean_interval(np.array([]), [], BY_QUESTION) is None
    assert mean_of_ratios([], {}, BY_QUESTION) is None


def grid_of(rows: Sequence[Row], drawing: Drawing = BY_QUESTION) -> MeasureGrid:
    outcomes = outcomes_of(rows)
    grid = arm_grid(outcomes)
    assert grid is not None
    return measure_grid(outcomes, grid, "trajectory_score", drawing)


def cell(model: str, agent: str, question: int, **changes: object) -> Row:
    factors = json.dumps({"agent": agent, "orchestrator": model})
    return judged(f"{model}-{agent}", f"q{question:02d}", ONES, **{"factors": factors, **changes})


def scores() -> dict[tuple[str, str], np.ndarray]:
    """Return scores of 12 questions whose difficulty moves all arms alike."""
    rng = np.random.default_rng(8)
    hard = rng.uniform(0.1, 0.6, 12)
    return {
        (model, agent): hard + gain + rng.uniform(0, 0.1, 12)
        for model, agent, gain in [
            ("big", "single_turn", 0.0),
            ("big", "ours", 0.2),
            ("small", "single_turn", 0.05),
            ("small", "ours", 0.1),
        ]
    }


def test_changes_pair_questions_and_means_over_rows_draw_them_once() -> None:
    known = scores()
    found = grid_of([
        cell(model, agent, i, trajectory_score=float(value), execution=execution)
        for (model, agent), values in known.items()
        for i, value in enumerate(values)
        for execution in (1, 2)
    ])

    change = {m: known[m, "ours"] - known[m, "single_turn"] for m in ("big", "small")}
    both = (known["big", "ours"] + known["small", "ours"]) / 2
    of_cell = found.cells["big", "ours"]
    # A second execution that repeats the first adds no certainty: the oracle has 12 values.
    assert ends(of_cell.interval) == pytest.approx(t_ends(known["big", "ours"].tolist()))
    assert ends(of_cell.change_interval) == pytest.approx(t_ends(change["big"].tolist()))
    assert ends(found.average_intervals["ours"]) == pytest.approx(t_ends(both.tolist()))
    assert ends(found.change_intervals["ours"]) == pytest.approx(
        t_ends(((change["big"] + change["small"]) / 2).tolist())
    )
    assert found.cells["big", "single_turn"].change_interval is None
    assert found.change_intervals["single_turn"] is None
    # Paired, although the questions differ far more than the arms do.
    assert np.ptp(ends(of_cell.change_interval)) < 0.3 * np.ptp(ends(of_cell.interval))


def test_questions_of_one_video_are_drawn_together_in_changes_and_means() -> None:
    gains = np.random.default_rng(9).uniform(0, 0.3, 6).repeat(2)
    rows = [
        cell(
            model, agent, i, trajectory_score=0.3 + gain * (agent == "ours"), video_id=f"v{i // 2}"
        )
        for model in ("big", "small")
        for agent in ("single_turn", "ours")
        for i, gain in enumerate(gains.tolist())
    ]

    found = grid_of(rows, Drawing(by="video"))

    expected = t_ends(gains[::2].tolist())
    assert ends(found.cells["big", "ours"].change_interval) == pytest.approx(expected)
    assert ends(found.change_intervals["ours"]) == pytest.approx(expected)


def test_milestones_of_one_question_are_one_thing() -> None:
    statuses = ["covered", "partial", "missing", "covered", "covered"]
    once = [judged("a", f"q{i}", ONES, {"counting": status}) for i, status in enumerate(statuses)]
    labels = [
        {"M1": {"kind": "counting", "status": s}, "M2": {"kind": "counting", "status": s}}
        for s in statuses
    ]
    twice = [
        judged("a", f"q{i}", ONES, milestones=json.dumps(both)) for i, both in enumerate(labels)
    ]

    one, two = (milestone_intervals(outcomes_of(rows), BY_QUESTION) for rows in (once, twice))

    expected = t_ends([1.0, 0.5, 0.0, 1.0, 1.0])
    assert ends(one["a", "counting"]) == pytest.approx((expected[0], 1.0))
    assert ends(two["a", "counting"]) == pytest.approx((expected[0], 1.0))


def test_rates_of_tags_have_intervals_between_none_and_a_hundred() -> None:
    rows = [
        judged("a", f"q{i:02d}", ONES, tags=["ocr_error"] if i < 8 else [], execution=execution)
        for i in range(20)
        for execution in (1, 2)
    ]
    rows += [judged("b", f"q{i:02d}", ONES) for i in range(20)]

    found = tag_intervals(outcomes_of(rows), BY_QUESTION)

    assert ends(found["ocr_error", "a"]) == pytest.approx(t_ends([100.0] * 8 + [0.0] * 12))
    assert found["ocr_error", "b"] is None


def test_rates_over_rows_draw_a_question_for_all_rows_at_once() -> None:
    tagged = {"big": 8, "small": 3}
    rows = [
        cell(
            model, agent, i,
            failure_tags=json.dumps(["ocr_error"] if i < tagged[model] else []),
            milestones=json.dumps(
                {"M1": {"kind": "counting", "status": "covered" if i < tagged[model] else "missing"}}
            ),
        )
        for model in tagged
        for agent in ("single_turn", "ours")
        for i in range(20)
    ]  # fmt: skip
    outcomes = outcomes_of(rows)
    grid = arm_grid(outcomes)
    assert grid is not None

    tags, kinds = tag_grid(outcomes, grid, BY_QUESTION), milestone_grid(outcomes, grid, BY_QUESTION)

    expected = t_ends([1.0] * 3 + [0.5] * 5 + [0.0] * 12)
    assert ends(kinds.intervals["counting", "ours"]) == pytest.approx(expected)
    assert ends(tags.tags.intervals["ocr_error", "ours"]) == pytest.approx(
        tuple(100 * end for end in expected)
    )
