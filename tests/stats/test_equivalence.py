from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.weightstats import ttost_paired

from taketwo.stats.equivalence import tost, tost_of_all

SEEDS = st.integers(0, 2**32 - 1)


@given(seed=SEEDS, n=st.integers(3, 40), margin=st.floats(0.05, 2))
def test_p_is_that_of_statsmodels(seed: int, n: int, margin: float) -> None:
    z = np.random.default_rng(seed).normal(0.1, 1, n)
    oracle = ttost_paired(z, np.zeros(n), -margin, margin)[0]

    assert tost(z, margin).p == pytest.approx(oracle, abs=1e-12)


@given(seed=SEEDS, margin=st.floats(0.1, 1), alpha=st.sampled_from([0.01, 0.05, 0.1]))
def test_it_passes_exactly_where_the_interval_lies_inside(
    seed: int, margin: float, alpha: float
) -> None:
    z = np.random.default_rng(seed).normal(0, 0.5, 20)
    found = tost(z, margin, alpha=alpha)

    assert found.low is not None
    assert found.high is not None
    assert found.is_equivalent == (-margin < found.low and found.high < margin)


@given(seed=SEEDS)
def test_signs_do_not_matter_and_a_wider_margin_passes_more_easily(seed: int) -> None:
    z = np.random.default_rng(seed).normal(0.2, 1, 15)

    assert tost(-z, 0.5).p == pytest.approx(tost(z, 0.5).p)
    assert (tost(z, 0.6).p or 0) <= (tost(z, 0.5).p or 0)


def test_every_pair_of_executions_has_to_pass() -> None:
    rng = np.random.default_rng(0)
    near, far = rng.normal(0, 0.5, 200), rng.normal(0.4, 0.5, 200)
    tests = [tost(near, 0.3), tost(far, 0.3)]

    found = tost_of_all(tests)

    assert tests[0].is_equivalent
    assert not found.is_equivalent
    assert found.p == tests[1].p
    assert found.high == tests[1].high
    assert found.means == 2
    assert tost_of_all(tests[:1]) == tests[0]


def test_videos_widen_the_interval() -> None:
    rng = np.random.default_rng(1)
    video = np.repeat(np.arange(10), 20)
    z = rng.normal(size=10)[video] * 0.3 + rng.normal(size=200) * 0.3

    assert (tost(z, 0.3, cluster=video).p or 0) > (tost(z, 0.3).p or 0)


def test_executions_that_agree_everywhere_are_equivalent_once_there_are_enough_questions() -> None:
    few, enough = tost(np.zeros(4), 0.1), tost(np.zeros(5), 0.1)

    assert (few.p, few.is_equivalent) == (1 / 16, False)
    assert (enough.p, enough.is_equivalent) == (1 / 32, True)
    assert enough.reason == "zero variance: no t; p is that of the exact sign-flip"
    assert not tost(np.full(50, 0.2), 0.1).is_equivalent


def test_one_question_cannot_be_tested() -> None:
    found = tost_of_all([tost(np.zeros(9), 0.1), tost(np.zeros(1), 0.1)])

    assert (found.p, found.is_equivalent) == (None, False)
    assert found.reason is not None


def test_bad_margins_are_refused() -> None:
    with pytest.raises(ValueError, match="margin is above 0, got 0"):
        tost(np.ones(3), 0)
    with pytest.raises(ValueError, match=r"between 0 and 1/2, got 0\.5"):
        tost(np.ones(3), 1, alpha=0.5)
    with pytest.raises(ValueError, match="0 tests with one margin"):
        tost_of_all([])
