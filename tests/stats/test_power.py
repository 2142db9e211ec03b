from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.power import TTestPower

from taketwo.stats.power import (
    executions_for,
    omnibus_power,
    purchase,
    questions_for,
    se_of_mean_effect,
    smallest_effect,
    smallest_tau,
    t_power,
)


@pytest.mark.parametrize(
    ("executions", "in_se"),
    [(2, 7.7), (3, 3.5), (4, 2.6), (5, 2.2), (7, 1.8), (10, 1.5), (20, 1.1)],
)
def test_two_executions_see_disasters_only(executions: int, in_se: float) -> None:
    found = smallest_tau(1283, executions)

    assert found == pytest.approx(in_se, abs=0.05)
    assert omnibus_power(1283, executions, found) == pytest.approx(0.8)


@pytest.mark.parametrize(("effect", "executions"), [(3.05, 57), (4.17, 32), (6.10, 16), (10.5, 7)])
def test_executions_for_the_effects_of_the_literature(effect: float, executions: int) -> None:
    assert executions_for(effect, 8.05) == executions
    assert executions_for(-effect, 8.05) == executions


@given(ratio=st.floats(0.05, 6), df=st.integers(2, 2000), alpha=st.sampled_from([0.01, 0.05, 0.2]))
def test_power_of_t_is_that_of_statsmodels(ratio: float, df: int, alpha: float) -> None:
    n = df + 1
    oracle = TTestPower().power(ratio / math.sqrt(n), n, alpha, df=df)

    assert t_power(ratio, df, alpha=alpha) == pytest.approx(oracle, abs=1e-6)


def test_power_without_an_effect_is_the_level() -> None:
    assert t_power(0, 20) == pytest.approx(0.05)
    assert omnibus_power(100, 4, 0) == pytest.approx(0.05)


def test_power_of_the_omnibus_test_is_what_is_simulated() -> None:
    rng = np.random.default_rng(0)
    n, k, tau, runs = 50, 3, 0.6, 4000
    d = rng.normal(size=(runs, n, k)) + tau * rng.normal(size=(runs, 1, k))
    centred = d - d.mean(axis=2, keepdims=True)
    columns = centred.mean(axis=1)
    residual = ((centred - columns[:, None]) ** 2).sum(axis=(1, 2)) / ((n - 1) * (k - 1))
    f = n * (columns**2).sum(axis=1) / (k - 1) / residual
    critical = 3.08920  # F(2, 98), 5 %
    power = float((f > critical).mean())

    assert omnibus_power(n, k, tau * math.sqrt(n)) == pytest.approx(power, abs=0.03)


@given(se=st.floats(0.001, 100), df=st.integers(1, 5000), power=st.floats(0.5, 0.95))
def test_the_smallest_effect_has_the_power_asked_for(se: float, df: int, power: float) -> None:
    found = smallest_effect(se, df, power=power)

    assert t_power(found / se, df) == pytest.approx(power, abs=1e-6)


@given(effect=st.floats(0.02, 2), sd=st.floats(0.05, 2))
def test_one_question_fewer_would_not_do(effect: float, sd: float) -> None:
    n = questions_for(effect, sd)

    assert t_power(math.sqrt(n) * effect / sd, n - 1) >= 0.8
    if n > 2:
        assert t_power(math.sqrt(n - 1) * effect / sd, n - 2) < 0.8


def test_a_budget_is_split_as_the_closed_forms_say() -> None:
    cells = 10_000
    cheap = purchase(cells, tau=0.08, question=0.5, residual=0.4)
    assert cheap.executions == pytest.approx(0.08 * math.sqrt(cells) / 0.5, abs=1)
    alike = purchase(1e6, tau=0.08, question=0, residual=0.44, cost_of_execution=100)
    assert alike.best_n == pytest.approx(math.sqrt(100 * 0.44**2 / 0.08**2))
    assert alike.questions == pytest.approx(alike.best_n, rel=0.02)


@given(
    tau=st.floats(0.01, 0.3), question=st.floats(0.01, 0.5), c0=st.floats(0, 50),
    budget=st.integers(200, 3000),
)  # fmt: skip
def test_no_other_split_of_the_budget_is_better(
    tau: float, question: float, c0: float, budget: int
) -> None:
    found = purchase(budget, tau=tau, question=question, residual=0.45, cost_of_execution=c0)
    every = [
        se_of_mean_effect(tau=tau, question=question, residual=0.45, n=n, executions=k)
        for k in range(2, budget)
        for n in [int((budget / k - c0) // 1)]
        if n >= 2
    ]

    assert found.cost <= budget + 1e-9
    assert found.se == pytest.approx(min(every))


def test_where_executions_agree_questions_are_bought() -> None:
    found = purchase(1000, tau=0, question=0.3, residual=0.4)

    assert (found.executions, found.questions, found.best_n) == (2, 500, math.inf)
    assert purchase(1000, tau=0.1, question=0.3, residual=0.4, most_questions=50).questions <= 50


def test_impossible_wishes_are_refused() -> None:
    with pytest.raises(ValueError, match="2 questions and 2 executions, got 10 and 1"):
        smallest_tau(10, 1)
    with pytest.raises(ValueError, match="2 questions and 2 executions, got 1 and 2"):
        omnibus_power(1, 2, 1.0)
    with pytest.raises(ValueError, match="an effect other than 0"):
        executions_for(0, 1)
    with pytest.raises(ValueError, match="needs more than 10,000,000"):
        questions_for(1e-6, 1)
    with pytest.raises(ValueError, match=r"does not pay two executions of two questions \(4\)"):
        purchase(3, tau=1, question=1, residual=1)
    with pytest.raises(ValueError, match="0 < alpha < power < 1"):
        smallest_effect(1, 5, power=0.01)
    with pytest.raises(ValueError, match="standard error and degrees of freedom"):
        smallest_effect(0, 5)
    assert executions_for(1, 0) == 2
