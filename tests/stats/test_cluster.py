from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from taketwo.errors import TooFewClusters
from taketwo.stats.cluster import cluster_sums, cr2_covariance, cr2_df
from taketwo.stats.paired import mean_test

SEEDS = st.integers(0, 2**32 - 1)


def _slow_cr2(values: NDArray[np.float64], cluster: NDArray[np.int64]) -> tuple[float, float]:
    """Return CR2 and its Satterthwaite df by matrices, as in Pustejovsky and Tipton (2018)."""
    n = len(values)
    hat = np.full((n, n), 1 / n)
    residual = values - values.mean()
    variance, directions = 0.0, []
    for group in np.unique(cluster):
        member = (cluster == group).astype(float)
        inside = np.diag(member)
        block = (np.eye(n) - hat)[np.ix_(member == 1, member == 1)]
        eigenvalues, vectors = np.linalg.eigh(block)
        root = vectors @ np.diag(1 / np.sqrt(eigenvalues)) @ vectors.T
        adjust = np.zeros((n, n))
        adjust[np.ix_(member == 1, member == 1)] = root
        weight = adjust @ inside @ np.ones(n) / n
        variance += float(weight @ residual) ** 2
        directions.append((np.eye(n) - hat) @ weight)
    gram = np.array(directions) @ np.array(directions).T
    return variance, float(np.trace(gram) ** 2 / np.trace(gram @ gram))


@given(seed=SEEDS, groups=st.integers(2, 6), extra=st.integers(0, 12))
def test_agrees_with_the_matrix_form_of_cr2(seed: int, groups: int, extra: int) -> None:
    rng = np.random.default_rng(seed)
    cluster = np.concatenate([np.arange(groups), rng.integers(groups, size=extra)])
    values = rng.normal(size=len(cluster))
    variance, df = _slow_cr2(values, cluster)

    sums = cluster_sums(values, cluster)

    assert cr2_covariance(sums)[0, 0] == pytest.approx(variance, rel=1e-9)
    assert cr2_df(sums) == pytest.approx(df, rel=1e-9)


@given(seed=SEEDS, n=st.integers(2, 50))
def test_one_question_per_video_is_the_paired_t(seed: int, n: int) -> None:
    values = np.random.default_rng(seed).normal(size=n)

    sums = cluster_sums(values, np.arange(n) * 3)

    assert cr2_covariance(sums)[0, 0] == pytest.approx(values.var(ddof=1) / n)
    assert cr2_df(sums) == pytest.approx(n - 1)
    assert mean_test(values, cluster=np.arange(n)).method == "paired t"


@given(seed=SEEDS, copies=st.integers(2, 5), n=st.integers(2, 20))
def test_asking_every_question_again_adds_no_certainty(seed: int, copies: int, n: int) -> None:
    values = np.random.default_rng(seed).normal(size=n)
    once = mean_test(values)

    repeated = mean_test(np.tile(values, copies), cluster=np.tile(np.arange(n), copies))

    assert repeated.method == "CR2"
    assert repeated.clusters == n
    assert repeated.se == pytest.approx(once.se)
    assert repeated.df == pytest.approx(n - 1)


def test_one_video_has_no_variance_and_says_so() -> None:
    with pytest.raises(TooFewClusters, match="found 3 questions on 1 video") as caught:
        cr2_covariance(cluster_sums(np.array([1.0, 2.0, 3.0]), np.zeros(3, dtype=np.int64)))

    assert "add videos, or cluster by question" in str(caught.value)


def test_the_largest_share_is_that_of_the_largest_cluster() -> None:
    sums = cluster_sums(np.arange(5.0), np.array([9, 9, 9, 4, 4]))

    assert sums.sizes.tolist() == [2, 3]
    assert sums.sums[:, 0].tolist() == [7, 3]
    assert sums.largest_share == 0.6
