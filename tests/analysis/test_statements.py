from __future__ import annotations

import numpy as np
import pytest

from taketwo.analysis.effects import HypothesisTest
from taketwo.analysis.statements import (
    configuration_statement,
    execution_variance,
    noise_statement,
    shift_statement,
)
from taketwo.executions.manifest_comparison import ManifestComparison
from taketwo.executions.manifest_record import Finding


def test_the_noise_of_one_more_execution_is_never_below_that_of_its_questions() -> None:
    """Two executions with equal means: variance 0 between them, MSR / N = 1 / 2 / 4 inside."""
    table = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])

    assert execution_variance(table) == pytest.approx((4 * 2 * 0.25 / 3) / 4)
    moved = np.array([[0.0, 1.0], [0.0, 1.1], [0.0, 0.9]])
    assert execution_variance(moved) == pytest.approx(0.5)
    assert execution_variance(table[:, :1]) is None
    assert execution_variance(table[:1]) is None


@pytest.mark.parametrize(("effect", "value"), [(0.4, "above_noise"), (-0.4, "above_noise"), (0.2, "below_noise")])  # fmt: skip
def test_an_effect_is_above_noise_beyond_1_96_deviations(effect: float, value: str) -> None:
    assert noise_statement(effect, [0.02, 0.02], level=0.95).value == value


def test_noise_that_one_arm_does_not_show_is_not_known() -> None:
    found = noise_statement(1.0, [0.1, None], level=0.95)

    assert found.value is None
    assert "needs two executions" in found.reason


def test_the_shift_says_its_test_and_p() -> None:
    test = HypothesisTest(method="CR2", p=0.01, p_holm=0.03)

    assert shift_statement(True, test).reason == "CR2: Holm-adjusted p = 0.03"
    assert shift_statement(False, HypothesisTest(method="CR2", p=0.2)).value == "no_shift_detected"
    assert shift_statement(None, None).reason == "one execution has nothing to shift from"


def _manifests(*, drift: bool = False, unavailable: bool = False) -> ManifestComparison:
    def finding(message: str) -> Finding:
        return Finding(kind="drift", check="served model", message=message)

    return ManifestComparison(
        refusals=(),
        drift=(finding("the served model changed"),) if drift else (),
        flags=(),
        unavailable=(finding("nobody recorded the snapshot"),) if unavailable else (),
    )


def test_what_nobody_recorded_is_never_the_same() -> None:
    assert configuration_statement(None).value is None
    assert configuration_statement(_manifests()).value == "same"
    assert configuration_statement(_manifests(drift=True)).value == "drifted"
    assert configuration_statement(_manifests(drift=True)).reason == "the served model changed"
    found = configuration_statement(_manifests(unavailable=True))
    assert found.value is None
    assert "nobody recorded the snapshot" in found.reason
