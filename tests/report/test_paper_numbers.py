"""The report of the reconstructed REPAIR paper says what the paper says."""

from __future__ import annotations

import pytest
from tests.analysis.outcome_tables import paper

from taketwo.analysis.compare import compare
from taketwo.analysis.comparison import Comparison
from taketwo.executions.rule import Rule
from taketwo.report.blocks import Document
from taketwo.report.document import Sources, build_document
from taketwo.report.findings import metrics_table, movements_table, transitions_table
from taketwo.report.headlines import headline_of


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    rule = Rule(cluster="question")
    return compare(paper(), rule, study="reconstruction", seed=20, draws=200)


@pytest.fixture(scope="module")
def document(comparison: Comparison) -> Document:
    return build_document(Sources(comparison=comparison))


def test_the_headline_is_the_reversal(comparison: Comparison) -> None:
    headline = headline_of(comparison.comparisons[0])

    assert headline.sentence == (
        "The accuracy result reversed on re\u2011execution: dynamic minus static is "
        "+7.3 pp in K1 and −4.1 pp in K2."
    )
    # Table 5 of the paper; the nominal sign is kept in three of five metrics, with support in two.
    assert headline.counts == (
        "Of 5 primary metrics, 3 kept the sign of the effect (2 with support in every execution) "
        "and 5 shifted."
    )
    assert {point.metric: point.verdict for point in headline.points} == {
        "Accuracy": "directional reversal",
        "Turns": "direction reproduced, magnitude shift",
        "Visible calls": "direction reproduced, magnitude shift",
        "Primitive operations": "attenuation to null",
        "Latency": "directional reversal",
    }


def test_the_table_has_effect_means_shift_and_the_paper_s_label(comparison: Comparison) -> None:
    table = metrics_table(comparison.comparisons[0], (1, 2))

    row = table.rows[0]
    assert [cell.text for cell in row] == [
        "Accuracy",
        "+7.3 pp",
        "−4.1 pp",
        "+11.4 pp",
        "1.8 × 10⁻¹⁰",
        "directional reversal",
    ]
    assert row[1].detail.splitlines()[1] == "60.8 % → 68.1 %"
    assert row[4].detail == "raw 6.1 × 10⁻¹¹"
    assert "Direction reversal" in row[5].detail


def test_transitions_are_those_of_the_paper(comparison: Comparison) -> None:
    table = transitions_table(comparison.comparisons[0])

    assert table is not None
    assert [[cell.text for cell in row[:6]] for row in table.rows] == [
        ["static, K1 → K2", "677", "164", "103", "339", "20.8 %"],
        ["dynamic, K1 → K2", "681", "108", "193", "301", "23.5 %"],
    ]


def test_the_shift_is_shared_out_between_the_arms(comparison: Comparison) -> None:
    table = movements_table(comparison.comparisons[0])

    assert table is not None
    assert [cell.text for cell in table.rows[0]] == ["Accuracy", "+4.8 pp", "−6.6 pp", "+11.4 pp"]


def test_only_verdicts_that_occur_are_explained(document: Document) -> None:
    assert [verdict for verdict, _ in document.verdicts] == [
        "directional reversal",
        "direction reproduced, magnitude shift",
        "attenuation to null",
    ]
