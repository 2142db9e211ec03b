from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats import inter_rater

from taketwo.stats.agreement import auc, cohen_kappa, fleiss_kappa, pearson

SEEDS = st.integers(0, 2**32 - 1)
TEXTBOOK = np.array([
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
])  # fmt: skip


def _rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def _labels(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.array([np.repeat(np.arange(len(row)), row) for row in counts])


def test_fleiss_of_the_textbook_table() -> None:
    found = fleiss_kappa(_labels(TEXTBOOK), rng=_rng(), draws=500)

    assert found.value == pytest.approx(0.20993, abs=5e-6)
    assert found.value == pytest.approx(inter_rater.fleiss_kappa(TEXTBOOK), rel=1e-12)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.20993 < found.high


@given(seed=SEEDS, judges=st.integers(2, 5), kinds=st.integers(2, 4))
def test_kappas_are_those_of_statsmodels(seed: int, judges: int, kinds: int) -> None:
    labels = _rng(seed).integers(kinds, size=(30, judges))
    counts = inter_rater.aggregate_raters(labels)[0]
    square = np.zeros((kinds, kinds))
    np.add.at(square, (labels[:, 0], labels[:, 1]), 1)

    fleiss = fleiss_kappa(labels, rng=_rng(), draws=10)
    cohen = cohen_kappa(labels[:, 0], labels[:, 1], rng=_rng(), draws=10)

    assert fleiss.value == pytest.approx(inter_rater.fleiss_kappa(counts))
    assert cohen.value == pytest.approx(inter_rater.cohens_kappa(square, return_results=False))


@given(seed=SEEDS, levels=st.integers(2, 50))
def test_auc_is_mann_whitney_s_u(seed: int, levels: int) -> None:
    rng = _rng(seed)
    scores = rng.integers(levels, size=40).astype(float)
    positive = np.arange(40) % 3 == 0
    u = stats.mannwhitneyu(scores[positive], scores[~positive]).statistic

    found = auc(scores, positive, rng=rng, draws=5)

    assert found.value == pytest.approx(u / (positive.sum() * (~positive).sum()))
    assert auc(-scores, positive, rng=rng, draws=5).value == pytest.approx(1 - (found.value or 0))


def test_drawn_questions_are_those_of_a_plain_loop() -> None:
    rng = _rng(2)
    question = np.repeat(np.arange(8), 3)
    scores, positive = rng.normal(size=24).round(1), rng.random(24) < 0.5
    index = _rng(7).integers(8, size=(200, 8))
    plain = []
    for drawn in index:
        rows = np.concatenate([np.flatnonzero(question == q) for q in drawn])
        up, down = scores[rows][positive[rows]], scores[rows][~positive[rows]]
        above = (up[:, None] > down).mean() + (up[:, None] == down).mean() / 2
        plain.append(above)

    found = auc(scores, positive, rng=_rng(7), cluster=question, draws=200)

    assert (found.n, found.clusters) == (24, 8)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(plain, [0.025, 0.975])))


@given(seed=SEEDS, factor=st.floats(0.01, 100), shift=st.floats(-1e6, 1e6))
def test_correlation_is_numpy_s_and_ignores_units(seed: int, factor: float, shift: float) -> None:
    x, y = _rng(seed).normal(size=(2, 30))
    found = pearson(x, y + x, rng=_rng(1), draws=50)
    moved = pearson(factor * x + shift, y + x, rng=_rng(1), draws=50)

    assert found.value == pytest.approx(np.corrcoef(x, y + x)[0, 1])
    assert (moved.value, moved.low) == pytest.approx((found.value, found.low), abs=1e-5)


def test_runs_of_one_question_are_not_independent() -> None:
    rng = _rng(3)
    question = np.repeat(np.arange(30), 6)
    x, y = rng.normal(size=(2, 30))
    x, y = np.repeat(x, 6), np.repeat(0.3 * x + y, 6)

    by_run = pearson(x, y, rng=_rng(), draws=2000)
    by_question = pearson(x, y, rng=_rng(), cluster=question, draws=2000)

    assert (by_question.se or 0) > 2 * (by_run.se or 0)


def test_judges_that_always_agree_have_kappa_one_and_single_labels_have_none() -> None:
    same = np.array([[0, 0], [1, 1], [0, 0], [1, 1]])

    assert fleiss_kappa(same, rng=_rng(), draws=50).value == 1
    assert cohen_kappa(same[:, 0], same[:, 1], rng=_rng(), draws=50).value == 1
    flat = fleiss_kappa(np.zeros((5, 3), int), rng=_rng(), draws=50)
    assert (flat.value, flat.reason) == (None, "all labels are the same")


def test_what_is_undefined_says_why() -> None:
    one_class = auc(np.arange(4.0), np.ones(4, bool), rng=_rng(), draws=20)
    assert (one_class.value, one_class.reason) == (None, "one class is empty")
    assert one_class.undefined_draws == 20
    flat = pearson(np.ones(5), np.arange(5.0), rng=_rng(), draws=20)
    assert (flat.value, flat.reason) == (None, "one side does not vary")
    alone = pearson(np.arange(4.0), np.arange(4.0), rng=_rng(), cluster=np.zeros(4, int), draws=20)
    assert alone.value == pytest.approx(1)
    assert alone.reason == "no interval: 1 question has no variance"
    rare = auc(np.arange(40.0), np.arange(40) == 3, rng=_rng(), draws=500)
    assert 0 < rare.undefined_draws < 250
    assert rare.low is not None


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match=r"at least 2 judges, got \(3, 1\)"):
        fleiss_kappa(np.zeros((3, 1), int), rng=_rng())
    with pytest.raises(ValueError, match="two judges need the same items"):
        cohen_kappa(np.zeros(3, int), np.zeros(2, int), rng=_rng())
    with pytest.raises(ValueError, match="a correlation needs pairs"):
        pearson(np.zeros(0), np.zeros(0), rng=_rng())
    with pytest.raises(ValueError, match="an AUC needs scores"):
        auc(np.zeros(2), np.zeros(3, bool), rng=_rng())
