from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from taketwo.stats.cluster import ClusterSums
from taketwo.stats.ranks import mid_ranks, rank_stability
from taketwo.stats.resampling import bootstrap_means

SEEDS = st.integers(0, 2**32 - 1)


@given(seed=SEEDS, systems=st.integers(2, 7), draws=st.integers(2, 40), decimals=st.integers(0, 2))
def test_agrees_with_a_plain_loop_over_draws(
    seed: int, systems: int, draws: int, decimals: int
) -> None:
    rng = np.random.default_rng(seed)
    scores = np.arange(systems, dtype=float)
    replicates = np.round(rng.normal(size=(draws, systems)), decimals)
    first, top, ranks = np.zeros(systems), np.zeros(systems), []
    for drawn in replicates:
        ranks.append([1 + int((drawn > score).sum()) for score in drawn])
        for m in range(systems):
            better, tied = int((drawn > drawn[m]).sum()), int((drawn == drawn[m]).sum())
            first[m] += 1 / tied if better == 0 else 0
            top[m] += min(1.0, max(0.0, (2 - better) / tied))
    taus = [stats.kendalltau(drawn, scores).statistic for drawn in replicates]
    pairs = [
        stats.kendalltau(replicates[i], replicates[j]).statistic
        for i in range(draws)
        for j in range(i)
    ]

    found = rank_stability(scores, replicates, top=2)

    assert [system.p_first for system in found.systems] == pytest.approx(first / draws)
    assert [system.p_top for system in found.systems] == pytest.approx(top / draws)
    ends = np.quantile(ranks, [0.025, 0.975], axis=0, method="inverted_cdf")
    assert [(system.low, system.high) for system in found.systems] == list(zip(*ends, strict=True))
    if np.isfinite(taus).all():
        assert found.tau_to_sample == pytest.approx(np.mean(taus))
        assert found.tau_between_draws == pytest.approx(np.mean(pairs))


@given(seed=SEEDS, systems=st.integers(2, 6))
def test_the_order_of_systems_does_not_matter_and_places_add_up(seed: int, systems: int) -> None:
    rng = np.random.default_rng(seed)
    replicates = np.round(rng.normal(size=(50, systems)), 1)
    scores = replicates.mean(axis=0)
    order = rng.permutation(systems)
    found = rank_stability(scores, replicates, top=1)
    moved = rank_stability(scores[order], replicates[:, order], top=1)

    assert moved.systems == tuple(found.systems[m] for m in order)
    assert moved.tau_between_draws == pytest.approx(found.tau_between_draws)
    assert sum(system.p_first for system in found.systems) == pytest.approx(1)
    assert all(s.low <= s.high and s.p_top == pytest.approx(s.p_first) for s in found.systems)


def test_the_two_readings_of_tau_differ() -> None:
    rng = np.random.default_rng(0)
    skill = np.linspace(0.45, 0.62, 14)
    answers = (rng.random((100, 14)) < skill).astype(float)
    replicates = bootstrap_means(ClusterSums(sums=answers, sizes=np.ones(100)), draws=2000, rng=rng)

    found = rank_stability(answers.mean(axis=0), replicates)

    assert found.tau_to_sample is not None
    assert found.tau_between_draws is not None
    assert found.tau_between_draws < found.tau_to_sample - 0.05


def test_equal_answers_tie_in_spite_of_rounding() -> None:
    rng = np.random.default_rng(1)
    answers = rng.integers(0, 2, (90, 1)).astype(float)
    twins = np.column_stack([answers, answers[:, ::-1], answers * 0])
    replicates = bootstrap_means(ClusterSums(sums=twins, sizes=np.ones(90)), draws=500, rng=rng)

    found = rank_stability(twins.mean(axis=0), replicates, top=1)

    assert [system.p_first for system in found.systems] == [0.5, 0.5, 0]
    assert [system.rank for system in found.systems] == [1, 1, 3]


def test_scores_that_all_tie_have_no_tau() -> None:
    found = rank_stability(np.zeros(3), np.zeros((10, 3)))

    assert (found.tau_to_sample, found.tau_between_draws) == (None, None)
    assert [system.p_first for system in found.systems] == pytest.approx([1 / 3] * 3)


def test_mid_ranks_share_the_places_of_ties() -> None:
    scores = np.array([0.3, 0.5, 0.5, 0.1])

    assert mid_ranks(scores).tolist() == stats.rankdata(-scores).tolist()


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="top of 3 systems is 1 to 3, got 4"):
        rank_stability(np.zeros(3), np.zeros((5, 3)), top=4)
    with pytest.raises(ValueError, match="ranks need M scores"):
        rank_stability(np.zeros(3), np.zeros((5, 2)))
    with pytest.raises(ValueError, match="finite scores"):
        rank_stability(np.array([0.0, np.nan]), np.zeros((5, 2)), top=1)
