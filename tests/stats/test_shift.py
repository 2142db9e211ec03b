from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.anova import AnovaRM

from taketwo.errors import TooFewClusters
from taketwo.stats.paired import mean_test
from taketwo.stats.shift import anova_omnibus, cluster_omnibus, reversal_p

SEEDS = st.integers(0, 2**32 - 1)


@given(seed=SEEDS, n=st.integers(3, 25))
def test_two_executions_give_the_square_of_t(seed: int, n: int) -> None:
    d = np.random.default_rng(seed).normal(size=(n, 2))
    t = mean_test(d[:, 0] - d[:, 1])

    found = anova_omnibus(d)

    assert found.statistic == pytest.approx((t.statistic or 0) ** 2)
    assert found.p == pytest.approx(t.p)


@pytest.mark.parametrize("k", [3, 5])
def test_f_agrees_with_statsmodels_and_the_correction_with_a_plain_one(k: int) -> None:
    d = np.random.default_rng(k).normal(size=(12, k)) * np.arange(1, k + 1)
    rows = pd.DataFrame(
        [(q, e, d[q, e]) for q in range(12) for e in range(k)], columns=["q", "e", "d"]
    )
    oracle = AnovaRM(rows, "d", "q", ["e"]).fit().anova_table["F Value"].iloc[0]
    contrast = np.linalg.qr(np.column_stack([np.ones(k), np.eye(k)[:, 1:]]))[0][:, 1:]
    s = contrast.T @ np.cov(d.T) @ contrast
    epsilon = np.trace(s) ** 2 / ((k - 1) * np.trace(s @ s))

    found = anova_omnibus(d)

    assert found.statistic == pytest.approx(oracle)
    assert found.df1 == pytest.approx(epsilon * (k - 1))
    assert found.df2 == pytest.approx(epsilon * (k - 1) * 11)
    assert found.p == pytest.approx(stats.f.sf(oracle, epsilon * (k - 1), epsilon * (k - 1) * 11))


@given(seed=SEEDS, shift=st.floats(-5, 5))
def test_what_is_common_to_all_executions_does_not_matter(seed: int, shift: float) -> None:
    rng = np.random.default_rng(seed)
    d = rng.normal(size=(10, 4))

    moved = anova_omnibus(d + rng.normal(size=(10, 1)) + shift)

    assert moved.p == pytest.approx(anova_omnibus(d).p, rel=1e-6)


@given(seed=SEEDS, k=st.integers(2, 4))
def test_one_question_per_video_gives_hotelling(seed: int, k: int) -> None:
    n = 14
    d = np.random.default_rng(seed).normal(size=(n, k))
    c = d[:, :-1] - d[:, 1:]
    t2 = n * c.mean(0) @ np.linalg.inv(np.atleast_2d(np.cov(c.T))) @ c.mean(0)

    found = cluster_omnibus(d, np.arange(n))

    assert found.statistic == pytest.approx((n - k + 1) / ((n - 1) * (k - 1)) * t2)
    assert found.df2 == pytest.approx(n - k + 1)


@given(seed=SEEDS)
def test_two_executions_on_videos_give_the_square_of_the_cr2_t(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, video = rng.normal(size=(15, 2)), np.arange(15) // 4
    t = mean_test(d[:, 0] - d[:, 1], cluster=video)

    found = cluster_omnibus(d, video)

    assert found.statistic == pytest.approx((t.statistic or 0) ** 2)
    assert found.p == pytest.approx(t.p)


def test_executions_that_agree_everywhere_show_no_shift() -> None:
    d = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])

    for found in (anova_omnibus(d), cluster_omnibus(d, np.array([0, 1]))):
        assert found.p == 1
        assert found.statistic is None
        assert found.reason == "zero variance: p by permutation"


def test_the_same_move_on_every_question_is_bounded_by_their_number() -> None:
    d = np.array([[0.0, 1.0, 2.0]] * 6)

    assert anova_omnibus(d).p == 2**-5
    assert cluster_omnibus(d, np.array([0, 0, 1, 1, 2, 2])).p == 0.25


def test_what_cannot_be_tested_says_why() -> None:
    d = np.random.default_rng(0).normal(size=(6, 4))

    assert anova_omnibus(d[:1]).reason == "1 question has no variance"
    few = cluster_omnibus(d, np.array([0, 0, 0, 1, 1, 1]))
    assert few.p is None
    assert few.reason == "4 executions on 2 videos leave no freedom"
    twins = np.column_stack([d[:, :2], d[:, 1] + 1])
    assert cluster_omnibus(twins, np.arange(6)).reason == (
        "two executions differ by the same amount on every video"
    )
    with pytest.raises(TooFewClusters, match="on 1 video"):
        cluster_omnibus(d, np.zeros(6, dtype=int))
    with pytest.raises(ValueError, match="at least 2 executions"):
        anova_omnibus(d[:, :1])


def test_a_reversal_needs_both_signs() -> None:
    assert reversal_p([0.1, 0.2], [0.05, 0.05], [9, 9]) == 1
    assert reversal_p([0.1, 0.2, 0.3], [0.05] * 3, [9] * 3) == 1
    assert reversal_p([0.1, -0.2], [0.0, 0.05], [9, 9]) is None
    assert reversal_p([0.1], [0.1], [9]) is None


def test_two_executions_take_the_weaker_one_sided_p() -> None:
    found = reversal_p([0.3, -0.2], [0.1, 0.1], [20, 10])

    assert found == pytest.approx(stats.t.sf(2, 10))


def test_three_executions_take_gail_and_simon_s_table() -> None:
    """Their critical values at 5 %: 2.71 for 2 groups, 4.23 for 3, 5.43 for 4 (Table 1, 1985)."""
    for k, critical in ((3, 4.23), (4, 5.43)):
        effects = [np.sqrt(critical)] + [-9.0] * (k - 1)
        assert reversal_p(effects, [1.0] * k, [99.0] * k) == pytest.approx(0.05, abs=5e-4)


@given(
    z=st.tuples(st.floats(-6, 6), st.floats(-6, 6)),
    ratio=st.floats(0.1, 10),
    correlation=st.floats(-0.95, 0.95),
)
def test_opposite_supported_effects_imply_an_unadjusted_shift(
    z: tuple[float, float], ratio: float, correlation: float
) -> None:
    """With t intervals: |Z| > q (SE1 + SE2) >= q SE(Z), for any correlation of the executions."""
    se = np.array([1.0, ratio])
    effect = np.array(z) * se
    shift_se = np.sqrt(se @ se - 2 * correlation * se[0] * se[1])
    q = 1.96
    if effect[0] * effect[1] < 0 and (np.abs(effect) > q * se).all():
        assert abs(effect[0] - effect[1]) > q * shift_se
