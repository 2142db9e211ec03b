"""The page on published numbers says what the code computes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.analysis.published import Fact, facts, tables

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "published-numbers.md"


@pytest.fixture(scope="module")
def found() -> tuple[Fact, ...]:
    return facts()


def test_the_page_shows_the_computed_tables(found: tuple[Fact, ...]) -> None:
    assert PAGE.read_text(encoding="utf-8").endswith(tables(found))


def test_nothing_of_the_papers_differs_without_a_reason(found: tuple[Fact, ...]) -> None:
    assert [fact for fact in found if fact.verdict == "differs"] == []


def test_all_four_mcnemar_labels_are_wrong(found: tuple[Fact, ...]) -> None:
    labels = [fact.verdict for fact in found if fact.what.startswith("McNemar")]

    assert labels == ["printed as exact; is the chi-square with continuity correction"] * 4


@pytest.mark.parametrize(("table", "impossible", "rounded"), [("A1", 8, 2), ("A2", 6, 0)])
def test_impossible_cells_are_counted(
    found: tuple[Fact, ...], table: str, impossible: int, rounded: int
) -> None:
    verdicts = Counter(f.verdict for f in found if f.section.startswith(f"REPAIR, Table {table}"))

    assert verdicts["impossible: no whole number of questions"] == impossible
    assert verdicts["sum of rounded numbers"] == rounded


def test_six_cells_of_table_20_contradict_table_1(found: tuple[Fact, ...]) -> None:
    cells = [f.what for f in found if f.verdict == "contradicts Table 1"]

    assert cells == [
        "Qwen3.5-27B, STAR",
        "Qwen3.5-27B, DVD",
        "Qwen3.5-27B, AVP",
        "Qwen3.5-27B, Ours",
        "Gemma-4-31B, STAR",
        "Gemma-4-31B, AVP",
    ]
