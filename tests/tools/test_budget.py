from __future__ import annotations

import pytest

from taketwo.tools.budget import Budget, BudgetExhausted, Limits


def test_the_smaller_limit_wins_and_none_is_no_limit() -> None:
    mine, study = Limits(turns=20, frames=64), Limits(turns=10, tokens=1000)

    assert mine.tightened_by(study) == Limits(turns=10, frames=64, tokens=1000)


def test_a_refused_reservation_books_nothing_of_any_resource() -> None:
    budget = Budget(Limits(turns=5, model_calls=1))
    budget.reserve("model_calls")

    with pytest.raises(BudgetExhausted, match="model_calls budget is used up: 1 of 1"):
        budget.reserve_all({"turns": 1, "model_calls": 1})

    assert budget.used("turns") == 0


def test_what_turns_out_later_stops_the_next_call_only() -> None:
    budget = Budget(Limits(tokens=100))
    budget.spend("tokens", 250)

    assert budget.left("tokens") == 0
    with pytest.raises(BudgetExhausted, match="tokens budget is used up: 250 of 100"):
        budget.check("latency_s", "tokens")


def test_tightening_never_loosens() -> None:
    budget = Budget(Limits(turns=3))

    budget.tighten(Limits(turns=20, visible_calls=2))

    assert budget.limits == Limits(turns=3, visible_calls=2)
