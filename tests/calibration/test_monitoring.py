"""Error of looking at every question, and what stopping early saves; slow."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.stats.paper_tables import accuracy_effects

from taketwo.stats.agreement import auc, fleiss_kappa, pearson
from taketwo.stats.cluster import ClusterSums
from taketwo.stats.grim import grim
from taketwo.stats.power import t_power
from taketwo.stats.ranks import rank_stability
from taketwo.stats.resampling import bootstrap_means, simultaneous_intervals
from taketwo.stats.sequential import (
    QuestionOrder,
    asymptotic_sequence,
    betting_sequence,
    mcnemar_e_process,
)

pytestmark = pytest.mark.slow

N = 1283


def _order(n: int) -> QuestionOrder:
    return QuestionOrder(origin="drawn before the run", indices=tuple(range(n)))


def _symmetric(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    return rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0], p=[0.03, 0.16, 0.62, 0.16, 0.03], size=n)


def test_looking_at_every_question_rejects_a_true_null_in_at_most_alpha() -> None:
    rng = np.random.default_rng(0)
    runs, rejected, naive = 200, {"e": 0, "bets": 0, "asymptotic": 0}, 0
    for _ in range(runs):
        z = _symmetric(rng, N)
        d = np.sign(z)
        rejected["e"] += mcnemar_e_process(np.maximum(d, 0), np.maximum(-d, 0), order=_order(N)).stopped_at is not None  # fmt: skip
        rejected["bets"] += betting_sequence(z, order=_order(N), tuned_to=N // 2).stopped_at is not None  # fmt: skip
        rejected["asymptotic"] += asymptotic_sequence(z, order=_order(N), tuned_to=N // 2).stopped_at is not None  # fmt: skip
        n = np.arange(1, N + 1)
        t = np.cumsum(z) / np.sqrt(np.cumsum(z**2) + 1e-9)
        naive += bool((np.abs(t[n >= 20]) > 1.96).any())

    for count in rejected.values():
        assert count / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
    assert naive / runs > 0.25


def test_the_paper_s_shift_is_seen_after_a_fifth_of_the_questions() -> None:
    d = accuracy_effects()
    z, rng = d[:, 0] - d[:, 1], np.random.default_rng(1)
    stops = [
        betting_sequence(rng.permutation(z), order=_order(N), tuned_to=N // 2).stopped_at
        for _ in range(60)
    ]

    assert None not in stops
    assert np.median([stop for stop in stops if stop]) == pytest.approx(247, abs=70)


def test_the_betting_sequence_always_holds_the_mean() -> None:
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(150):
        z = rng.choice([-1.0, 0.0, 1.0], p=[0.1, 0.6, 0.3], size=300)
        found = betting_sequence(z, order=_order(300), tuned_to=150)
        held += found.low is not None and found.high is not None and found.low <= 0.2 <= found.high

    assert held / 150 >= 0.95 - 0.053


def test_simultaneous_intervals_cover_all_means_at_once() -> None:
    rng = np.random.default_rng(3)
    together = apart = 0
    for _ in range(500):
        values = rng.normal(size=(80, 6)) + rng.normal(size=(80, 1))
        units = ClusterSums(sums=values, sizes=np.ones(80))
        replicates = bootstrap_means(units, draws=999, rng=rng)
        found = simultaneous_intervals(values.mean(axis=0), replicates)
        together += bool(((found.low <= 0) & (found.high >= 0)).all())
        ends = np.quantile(replicates, [0.025, 0.975], axis=0)
        apart += bool(((ends[0] <= 0) & (ends[1] >= 0)).all())

    assert together / 500 == pytest.approx(0.945, abs=0.035)
    assert apart < together


def test_rank_intervals_hold_the_true_rank() -> None:
    rng = np.random.default_rng(4)
    skill = np.array([0.7, 0.6, 0.5, 0.4])
    held = 0
    for _ in range(200):
        answers = (rng.random((150, 4)) < skill).astype(float)
        units = ClusterSums(sums=answers, sizes=np.ones(150))
        found = rank_stability(
            answers.mean(axis=0), bootstrap_means(units, draws=500, rng=rng), top=1
        )
        held += sum(s.low <= m + 1 <= s.high for m, s in enumerate(found.systems))

    assert held / 800 > 0.93


def test_questions_drawn_cover_association_where_runs_drawn_do_not() -> None:
    rng = np.random.default_rng(5)
    question = np.repeat(np.arange(60), 5)
    by_question = by_run = area = 0
    for _ in range(200):
        x, y = rng.normal(size=(2, 60))
        x, y = np.repeat(x, 5), np.repeat(y, 5)
        wide = pearson(x, y, rng=rng, cluster=question, draws=300)
        narrow = pearson(x, y, rng=rng, draws=300)
        by_question += (wide.low or 0) <= 0 <= (wide.high or 0)
        by_run += (narrow.low or 0) <= 0 <= (narrow.high or 0)
        found = auc(x, y > 0, rng=rng, cluster=question, draws=300)
        area += (found.low or 0) <= 0.5 <= (found.high or 0)

    assert by_question / 200 > 0.87
    assert area / 200 > 0.87
    assert by_run / 200 < 0.75


def test_kappa_s_interval_covers() -> None:
    rng = np.random.default_rng(6)
    covered = 0
    for _ in range(300):
        truth = rng.integers(2, size=(150, 1))
        labels = np.where(rng.random((150, 3)) < 0.8, truth, 1 - truth)
        found = fleiss_kappa(labels, rng=rng, draws=500)
        covered += (found.low or 0) <= 0.36 <= (found.high or 0)

    assert covered / 300 == pytest.approx(0.94, abs=0.045)


def test_t_power_is_what_is_simulated() -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(0.8, 1, (20_000, 8))
    t = x.mean(axis=1) / (x.std(axis=1, ddof=1) / np.sqrt(8))

    assert (np.abs(t) > 2.36462).mean() == pytest.approx(t_power(0.8 * np.sqrt(8), 7), abs=0.015)


def test_grim_finds_a_random_wrong_digit_as_often_as_sizes_allow() -> None:
    """Of all two-digit percentages at N = 1,283, 12.83 % are attainable."""
    found = [grim(f"{k / 100:.2f}", N).is_attainable for k in range(10_001)]

    assert np.mean(found) == pytest.approx(0.1283, abs=0.002)
