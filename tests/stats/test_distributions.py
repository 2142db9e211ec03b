from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from taketwo.stats import distributions


@pytest.mark.parametrize("df", [1.0, 7.3, 1282.0])
def test_tails_and_quantiles_are_scipy_s(df: float) -> None:
    for x in (0.0, 0.7, 6.597):
        assert distributions.t_tail(x, df) == pytest.approx(stats.t.sf(x, df), rel=1e-10)
        assert distributions.f_tail(x, 2.5, df) == pytest.approx(stats.f.sf(x, 2.5, df), rel=1e-10)
        assert distributions.chi2_tail(x, df) == pytest.approx(stats.chi2.sf(x, df), rel=1e-10)
    for q in (0.025, 0.5, 0.995):
        assert distributions.t_quantile(q, df) == pytest.approx(stats.t.ppf(q, df), abs=1e-9)
        assert distributions.chi2_quantile(q, df) == pytest.approx(stats.chi2.ppf(q, df), rel=1e-8)
        assert distributions.normal_quantile(q) == pytest.approx(stats.norm.ppf(q), abs=1e-12)


def test_a_fair_coin_has_binomial_masses() -> None:
    assert distributions.binomial_masses(3).tolist() == pytest.approx([0.125, 0.375, 0.375, 0.125])
    assert distributions.binomial_cdf(1, 3) == pytest.approx(0.5)


@pytest.mark.parametrize("trials", [0, 1, 2, 7, 100, 1283, 20_000])
def test_binomials_are_scipy_s(trials: int) -> None:
    counts = np.arange(trials + 1)
    masses, expected = distributions.binomial_masses(trials), stats.binom.pmf(counts, trials, 0.5)

    assert np.array_equal(masses, masses[::-1])
    np.testing.assert_allclose(masses, expected, rtol=1e-10, atol=1e-290)
    for successes in (-1, 0, trials // 3, trials // 2, trials - 1, trials, trials + 1):
        assert distributions.binomial_cdf(successes, trials) == pytest.approx(
            stats.binom.cdf(successes, trials, 0.5), rel=1e-11, abs=1e-290
        )


def test_a_root_is_found_between_its_bounds() -> None:
    assert distributions.root_between(lambda x: x**2 - 2, 0, 2) == pytest.approx(2**0.5)
