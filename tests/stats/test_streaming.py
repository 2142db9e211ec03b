from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from taketwo.stats.exact import ExactInterval, exact_mean
from taketwo.stats.paired import mean_test
from taketwo.stats.streaming import Accumulator, accumulate

SEEDS = st.integers(0, 2**32 - 1)


def _rows(seed: int, n: int) -> NDArray[np.float64]:
    """Return a whole-number column, a continuous one, and one that is whole in places."""
    rng = np.random.default_rng(seed)
    whole = rng.integers(-2, 3, n).astype(float)
    mixed = np.where(np.arange(n) % 7 == 3, rng.normal(size=n), whole)
    return np.column_stack([whole, rng.lognormal(size=n) - 1, mixed])


def _numbers(found: ExactInterval) -> tuple[float, ...]:
    return found.low or 0, found.high or 0, found.se or 0, found.estimate


@given(seed=SEEDS, n=st.integers(12, 80), cuts=st.lists(st.integers(1, 79), max_size=4))
def test_any_chunks_give_what_all_rows_give_at_once(seed: int, n: int, cuts: list[int]) -> None:
    rows = _rows(seed, n)
    whole = Accumulator.of(rows)

    parts = accumulate(np.split(rows, sorted(cut for cut in set(cuts) if cut < n)))

    assert parts.n == n
    assert parts.means == pytest.approx(whole.means, rel=1e-12, abs=1e-12)
    assert parts.products == pytest.approx(whole.products, rel=1e-12, abs=1e-11)
    for a, b in zip(parts.intervals(), whole.intervals(), strict=True):
        assert _numbers(a) == pytest.approx(_numbers(b), rel=1e-9, abs=1e-9)
    assert parts.intervals()[0] == whole.intervals()[0]


@given(seed=SEEDS)
def test_merging_is_associative_and_commutes(seed: int) -> None:
    a, b, c = (Accumulator.of(_rows(seed + i, 10 + i)) for i in range(3))
    left, right, turned = a.merge(b).merge(c), a.merge(b.merge(c)), c.merge(a).merge(b)

    for other in (right, turned):
        assert other.means == pytest.approx(left.means, rel=1e-12, abs=1e-12)
        assert other.products == pytest.approx(left.products, rel=1e-12, abs=1e-11)
        assert other.intervals()[0] == left.intervals()[0]
        assert _numbers(other.intervals()[1]) == pytest.approx(_numbers(left.intervals()[1]))


def test_moments_and_tests_are_those_of_numpy_and_the_paired_t() -> None:
    rows = _rows(1, 400)
    found = accumulate(np.array_split(rows, 9))

    assert found.covariance == pytest.approx(np.cov(rows.T))
    for c, test in enumerate(found.tests()):
        whole = mean_test(rows[:, c])
        assert (test.statistic, test.p, test.low, test.high) == pytest.approx((
            whole.statistic,
            whole.p,
            whole.low,
            whole.high,
        ))


def test_whole_numbers_give_the_exact_interval_and_others_a_binned_one() -> None:
    rows = _rows(2, 3000)
    whole, other, mixed = accumulate(np.array_split(rows, 7)).intervals()

    assert whole == exact_mean(rows[:, 0])
    for column, found in ((1, other), (2, mixed)):
        exact = exact_mean(rows[:, column])
        assert found.method == "binned characteristic function"
        assert exact.se is not None
        assert np.array([found.low, found.high]) == pytest.approx(
            np.array([exact.low, exact.high]), abs=1e-5 * exact.se
        )


def test_more_whole_numbers_than_are_counted_go_to_bins() -> None:
    values = np.random.default_rng(0).permutation(140_000).astype(float)

    found = accumulate(np.array_split(values, 5))

    assert found.intervals()[0].method == "binned characteristic function"
    assert found.means[0] == pytest.approx(69_999.5, rel=1e-12)


def test_large_values_lose_no_digits() -> None:
    values = 1e12 + np.random.default_rng(0).normal(size=1000)
    found = accumulate(np.array_split(values, 10))

    assert found.covariance[0, 0] == pytest.approx((values - 1e12).var(ddof=1), rel=1e-12)
    # bins are laid out around 0: at a distance they know mean and variance only, the normal limit
    exact = exact_mean(values)
    interval = found.intervals()[0]
    assert exact.se is not None
    assert interval.low == pytest.approx(exact.low, abs=0.02 * exact.se)


def test_equal_values_and_one_row_are_accounted_for() -> None:
    flat = accumulate([np.ones(3), np.zeros(0), np.ones(2)])
    one = Accumulator.of(np.array([0.5]))

    assert flat.n == 5
    assert flat.intervals()[0].is_degenerate
    assert flat.tests()[0].p == 2**-4
    assert one.intervals()[0].reason == "1 question has no variance"
    assert one.tests()[0].reason == "1 question has no variance"
    assert np.isnan(one.covariance).all()


def test_bad_chunks_are_refused() -> None:
    with pytest.raises(ValueError, match="needs finite values, got 2 rows"):
        Accumulator.of(np.array([1.0, np.inf]))
    with pytest.raises(ValueError, match="no chunk holds a row"):
        accumulate([np.zeros(0)])
    with pytest.raises(ValueError, match="1 and 2 columns cannot be merged"):
        Accumulator.of(np.ones(2)).merge(Accumulator.of(np.ones((2, 2))))
