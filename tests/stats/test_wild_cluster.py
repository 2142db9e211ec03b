from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taketwo.errors import TooFewClusters
from taketwo.stats.cluster import ClusterSums, cluster_sums, wild_cluster_p
from taketwo.stats.paired import mean_test

SEEDS = st.integers(0, 2**32 - 1)


def test_agrees_with_a_plain_loop_over_videos() -> None:
    rng = np.random.default_rng(0)
    video = np.repeat(np.arange(6), [1, 2, 3, 4, 5, 6])
    values = rng.normal(0.4, 1, size=21)
    webb = [s * np.sqrt(w) for s in (-1, 1) for w in (0.5, 1, 1.5)]

    def t(y: np.ndarray) -> float:
        residual = y - y.mean()
        square = sum(residual[video == g].sum() ** 2 for g in range(6))
        return y.mean() / np.sqrt(6 / 5 * square / 21**2)

    draw = np.random.default_rng(1)
    drawn = np.array([t(values * draw.choice(webb, 6)[video]) for _ in range(4000)])
    expected = np.mean(np.abs(drawn) >= abs(t(values)))

    found = wild_cluster_p(cluster_sums(values, video), rng=np.random.default_rng(2), draws=20_000)

    assert found[0] == pytest.approx(expected, abs=0.03)


def test_many_videos_give_the_p_of_cr2() -> None:
    rng = np.random.default_rng(3)
    video = np.repeat(np.arange(80), 3)
    values = rng.normal(0.1, 1, size=240) + 0.3 * rng.normal(size=80)[video]

    found = wild_cluster_p(cluster_sums(values, video), rng=rng)[0]

    assert found == pytest.approx(mean_test(values, cluster=video).p, abs=0.02)


@given(seed=SEEDS, factor=st.floats(0.01, 100))
def test_sign_scale_and_null_do_not_matter(seed: int, factor: float) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, 7).astype(float)
    sums = rng.normal(size=(7, 2))
    plain = ClusterSums(sums=sums, sizes=sizes)
    moved = ClusterSums(sums=-factor * (sums + 2 * sizes[:, None]), sizes=sizes)

    found = wild_cluster_p(plain, rng=np.random.default_rng(1), draws=99)
    same = wild_cluster_p(moved, rng=np.random.default_rng(1), draws=99, null=-2 * factor)

    assert same == pytest.approx(found, abs=0.02)


def test_videos_that_agree_exactly_are_certain_only_up_to_the_draws() -> None:
    same = ClusterSums(sums=np.ones((6, 1)), sizes=np.ones(6))
    none = ClusterSums(sums=np.zeros((6, 1)), sizes=np.ones(6))

    assert wild_cluster_p(none, rng=np.random.default_rng(0), draws=99)[0] == 1
    assert wild_cluster_p(same, rng=np.random.default_rng(0), draws=999)[0] < 0.01


def test_one_video_is_refused() -> None:
    with pytest.raises(TooFewClusters, match="at least 2 videos, found 1"):
        wild_cluster_p(ClusterSums(sums=np.ones((1, 1)), sizes=np.ones(1)), rng=np.random.default_rng(0))  # fmt: skip
    with pytest.raises(ValueError, match="at least 1 draw, got 0"):
        wild_cluster_p(ClusterSums(sums=np.ones((2, 1)), sizes=np.ones(2)), rng=np.random.default_rng(0), draws=0)  # fmt: skip
