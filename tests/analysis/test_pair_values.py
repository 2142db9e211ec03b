from __future__ import annotations

import numpy as np

from taketwo.analysis.pair_values import PairValues


def test_shifts_are_earlier_minus_later_over_common_questions() -> None:
    nan = float("nan")
    values = PairValues(
        metric="turns",
        baseline_name="static",
        method_name="dynamic",
        executions=(1, 2, 3),
        baseline=np.zeros((2, 3)),
        method=np.array([[1.0, 3.0, 7.0], [2.0, nan, 5.0]]),
        cluster=np.array([4, 9]),
    )

    assert values.pairs == ((0, 1), (0, 2), (1, 2))
    assert [c.values.tolist() for c in values.shift_columns()] == [[-2.0], [-6.0, -3.0], [-4.0]]
    assert [c.questions.tolist() for c in values.effect_columns()] == [[0, 1], [0], [0, 1]]
    assert values.is_complete.tolist() == [True, False]
