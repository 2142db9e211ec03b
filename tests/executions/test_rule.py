"""The rule as a record."""

from __future__ import annotations

import json
from typing import get_args

from taketwo.executions.rule import METRICS, Metric, Rule


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
