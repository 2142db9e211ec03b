from __future__ import annotations

import numpy as np
import pytest

from taketwo.analysis.pair_values import Column, PairValues, resample


def _column(values: list[float], videos: list[int] | None = None) -> Column:
    return Column(
        values=np.array(values),
        questions=np.arange(len(values)),
        cluster=None if videos is None else np.array(videos),
    )


def test_columns_over_the_same_questions_share_their_draws() -> None:
    first = np.random.default_rng(0).normal(size=30)
    columns = [_column(first.tolist()), _column((2 * first + 1).tolist())]

    one, two = (r.by_question for r in resample(columns, level=0.95, draws=400, seed=3))

    assert one is not None
    assert two is not None
    assert two.low == pytest.approx(2 * one.low + 1)
    assert two.se == pytest.approx(2 * one.se)


def test_what_else_is_measured_does_not_change_an_interval() -> None:
    values = np.random.default_rng(1).normal(size=(3, 25)).tolist()
    alone = resample([_column(values[0])], level=0.95, draws=300, seed=4)

    among = resample(
        [_column(values[1][:20]), _column(values[0]), _column(values[2])],
        level=0.95, draws=300, seed=4,
    )  # fmt: skip

    assert among[1].by_question is not None
    assert alone[0].by_question is not None
    assert among[1].by_question.low == pytest.approx(alone[0].by_question.low)


def test_videos_are_drawn_only_where_they_hold_several_questions() -> None:
    several = resample([_column([1, 2, 3, 4], [0, 0, 1, 1])], level=0.95, draws=50, seed=1)[0]
    single = resample([_column([1, 2, 3, 4], [0, 1, 2, 3])], level=0.95, draws=50, seed=1)[0]
    only = resample([_column([1, 2, 3, 4], [0, 0, 0, 0])], level=0.95, draws=50, seed=1)[0]

    assert several.by_video is not None
    assert single.by_video is None
    assert only.by_video is None


def test_one_question_has_no_interval() -> None:
    found = resample([_column([1.0])], level=0.95, draws=50, seed=1)[0]

    assert (found.by_question, found.by_video) == (None, None)


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
