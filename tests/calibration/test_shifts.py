"""Size of the tests of a shift, and how often verdicts err when nothing but the draw changed."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from taketwo.analysis.verdict import verdict_of
from taketwo.stats.paired import mean_test
from taketwo.stats.shift import anova_omnibus, cluster_omnibus, reversal_p
from taketwo.stats.sign_flip import sign_flip

pytestmark = pytest.mark.slow

REPLICATIONS = 2000


def _stable_null(rng: np.random.Generator, n: int, k: int) -> NDArray[np.float64]:
    """Return differences of questions with their own rates, the same in all executions."""
    static, dynamic = rng.beta(0.5, 0.5, size=(2, n, 1))
    right = [rng.random((n, k)) < rate for rate in (static, dynamic)]
    return right[1].astype(float) - right[0]


@pytest.mark.parametrize(("n", "k"), [(100, 3), (300, 5), (100, 10)])
def test_the_omnibus_keeps_its_size(n: int, k: int) -> None:
    rng = np.random.default_rng(n + k)
    rejected = sum(
        (anova_omnibus(_stable_null(rng, n, k)).p or 0) <= 0.05 for _ in range(REPLICATIONS)
    )

    assert rejected / REPLICATIONS == pytest.approx(0.05, abs=0.02)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_omnibus_over_twelve_videos_keeps_its_size(k: int) -> None:
    rng = np.random.default_rng(k)
    video = np.repeat(np.arange(12), [30, 20, 20, 10, 10, 10, 10, 10, 5, 5, 5, 5])
    rejected = 0
    for _ in range(REPLICATIONS):
        effects = rng.normal(scale=0.4, size=(12, k))[video] + rng.normal(size=(len(video), k))
        p = cluster_omnibus(effects, video).p
        rejected += p is not None and p <= 0.05

    assert rejected / REPLICATIONS <= 0.065
    assert rejected / REPLICATIONS >= 0.02


def test_sign_flip_and_t_keep_their_size_when_questions_are_stable() -> None:
    rng = np.random.default_rng(3)
    t_rejected = flip_rejected = 0
    for _ in range(REPLICATIONS):
        d = _stable_null(rng, 100, 2)
        z = d[:, 0] - d[:, 1]
        t_rejected += (mean_test(z).p or 0) <= 0.05
        flip_rejected += sign_flip(z, rng=rng).p <= 0.05

    assert t_rejected / REPLICATIONS == pytest.approx(0.05, abs=0.02)
    assert flip_rejected / REPLICATIONS <= 0.055


def _verdicts(rng: np.random.Generator, effect: float, n: int = 400) -> list[str]:
    found: list[str] = []
    for _ in range(REPLICATIONS):
        d = rng.normal(effect, 1.0, size=(n, 2))
        tests = [mean_test(column) for column in d.T]
        supports = [int(np.sign(t.estimate)) if t.is_supported else 0 for t in tests]
        shift = (mean_test(d[:, 0] - d[:, 1]).p or 0) <= 0.05
        found.append(verdict_of(supports, shift))
    return found


def test_attenuation_is_rare_where_nothing_shifts_although_support_often_differs() -> None:
    """True effect of two standard errors, no shift: one supported in half of all re-executions."""
    found = _verdicts(np.random.default_rng(4), effect=2 / np.sqrt(400))
    gated = sum(v in {"attenuation", "emergence"} for v in found) / REPLICATIONS
    differing = sum(v == "not_reproduced" for v in found) / REPLICATIONS

    assert gated <= 0.055 + 0.015
    assert gated + differing == pytest.approx(0.5, abs=0.05)


def test_reversals_hardly_happen_without_an_effect_and_never_with_a_large_one() -> None:
    rng = np.random.default_rng(5)

    assert _verdicts(rng, 0.0).count("directional_reversal") / REPLICATIONS < 0.005
    assert _verdicts(rng, 8 / np.sqrt(400)).count("directional_reversal") == 0


@pytest.mark.parametrize("k", [3, 10])
def test_gail_and_simon_keep_their_size_on_the_boundary(k: int) -> None:
    """Least favourable case: one execution far on one side, all others without an effect."""
    rng = np.random.default_rng(k)
    rejected = 0
    for _ in range(REPLICATIONS):
        effects = rng.normal(size=k)
        effects[0] += 50
        p = reversal_p(effects.tolist(), [1.0] * k, [500.0] * k)
        rejected += p is not None and p <= 0.05

    assert rejected / REPLICATIONS <= 0.05 + 0.018
