from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest

from taketwo.errors import InvalidResults
from taketwo.executions.rule import METRICS
from taketwo.outcomes.table import COLUMNS, Outcomes, metric_columns, read_outcomes


def _frame(rows: Sequence[Mapping[str, object]]) -> pl.DataFrame:
    schema = {column.name: column.dtype for column in COLUMNS}
    cells = {name: [row.get(name) for row in rows] for name in schema}
    return pl.DataFrame(cells, schema=schema)


def _row(**given: object) -> dict[str, object]:
    return {
        "arm": "static",
        "execution": 1,
        "question_id": "q1",
        "video_id": "v1",
        "availability": "available",
        "run_status": "answered",
        "score_status": "scored",
        "forced": False,
        "accuracy": 1.0,
        **given,
    }


def test_a_table_survives_its_file(tmp_path: Path) -> None:
    outcomes = Outcomes(
        _frame([_row(), _row(question_id="q2", accuracy=None, score_status="not_judged")])
    )
    outcomes.write(tmp_path / "outcomes.parquet")

    read = read_outcomes(tmp_path / "outcomes.parquet").to_polars()

    assert read.equals(outcomes.to_polars())
    assert read["accuracy"].to_list() == [1.0, None]


def test_a_column_that_is_missing_is_named() -> None:
    frame = _frame([_row()]).drop("video_id", "tokens")

    with pytest.raises(InvalidResults, match="lacks the columns video_id, tokens"):
        Outcomes(frame)


def test_a_cell_that_occurs_twice_is_named() -> None:
    frame = _frame([_row(execution=2), _row(execution=2, accuracy=0.0), _row()])

    with pytest.raises(
        InvalidResults,
        match="1 cells occur more than once, first question 'q1', arm 'static', execution K2",
    ):
        Outcomes(frame)


@pytest.mark.parametrize("value", [0.5, -1.0, 100.0])
def test_accuracy_is_zero_or_one(value: float) -> None:
    with pytest.raises(InvalidResults, match=f"1 values other than 0 and 1, first {value}"):
        Outcomes(_frame([_row(accuracy=value)]))


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_a_metric_is_finite_or_null(value: float) -> None:
    with pytest.raises(InvalidResults, match="latency_s has 1 values that are not finite"):
        Outcomes(_frame([_row(latency_s=value)]))


def test_a_file_that_is_not_there_or_no_table_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InvalidResults, match="no such outcomes table; make it with: taketwo score"):
        read_outcomes(tmp_path / "none.parquet")
    (tmp_path / "text.parquet").write_text("not a table")
    with pytest.raises(InvalidResults, match="not a readable outcomes table"):
        read_outcomes(tmp_path / "text.parquet")


def test_a_table_of_another_format_is_refused(tmp_path: Path) -> None:
    path, frame = tmp_path / "outcomes.parquet", _frame([_row()])
    frame.write_parquet(path, metadata={"format": "taketwo.outcomes/2"})
    with pytest.raises(InvalidResults, match=r"written by a newer version \(taketwo\.outcomes/2\)"):
        read_outcomes(path)
    frame.write_parquet(path, metadata={"format": "other/1"})
    with pytest.raises(
        InvalidResults, match=r"format is 'other/1', expected 'taketwo\.outcomes/1'"
    ):
        read_outcomes(path)


def test_a_table_that_breaks_its_declaration_is_refused_with_its_path(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.parquet"
    _frame([_row()]).drop("video_id").write_parquet(path)

    with pytest.raises(InvalidResults, match=r"outcomes\.parquet: the outcomes table lacks the"):
        read_outcomes(path)


def test_a_column_of_another_type_is_named() -> None:
    frame = _frame([_row()]).with_columns(turns=pl.lit("three"))

    with pytest.raises(InvalidResults, match="wrong types: turns is String, not Float64"):
        Outcomes(frame)


def test_every_metric_has_a_declared_column_with_a_unit() -> None:
    declared = {column.name: column for column in COLUMNS}

    assert metric_columns() == METRICS
    assert all(declared[metric].unit for metric in METRICS)
    assert all(column.meaning for column in COLUMNS)


def test_a_folder_in_place_of_the_table_is_told(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidResults, match="a folder, not an outcomes table; name the file in it"
    ):
        read_outcomes(tmp_path)


def test_an_impossible_row_of_a_file_is_refused_with_the_path_and_the_cell(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.parquet"
    _frame([_row(), _row(question_id="q2", turns=-5.0)]).write_parquet(path)

    with pytest.raises(
        InvalidResults,
        match=r"outcomes\.parquet: turns has 1 values below 0, first -5\.0 in question 'q2', arm "
        "'static', execution K1",
    ):
        read_outcomes(path)
