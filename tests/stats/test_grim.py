from __future__ import annotations

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.stats.paper_tables import accuracy_effects

from taketwo.stats.grim import attainable_sizes, grim


@pytest.mark.parametrize(
    ("printed", "n", "nearest"),
    [
        ("+6.72", 322, 22), ("-4.60", 322, -15), ("11.32", 322, 36),
        ("+9.39", 526, 49), ("-3.64", 526, -19), ("13.03", 526, 69),
        ("-6.76", 602, -41), ("16.56", 602, 100),
        ("+5.83", 1283, 75), ("-3.977", 1283, -51), ("9.81", 1283, 126),
        ("+6.59", 1283, 85), ("-4.28", 1283, -55), ("10.87", 1283, 139),
    ],
)  # fmt: skip
def test_the_fourteen_impossible_cells_of_the_paper(printed: str, n: int, nearest: int) -> None:
    found = grim(printed, n)

    assert not found.is_attainable
    assert found.total == nearest


@pytest.mark.parametrize(
    ("printed", "n"),
    [("9.39", 522), ("-3.64", 522), ("13.03", 522), ("6.59", 1214), ("-4.28", 1214),
     ("-6.76", 592), ("-4.60", 326), ("7.33", 1283), ("-4.05", 1283), ("11.38", 1283)],
)  # fmt: skip
def test_what_the_paper_could_have_had_is_attainable(printed: str, n: int) -> None:
    assert grim(printed, n).is_attainable


def test_no_size_up_to_700_gives_both_medium_cells() -> None:
    assert attainable_sizes(("6.72", "-4.60"), 700) == ()
    assert 522 in attainable_sizes(("9.39", "-3.64", "13.03"), 600)


def test_every_mean_that_we_print_passes() -> None:
    d = accuracy_effects()
    for value in (d[:, 0].mean(), d[:, 1].mean(), (d[:, 0] - d[:, 1]).mean()):
        assert grim(f"{100 * value:.2f}", 1283).is_attainable


@given(
    total=st.integers(-5000, 5000), n=st.integers(1, 3000), digits=st.integers(0, 4),
    rounding=st.sampled_from([ROUND_HALF_EVEN, ROUND_HALF_UP]), scale=st.sampled_from([1, 100]),
)  # fmt: skip
def test_every_rounded_mean_is_attainable(
    total: int, n: int, digits: int, rounding: str, scale: int
) -> None:
    unit = Decimal(1).scaleb(-digits)
    scaled = Fraction(scale * total, n) / Fraction(unit)
    whole = Decimal(scaled.numerator) / Decimal(scaled.denominator)
    printed = str(whole.quantize(Decimal(1), rounding=rounding) * unit)

    assert grim(printed, n, scale=scale).is_attainable


@given(n=st.integers(1, 60), hundredths=st.integers(-300, 300))
def test_attainable_means_that_some_total_rounds_to_it(n: int, hundredths: int) -> None:
    printed = f"{Decimal(hundredths) / 100:.2f}"
    some = any(
        abs(Fraction(total, n) - Fraction(hundredths, 100)) <= Fraction(1, 200)
        for total in range(-4 * n, 4 * n + 1)
    )

    assert grim(printed, n, scale=1).is_attainable == some


def test_signs_points_and_percent_signs_are_read() -> None:
    assert grim(" \N{MINUS SIGN}50.0 % ", 2).total == -1
    assert grim(".5", 2, scale=1).is_attainable
    assert grim("61", 1283).is_attainable


def test_what_is_no_number_is_refused() -> None:
    for printed in ("6.7.2", "n/a", "", "NaN", "Infinity"):
        with pytest.raises(ValueError, match="is no decimal number"):
            grim(printed, 10)
    with pytest.raises(ValueError, match="at least 1 observation, got 0"):
        grim("1.0", 0)
    with pytest.raises(ValueError, match="sizes start at 1"):
        attainable_sizes(("1",), 0)
