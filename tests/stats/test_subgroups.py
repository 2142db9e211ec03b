from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.oneway import anova_oneway
from tests.stats.paper_tables import accuracy_effects, accuracy_factor

from taketwo.stats.subgroups import subgroup_test

SEEDS = st.integers(0, 2**32 - 1)


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)


@given(seed=SEEDS, levels=st.integers(2, 5))
def test_the_analysis_is_statsmodels_welch_anova(seed: int, levels: int) -> None:
    rng = np.random.default_rng(seed)
    group = np.concatenate([np.arange(levels), np.arange(levels), rng.integers(levels, size=20)])
    values = rng.normal(size=len(group)) * (1 + group)
    oracle = anova_oneway(values, group, use_var="unequal", welch_correction=True)

    found = subgroup_test(values, group, rng=_rng(), draws=9)

    assert found.statistic == pytest.approx(oracle.statistic)
    assert (found.df1, found.df2) == pytest.approx((oracle.df_num, oracle.df_denom))
    assert found.p == pytest.approx(oracle.pvalue)


def test_the_permutation_p_is_that_of_all_arrangements() -> None:
    """7 values, 3 and 4 of them: 35 arrangements."""
    values = np.array([0.0, 1.0, 2.0, 4.0, 7.0, 9.0, 9.5])
    group = np.array([0, 0, 1, 0, 1, 1, 1])

    def distance(first: tuple[int, ...]) -> float:
        inside = np.isin(np.arange(7), first)
        return abs(values[inside].mean() - values[~inside].mean())

    observed = distance((0, 1, 3))
    every = [distance(first) for first in combinations(range(7), 3)]
    expected = np.mean([d >= observed - 1e-9 for d in every])

    found = subgroup_test(values, group, rng=_rng(), draws=40_000)

    assert found.permutation_p == pytest.approx(expected, abs=0.01)


@given(seed=SEEDS, factor=st.floats(0.01, 100), shift=st.floats(-10, 10))
def test_units_names_and_order_do_not_matter(seed: int, factor: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    group = np.arange(30) % 3
    values, order = rng.normal(size=30), rng.permutation(30)
    found = subgroup_test(values, group, rng=_rng(), draws=9)
    moved = subgroup_test(
        factor * values[order] + shift, 70 - 5 * group[order], rng=_rng(), draws=9
    )

    assert (moved.statistic, moved.p) == pytest.approx((found.statistic, found.p), rel=1e-6)


@pytest.mark.parametrize("factor", ["format", "modality", "difficulty", "duration"])
def test_of_the_paper_s_four_factors_only_duration_has_to_do_with_the_shift(factor: str) -> None:
    d, group = accuracy_effects(), accuracy_factor(factor)
    sums = [np.bincount(group, weights=d[:, k]).sum() for k in range(2)]

    found = subgroup_test(d[:, 0] - d[:, 1], group, rng=_rng(), draws=999)

    assert sums == [94, -52]
    assert ((found.p or 0) < 0.05) == (factor == "duration")
    assert found.permutation_p == pytest.approx(found.p, abs=0.06)


def test_levels_without_variance_leave_the_permutation_test() -> None:
    found = subgroup_test(np.array([0.0, 1, 0, 1, 5]), np.array([0, 0, 1, 1, 2]), rng=_rng())

    assert (found.statistic, found.p) == (None, None)
    assert found.permutation_p is not None
    assert found.reason == "a level has 1 question or no variance: permutation only"


def test_equal_values_do_not_differ() -> None:
    assert subgroup_test(np.ones(6), np.arange(6) % 2, rng=_rng(), draws=99).permutation_p == 1


def test_bad_input_and_one_level() -> None:
    one = subgroup_test(np.arange(3.0), np.zeros(3, int), rng=_rng())
    assert one.reason == "1 level has nothing to differ from"
    with pytest.raises(ValueError, match="finite values and one level each"):
        subgroup_test(np.array([np.nan]), np.zeros(1, int), rng=_rng())
