from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from tests.analysis.run_tables import runs

from taketwo.analysis.breakdown import compare_levels, macro_averages
from taketwo.analysis.ranking import ArmScores, arm_scores, rank_levels
from taketwo.errors import InvalidResults, UnknownName
from taketwo.executions.rule import Rule
from taketwo.outcomes.table import Outcomes
from taketwo.stats.paired import discordant
from taketwo.stats.sign_flip import sign_flip

RULE = Rule(primary=("accuracy",))
MODELS = {"small": 0.3, "middle": 0.5, "large": 0.8}


def _arms(n: int = 80, runs_each: int = 1) -> dict[str, NDArray[np.float64]]:
    rng = np.random.default_rng(4)
    return {
        f"{model}/{framework}": (rng.random((n, runs_each)) < rate + gain).astype(np.float64)
        for model, rate in MODELS.items()
        for framework, gain in (("single", 0.0), ("agent", 0.15))
    }


def _outcomes(arms: dict[str, NDArray[np.float64]]) -> Outcomes:
    frame = runs(arms, baseline=None).frame
    factors = {
        arm: json.dumps(dict(zip(("model", "framework"), arm.split("/"), strict=True)))
        for arm in arms
    }
    return Outcomes(frame.with_columns(factors=pl.col("arm").replace_strict(factors)))


@pytest.fixture(scope="module")
def scores() -> ArmScores:
    return arm_scores(_outcomes(_arms()), RULE)


def test_a_level_s_score_is_its_mean_over_the_other_factor(scores: ArmScores) -> None:
    ranking = rank_levels(scores, "model", seed=1, draws=500)
    arms = _arms()

    assert [level.level for level in ranking.levels] == ["large", "middle", "small"]
    for level in ranking.levels:
        both = [arms[f"{level.level}/{framework}"].mean() for framework in ("single", "agent")]
        assert level.score == pytest.approx(np.mean(both))
        assert level.arms == 2
    assert sum(level.p_first for level in ranking.levels) == pytest.approx(1)
    assert ranking.unbalanced is None
    assert ranking.tau_to_sample is not None
    assert ranking.tau_between_draws is not None
    assert ranking.tau_between_draws <= ranking.tau_to_sample


def test_levels_in_different_settings_are_marked() -> None:
    arms = _arms()
    del arms["small/agent"]

    ranking = rank_levels(arm_scores(_outcomes(arms), RULE), "model", seed=1, draws=100)

    assert ranking.unbalanced is not None
    assert "'small' stand in other settings" in ranking.unbalanced


def test_settings_are_resolved_by_exact_mcnemar(scores: ArmScores) -> None:
    found = compare_levels(scores, "framework", "single", "agent")
    arms = _arms()

    expected = [
        discordant(arms[f"{model}/agent"][:, 0], arms[f"{model}/single"][:, 0])
        for model in sorted(MODELS)
    ]
    assert [item.p for item in found.settings] == [table.exact_p for table in expected]
    assert found.of == 3
    assert found.resolved == sum(table.exact_p < 0.05 for table in expected)
    assert found.positive + found.negative == found.resolved
    assert "that is our reading" in found.reading


def test_the_pooled_test_is_by_question_and_the_naive_one_is_labelled(scores: ArmScores) -> None:
    found = compare_levels(scores, "framework", "single", "agent")
    arms = _arms()
    total = sum(arms[f"{m}/agent"][:, 0] - arms[f"{m}/single"][:, 0] for m in MODELS)
    assert isinstance(total, np.ndarray)

    assert found.pooled.p == sign_flip(total, rng=np.random.default_rng(0)).p
    assert found.naive_pooled is not None
    assert "(not valid)" in found.naive_pooled.method
    assert found.effect == pytest.approx(total.mean() / 3)


def test_the_naive_pooled_test_overstates_copies_of_one_setting() -> None:
    rng = np.random.default_rng(8)
    base, other = (rng.random((60, 1)) < rate for rate in (0.4, 0.55))
    arms = {f"m{i}/{f}": c.astype(float) for i in range(6) for f, c in (("a", base), ("b", other))}

    found = compare_levels(arm_scores(_outcomes(arms), RULE), "framework", "a", "b")

    assert found.naive_pooled is not None
    assert found.naive_pooled.p is not None
    assert found.pooled.p == pytest.approx(found.settings[0].p)
    assert found.naive_pooled.p < (found.pooled.p or 0)


def test_several_runs_are_compared_by_t_instead_of_mcnemar() -> None:
    found = compare_levels(
        arm_scores(_outcomes(_arms(runs_each=3)), RULE), "framework", "single", "agent"
    )

    assert all(item.mcnemar is None for item in found.settings)
    assert found.naive_pooled is None


def test_macro_averages_say_what_they_are_averages_of(scores: ArmScores) -> None:
    found = {item.level: item for item in macro_averages(scores, "framework")}
    arms = _arms()

    assert (found["agent"].arms, found["agent"].questions) == (3, 80)
    assert found["agent"].mean == pytest.approx(
        np.mean([arms[f"{model}/agent"].mean() for model in MODELS])
    )


def test_unknown_factors_and_levels_are_named(scores: ArmScores) -> None:
    with pytest.raises(UnknownName, match="unknown factor of the arms 'modell'"):
        rank_levels(scores, "modell", seed=1)
    with pytest.raises(UnknownName, match="unknown level of 'framework' 'agnt'"):
        compare_levels(scores, "framework", "single", "agnt")


def test_two_arms_with_the_same_factors_are_refused() -> None:
    arms = {"a/x": np.ones((5, 1)), "b/x": np.zeros((5, 1)), "c/y": np.ones((5, 1))}
    frame = runs(arms, baseline=None).frame
    same = {"a/x": '{"f": "x"}', "b/x": '{"f": "x"}', "c/y": '{"f": "y"}'}
    outcomes = Outcomes(frame.with_columns(factors=pl.col("arm").replace_strict(same)))

    with pytest.raises(InvalidResults, match="arms 'a/x' and 'b/x' have the same factors"):
        compare_levels(arm_scores(outcomes, RULE), "f", "x", "y")
