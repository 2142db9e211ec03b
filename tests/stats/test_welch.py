from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from taketwo.stats.paired import mean_test
from taketwo.stats.welch import independent_effect

SEEDS = st.integers(0, 2**32 - 1)


def test_runs_that_differ_as_a_whole_give_welch_s_t_on_their_means() -> None:
    """Questions that all move alike leave only the variance between runs."""
    a, b = np.array([0.5, 0.7, 0.4, 0.9]), np.array([0.1, 0.3, 0.2])
    oracle = stats.ttest_ind(a, b, equal_var=False)
    found = independent_effect(np.tile(a, (30, 1)) + 1e-9 * np.arange(30)[:, None], np.tile(b, (30, 1)))  # fmt: skip

    assert found.estimate / (found.se or 1) == pytest.approx(oracle.statistic, rel=1e-6)
    assert found.df == pytest.approx(oracle.df, rel=1e-6)
    assert found.p == pytest.approx(oracle.pvalue, rel=1e-6)


def test_runs_that_agree_leave_the_paired_t_of_the_questions() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 50))
    whole = mean_test(a - b)

    found = independent_effect(np.tile(a[:, None], 3), np.tile(b[:, None], 4))

    assert (found.low, found.high, found.df) == pytest.approx((whole.low, whole.high, whole.df))


@given(seed=SEEDS, ka=st.integers(1, 4), kb=st.integers(1, 4))
def test_swapping_arms_mirrors_and_the_order_of_runs_is_nothing(
    seed: int, ka: int, kb: int
) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(20, ka)), rng.normal(size=(20, kb))
    found, swapped = independent_effect(a, b), independent_effect(b, a)
    turned = independent_effect(a[:, ::-1], b[:, rng.permutation(kb)])

    assert swapped.low == pytest.approx(-(found.high or 0))
    assert (turned.low, turned.p) == pytest.approx((found.low, found.p))
    assert (found.se or 0) >= max(found.se_executions or 0, found.se_questions or 0) - 1e-12


@given(seed=SEEDS, shift=st.floats(-3, 3))
def test_what_is_common_to_a_question_cancels(seed: int, shift: float) -> None:
    rng = np.random.default_rng(seed)
    a, b, own = rng.normal(size=(15, 3)), rng.normal(size=(15, 2)), rng.normal(size=(15, 1))
    found, moved = independent_effect(a, b), independent_effect(a + own + shift, b + own + shift)

    assert (moved.low, moved.high) == pytest.approx((found.low, found.high), abs=1e-9)


def test_one_run_borrows_the_other_arm_s_variance_and_says_so() -> None:
    rng = np.random.default_rng(1)
    found = independent_effect(rng.normal(size=(30, 1)), rng.normal(size=(30, 4)))

    assert found.reason == "an arm with 1 run takes the other arm's variance between runs"
    assert found.se_executions is not None


def test_one_run_of_each_knows_questions_only_and_says_so() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 30, 1))
    found, paired = independent_effect(a, b), mean_test((a - b)[:, 0])

    assert (found.low, found.high, found.p) == pytest.approx((paired.low, paired.high, paired.p))
    assert found.se_executions is None
    assert found.reason == "1 run of each arm: what runs vary by is not in the interval"


def test_videos_widen_the_question_part() -> None:
    rng = np.random.default_rng(2)
    video = np.repeat(np.arange(8), 10)
    a = rng.normal(size=(80, 3)) + rng.normal(size=8)[video][:, None]
    b = rng.normal(size=(80, 3))

    by_video = independent_effect(a, b, cluster=video)

    assert (by_video.se_questions or 0) > (independent_effect(a, b).se_questions or 0)


def test_what_is_undefined_says_why() -> None:
    one = independent_effect(np.ones((1, 3)), np.zeros((1, 2)))
    flat = independent_effect(np.ones((4, 3)), np.zeros((4, 2)))

    assert (one.low, one.reason) == (None, "1 question has no variance")
    assert (flat.low, flat.p, flat.reason) == (None, None, "zero variance: no t")
    with pytest.raises(ValueError, match="both arms need the same questions"):
        independent_effect(np.ones((3, 1)), np.ones((2, 1)))
