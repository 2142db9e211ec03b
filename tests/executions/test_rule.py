"""The rule as a record."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from taketwo.errors import RuleMismatch
from taketwo.executions.rule import METRICS, Metric, Rule, Stopping


def test_a_rule_survives_being_written_and_read() -> None:
    rule = Rule(
        primary=("accuracy", "tokens"),
        level=0.9,
        cluster="question",
        population="per-execution",
        missing="drop-question",
        margins={"accuracy": 0.02},
        attempts=2,
    )

    assert Rule.from_json(json.loads(json.dumps(rule.to_json()))) == rule


def test_the_defaults_are_those_of_the_documented_study_file() -> None:
    assert Rule().to_json() == {
        "primary": ["accuracy", "turns", "visible_calls", "primitive_ops", "latency_s"],
        "level": 0.95,
        "cluster": "video",
        "population": "matched",
        "missing": "refuse",
        "margins": {},
        "attempts": 3,
    }


def test_the_list_of_metrics_has_every_metric_once() -> None:
    assert get_args(Metric) == METRICS


def test_a_rule_of_stopping_survives_and_a_rule_without_one_does_not_name_it() -> None:
    rule = Rule(stopping=Stopping(block=50, alpha=0.01))

    assert rule.to_json()["stopping"] == {"block": 50, "alpha": 0.01}
    assert Rule.from_json(json.loads(json.dumps(rule.to_json()))) == rule
    assert "stopping" not in Rule().to_json()
    assert Rule.from_json(Rule().to_json()).stopping is None


@pytest.mark.parametrize("values", [{"block": 9}, {"block": 10, "alpha": 0}, {"block": 10, "alpha": 1}])  # fmt: skip
def test_blocks_of_a_handful_and_an_impossible_alpha_are_refused(values: dict[str, int]) -> None:
    with pytest.raises(RuleMismatch, match="blocks of 10 questions at least and an alpha between"):
        Stopping(**values)
