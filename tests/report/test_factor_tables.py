from __future__ import annotations

import pytest
from tests.analysis.factor_grid import grid_outcomes

from taketwo.analysis.compare import compare
from taketwo.analysis.comparison import Comparison
from taketwo.executions.rule import Rule
from taketwo.report.document import Sources, build_document
from taketwo.report.html import render_report
from taketwo.report.tables import Table


def _compared(executions: int) -> Comparison:
    return compare(
        grid_outcomes(executions=executions, baseline=True),
        Rule(primary=("accuracy",), cluster="question"),
        study="grid",
        seed=3,
        draws=500,
    )


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    document = build_document(Sources(comparison=_compared(1)))
    return {table.name: table for table in document.tables}


def _texts(table: Table) -> list[list[str]]:
    return [[f"{cell.text} {cell.detail}".strip() for cell in row] for row in table.rows]


def test_levels_stand_best_first_with_their_denominators(tables: dict[str, Table]) -> None:
    rows = _texts(tables["ranking-model"])

    # K1: large 3 + 4, middle 2 + 3, small 0 + 1 of 8
    assert [row[:4] for row in rows] == [
        ["large", "2", "87.5 %", "75.0 % to 100.0 %"],
        ["middle", "2", "62.5 %", "50.0 % to 75.0 %"],
        ["small", "2", "12.5 %", "0.0 % to 25.0 %"],
    ]
    assert "mean over its arms, each over 4 questions" in tables["ranking-model"].note


def test_resolved_settings_and_both_pooled_tests_stand_beside_each_other(
    tables: dict[str, Table],
) -> None:
    table = tables["levels-framework"]
    (row,) = _texts(table)

    assert row[0] == "agent − single"
    assert row[1].startswith("+25.0 pp")
    assert row[2] == "0 of 3"
    assert row[5] == "0.25"
    assert table.columns[5].heading == "p naively pooled (not valid)"
    assert "that is our reading" in table.note


def test_each_setting_has_its_gained_and_lost_questions(tables: dict[str, Table]) -> None:
    assert _texts(tables["settings-framework"]) == [
        [
            f"agent − single model {model}", "+25.0 pp", "1", "0", "1.00", "exact McNemar", "no",
        ]
        for model in ("large", "middle", "small")
    ]  # fmt: skip


def test_the_report_has_a_section_of_factors_only_where_there_are_some() -> None:
    with_factors = _compared(2)
    page = render_report(build_document(Sources(comparison=with_factors)))
    pair = compare(
        grid_outcomes(baseline=True),
        Rule(primary=("accuracy",), cluster="question"),
        study="grid",
        seed=3,
        draws=100,
    )
    without = build_document(
        Sources(comparison=Comparison.from_json({**pair.to_json(), "factors": None}))
    )

    assert 'id="factors"' in page
    assert "Levels of framework in each setting of the other factors" in page
    assert "factors" not in {section.anchor for section in without.sections}
