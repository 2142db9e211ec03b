from __future__ import annotations

import pytest

from taketwo.analysis.number_text import change, change_in_words
from taketwo.executions.rule import METRICS, Metric


@pytest.mark.parametrize(
    ("metric", "value", "written"),
    [
        ("accuracy", -0.0435, "−4.3 pp"),
        ("accuracy", 0.0733, "+7.3 pp"),
        ("mc_rate", 0.1, "+10.0 pp"),
        ("trajectory_score", 0.07, "+0.070 points of trajectory score"),
        ("evidence_grounding", -0.25, "−0.25 points of evidence grounding"),
        ("visible_calls", 1.0, "+1.00 visible call"),
        ("visible_calls", -1.0, "−1.00 visible call"),
        ("visible_calls", 1.25, "+1.25 visible calls"),
        ("turns", 0.0, "0.00 turns"),
        ("primitive_ops", 0.0249, "+0.02 primitive operations"),
        ("tokens", -1234567.0, "−1,234,567 tokens"),
        ("latency_s", -12.0, "−12.00 s"),
        ("cost_usd", 0.012, "+0.0120 USD"),
    ],
)
def test_sentences_write_signs_digits_and_units_as_tables_do(
    metric: Metric, value: float, written: str
) -> None:
    assert change_in_words(metric, value) == written
    assert written.startswith(change(metric, value))


def test_every_metric_says_its_unit_in_words() -> None:
    for metric in METRICS:
        assert any(letter.isalpha() for letter in change_in_words(metric, 2.0))


def test_what_is_undefined_has_no_number() -> None:
    assert change_in_words("turns", float("nan")) == "— turns"
