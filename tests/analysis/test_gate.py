from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.analysis.outcome_tables import grid
from tests.analysis.run_tables import drawn, runs

from taketwo.analysis.compare import compare
from taketwo.analysis.comparison import Comparison
from taketwo.analysis.gate import Claim, gate
from taketwo.cli.gate import command
from taketwo.errors import RequestError, UnknownName
from taketwo.executions.rule import Rule


def test_a_reproduced_direction_holds_and_the_other_one_does_not(
    paper_comparison: Comparison,
) -> None:
    either = gate(paper_comparison, Claim(metric="turns"))
    lower = gate(paper_comparison, Claim(metric="turns", sign="lower"))
    higher = gate(paper_comparison, Claim(metric="turns", sign="higher"))

    assert (either.exit_status, lower.exit_status, higher.exit_status) == (0, 0, 1)
    assert higher.reason == "the direction is reproduced, and it is lower"


@pytest.mark.parametrize("metric", ["accuracy", "primitive_ops", "latency_s"])
def test_reversals_and_attenuations_do_not_hold(paper_comparison: Comparison, metric: str) -> None:
    result = gate(paper_comparison, Claim(metric=metric))

    assert (result.holding, result.exit_status) == ("does_not_hold", 1)


def test_what_is_not_measured_cannot_be_evaluated(paper_comparison: Comparison) -> None:
    result = gate(paper_comparison, Claim(metric="tokens"))

    assert (result.exit_status, result.reason) == (3, "tokens is not measured: no cell reports it")


def test_equivalence_without_a_margin_cannot_be_evaluated(paper_comparison: Comparison) -> None:
    result = gate(paper_comparison, Claim(metric="turns", kind="equivalent"))

    assert (result.exit_status, result.reason) == (
        3,
        "the rule declares no margin for this metric",
    )


@pytest.mark.parametrize(("margin", "status"), [(0.4, 0), (0.01, 1)])
def test_equivalence_is_judged_by_the_declared_margin(margin: float, status: int) -> None:
    rng = np.random.default_rng(3)
    cells = {(a, k): (rng.random(300) < 0.5).tolist() for k in (1, 2) for a in ("static", "dynamic")}  # fmt: skip
    rule = Rule(primary=("accuracy",), margins={"accuracy": margin})
    found = compare(grid(cells), rule, study="s", seed=1)

    assert gate(found, Claim(kind="equivalent")).exit_status == status


def test_one_execution_cannot_be_evaluated() -> None:
    cells = {("static", 1): [0.0, 1.0, 0.0], ("dynamic", 1): [1.0, 1.0, 0.0]}
    found = compare(grid(cells), Rule(primary=("accuracy",)), study="s", seed=1)

    assert gate(found, Claim()).exit_status == 3


def test_several_comparisons_have_to_be_named() -> None:
    arms = drawn(13, {"a": (0.3, 3), "b": (0.5, 3), "c": (0.7, 3)})
    found = compare(
        runs(arms, baseline=None), Rule(primary=("accuracy",)),
        study="s", seed=1, alignment="arbitrary", pairs="all",
    )  # fmt: skip

    with pytest.raises(RequestError, match="the claim fits 3 comparisons"):
        gate(found, Claim())
    with pytest.raises(UnknownName, match="unknown method 'd'"):
        gate(found, Claim(method="d"))
    assert gate(found, Claim(method="c", baseline="a")).comparison == "c against a"


def test_an_unknown_metric_is_bad_usage(paper_comparison: Comparison) -> None:
    with pytest.raises(UnknownName, match=r"unknown metric 'acuracy'.*did you mean 'accuracy'"):
        gate(paper_comparison, Claim(metric="acuracy"))


@pytest.mark.parametrize(("metric", "status"), [("turns", 0), ("accuracy", 1), ("tokens", 3)])
def test_the_command_exits_as_the_claim_says(
    paper_comparison: Comparison, tmp_path: Path, metric: str, status: int
) -> None:
    path = tmp_path / "comparison.json"
    path.write_text(json.dumps(paper_comparison.to_json()))

    result = CliRunner().invoke(command, [str(path), "--metric", metric, "--json"])

    assert result.exit_code == status
    assert json.loads(result.output)["exit_status"] == status
    assert json.loads(result.output)["comparison"] == "dynamic against static"


def test_a_reproduced_verdict_alone_decides_about_the_direction(
    paper_comparison: Comparison,
) -> None:
    pair = paper_comparison.comparisons[0]
    turned = replace(pair.metrics["turns"], verdict="not_reproduced")
    changed = replace(
        paper_comparison, comparisons=(replace(pair, metrics={**pair.metrics, "turns": turned}),)
    )

    assert gate(changed, Claim(metric="turns")).exit_status == 1
