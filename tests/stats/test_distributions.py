from __future__ import annotations

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


def test_a_root_is_found_between_its_bounds() -> None:
    assert distributions.root_between(lambda x: x**2 - 2, 0, 2) == pytest.approx(2**0.5)
