from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from taketwo.stats.cluster import ClusterSums, cluster_sums
from taketwo.stats.resampling import bootstrap_means, percentile_intervals


def test_draws_are_those_of_a_plain_loop_over_the_same_indices() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(7, 2))
    index = np.random.default_rng(11).integers(7, size=(50, 7))
    expected = np.array([[values[row, c].mean() for c in range(2)] for row in index])

    found = bootstrap_means(_questions(values), draws=50, rng=np.random.default_rng(11))

    assert found == pytest.approx(expected)


def test_all_columns_share_their_draws() -> None:
    first, second = np.random.default_rng(0).normal(size=(2, 30))
    stacked = np.column_stack([first, second, first - second])

    found = bootstrap_means(_questions(stacked), draws=200, rng=np.random.default_rng(1))

    assert found[:, 2] == pytest.approx(found[:, 0] - found[:, 1])


def test_the_distribution_is_that_of_all_possible_resamples() -> None:
    values = np.array([0.0, 1.0, 5.0])
    every = [np.mean(drawn) for drawn in product(values, repeat=3)]

    found = bootstrap_means(
        _questions(values[:, None]), draws=40_000, rng=np.random.default_rng(5)
    )[:, 0]

    for value in set(every):
        share = every.count(value) / len(every)
        assert np.mean(np.isclose(found, value)) == pytest.approx(share, abs=0.01)


def test_whole_videos_are_drawn_and_the_drawn_size_divides() -> None:
    values, video = np.array([1.0, 2.0, 3.0, 10.0]), np.array([0, 0, 0, 1])
    possible = {2.0, 10.0, 16 / 4}

    found = bootstrap_means(cluster_sums(values, video), draws=400, rng=np.random.default_rng(2))[
        :, 0
    ]

    assert {round(float(x), 9) for x in found} == possible


def test_chunks_do_not_change_what_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = _questions(np.random.default_rng(8).normal(size=(40, 3)))
    whole = bootstrap_means(sums, draws=64, rng=np.random.default_rng(9))
    monkeypatch.setattr("taketwo.stats.resampling.CELLS_PER_CHUNK", 40 * 16)

    assert bootstrap_means(sums, draws=64, rng=np.random.default_rng(9)) == pytest.approx(whole)


def test_intervals_are_linear_quantiles_and_the_spread_of_the_replicates() -> None:
    replicates = np.column_stack([np.arange(101.0), np.zeros(101)])

    first, second = percentile_intervals(replicates, level=0.9)

    assert (first.low, first.high) == pytest.approx((5.0, 95.0))
    assert first.se == pytest.approx(np.std(np.arange(101), ddof=1))
    assert (second.low, second.high, second.se) == (0, 0, 0)


def test_large_values_lose_no_digits() -> None:
    values = np.array([[1e12 + 1e-3], [1e12 + 2e-3], [1e12 + 3e-3]])

    found = bootstrap_means(_questions(values), draws=100, rng=np.random.default_rng(0))

    assert found.min() >= 1e12
    assert found.max() <= 1e12 + 4e-3


def test_one_draw_is_no_bootstrap() -> None:
    with pytest.raises(ValueError, match="at least 2 draws, got 1"):
        bootstrap_means(_questions(np.ones((3, 1))), draws=1, rng=np.random.default_rng(0))


def _questions(values: np.ndarray) -> ClusterSums:
    return ClusterSums(sums=values, sizes=np.ones(len(values)))
