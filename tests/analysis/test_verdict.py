from __future__ import annotations

from itertools import product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taketwo.analysis.verdict import (
    VERDICT_TEXTS,
    Verdict,
    paper_label,
    verdict_of,
    verdict_of_runs,
)

SUPPORTS = st.lists(st.sampled_from([-1, 0, 1]), min_size=2, max_size=7)
SHIFT = st.sampled_from([True, False, None])

TABLE: dict[tuple[tuple[int, int], bool | None], Verdict] = {
    ((1, -1), True): "directional_reversal",
    ((1, -1), False): "directional_reversal",
    ((1, -1), None): "directional_reversal",
    ((1, 1), True): "magnitude_shift",
    ((1, 1), False): "no_shift_detected",
    ((1, 1), None): "not_testable",
    ((1, 0), True): "attenuation",
    ((1, 0), False): "not_reproduced",
    ((1, 0), None): "not_testable",
    ((0, 1), True): "emergence",
    ((0, 1), False): "not_reproduced",
    ((0, 1), None): "not_testable",
    ((0, 0), True): "shift_without_effect",
    ((0, 0), False): "unsupported",
    ((0, 0), None): "not_testable",
}


@pytest.mark.parametrize(("case", "expected"), TABLE.items())
@pytest.mark.parametrize("sign", [1, -1])
def test_two_executions_follow_the_table(
    case: tuple[tuple[int, int], bool | None], expected: Verdict, sign: int
) -> None:
    supports, shift = case

    assert verdict_of([sign * s for s in supports], shift) == expected


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_every_combination_has_exactly_one_verdict_and_it_is_the_one_of_the_rule(k: int) -> None:
    for supports in product([-1, 0, 1], repeat=k):
        for shift, confirmed, equivalent in product(
            [True, False, None], [True, False], [True, False]
        ):
            fitting = _rows(supports, shift, confirmed=confirmed, equivalent=equivalent)
            assert len(fitting) == 1, (supports, shift, fitting)
            found = verdict_of(
                supports, shift, reversal_confirmed=confirmed, is_equivalent=equivalent
            )
            assert {found} == fitting


def _rows(
    supports: tuple[int, ...], shift: bool | None, *, confirmed: bool, equivalent: bool
) -> set[Verdict]:
    """Return the rows of the design's table that fit, each condition written out in full."""
    plus, minus, zero = supports.count(1), supports.count(-1), supports.count(0)
    k = len(supports)
    opposite = plus > 0 and minus > 0
    every = k > 1 and max(plus, minus) == k
    some = k > 1 and not opposite and 0 < zero < k
    none = k > 1 and zero == k
    first, last = supports[0] != 0, supports[-1] != 0
    rows: dict[Verdict, bool] = {
        "single_execution": k == 1,
        "directional_reversal": opposite and confirmed,
        "opposite_signs_not_confirmed": opposite and not confirmed,
        "magnitude_shift": every and shift is True,
        "equivalent": every and shift is False and equivalent,
        "no_shift_detected": every and shift is False and not equivalent,
        "attenuation": some and shift is True and first and not last,
        "emergence": some and shift is True and last and not first,
        "intermittent": some and shift is True and first == last,
        "not_reproduced": some and shift is False,
        "shift_without_effect": none and shift is True,
        "unsupported": none and shift is False,
        "not_testable": k > 1 and not opposite and shift is None,
    }
    return {verdict for verdict, fits in rows.items() if fits}


@given(supports=SUPPORTS, shift=SHIFT)
def test_swapping_the_arms_changes_no_verdict(supports: list[int], shift: bool | None) -> None:
    assert verdict_of(supports, shift) == verdict_of([-s for s in supports], shift)


@given(supports=SUPPORTS, shift=SHIFT)
def test_turning_time_around_exchanges_attenuation_and_emergence_only(
    supports: list[int], shift: bool | None
) -> None:
    mirrored = {"attenuation": "emergence", "emergence": "attenuation"}
    there = verdict_of(supports, shift)

    assert verdict_of(supports[::-1], shift) == mirrored.get(there, there)


@given(supports=SUPPORTS, at=st.integers(0, 6), shift=SHIFT)
def test_an_effect_without_an_interval_leaves_nothing_to_say(
    supports: list[int], at: int, shift: bool | None
) -> None:
    unknown = [None if i == at % len(supports) else s for i, s in enumerate(supports)]

    assert verdict_of(unknown, shift) == "not_testable"
    assert paper_label(unknown, shift) is None


def test_every_verdict_has_a_text() -> None:
    assert set(VERDICT_TEXTS) == set(get_args(Verdict))
    assert len(set(VERDICT_TEXTS.values())) == len(VERDICT_TEXTS)


@pytest.mark.parametrize("supports", [[], [2, 0], [1, 7]])
def test_supports_that_cannot_be_are_refused(supports: list[int]) -> None:
    with pytest.raises(ValueError, match="supports must be -1, 0, 1 or None"):
        verdict_of(supports, True)


@pytest.mark.parametrize(
    ("supports", "shift", "label"),
    [
        ([1, -1], True, "Direction reversal"),
        ([1, 1], True, "Sign stable, magnitude shifts"),
        ([1, 1], False, None),
        ([1, 0], True, "Attenuates to null"),
        ([1, 0], False, "Attenuates to null"),
        ([0, -1], False, "Attenuates to null"),
        ([0, 0], True, None),
        ([1], None, None),
    ],
)
def test_the_paper_s_wording_asks_for_no_shift_before_it_says_attenuation(
    supports: list[int], shift: bool | None, label: str | None
) -> None:
    assert paper_label(supports, shift) == label


@pytest.mark.parametrize(
    ("positive", "negative", "shift", "verdict"),
    [
        (5, 95, True, "directional_reversal"),
        (4, 96, True, "magnitude_shift"),
        (5, 95, False, "no_shift_detected"),
        (50, 50, False, "not_reproduced"),
        (50, 50, True, "directional_reversal"),
        (95, 0, True, "magnitude_shift"),
        (94, 0, True, "not_reproduced"),
        (0, 95, False, "no_shift_detected"),
        (1, 0, False, "not_reproduced"),
        (0, 0, False, "unsupported"),
        (0, 0, True, "shift_without_effect"),
        (100, 0, None, "not_testable"),
    ],
)
def test_runs_that_were_not_paired_are_judged_by_the_share_of_pairs(
    positive: int, negative: int, shift: bool | None, verdict: str
) -> None:
    assert verdict_of_runs(positive, negative, 100, shift) == verdict
    mirrored = verdict_of_runs(negative, positive, 100, shift)
    assert mirrored == verdict


@given(
    positive=st.integers(0, 12),
    negative=st.integers(0, 12),
    unsupported=st.integers(1, 12),
    shift=st.sampled_from([True, False, None]),
)
def test_no_order_of_runs_is_ever_read_into_a_verdict(
    positive: int, negative: int, unsupported: int, shift: bool | None
) -> None:
    found = verdict_of_runs(positive, negative, positive + negative + unsupported, shift)

    assert found not in {"attenuation", "emergence", "intermittent", "single_execution"}


def test_impossible_counts_of_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="3 and 2 of 4 pairs of runs are impossible"):
        verdict_of_runs(3, 2, 4, None)
