from __future__ import annotations

import json

import numpy as np
import pytest
from tests.analysis.outcome_tables import grid
from tests.analysis.run_tables import drawn, runs

from taketwo.analysis.compare import compare
from taketwo.analysis.comparison import Comparison
from taketwo.errors import InvalidResults
from taketwo.executions.rule import Rule


def test_a_comparison_survives_json_without_loss(paper_comparison: Comparison) -> None:
    text = json.dumps(paper_comparison.to_json(), allow_nan=False)

    assert Comparison.from_json(json.loads(text)) == paper_comparison


def test_json_names_the_executions_of_a_shift_from_and_to(paper_comparison: Comparison) -> None:
    record = json.loads(json.dumps(paper_comparison.to_json()))
    shift = record["comparisons"][0]["metrics"]["accuracy"]["shifts"][0]

    assert record["format"] == "taketwo.comparison/1"
    assert (shift["from"], shift["to"]) == (1, 2)


def test_a_newer_format_is_refused(paper_comparison: Comparison) -> None:
    record = {**paper_comparison.to_json(), "format": "taketwo.comparison/2"}

    with pytest.raises(InvalidResults, match=r"format 'taketwo\.comparison/2' cannot be read"):
        Comparison.from_json(record)


def test_a_record_with_a_hole_says_where(paper_comparison: Comparison) -> None:
    record = {**paper_comparison.to_json()}
    del record["seed"]

    with pytest.raises(InvalidResults, match="1 unusable fields, first seed: Field required"):
        Comparison.from_json(record)


def test_json_has_the_documented_fields(paper_comparison: Comparison) -> None:
    record = json.loads(json.dumps(paper_comparison.to_json(), allow_nan=False))
    pair = record["comparisons"][0]
    metric = pair["metrics"]["accuracy"]

    assert {"baseline", "method", "alignment", "metrics"} <= set(pair)
    assert {"execution", "n", "effect", "low", "high", "se", "supported"} <= set(
        metric["executions"][0]
    )
    assert {"from", "to", "estimate", "low", "high", "p", "p_holm"} <= set(metric["shifts"][0])
    assert {"statistic", "df1", "df2", "p", "p_holm", "p_holm_arms"} <= set(metric["omnibus"])
    assert {"method", "df", "executions", "shifts"} <= set(metric["cluster"])
    assert metric["pairs"] == {
        "n": 2,
        "supported_positive": 1,
        "supported_negative": 1,
        "unsupported": 0,
    }
    assert {name: set(item) for name, item in metric["statements"].items()} == {
        "effect_vs_reexecution": {"value", "reason"},
        "shift": {"value", "reason"},
        "configuration": {"value", "reason"},
    }
    assert metric["shifts"][0]["p"] == metric["omnibus"]["p"]
    assert metric["shifts"][0]["p_holm"] == metric["shifts"][0]["p"]
    assert metric["omnibus"]["p_holm_arms"] is None


@pytest.mark.parametrize("executions", [1, 2, 3])
def test_every_null_of_a_metric_has_its_reason(executions: int) -> None:
    rng = np.random.default_rng(2)
    cells = {
        (arm, k): (rng.random(30) < 0.5).tolist()
        for k in range(1, executions + 1)
        for arm in ("static", "dynamic")
    }
    found = compare(grid(cells), Rule(primary=("accuracy",)), study="s", seed=1)
    record = json.loads(json.dumps(found.to_json()))["comparisons"][0]["metrics"]["accuracy"]

    nulls = {name for name, value in record.items() if value is None}
    assert nulls == set(record["undefined"])
    assert all(record["undefined"].values())


def test_every_null_of_runs_that_were_not_paired_has_its_reason() -> None:
    arms = drawn(3, {"static": (0.4, 3), "dynamic": (0.6, 2)})
    found = compare(
        runs(arms), Rule(primary=("accuracy",)), study="s", seed=1, alignment="arbitrary"
    )
    record = json.loads(json.dumps(found.to_json()))["comparisons"][0]["metrics"]["accuracy"]

    assert {name for name, value in record.items() if value is None} == set(record["undefined"])
