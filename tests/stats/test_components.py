from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.meta_analysis import combine_effects
from tests.stats.paper_tables import accuracy_effects

from taketwo.stats.components import next_execution, single_run_coverage, variance_components
from taketwo.stats.shift import anova_omnibus

SEEDS = st.integers(0, 2**32 - 1)


def test_the_paper_s_components_in_points() -> None:
    found = variance_components(100 * accuracy_effects())

    assert found.tau == pytest.approx(7.953599, rel=1e-7)
    assert found.tau_low == pytest.approx(3.371940, rel=2e-7)
    assert found.tau_high == pytest.approx(256.7146, rel=2e-7)
    assert found.question == pytest.approx(5.45, abs=5e-3)
    assert found.residual == pytest.approx(43.7, abs=0.05)
    assert found.question_noise == pytest.approx(1.22, abs=5e-3)


def test_the_paper_s_next_execution_in_points() -> None:
    found = next_execution(100 * accuracy_effects().mean(axis=0))

    assert found.s_k == pytest.approx(8.0465775567604, rel=1e-12)
    assert (found.low, found.high) == pytest.approx((-123.583, 126.857), abs=1e-3)
    t1 = np.tan(np.pi * 0.475)  # the quantile of Student's t with 1 degree of freedom
    assert found.high == pytest.approx(
        100 * 21 / 1283 + t1 * 8.0465775567604 * np.sqrt(1.5), rel=1e-12
    )
    assert found.p_reversal == pytest.approx(0.447611, abs=5e-7)
    assert found.p_outside_range == pytest.approx(2 / 3)
    assert found.note == (
        "probability of reversal: model-based, optimistic at 2 executions; "
        "the interval needs 4 executions to be informative"
    )


def test_tau_agrees_with_dersimonian_and_laird_where_executions_have_one_size() -> None:
    """A cross-check only: theirs takes the executions' standard errors as known, and no pairing."""
    d = 100 * accuracy_effects()
    pooled = combine_effects(d.mean(axis=0), d.var(axis=0, ddof=1) / len(d), method_re="chi2")

    assert pooled.tau2 == pytest.approx(63.236577, rel=1e-7)
    assert pooled.q == pytest.approx(42.855436, rel=1e-7)
    assert (variance_components(d).tau or 0) ** 2 == pytest.approx(pooled.tau2, rel=1e-3)


@pytest.mark.parametrize("k", [2, 5])
def test_mean_squares_are_those_of_statsmodels(k: int) -> None:
    rng = np.random.default_rng(k)
    d = rng.normal(size=(12, k)) + rng.normal(size=(12, 1)) + 2 * rng.normal(size=k)
    rows = pd.DataFrame(
        [(q, e, d[q, e]) for q in range(12) for e in range(k)], columns=["q", "e", "d"]
    )
    table = anova_lm(ols("d ~ C(q) + C(e)", rows).fit())
    msq, mse, msr = (table["sum_sq"] / table["df"])[["C(q)", "C(e)", "Residual"]]

    found = variance_components(d)

    assert found.tau == pytest.approx(np.sqrt(max(0, mse - msr) / 12))
    assert found.question == pytest.approx(np.sqrt(max(0, msq - msr) / k))
    assert found.residual == pytest.approx(np.sqrt(msr))
    high = stats.f.ppf(0.025, k - 1, (k - 1) * 11)
    assert found.tau_high == pytest.approx(np.sqrt((mse / msr / high - 1) * msr / 12))


@given(seed=SEEDS, k=st.integers(2, 6))
def test_the_interval_of_tau_leaves_zero_exactly_where_the_omnibus_test_rejects(
    seed: int, k: int
) -> None:
    rng = np.random.default_rng(seed)
    d = rng.normal(size=(10, k)) + 0.5 * rng.normal(size=k)
    found, test = variance_components(d), anova_omnibus(d)

    # the test is two-sided in F here: the lower end excludes 0 at 2.5 %
    p = stats.f.sf(test.statistic, k - 1, (k - 1) * 9)
    assert ((found.tau_low or 0) > 0) == (p < 0.025)
    assert (found.tau_low or 0) <= (found.tau or 0) <= (found.tau_high or 0) + 1e-12


@given(seed=SEEDS, factor=st.floats(0.01, 100), shift=st.floats(-5, 5))
def test_components_scale_and_ignore_what_is_common(seed: int, factor: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    d = rng.normal(size=(15, 3)) + rng.normal(size=3)
    found, moved = variance_components(d), variance_components(factor * (d + shift))

    for name in ("tau", "tau_low", "tau_high", "question", "residual"):
        assert getattr(moved, name) == pytest.approx(factor * getattr(found, name), abs=1e-6)


@given(seed=SEEDS, k=st.integers(2, 10))
def test_the_prediction_mirrors_with_the_effects(seed: int, k: int) -> None:
    effects = np.random.default_rng(seed).normal(size=k)
    found, mirrored = next_execution(effects), next_execution(-effects)

    assert (mirrored.low, mirrored.high) == pytest.approx((-(found.high or 0), -(found.low or 0)))
    assert mirrored.p_reversal == pytest.approx(found.p_reversal)
    assert 0 <= (found.p_reversal or 0) <= 0.5
    half = stats.t.ppf(0.975, k - 1) * effects.std(ddof=1) * np.sqrt(1 + 1 / k)
    assert found.high == pytest.approx(effects.mean() + half)


def test_39_executions_are_needed_for_an_observed_range_of_95_percent() -> None:
    assert next_execution(np.arange(39.0)).p_outside_range == pytest.approx(0.05)


def test_many_executions_are_not_called_optimistic() -> None:
    assert next_execution(np.arange(8.0)).note == "probability of reversal: model-based"


def test_one_run_covers_less_the_more_runs_differ() -> None:
    assert single_run_coverage(1.22, 0) == pytest.approx(0.95)
    assert single_run_coverage(1, 1) == pytest.approx(0.834224, abs=1e-6)
    assert single_run_coverage(1.22, 3) == pytest.approx(0.54, abs=0.01)
    assert single_run_coverage(1.22, 8) == pytest.approx(0.23, abs=5e-3)


def test_what_is_undefined_says_why() -> None:
    assert variance_components(np.ones((1, 3))).reason == "1 question has no variance"
    assert variance_components(np.ones((3, 1))).reason == "1 execution has no spread"
    assert variance_components(np.ones((3, 2))).reason == (
        "zero variance: every question moved alike"
    )
    one = next_execution(np.array([0.1]))
    assert (one.low, one.reason) == (None, "1 execution has no spread")
    same = next_execution(np.array([0.1, 0.1]))
    assert (same.low, same.p_reversal) == (None, None)
    assert same.reason == "all executions have the same effect"


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match=r"finite questions x executions table, got \(2, 2\)"):
        variance_components(np.array([[1.0, np.nan], [0.0, 1.0]]))
    with pytest.raises(ValueError, match="needs finite effects, got 0"):
        next_execution(np.zeros(0))
    with pytest.raises(ValueError, match="a standard error above 0"):
        single_run_coverage(0, 1)
