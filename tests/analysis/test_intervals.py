from __future__ import annotations

import numpy as np
import pytest

from taketwo.analysis.intervals import resample
from taketwo.analysis.pair_values import Column


def _column(values: list[float], videos: list[int] | None = None) -> Column:
    return Column(
        values=np.array(values),
        questions=np.arange(len(values)),
        cluster=None if videos is None else np.array(videos),
    )


def test_columns_over_the_same_questions_share_their_draws() -> None:
    first = np.random.default_rng(0).normal(size=30)
    columns = [_column(first.tolist()), _column((2 * first + 1).tolist())]

    one, two = (
        r.by_question for r in resample(columns, level=0.95, bootstrap="mc", draws=400, seed=3)
    )

    assert one is not None
    assert two is not None
    assert two.low == pytest.approx(2 * one.low + 1)
    assert two.se == pytest.approx(2 * one.se)


def test_what_else_is_measured_does_not_change_an_interval() -> None:
    values = np.random.default_rng(1).normal(size=(3, 25)).tolist()
    alone = resample([_column(values[0])], level=0.95, bootstrap="mc", draws=300, seed=4)

    among = resample(
        [_column(values[1][:20]), _column(values[0]), _column(values[2])],
        level=0.95, bootstrap="mc", draws=300, seed=4,
    )  # fmt: skip

    assert among[1].by_question is not None
    assert alone[0].by_question is not None
    assert among[1].by_question.low == pytest.approx(alone[0].by_question.low)


def test_videos_are_drawn_only_where_they_hold_several_questions() -> None:
    several = resample(
        [_column([1, 2, 3, 4], [0, 0, 1, 1])], level=0.95, bootstrap="mc", draws=50, seed=1
    )[0]
    single = resample(
        [_column([1, 2, 3, 4], [0, 1, 2, 3])], level=0.95, bootstrap="mc", draws=50, seed=1
    )[0]
    only = resample(
        [_column([1, 2, 3, 4], [0, 0, 0, 0])], level=0.95, bootstrap="mc", draws=50, seed=1
    )[0]

    assert several.by_video is not None
    assert single.by_video is None
    assert only.by_video is None


def test_one_question_has_no_interval() -> None:
    found = resample([_column([1.0])], level=0.95, bootstrap="mc", draws=50, seed=1)[0]

    assert (found.by_question, found.by_video) == (None, None)


def test_exact_intervals_need_no_seed_and_are_values_of_a_resample() -> None:
    """The mean of 4 draws of 0 or 1 is Binomial(4, 1/2) / 4: both tails of 2.5 % end at 0 and 1."""
    column = _column([0.0, 1.0, 0.0, 1.0])
    first, again = (
        resample([column], level=0.95, bootstrap="exact", draws=50, seed=seed)[0].by_question
        for seed in (1, 2)
    )

    assert first == again
    assert first is not None
    assert (first.low, first.high, first.se) == (0.0, 1.0, 0.25)


def test_drawn_intervals_agree_with_exact_ones_within_noise() -> None:
    rng = np.random.default_rng(5)
    column = _column(rng.normal(size=200).tolist(), rng.integers(0, 80, 200).tolist())
    exact = resample([column], level=0.95, bootstrap="exact", draws=2, seed=1)[0]
    drawn = resample([column], level=0.95, bootstrap="mc", draws=20_000, seed=1)[0]

    for one, two in ((exact.by_question, drawn.by_question), (exact.by_video, drawn.by_video)):
        assert one is not None
        assert two is not None
        assert two.low == pytest.approx(one.low, abs=0.04 * one.se)
        assert two.high == pytest.approx(one.high, abs=0.04 * one.se)
