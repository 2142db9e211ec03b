from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from taketwo.stats.cluster import ClusterSums, cluster_sums
from taketwo.stats.resampling import (
    bootstrap_means,
    bootstrap_means_of_patterns,
    simultaneous_intervals,
)

SEEDS = st.integers(0, 2**32 - 1)


def _questions(values: np.ndarray) -> ClusterSums:
    return ClusterSums(sums=values, sizes=np.ones(len(values)))


def test_patterns_have_the_law_of_drawing_questions() -> None:
    """44 questions of two kinds: the number of the first kind drawn is binomial."""
    values = np.repeat([1.0, 0.0], [11, 33])[:, None]
    found = bootstrap_means_of_patterns(
        _questions(values), draws=20_000, rng=np.random.default_rng(0)
    )
    counts = np.rint(found[:, 0] * 44)

    expected = stats.binom.pmf(np.arange(45), 44, 0.25)
    shares = np.bincount(counts.astype(int), minlength=45) / 20_000
    assert np.abs(shares - expected).max() < 0.012


def test_patterns_of_videos_keep_their_sizes() -> None:
    values = np.tile([1.0, 1.0, 0.0, 0.0, 0.0], 20)
    video = np.repeat(np.arange(40), np.tile([2, 3], 20))
    clusters = cluster_sums(values, video)
    possible = {2 * k / (2 * k + 3 * (40 - k)) for k in range(41)}

    found = bootstrap_means_of_patterns(clusters, draws=500, rng=np.random.default_rng(0))[:, 0]

    assert all(min(abs(value - p) for p in possible) < 1e-12 for value in found)


def test_many_patterns_are_drawn_as_questions() -> None:
    sums = _questions(np.random.default_rng(0).normal(size=(30, 2)))

    found = bootstrap_means_of_patterns(sums, draws=50, rng=np.random.default_rng(1))

    assert (found == bootstrap_means(sums, draws=50, rng=np.random.default_rng(1))).all()


def test_the_order_of_questions_does_not_matter_to_patterns() -> None:
    rng = np.random.default_rng(2)
    values = rng.integers(-1, 2, (500, 2)).astype(float)
    first, second = (
        bootstrap_means_of_patterns(_questions(rows), draws=20, rng=np.random.default_rng(3))
        for rows in (values, values[rng.permutation(500)])
    )

    assert (first == second).all()


def test_patterns_keep_mean_and_spread() -> None:
    values = np.repeat([0.0, 1.0, 5.0], [40, 38, 2])[:, None]

    found = bootstrap_means_of_patterns(
        _questions(values), draws=20_000, rng=np.random.default_rng(4)
    )

    assert found.mean() == pytest.approx(48 / 80, abs=0.005)
    assert found.std() == pytest.approx(values.std() / np.sqrt(80), rel=0.03)


def test_independent_means_take_the_quantile_of_the_largest_of_c_normals() -> None:
    replicates = np.random.default_rng(0).normal(size=(100_000, 4))

    found = simultaneous_intervals(np.zeros(4), replicates)

    each = 0.95 ** (1 / 4)
    assert found.multiplier == pytest.approx(stats.norm.ppf((1 + each) / 2), abs=0.02)


def test_columns_that_move_together_cost_nothing() -> None:
    one = np.random.default_rng(1).normal(size=(50_000, 1))

    found = simultaneous_intervals(np.zeros(3), np.hstack([one, 2 * one, -one]))

    assert found.multiplier == pytest.approx(1.96, abs=0.03)
    assert found.high[1] == pytest.approx(2 * found.high[0])


@given(seed=SEEDS, factor=st.floats(0.01, 100))
def test_a_column_that_does_not_vary_takes_no_part(seed: int, factor: float) -> None:
    replicates = np.random.default_rng(seed).normal(size=(200, 2))
    flat = np.column_stack([factor * replicates, np.full(200, 3.0)])
    plain = simultaneous_intervals(np.zeros(2), replicates)

    found = simultaneous_intervals(np.array([0.0, 0.0, 3.0]), flat)

    assert found.multiplier == pytest.approx(plain.multiplier)
    assert (found.low[2], found.high[2]) == (3, 3)


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        simultaneous_intervals(np.zeros(3), np.zeros((5, 2)))
    with pytest.raises(ValueError, match="at least 2 draws, got 1"):
        bootstrap_means_of_patterns(_questions(np.ones((3, 1))), draws=1, rng=np.random.default_rng(0))  # fmt: skip
