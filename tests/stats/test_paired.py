from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

from taketwo.errors import TooFewClusters
from taketwo.stats.paired import discordant, mean_test, paired_effect, tango_interval

SEEDS = st.integers(0, 2**32 - 1)


@given(seed=SEEDS, n=st.integers(2, 60), level=st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_agrees_with_the_paired_t_of_scipy(seed: int, n: int, level: float) -> None:
    method, baseline = np.random.default_rng(seed).normal(size=(2, n))
    oracle = stats.ttest_rel(method, baseline)

    effect = paired_effect(method, baseline, level=level)

    assert effect.method == "paired t"
    assert effect.df == pytest.approx(n - 1)
    assert [effect.statistic, effect.p] == pytest.approx([oracle.statistic, oracle.pvalue])
    assert [effect.low, effect.high] == pytest.approx(list(oracle.confidence_interval(level)))


@given(seed=SEEDS, n=st.integers(2, 40))
def test_swapping_the_arms_turns_the_effect_around_and_leaves_p(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    method, baseline = rng.normal(size=(2, n))
    cluster = rng.integers(2, size=n)
    cluster[:2] = [0, 1]

    there = paired_effect(method, baseline, cluster=cluster)
    back = paired_effect(baseline, method, cluster=cluster)

    assert back.estimate == -there.estimate
    assert [back.low, back.high] == pytest.approx([-(there.high or 0), -(there.low or 0)])
    assert back.p == there.p


def test_one_video_is_refused_not_reported_as_certain() -> None:
    with pytest.raises(TooFewClusters, match="4 questions on 1 video"):
        paired_effect(np.ones(4), np.zeros(4), cluster=np.zeros(4, dtype=int))


def test_one_question_gives_its_difference_and_no_interval() -> None:
    effect = paired_effect([3.0], [1.0], cluster=np.array([7]))

    assert effect.estimate == 2
    assert (effect.low, effect.high, effect.se, effect.p) == (None, None, None, None)
    assert effect.reason == "1 question has no variance"
    assert not effect.is_supported


def test_equal_arms_have_an_effect_of_zero_that_is_not_supported() -> None:
    effect = paired_effect([1.0, 0.0, 1.0], [1.0, 0.0, 1.0])

    assert (effect.estimate, effect.low, effect.high, effect.p) == (0, 0, 0, 1)
    assert effect.is_degenerate
    assert not effect.is_supported


@pytest.mark.parametrize(("n", "p", "supported"), [(2, 0.5, False), (5, 0.0625, False), (6, 0.03125, True)])  # fmt: skip
def test_a_constant_difference_is_judged_by_the_number_of_questions_not_by_its_zero_variance(
    n: int, p: float, supported: bool
) -> None:
    effect = paired_effect(np.full(n, 0.3), np.full(n, 0.1))

    assert effect.is_degenerate
    assert effect.statistic is None
    assert effect.p == p
    assert effect.is_supported is supported


def test_an_interval_that_touches_zero_supports_nothing() -> None:
    touching = mean_test(np.array([1.0, 2.0, 3.0])).__class__(
        method="paired t", n=3, clusters=3, level=0.95, estimate=1.0, se=1.0, df=2.0,
        low=0.0, high=2.0, statistic=1.0, p=0.05,
    )  # fmt: skip

    assert not touching.is_supported


@pytest.mark.parametrize("bad", [[], [1.0, math.nan], [math.inf, 0.0]])
def test_values_that_are_not_there_are_refused(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="a mean needs finite values"):
        mean_test(np.array(bad))


def test_arrays_of_different_lengths_cannot_be_paired() -> None:
    with pytest.raises(ValueError, match="cannot be paired"):
        paired_effect([1.0, 0.0], [1.0, 0.0, 1.0])


@given(gained=st.integers(0, 40), lost=st.integers(0, 40))
def test_mcnemar_agrees_with_statsmodels(gained: int, lost: int) -> None:
    found = _discordant(gained, lost, both=3, neither=2)
    exact = mcnemar([[3, gained], [lost, 2]], exact=True).pvalue if gained + lost else 1.0

    assert (found.gained, found.lost) == (gained, lost)
    assert found.exact_p == pytest.approx(exact)
    if gained != lost:
        corrected = mcnemar([[3, gained], [lost, 2]], exact=False, correction=True).pvalue
        assert found.corrected_p == pytest.approx(corrected)


@given(gained=st.integers(0, 12), lost=st.integers(0, 12))
def test_mid_p_counts_outcomes_as_extreme_by_half(gained: int, lost: int) -> None:
    total = gained + lost
    masses = [math.comb(total, i) / 2**total for i in range(total + 1)]
    distance = abs(gained - total / 2)
    beyond = sum(m for i, m in enumerate(masses) if abs(i - total / 2) > distance)
    tied = sum(m for i, m in enumerate(masses) if abs(i - total / 2) == distance)
    expected = 1.0 if total == 0 else beyond + tied / 2

    assert _discordant(gained, lost, both=1, neither=1).mid_p == pytest.approx(expected)


def test_the_textbook_table_has_its_textbook_p() -> None:
    assert _discordant(10, 2, both=5, neither=5).exact_p == pytest.approx(0.03857, abs=5e-6)


def test_mcnemar_refuses_outcomes_other_than_zero_and_one() -> None:
    with pytest.raises(ValueError, match="outcomes of 0 and 1 only"):
        discordant([0.5, 1.0], [0.0, 1.0])


@given(gained=st.integers(0, 30), lost=st.integers(0, 30), same=st.integers(0, 60))
def test_tango_bounds_are_where_the_score_reaches_its_quantile(
    gained: int, lost: int, same: int
) -> None:
    n = gained + lost + same
    if n == 0:
        return
    low, high = tango_interval(gained, lost, n)

    assert -1 <= low <= (gained - lost) / n <= high <= 1
    for bound in (low, high):
        if abs(bound) < 1 - 1e-9:
            assert _score(gained, lost, n, bound) == pytest.approx(1.959963984540054, rel=1e-6)
    assert tango_interval(lost, gained, n) == pytest.approx((-high, -low), abs=1e-9)


def test_no_discordant_pair_still_leaves_an_interval() -> None:
    low, high = tango_interval(0, 0, 10)

    assert (low, high) == pytest.approx((-0.277533, 0.277533), abs=1e-6)


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="7 gained and 5 lost of 10 pairs is impossible"):
        tango_interval(7, 5, 10)


def _discordant(gained: int, lost: int, *, both: int, neither: int):
    later = [1] * gained + [0] * lost + [1] * both + [0] * neither
    earlier = [0] * gained + [1] * lost + [1] * both + [0] * neither
    return discordant(later, earlier)


def _score(gained: int, lost: int, n: int, delta: float) -> float:
    """Return |score| by a plain search for the constrained maximum of the likelihood."""
    low, high = max(0.0, -delta), min(1.0, (1 - delta) / 2 + 0.0)

    def slope(rate: float) -> float:
        rest = 1 - 2 * rate - delta
        return lost / rate + gained / (rate + delta) - 2 * (n - gained - lost) / rest

    low, high = low + 1e-15, high - 1e-15
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    variance = n * (2 * low + delta * (1 - delta))
    return abs(gained - lost - n * delta) / math.sqrt(variance)
