from __future__ import annotations

import dataclasses
import itertools
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from scipy import stats
from tests.analysis.factor_grid import GRID, grid_outcomes

from taketwo.analysis.compare import compare
from taketwo.analysis.comparison import Comparison, FactorFinding, FactorFindings
from taketwo.analysis.factor_records import (
    LevelComparison,
    MacroAverage,
    RankedLevel,
    Ranking,
    Setting,
)
from taketwo.analysis.factors import factor_findings
from taketwo.executions.rule import Rule
from taketwo.outcomes.table import Outcomes

RULE = Rule(primary=("accuracy",), cluster="question")
MODELS = ("large", "middle", "small")
DOC = Path(__file__).parents[2] / "docs" / "concepts" / "comparison-json.md"


def _findings(outcomes: Outcomes, *, draws: int = 20_000) -> FactorFindings:
    found = factor_findings(outcomes, RULE, seed=3, draws=draws)
    assert found is not None
    return found


def _factor(findings: FactorFindings, name: str) -> FactorFinding:
    return next(item for item in findings.factors if item.factor == name)


def _score(model: str, framework: str, question: int, executions: int = 2) -> Fraction:
    runs = GRID[model, framework][:executions]
    return Fraction(sum(int(digits[question]) for digits in runs), executions)


def _by_question(model: str) -> list[Fraction]:
    return [(_score(model, "single", q) + _score(model, "agent", q)) / 2 for q in range(4)]


def test_a_model_s_macro_average_is_its_mean_over_frameworks_with_denominators() -> None:
    found = {item.level: item for item in _factor(_findings(grid_outcomes()), "model").averages}

    # counted by hand: 12 of 16, 10 of 16, 4 of 16 right
    assert {name: item.mean for name, item in found.items()} == pytest.approx({
        "large": 12 / 16,
        "middle": 10 / 16,
        "small": 4 / 16,
    })
    assert all((item.arms, item.questions) == (2, 4) for item in found.values())
    assert (found["large"].lowest, found["large"].highest) == (5 / 8, 7 / 8)


def test_all_models_are_ranked_anew_on_every_draw() -> None:
    """Oracle: all 4 ** 4 samples of the questions, ranked in fractions; ties share the first place."""
    scores = {model: _by_question(model) for model in MODELS}
    first: Counter[str] = Counter()
    for sample in itertools.product(range(4), repeat=4):
        sums = {model: sum(scores[model][q] for q in sample) for model in MODELS}
        best = [model for model in MODELS if sums[model] == max(sums.values())]
        for model in best:
            first[model] += Fraction(1, len(best) * 4**4)

    ranking = _factor(_findings(grid_outcomes()), "model").ranking

    assert [item.level for item in ranking.levels] == list(MODELS)
    assert [item.rank for item in ranking.levels] == [1, 2, 3]
    for item in ranking.levels:
        assert item.p_first == pytest.approx(float(first[item.level]), abs=0.015)
    assert 0.5 < ranking.levels[0].p_first < 1


def test_settings_of_one_run_are_resolved_by_exact_mcnemar() -> None:
    (pair,) = _factor(_findings(grid_outcomes(executions=1)), "framework").comparisons

    # agent first by name; single minus agent in K1: lost 1, 1 and 1, gained none
    assert (pair.baseline, pair.method) == ("agent", "single")
    for setting in pair.settings:
        assert setting.mcnemar is not None
        assert (setting.mcnemar.gained, setting.mcnemar.lost) == (0, 1)
        assert setting.p == stats.binomtest(0, 1).pvalue
    assert [dict(setting.setting) for setting in pair.settings] == [{"model": m} for m in MODELS]
    assert (pair.resolved, pair.of) == (0, 3)
    assert pair.naive_pooled is not None
    assert pair.naive_pooled.p == pytest.approx(stats.binomtest(0, 3).pvalue)
    assert "(not valid)" in pair.naive_pooled.method
    assert "our reading" in pair.reading


def test_several_runs_are_tested_by_question_over_all_settings() -> None:
    (pair,) = _factor(_findings(grid_outcomes(baseline=True)), "framework").comparisons
    differences = [
        [float(_score(m, "agent", q) - _score(m, "single", q)) for m in MODELS] for q in range(4)
    ]
    sums = [sum(row) for row in differences]
    flips = [
        abs(sum(sign * value for sign, value in zip(signs, sums, strict=True)))
        for signs in itertools.product((-1, 1), repeat=4)
    ]

    assert (pair.baseline, pair.method) == ("single", "agent")
    assert pair.effect == pytest.approx(sum(sums) / 12)
    assert pair.pooled.method == "exact sign-flip, by question"
    assert pair.pooled.p == pytest.approx(sum(f >= abs(sum(sums)) - 1e-9 for f in flips) / 16)
    assert pair.average.p == pytest.approx(stats.ttest_1samp([s / 3 for s in sums], 0).pvalue)
    for at, setting in enumerate(pair.settings):
        column = [row[at] for row in differences]
        assert setting.mcnemar is None
        assert setting.p == pytest.approx(stats.ttest_1samp(column, 0).pvalue)
    assert pair.naive_pooled is None


def test_pairs_of_levels_are_corrected_over_the_factor() -> None:
    pairs = _factor(_findings(grid_outcomes()), "model").comparisons
    p = sorted(item.average.p or 0 for item in pairs)

    assert len(pairs) == 3
    assert min(item.average.p_holm or 0 for item in pairs) == pytest.approx(min(1, 3 * p[0]))


def test_a_comparison_carries_its_factors_through_json() -> None:
    for alignment in ("blocked", "arbitrary"):
        comparison = compare(
            grid_outcomes(baseline=True), RULE, study="s", seed=3, draws=200, alignment=alignment
        )
        record = json.loads(json.dumps(comparison.to_json(), allow_nan=False))

        assert [item["factor"] for item in record["factors"]["factors"]] == ["model", "framework"]
        assert Comparison.from_json(record) == comparison


def test_two_arms_have_no_tables_of_factors() -> None:
    outcomes = grid_outcomes(baseline=True)
    two = Outcomes(outcomes.frame.filter(pl.col("arm").str.starts_with("large")))

    assert factor_findings(two, RULE, seed=3, draws=100) is None
    assert compare(two, RULE, study="s", seed=3, draws=100).to_json()["factors"] is None


def test_arms_without_factors_or_with_constant_ones_have_no_tables() -> None:
    frame = grid_outcomes().frame
    without = Outcomes(frame.with_columns(factors=pl.lit(None, pl.String)))
    constant = Outcomes(frame.with_columns(factors=pl.lit('{"judge": "one"}')))

    assert factor_findings(without, RULE, seed=3, draws=100) is None
    assert factor_findings(constant, RULE, seed=3, draws=100) is None


def test_a_factor_that_repeats_another_is_named_and_is_no_setting() -> None:
    frame = grid_outcomes(extra={"judge": "one"}).frame
    repeated = pl.col("factors").str.replace(
        r'"model": "(\w+)"', '"model": "$1", "vendor": "of-$1"'
    )

    found = _findings(Outcomes(frame.with_columns(factors=repeated)), draws=200)

    assert found.left_out == ("factor 'vendor' divides the arms as 'model' does",)
    assert [item.factor for item in found.factors] == ["model", "framework"]
    (pair,) = _factor(found, "framework").comparisons
    assert dict(pair.settings[0].setting) == {"model": "large"}


def test_a_factor_that_some_arms_lack_is_named() -> None:
    frame = grid_outcomes().frame
    some = (
        pl
        .when(pl.col("arm") == "small-agent")
        .then(pl.col("factors").str.replace("}", ', "reasoning": "high"}', literal=True))
        .otherwise(pl.col("factors"))
    )

    found = _findings(Outcomes(frame.with_columns(factors=some)), draws=200)

    assert found.left_out == (
        "factor 'reasoning': 5 of 6 arms have no level of it, first 'large-agent'",
    )
    (pair,) = _factor(found, "framework").comparisons
    assert pair.of == 2
    assert len(pair.left_out) == 2


def test_many_levels_are_ranked_but_not_compared_two_by_two() -> None:
    frame = grid_outcomes().frame
    arms = pl.concat([
        frame.with_columns(
            arm=pl.concat_str(pl.lit(f"{copy}-"), "arm"),
            factors=pl.concat_str(pl.lit(f'{{"model": "{copy}-'), "arm", pl.lit('"}')),
        )
        for copy in ("a", "b")
    ])

    (found,) = _findings(Outcomes(arms), draws=200).factors

    assert len(found.ranking.levels) == 12
    assert found.comparisons == ()
    assert found.not_compared[0].startswith("12 levels make 66 pairs")


def test_every_field_of_the_factors_is_documented() -> None:
    text = DOC.read_text(encoding="utf-8")
    section = text[text.index("## `factors`") : text.index("## `population`")]
    records = (
        FactorFindings, FactorFinding, Ranking, RankedLevel, MacroAverage, LevelComparison, Setting,
    )  # fmt: skip
    for record in records:
        for field in dataclasses.fields(record):
            assert field.name in section, f"{record.__name__}.{field.name}"
