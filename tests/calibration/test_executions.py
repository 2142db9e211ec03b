"""Size and coverage of what is said about executions; tolerances are about four Monte Carlo errors."""

from __future__ import annotations

import numpy as np
import pytest

from taketwo.stats.cluster import ClusterSums, wild_cluster_p
from taketwo.stats.components import next_execution, single_run_coverage, variance_components
from taketwo.stats.equivalence import tost, tost_of_all
from taketwo.stats.exact import exact_mean, exact_ratio
from taketwo.stats.paired import mean_test
from taketwo.stats.subgroups import subgroup_test
from taketwo.stats.welch import independent_effect

pytestmark = pytest.mark.slow

REPLICATIONS = 2000


def _covers(low: float | None, high: float | None, truth: float) -> bool:
    return low is not None and high is not None and low <= truth <= high


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("tau", [0.0, 1.2, 8.0])
def test_the_next_effect_falls_into_its_interval(k: int, tau: float) -> None:
    """Within 1.5 points of 95 % whatever tau, also where two executions make it very wide."""
    rng = np.random.default_rng((k, int(10 * tau)))
    effects = rng.normal(2, np.hypot(tau, 1.22), (8000, k + 1))
    covered = 0
    for row in effects:
        found = next_execution(row[:k])
        covered += _covers(found.low, found.high, float(row[k]))

    assert covered / 8000 == pytest.approx(0.95, abs=0.015)


def test_the_next_effect_leaves_the_observed_range_as_often_as_said() -> None:
    rng = np.random.default_rng(1)
    for k in (2, 5):
        effects = rng.exponential(size=(20_000, k + 1))
        seen, following = effects[:, :k], effects[:, k]
        outside = (following < seen.min(axis=1)) | (following > seen.max(axis=1))

        said = next_execution(seen[0]).p_outside_range
        assert outside.mean() == pytest.approx(said, abs=0.015)


def test_the_probability_of_reversal_is_optimistic_as_its_label_says() -> None:
    rng = np.random.default_rng(2)
    effects = rng.normal(2, np.hypot(8, 1.22), (8000, 3))
    said = [next_execution(row[:2]).p_reversal or 0 for row in effects]
    happened = np.sign(effects[:, :2].mean(axis=1)) != np.sign(effects[:, 2])

    assert np.mean(said) == pytest.approx(0.30, abs=0.03)
    assert happened.mean() > np.mean(said) + 0.1


@pytest.mark.parametrize("tau", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("k", [2, 4])
def test_the_interval_of_tau_covers(k: int, tau: float) -> None:
    rng = np.random.default_rng((k, int(10 * tau)))
    covered = 0
    for _ in range(REPLICATIONS):
        d = rng.normal(size=(40, k)) + rng.normal(size=(40, 1)) + tau * rng.normal(size=k)
        found = variance_components(d)
        covered += _covers(found.tau_low, found.tau_high, tau)

    # at tau = 0 only the lower end can miss
    assert covered / REPLICATIONS == pytest.approx(0.975 if tau == 0 else 0.95, abs=0.02)


@pytest.mark.parametrize("tau", [0.0, 1.0, 3.0, 8.0])
def test_one_run_covers_as_often_as_said(tau: float) -> None:
    rng = np.random.default_rng(int(tau))
    effects = rng.normal(0, np.hypot(tau, 1.22), 50_000)

    covered = (np.abs(effects) <= 1.959964 * 1.22).mean()

    assert covered == pytest.approx(single_run_coverage(1.22, tau), abs=0.01)


def test_equivalence_is_claimed_at_the_margin_in_at_most_alpha() -> None:
    rng = np.random.default_rng(3)
    at_margin = both = 0
    for _ in range(REPLICATIONS):
        first = tost(rng.normal(0.5, 1, 50), 0.5)
        at_margin += first.is_equivalent
        both += tost_of_all([first, tost(rng.normal(0, 1, 50), 0.5)]).is_equivalent

    assert at_margin / REPLICATIONS == pytest.approx(0.05, abs=0.02)
    assert both <= at_margin


@pytest.mark.parametrize(("tau", "own"), [(0.0, 0.0), (0.0, 0.3), (0.15, 0.0), (0.15, 0.3)])
@pytest.mark.parametrize("runs", [(3, 3), (2, 5)])
def test_independent_executions_are_covered(runs: tuple[int, int], tau: float, own: float) -> None:
    """`own`: how much questions differ in their effect; both runs and questions are drawn anew."""
    rng = np.random.default_rng((*runs, int(100 * tau), int(100 * own)))
    covered = 0
    for _ in range(REPLICATIONS):
        questions = rng.normal(size=(60, 1))
        arms = [
            questions
            + own * rng.normal(size=(60, 1)) / np.sqrt(2)
            + tau * rng.normal(size=k)
            + 0.4 * rng.normal(size=(60, k))
            for k in runs
        ]
        found = independent_effect(arms[0], arms[1])
        covered += _covers(found.low, found.high, 0.0)

    # the larger of two parts is never undercut, which makes it wide where both are small
    assert 0.925 < covered / REPLICATIONS <= 1
    if tau > 0:
        assert covered / REPLICATIONS == pytest.approx(0.95, abs=0.03)


def test_the_subgroup_test_keeps_its_size_with_unequal_variances() -> None:
    rng = np.random.default_rng(4)
    group = np.repeat([0, 1, 2], [20, 40, 80])
    welch = permuted = 0
    for _ in range(REPLICATIONS):
        found = subgroup_test(rng.normal(size=140) * (1 + group), group, rng=rng, draws=1)
        welch += (found.p or 0) <= 0.05
    for _ in range(400):
        found = subgroup_test(rng.normal(size=140), group, rng=rng, draws=199)
        permuted += (found.permutation_p or 0) <= 0.05

    assert welch / REPLICATIONS == pytest.approx(0.05, abs=0.02)
    assert permuted / 400 == pytest.approx(0.05, abs=0.044)


def test_the_wild_bootstrap_keeps_its_size_with_ten_videos() -> None:
    rng = np.random.default_rng(5)
    sizes = np.array([60, 40, 20, 20, 10, 10, 10, 10, 5, 5], float)
    rejected = 0
    for _ in range(1000):
        sums = sizes * 0.4 * rng.normal(size=10) + np.sqrt(sizes) * rng.normal(size=10)
        clusters = ClusterSums(sums=sums[:, None], sizes=sizes)
        rejected += wild_cluster_p(clusters, rng=rng, draws=399)[0] <= 0.05

    assert rejected / 1000 == pytest.approx(0.05, abs=0.03)


@pytest.mark.parametrize(("n", "sd", "coverage"), [(300, 0.7, 0.945), (30, 1.2, 0.89)])
def test_the_exact_percentile_interval_covers_as_the_bootstrap_does(
    n: int, sd: float, coverage: float
) -> None:
    """It is the bootstrap without its noise, and as short with few skewed values as that."""
    rng = np.random.default_rng(n)
    truth = 0.6 * np.exp(sd**2 / 2)
    covered = plain = 0
    for _ in range(REPLICATIONS):
        d = 1.6 * rng.lognormal(0, sd, n) - rng.lognormal(0, sd, n)
        found, t = exact_mean(d), mean_test(d)
        covered += _covers(found.low, found.high, truth)
        plain += _covers(t.low, t.high, truth)

    assert covered / REPLICATIONS == pytest.approx(coverage, abs=0.02)
    assert plain >= covered


def test_exact_intervals_over_five_videos_are_too_short_and_over_a_hundred_hold() -> None:
    rng = np.random.default_rng(6)
    covered = {5: 0, 100: 0}
    for groups in covered:
        sizes = np.full(groups, 20.0)
        for _ in range(1000):
            sums = 20 * 0.33 * rng.normal(size=groups) + np.sqrt(20) * rng.normal(size=groups)
            found = exact_ratio(ClusterSums(sums=sums[:, None], sizes=sizes))[0]
            covered[groups] += _covers(found.low, found.high, 0.0)

    assert covered[5] / 1000 == pytest.approx(0.83, abs=0.045)
    assert covered[100] / 1000 == pytest.approx(0.945, abs=0.03)
