from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.oneway import anova_oneway
from tests.stats.paper_tables import accuracy_effects, accuracy_factor

from taketwo.stats.subgroups import overlapping_subgroup_test, subgroup_test

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


def test_the_overlapping_permutation_p_is_that_of_all_arrangements() -> None:
    """6 values, levels of 3 and 2 questions that share one: 720 arrangements."""
    values = np.array([0.0, 1.0, 2.0, 4.0, 7.0, 9.0])
    inside = np.array([[1, 0], [1, 0], [1, 1], [0, 1], [0, 0], [0, 0]], dtype=bool)

    def statistic(arranged: tuple[float, ...]) -> float:
        mean = sum(arranged) / 6
        first, second = arranged[:3], arranged[2:4]
        return 3 * (sum(first) / 3 - mean) ** 2 + 2 * (sum(second) / 2 - mean) ** 2

    observed = statistic(tuple(values))
    every = [statistic(arranged) for arranged in permutations(values)]
    expected = np.mean([found >= observed - 1e-9 for found in every])

    found = overlapping_subgroup_test(values, inside, rng=_rng(), draws=40_000)

    assert found.permutation_p == pytest.approx(expected, abs=0.01)
    assert (found.p, found.statistic, found.levels) == (None, None, 2)
    assert found.reason == "a question may have several levels: permutation only"


@given(seed=SEEDS)
def test_levels_that_divide_the_questions_give_the_same_p_either_way(seed: int) -> None:
    rng = np.random.default_rng(seed)
    group = np.concatenate([np.arange(3), rng.integers(3, size=20)])
    values = rng.normal(size=23)

    one = subgroup_test(values, group, rng=_rng(), draws=199)
    other = overlapping_subgroup_test(values, group[:, None] == np.arange(3), rng=_rng(), draws=199)

    assert one.permutation_p == other.permutation_p


def test_overlapping_levels_without_a_difference_reject_as_often_as_they_should() -> None:
    rng = np.random.default_rng(7)
    rejected = 0
    for _ in range(300):
        inside = rng.random((40, 4)) < 0.5
        inside[0] = True
        found = overlapping_subgroup_test(rng.normal(size=40), inside, rng=rng, draws=99)
        rejected += (found.permutation_p or 1.0) <= 0.05

    assert 3 <= rejected <= 30


def test_levels_that_every_question_has_leave_nothing_to_test() -> None:
    found = overlapping_subgroup_test(
        np.arange(4.0), np.ones((4, 2), dtype=bool), rng=_rng(), draws=9
    )

    assert found.permutation_p is None
    assert found.reason == "every question has every level: nothing differs"


@pytest.mark.parametrize("inside", [np.zeros((3, 1), dtype=bool), np.ones((2, 1), dtype=bool)])
def test_a_level_without_questions_or_of_other_questions_is_refused(inside: object) -> None:
    with pytest.raises(ValueError, match="finite values and levels that occur are needed"):
        overlapping_subgroup_test(np.arange(3.0), np.asarray(inside), rng=_rng(), draws=9)
