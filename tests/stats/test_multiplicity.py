from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from taketwo.stats.multiplicity import holm

P = st.floats(0, 1)


def test_the_paper_s_five_p_values_give_the_paper_s_adjusted_ones() -> None:
    adjusted = holm([6.11e-11, 0.0364, 0.01645, 5.5e-14, 2.04e-20])

    assert adjusted == pytest.approx([1.833e-10, 0.0364, 0.0329, 2.2e-13, 1.02e-19], rel=1e-9)


def test_an_undefined_p_counts_as_one_and_stays_undefined() -> None:
    assert holm([0.01, None, 0.02]) == (pytest.approx(0.03), None, pytest.approx(0.04))
    assert holm([None, None]) == (None, None)
    assert holm([]) == ()


@settings(max_examples=15)  # statsmodels collects garbage in every call
@given(p=st.lists(P, min_size=1, max_size=9))
def test_agrees_with_statsmodels(p: list[float]) -> None:
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1].tolist(), abs=1e-15)


@given(p=st.lists(st.one_of(P, st.none()), min_size=1, max_size=9), data=st.data())
def test_neither_order_nor_undefined_members_change_an_adjusted_p(
    p: list[float | None], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(p))))
    adjusted = holm(p)

    assert holm([p[i] for i in order]) == tuple(adjusted[i] for i in order)
    assert [a for a in adjusted if a is not None] == [
        a for a, raw in zip(holm([1.0 if x is None else x for x in p]), p, strict=True)
        if raw is not None
    ]  # fmt: skip
    for raw, a in zip(p, adjusted, strict=True):
        assert (raw is None and a is None) or (raw is not None and a is not None and raw <= a <= 1)


@given(p=P)
def test_a_family_of_one_is_left_alone(p: float) -> None:
    assert holm([p]) == (p,)


def test_a_p_outside_zero_to_one_is_refused() -> None:
    with pytest.raises(ValueError, match=r"lie between 0 and 1, got 1\.5"):
        holm([0.2, 1.5])
