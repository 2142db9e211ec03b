from __future__ import annotations

import pytest
from tests.analysis.published import reconstruction

from taketwo.analysis.comparison import Comparison
from taketwo.report.literature import aggregate_gain, literature_gains, magnitude_of
from taketwo.report.paper_tables import paper_tables
from taketwo.report.tables import Table, to_csv, to_latex, to_markdown


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return reconstruction()


@pytest.fixture(scope="module")
def tables(comparison: Comparison) -> dict[str, Table]:
    return {table.name: table for table in paper_tables(comparison.comparisons[0], comparison)}


def _texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def test_all_tables_are_there(tables: dict[str, Table]) -> None:
    assert list(tables) == [
        "table-3", "table-4", "table-5", "table-6", "table-a1", "table-a3", "table-a5", "table-a7",
    ]  # fmt: skip


def test_table_3_has_the_paper_s_numbers_and_exact_p(tables: dict[str, Table]) -> None:
    assert _texts(tables["table-3"]) == [
        ["K1", "60.80", "68.12", "+7.33", "[+4.83, +9.82]", "1.2 × 10⁻⁸"],
        ["K2", "65.55", "61.50", "−4.05", "[−6.39, −1.71]", "8.2 × 10⁻⁴"],
        ["Swing K1 − K2", "", "", "11.38", "—", ""],
    ]


def test_table_4_calibrates_magnitude_only(tables: dict[str, Table]) -> None:
    rows = _texts(tables["table-4"])

    assert rows[0] == ["LVAgent", "+3.05"]
    assert rows[-3:] == [
        ["Median", "+6.10"],
        ["Execution spread s_K, this study", "8.05"],
        ["Swing between executions, this study", "11.38"],
    ]
    assert tables["table-4"].note == (
        "s_K is 1.32 times the median and exceeds 6 of 7, the swing 1.87 times and exceeds 7 of 7. "
        "The gains calibrate magnitude only: they say nothing about whether the systems they come from "
        "would reproduce."
    )


def test_table_5_has_the_paper_s_assessments(tables: dict[str, Table]) -> None:
    rows = _texts(tables["table-5"])

    assert rows[0] == [
        "Accuracy (pp)", "+7.33", "−4.05", "+11.38", "[+8.03, +14.73]", "1.8 × 10⁻¹⁰",
        "Direction reversal",
    ]  # fmt: skip
    assert rows[3][1:4] == ["+0.991", "+0.025†", "+0.966"]
    assert [row[-1] for row in rows] == [
        "Direction reversal",
        "Sign stable, magnitude shifts",
        "Sign stable, magnitude shifts",
        "Attenuates to null",
        "Direction reversal",
        "3 of 5",
    ]


def test_table_6_says_which_arm_moved(tables: dict[str, Table]) -> None:
    assert _texts(tables["table-6"]) == [
        ["static", "60.80", "65.55", "+4.75", "20.81", "2.3 × 10⁻⁴"],
        ["dynamic", "68.12", "61.50", "−6.63", "23.46", "1.1 × 10⁻⁶"],
        ["Combined swing", "", "", "11.38", "", ""],
    ]
    assert tables["table-6"].note == (
        "Net movement recovers 23 % for static and 28 % for dynamic of the churn."
    )


def test_table_a1_counts_levels_and_does_not_call_them_findings(tables: dict[str, Table]) -> None:
    table = tables["table-a1"]

    assert len(table.rows) == 11
    assert table.note.startswith(
        "11 of 11 levels change sign; the factors divide the same questions, so these are not 11"
    )
    assert next(row for row in _texts(table) if row[0] == "format: MCQ") == [
        "format: MCQ", "586", "+5.29", "−3.24", "+8.53",
    ]  # fmt: skip


def test_table_a3_has_five_intervals_by_video(tables: dict[str, Table]) -> None:
    rows = _texts(tables["table-a3"])

    assert [row[0] for row in rows] == [
        "K1: dynamic − static",
        "K2: dynamic − static",
        "Shift K1 − K2",
        "static: K2 − K1",
        "dynamic: K2 − K1",
    ]
    assert tables["table-a3"].note == "1,283 questions on 922 videos, drawn whole."


def test_every_table_leaves_as_markdown_latex_and_csv(tables: dict[str, Table]) -> None:
    for table in tables.values():
        assert f"**{table.caption[:8]}" in to_markdown(table).replace("\\", "")
        assert rf"\label{{tab:{table.name}}}" in to_latex(table)
        assert len(to_csv(table).splitlines()) >= 3


def test_the_seven_gains_carry_their_provenance() -> None:
    gains = literature_gains()

    assert [gain.gain_pp for gain in gains] == [3.05, 4.17, 5.83, 6.10, 6.40, 6.40, 10.50]
    for gain in gains:
        expected = "S" if len(gain.benchmarks) == 1 else f"M{len(gain.benchmarks)}"
        assert gain.aggregation == expected
        assert gain.source
        assert "->" in gain.contrast


def test_conditions_of_one_benchmark_are_averaged_first() -> None:
    """(4 + 2) / 2 = 3 within Video-MME; (3 + 5) / 2 = 4 over benchmarks, not (4 + 2 + 5) / 3."""
    name, gain = aggregate_gain({"Video-MME": [(60.0, 64.0), (66.0, 68.0)], "MLVU": [(50.0, 55.0)]})

    assert (name, gain) == ("M2", pytest.approx(4.0))


def test_a_small_movement_exceeds_no_gain() -> None:
    found = magnitude_of(3.05)

    assert (found.exceeds, found.of, found.times_median) == (0, 7, pytest.approx(0.5))
