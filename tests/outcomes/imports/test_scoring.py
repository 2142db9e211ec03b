from __future__ import annotations

import pytest

from taketwo.errors import InvalidResults
from taketwo.outcomes.imports.scoring import score_of


@pytest.mark.parametrize("written", [2**53 + 1, str(2**53 + 1), -(2**60) - 1, 10**400])
def test_a_whole_number_that_would_be_rounded_is_refused(written: object) -> None:
    with pytest.raises(InvalidResults, match=r"row 7: the whole number .* computed with exactly"):
        score_of(written, "row 7")


def test_large_whole_numbers_that_are_exact_are_kept() -> None:
    assert score_of(2**53, "row 1") == 2.0**53
    assert score_of(str(2**60), "row 1") == 2.0**60


def test_a_number_that_cannot_be_squared_is_refused() -> None:
    with pytest.raises(InvalidResults, match=r"row 7: score 1e\+200 is too large to compute with"):
        score_of(1e200, "row 7")


@pytest.mark.parametrize("written", ["\u0661", "1_0", "0x10", "1e", "e5", ".", "+"])
def test_what_a_table_would_not_call_a_number_is_none(written: str) -> None:
    with pytest.raises(InvalidResults, match="neither a number nor one of the words"):
        score_of(written, "row 7")


@pytest.mark.parametrize(
    ("written", "expected"), [("1", 1.0), ("-.5", -0.5), ("2.", 2.0), ("1e3", 1000.0), ("+7", 7.0)]
)
def test_numbers_are_read_as_written(written: str, expected: float) -> None:
    assert score_of(written, "row 7") == expected
