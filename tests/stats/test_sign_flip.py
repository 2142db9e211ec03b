from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from taketwo.stats.sign_flip import sign_flip

WHOLE = st.lists(st.integers(-6, 6), min_size=1, max_size=9)


def _brute_force(values: list[float]) -> tuple[float, float]:
    observed = abs(sum(values))
    sums = [abs(sum(s * v for s, v in zip(signs, values, strict=True))) for signs in product((-1, 1), repeat=len(values))]  # fmt: skip
    slack = 1e-9 * max(1.0, sum(map(abs, values)))
    beyond = sum(s > observed + slack for s in sums) / len(sums)
    tied = sum(abs(s - observed) <= slack for s in sums) / len(sums)
    return beyond + tied, beyond + tied / 2


@given(values=WHOLE)
def test_whole_numbers_agree_with_all_sign_flips(values: list[int]) -> None:
    p, mid = _brute_force([float(v) for v in values])

    found = sign_flip(np.array(values, float), rng=np.random.default_rng(0))

    assert found.method == "exact sign-flip"
    assert found.p == pytest.approx(p)
    if any(values):
        assert found.mid_p == pytest.approx(mid)


@given(values=st.lists(st.floats(-9, 9).map(lambda x: round(x, 3) + 1e-4), min_size=1, max_size=8))
def test_a_few_other_numbers_are_enumerated(values: list[float]) -> None:
    found = sign_flip(np.array(values), rng=np.random.default_rng(0))

    assert found.method == "exact sign-flip"
    assert found.p == pytest.approx(_brute_force(values)[0])


@given(gained=st.integers(0, 60), lost=st.integers(0, 60))
def test_on_single_steps_it_is_the_exact_mcnemar_test(gained: int, lost: int) -> None:
    values = np.array([1.0] * gained + [-1.0] * lost + [0.0] * 5)
    exact = stats.binomtest(gained, gained + lost).pvalue if gained + lost else 1.0

    assert sign_flip(values, rng=np.random.default_rng(0)).p == pytest.approx(exact)


def test_many_other_numbers_are_drawn_and_near_the_t_test() -> None:
    values = np.random.default_rng(4).normal(0.12, 1.0, size=300)

    found = sign_flip(values, rng=np.random.default_rng(1), draws=20_000)

    assert found.method == "Monte Carlo sign-flip"
    assert found.mid_p is None
    assert found.p == pytest.approx(stats.ttest_1samp(values, 0).pvalue, abs=0.01)
    assert sign_flip(values, rng=np.random.default_rng(1), draws=20_000) == found


def test_a_drawn_p_is_never_zero() -> None:
    values = np.full(40, 1.5) + np.linspace(0, 0.1, 40)

    assert sign_flip(values, rng=np.random.default_rng(1), draws=99).p == 0.01


def test_scaling_changes_nothing_and_nothing_moved_gives_one() -> None:
    values = np.array([3.0, -1.0, 2.0, 2.0])
    rng = np.random.default_rng(0)

    assert sign_flip(values * 1000, rng=rng).p == pytest.approx(sign_flip(values, rng=rng).p)
    assert sign_flip(np.zeros(4), rng=rng).p == 1
