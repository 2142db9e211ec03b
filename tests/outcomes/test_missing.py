from __future__ import annotations

from typing import get_args

import polars as pl
import pytest

from taketwo.errors import InvalidResults
from taketwo.executions.trajectory import RunStatus
from taketwo.outcomes.missing import (
    FAILED_RUNS,
    FAILED_SCORES,
    NOT_ANSWERED,
    accuracy_of,
    with_causes,
)
from taketwo.outcomes.table import COLUMNS, ScoreStatus


def _cell(**given: object) -> dict[str, object]:
    row = {
        "arm": "a",
        "execution": 1,
        "question_id": "q1",
        "availability": "available",
        "run_status": "answered",
        "score_status": "scored",
        "accuracy": 1.0,
        "turns": 3.0,
        **given,
    }
    schema = {column.name: column.dtype for column in COLUMNS}
    frame = pl.DataFrame({name: [row.get(name)] for name in schema}, schema=schema)
    return with_causes(frame).row(0, named=True)


def test_every_status_is_an_answer_no_answer_or_a_failure() -> None:
    assert {"answered", *NOT_ANSWERED, *FAILED_RUNS} == set(get_args(RunStatus))
    assert {"scored", *FAILED_SCORES} == set(get_args(ScoreStatus))


@pytest.mark.parametrize("score", get_args(ScoreStatus))
@pytest.mark.parametrize("run", get_args(RunStatus))
def test_no_failure_is_ever_a_number_and_no_answer_is_always_zero(
    run: RunStatus, score: ScoreStatus
) -> None:
    found = accuracy_of(run, score, True)

    if run in {"abstained", "unparsed", "limit"}:
        assert found == 0
    elif run == "answered" and score == "scored":
        assert found == 1
    else:
        assert found is None


def test_an_answer_counts_by_its_judgement() -> None:
    assert accuracy_of("answered", "scored", False) == 0
    assert accuracy_of("answered", "scored", None) is None


@pytest.mark.parametrize("run", NOT_ANSWERED)
def test_a_cell_without_an_answer_is_zero_with_its_resources(run: RunStatus) -> None:
    cell = _cell(run_status=run, score_status="not_judged", accuracy=None)

    assert (cell["accuracy"], cell["cause"], cell["turns"]) == (0.0, None, 3.0)


@pytest.mark.parametrize("run", FAILED_RUNS)
def test_a_failed_run_has_no_accuracy_and_no_resources(run: RunStatus) -> None:
    cell = _cell(run_status=run, score_status="not_judged", accuracy=0.0)

    assert (cell["accuracy"], cell["cause"], cell["turns"]) == (None, run, None)


@pytest.mark.parametrize("score", FAILED_SCORES)
def test_an_answer_that_nobody_could_judge_keeps_its_resources(score: ScoreStatus) -> None:
    cell = _cell(score_status=score, accuracy=None)

    assert (cell["accuracy"], cell["cause"], cell["turns"]) == (None, score, 3.0)


def test_a_row_without_statuses_has_not_run_and_one_without_a_score_has_none() -> None:
    assert _cell(run_status=None, accuracy=None)["cause"] == "not_run"
    assert _cell(score_status=None, accuracy=None)["cause"] == "not_judged"
    assert _cell(accuracy=None)["cause"] == "no accuracy"


def test_a_cell_whose_video_is_gone_has_neither_values_nor_cause() -> None:
    cell = _cell(availability="missing", run_status="not_run", accuracy=None)

    assert (cell["accuracy"], cell["cause"], cell["turns"]) == (None, None, None)


@pytest.mark.parametrize("run", ["provider_error", "limit"])
def test_a_right_answer_of_a_cell_without_one_is_a_contradiction(run: str) -> None:
    with pytest.raises(InvalidResults, match=f"1 cells are recorded as right .* K1: {run}"):
        _cell(run_status=run)


def test_columns_that_hold_nothing_at_all_are_read_as_null() -> None:
    rows = {column.name: [None] for column in COLUMNS}
    rows |= {"arm": ["a"], "question_id": ["q1"], "availability": ["available"]}

    cell = with_causes(pl.DataFrame(rows)).row(0, named=True)

    assert (cell["cause"], cell["accuracy"], cell["tokens"]) == ("not_run", None, None)
