from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from taketwo.errors import RuleMismatch
from taketwo.stats.sequential import (
    QuestionOrder,
    asymptotic_sequence,
    betting_sequence,
    draw_order,
    mcnemar_e_process,
)

SEEDS = st.integers(0, 2**32 - 1)


def _as_given(n: int) -> QuestionOrder:
    return QuestionOrder(origin="drawn before the run", indices=tuple(range(n)))


@given(gained=st.integers(0, 30), lost=st.integers(0, 30))
def test_the_e_value_is_the_formula_whatever_the_order(gained: int, lost: int) -> None:
    d = np.repeat([1.0, -1.0, 0.0], [gained, lost, 5])
    expected = 2.0 ** (gained + lost) * special.beta(gained + 0.5, lost + 0.5) / math.pi

    found = mcnemar_e_process(
        np.maximum(d, 0), np.maximum(-d, 0), order=draw_order(len(d), rng=np.random.default_rng(1))
    )

    assert found.evidence == pytest.approx(expected)
    assert found.seen == len(d)


def test_the_e_process_is_a_martingale_where_gains_and_losses_are_equally_likely() -> None:
    """Mean over all 2^8 sequences of signs is 1."""
    values = []
    for code in range(256):
        gains = np.array([code >> bit & 1 for bit in range(8)], float)
        values.append(mcnemar_e_process(gains, 1 - gains, order=_as_given(8)).evidence)

    assert np.mean(values) == pytest.approx(1)


def test_it_stops_at_the_first_question_where_enough_is_won() -> None:
    gains = np.ones(20)
    found = mcnemar_e_process(gains, np.zeros(20), order=_as_given(20))
    one_less = mcnemar_e_process(gains[:6], np.zeros(6), order=_as_given(6))
    stopped = mcnemar_e_process(gains[:7], np.zeros(7), order=_as_given(7))

    assert found.stopped_at == 7
    assert (one_less.evidence or 0) < 20 <= (stopped.evidence or 0)
    assert mcnemar_e_process(np.ones(20), np.ones(20), order=_as_given(20)).stopped_at is None


@given(seed=SEEDS)
def test_swapped_executions_stop_at_the_same_question(seed: int) -> None:
    rng = np.random.default_rng(seed)
    later, earlier = (rng.random((2, 200)) < [[0.6], [0.4]]).astype(float)
    order = draw_order(200, rng=rng)
    found = mcnemar_e_process(later, earlier, order=order)
    swapped = mcnemar_e_process(earlier, later, order=order)
    z = betting_sequence(later - earlier, order=order, low=-1, high=1)
    mirrored = betting_sequence(earlier - later, order=order, low=-1, high=1)

    assert (swapped.stopped_at, swapped.evidence) == (found.stopped_at, found.evidence)
    assert mirrored.stopped_at == z.stopped_at
    assert mirrored.low == pytest.approx(-(z.high or 0), abs=2e-3)


def test_bets_agree_with_a_plain_loop() -> None:
    """The capital of Waudby-Smith and Ramdas against each mean, bet by bet."""
    rng = np.random.default_rng(3)
    z = rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0], p=[0.02, 0.1, 0.5, 0.28, 0.1], size=150)
    alpha, y = 0.05, (z + 2) / 4
    alive = []
    for m in np.linspace(0, 1, 401):
        up = down = 1.0
        survives, mean_sum, square_sum, past = True, 0.5, 0.25, 0.25
        for i, value in enumerate(y, start=1):
            bet = math.sqrt(2 * math.log(2 / alpha) / (past * 75))
            up *= 1 + min(bet, math.inf if m == 0 else 0.5 / m) * (value - m)
            down *= 1 - min(bet, math.inf if m == 1 else 0.5 / (1 - m)) * (value - m)
            survives = survives and (up + down) / 2 < 1 / alpha
            mean_sum += value
            square_sum += (value - mean_sum / (i + 1)) ** 2
            past = square_sum / (i + 1)
        if survives:
            alive.append(4 * m - 2)

    found = betting_sequence(z, order=_as_given(150), tuned_to=75)

    assert (found.low, found.high) == pytest.approx((min(alive), max(alive)), abs=0.02)


def test_the_sequence_only_shrinks_and_stopping_means_that_zero_is_outside() -> None:
    rng = np.random.default_rng(0)
    z = rng.choice([-1.0, 0.0, 1.0], p=[0.08, 0.6, 0.32], size=400)
    ends = [betting_sequence(z[:n], order=_as_given(n), tuned_to=200) for n in (50, 100, 200, 400)]

    lows, highs = [found.low or 0 for found in ends], [found.high or 0 for found in ends]
    assert lows == sorted(lows)
    assert highs == sorted(highs, reverse=True)
    assert ends[-1].stopped_at is not None
    assert (ends[-1].low or 0) > -2e-3
    assert (ends[-1].low or 0) < 0.24 < (ends[-1].high or 0)


def test_the_asymptotic_sequence_is_the_formula() -> None:
    x = np.random.default_rng(1).lognormal(size=300)
    n0, n, alpha = 300, 300, 0.05
    inner = -2 * math.log(alpha)
    r2 = (inner + math.log(inner + 1)) / n0
    half = x.std() * math.sqrt(
        2 * (n * r2 + 1) / (n**2 * r2) * math.log(math.sqrt(n * r2 + 1) / alpha)
    )

    found = asymptotic_sequence(x, order=_as_given(300), tuned_to=n0, burn_in=300)

    assert (found.low, found.high) == pytest.approx((x.mean() - half, x.mean() + half))


@given(factor=st.floats(0.01, 100))
def test_the_asymptotic_sequence_scales(factor: float) -> None:
    x = np.random.default_rng(1).normal(1, 1, 200)
    order = _as_given(200)
    found = asymptotic_sequence(x, order=order, tuned_to=100)
    scaled = asymptotic_sequence(factor * x, order=order, tuned_to=100)

    assert scaled.stopped_at == found.stopped_at
    assert scaled.low == pytest.approx(factor * (found.low or 0))


def test_only_the_finished_leading_part_is_looked_at() -> None:
    """What finished out of turn stays unseen: which finish early depends on the outcome."""
    later = np.array([1.0, 1.0, np.nan, 1.0, 1.0, 1.0])
    found = mcnemar_e_process(later, np.zeros(6), order=_as_given(6))
    z = betting_sequence(later, order=_as_given(6))

    assert (found.seen, z.seen) == (2, 2)
    reordered = QuestionOrder(origin="drawn before the run", indices=(5, 4, 3, 1, 0, 2))
    assert mcnemar_e_process(later, np.zeros(6), order=reordered).seen == 5
    none = betting_sequence(np.full(3, np.nan), order=_as_given(3))
    assert (none.seen, none.reason) == (0, "no question of the order is finished")


def test_completion_order_is_refused_by_all_three() -> None:
    order = QuestionOrder(origin="completion", indices=(0, 1, 2))
    z = np.zeros(3)

    for monitor in (
        lambda: mcnemar_e_process(z, z, order=order),
        lambda: betting_sequence(z, order=order),
        lambda: asymptotic_sequence(z, order=order, tuned_to=2),
    ):
        with pytest.raises(RuleMismatch, match="in the order of completion, which depends on"):
            monitor()


def test_a_drawn_order_is_a_permutation_that_the_seed_gives() -> None:
    first, second = (draw_order(50, rng=np.random.default_rng(4)) for _ in range(2))

    assert first == second
    assert sorted(first.indices) == list(range(50))


def test_few_questions_reject_nothing_asymptotically() -> None:
    found = asymptotic_sequence(np.ones(10), order=_as_given(10), tuned_to=50)

    assert (found.low, found.stopped_at) == (None, None)
    assert found.reason == "fewer than 50 questions"


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="the order has 3 places for 2 questions"):
        betting_sequence(np.zeros(2), order=_as_given(3))
    with pytest.raises(ValueError, match="bets need values from -2 to 2, got 0 to 3"):
        betting_sequence(np.array([0.0, 3.0]), order=_as_given(2))
    with pytest.raises(ValueError, match="outcomes of 0 and 1 only"):
        mcnemar_e_process(np.array([0.7]), np.array([0.7]), order=_as_given(1))
    with pytest.raises(ValueError, match="at least 2 questions"):
        asymptotic_sequence(np.zeros(2), order=_as_given(2), tuned_to=1)
