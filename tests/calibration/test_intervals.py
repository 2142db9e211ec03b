"""Size and coverage by simulation; tolerances are about four Monte Carlo standard errors."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from taketwo.stats.cluster import cluster_sums
from taketwo.stats.paired import discordant, mean_test, tango_interval
from taketwo.stats.resampling import bootstrap_means, percentile_intervals

pytestmark = pytest.mark.slow

REPLICATIONS = 2000


def _binary_pairs(
    rng: np.random.Generator, n: int, gained: float, lost: float
) -> NDArray[np.float64]:
    return rng.choice([1.0, -1.0, 0.0], size=n, p=[gained, lost, 1 - gained - lost])


@pytest.mark.parametrize(("n", "gained", "lost"), [(30, 0.143, 0.069), (100, 0.1, 0.1), (300, 0.143, 0.069)])  # fmt: skip
def test_t_and_tango_cover_binary_effects(n: int, gained: float, lost: float) -> None:
    rng = np.random.default_rng(n)
    truth, t_covers, tango_covers = gained - lost, 0, 0
    for _ in range(REPLICATIONS):
        d = _binary_pairs(rng, n, gained, lost)
        test = mean_test(d)
        t_covers += (
            test.low is not None and test.high is not None and test.low <= truth <= test.high
        )
        low, high = tango_interval(int((d > 0).sum()), int((d < 0).sum()), n)
        tango_covers += low <= truth <= high

    assert t_covers / REPLICATIONS == pytest.approx(0.95, abs=0.02)
    assert tango_covers / REPLICATIONS == pytest.approx(0.95, abs=0.02)


def test_tango_holds_where_the_t_interval_breaks_on_few_discordant_pairs() -> None:
    """N = 30, 5 % gained, 1 % lost: the t interval covers 78 %, Tango's 99.6 %."""
    rng = np.random.default_rng(5)
    t_covers = tango_covers = 0
    for _ in range(REPLICATIONS):
        d = _binary_pairs(rng, 30, 0.05, 0.01)
        test = mean_test(d)
        t_covers += test.low is not None and test.high is not None and test.low <= 0.04 <= test.high
        low, high = tango_interval(int((d > 0).sum()), int((d < 0).sum()), 30)
        tango_covers += low <= 0.04 <= high

    assert t_covers / REPLICATIONS == pytest.approx(0.776, abs=0.04)
    assert tango_covers / REPLICATIONS > 0.98


def test_exact_mcnemar_never_exceeds_its_level_and_mid_p_comes_close() -> None:
    rng = np.random.default_rng(6)
    exact = mid = 0
    for _ in range(REPLICATIONS):
        d = _binary_pairs(rng, 100, 0.1, 0.1)
        test = discordant((d > 0).astype(float), (d < 0).astype(float))
        exact += test.exact_p <= 0.05
        mid += test.mid_p <= 0.05

    assert exact / REPLICATIONS <= 0.05
    assert mid / REPLICATIONS == pytest.approx(0.05, abs=0.018)


@pytest.mark.parametrize("sizes", [[20] * 10, [60, 40, 20, 20, 10, 10, 10, 10, 5, 5]])
def test_cr2_covers_ten_videos_of_equal_and_unequal_size(sizes: list[int]) -> None:
    rng = np.random.default_rng(len(set(sizes)))
    video = np.repeat(np.arange(len(sizes)), sizes)
    covered = naive = 0
    for _ in range(REPLICATIONS):
        values = rng.normal(scale=0.33, size=len(sizes))[video] + rng.normal(size=len(video))
        test, plain = mean_test(values, cluster=video), mean_test(values)
        covered += test.low is not None and test.high is not None and test.low <= 0 <= test.high
        naive += plain.low is not None and plain.high is not None and plain.low <= 0 <= plain.high

    assert covered / REPLICATIONS == pytest.approx(0.95, abs=0.02)
    assert naive / REPLICATIONS < 0.85


def test_the_percentile_bootstrap_over_five_videos_is_too_short() -> None:
    """Why CR2 decides: 83 % at 5 videos of 20 questions."""
    rng = np.random.default_rng(9)
    video = np.repeat(np.arange(5), 20)
    covered = 0
    for _ in range(500):
        values = rng.normal(scale=0.33, size=5)[video] + rng.normal(size=100)
        replicates = bootstrap_means(cluster_sums(values, video), draws=999, rng=rng)
        interval = percentile_intervals(replicates)[0]
        covered += interval.low <= 0 <= interval.high

    assert 0.75 < covered / 500 < 0.90


def test_the_percentile_bootstrap_of_many_questions_covers() -> None:
    rng = np.random.default_rng(10)
    covered = 0
    for _ in range(500):
        d = _binary_pairs(rng, 300, 0.143, 0.069)[:, None]
        replicates = bootstrap_means(cluster_sums(d, np.arange(300)), draws=999, rng=rng)
        interval = percentile_intervals(replicates)[0]
        covered += interval.low <= 0.074 <= interval.high

    assert covered / 500 == pytest.approx(0.95, abs=0.035)
