from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from taketwo.analysis.judges import judge_robustness, refuse_contradictions
from taketwo.errors import InvalidResults
from taketwo.executions.rule import Rule
from taketwo.report.paper_appendix import judges_table

RULE = Rule(primary=("accuracy",))


def _labels(seed: int = 1, n: int = 300) -> NDArray[np.float64]:
    """Return labels in which the method is ahead in K1 and behind in K2."""
    rng = np.random.default_rng(seed)
    rates = np.array([[0.4, 0.7], [0.7, 0.4]])
    return (rng.random((n, 2, 2)) < rates).astype(np.float64)


def _noisy(labels: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    rng = np.random.default_rng(9)
    return np.where(rng.random(labels.shape) < share, 1 - labels, labels)


def test_equal_judges_have_equal_rows_and_agree_fully() -> None:
    labels = _labels()
    table = judge_robustness({"a": labels, "b": labels}, RULE, primary="a", seed=1)
    first, second = table.rows

    assert first.effects == second.effects
    assert (first.verdict, second.verdict) == ("directional_reversal",) * 2
    assert second.agreement == 1
    assert second.kappa is not None
    assert second.kappa.value == pytest.approx(1)
    assert (first.agreement, first.kappa) == (None, None)
    assert (table.same_verdict, table.reversing) == (2, 2)


def test_judges_are_compared_on_what_all_of_them_labelled() -> None:
    labels = _labels()
    holed = _noisy(labels, 0.05)
    holed[:10, 1, 0] = np.nan
    table = judge_robustness({"a": labels, "b": holed}, RULE, primary="a", seed=1)

    assert (table.n, [row.n_own for row in table.rows]) == (290, [300, 290])
    assert table.rows[0].effects[0] == pytest.approx((labels[10:, 1, 0] - labels[10:, 0, 0]).mean())
    shown = judges_table(table)
    assert [row[1].text for row in shown.rows] == ["300", "290"]
    assert "2 of 2 judges give the primary judge's verdict" in shown.note


def test_a_judge_that_labels_nothing_in_common_is_an_error() -> None:
    labels = _labels(n=4)

    with pytest.raises(InvalidResults, match="no question has a label of all 2 judges"):
        judge_robustness(
            {"a": labels, "b": np.full_like(labels, np.nan)}, RULE, primary="a", seed=1
        )
    with pytest.raises(InvalidResults, match="the primary judge 'c' among them"):
        judge_robustness({"a": labels}, RULE, primary="c", seed=1)


def test_an_answer_with_two_labels_by_one_judge_is_refused() -> None:
    refuse_contradictions([("q1", "a cat", 1.0), ("q1", "a cat", 1.0), ("q2", "a cat", 0.0)])
    with pytest.raises(
        InvalidResults, match="1 answers have two labels by one judge, first 'a cat'"
    ):
        refuse_contradictions([("q1", "a cat", 1.0), ("q1", "a cat", 0.0)])
