from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.outcomes.imports.files import cells, read, write_text

from taketwo.errors import InvalidResults, RequestError
from taketwo.outcomes.imports.wide_table import columns_by_pattern

DATA = Path(__file__).parents[2] / "data"


def test_the_reconstruction_of_the_paper_is_read_by_its_pattern() -> None:
    found = read(
        DATA / "repair_paper_accuracy.csv",
        question="question_id",
        wide="{execution}_{system}",
        cluster="video_id_synthetic",
        by=("format", "modality"),
    )

    assert found.reading.systems == ("dynamic", "static")
    assert (found.reading.alignment, found.reading.n_clusters) == ("blocked", 922)
    assert found.reading.n_questions == 1283
    source = pl.read_csv(DATA / "repair_paper_accuracy.csv")
    for system in ("static", "dynamic"):
        for execution in ("K1", "K2"):
            rows = found.rows.filter(pl.col("system") == system, pl.col("execution") == execution)
            assert rows["value"].sum() == source[f"{execution}_{system}"].sum()
    assert found.reading.notes == (
        "columns not used of repair_paper_accuracy.csv: difficulty, duration",
    )
    assert found.rows["subgroups"][1] == '{"format": "Open-ended", "modality": "Visual"}'


def test_names_with_underscores_split_by_the_execution() -> None:
    found = columns_by_pattern(
        [f"{m}_K{k}_{s}" for m in ("visible_calls", "turns") for k in (1, 2) for s in ("a", "b_c")],
        "{metric}_{execution}_{system}",
    )

    assert found["visible_calls_K2_b_c"] == {
        "metric": "visible_calls",
        "execution": "K2",
        "system": "b_c",
    }


def test_a_name_that_splits_in_two_ways_is_refused_with_the_ways() -> None:
    with pytest.raises(InvalidResults) as caught:
        columns_by_pattern(["x_K1_K2_y"], "{metric}_{execution}_{system}")
    assert "x_K1_K2_y (x+K1+K2_y or x_K1+K2+y)" in str(caught.value)


def test_an_incomplete_grid_is_refused_with_the_columns() -> None:
    with pytest.raises(InvalidResults) as caught:
        columns_by_pattern(["K1_a", "K1_b", "K2_a"], "{execution}_{system}")
    assert "found 3 columns (K1_a, K1_b, K2_a)" in str(caught.value)
    assert "also needs K2_b" in str(caught.value)


def test_columns_named_in_other_options_are_not_scores(tmp_path: Path) -> None:
    table = write_text(tmp_path / "t.csv", "question_id,K1_a,K1_b,v1_id", "q1,1,0,x", "q2,0,0,x")

    with pytest.raises(InvalidResults, match="also needs"):
        read(table, wide="{execution}_{system}")
    assert cells(read(table, wide="{execution}_{system}", cluster="v1_id")) == {
        ("a", "K1", "q1"): (1.0, "scored"),
        ("a", "K1", "q2"): (0.0, "scored"),
        ("b", "K1", "q1"): (0.0, "scored"),
        ("b", "K1", "q2"): (0.0, "scored"),
    }


@pytest.mark.parametrize("pattern", ["{execution}", "{system}_{arm}", "{system}_{system}", "plain"])
def test_a_pattern_that_cannot_be_is_refused(pattern: str) -> None:
    with pytest.raises(RequestError, match=r"made of \{metric\}, \{execution\} and \{system\}"):
        columns_by_pattern(["K1_a"], pattern)


def test_a_pattern_that_describes_nothing_lists_the_columns() -> None:
    with pytest.raises(RequestError, match="describes none of the columns 1_a, K_a"):
        columns_by_pattern(["1_a", "K_a"], "{execution}_{system}")


def test_options_that_mean_nothing_for_wide_tables_are_refused(tmp_path: Path) -> None:
    table = write_text(tmp_path / "t.csv", "question_id,K1_a", "q1,1")
    with pytest.raises(RequestError, match="--score: names a column of a table"):
        read(table, wide="{execution}_{system}", score="K1_a")
