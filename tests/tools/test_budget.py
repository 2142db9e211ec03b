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


@pytest.mark.parametrize("amount", [-1.0, float("nan")])
def test_nothing_below_zero_and_no_nan_is_booked_since_it_would_lift_the_limit(
    amount: float,
) -> None:
    budget = Budget(Limits(cost_usd=1.0))

    with pytest.raises(ValueError, match="of cost_usd cannot be booked; it must be 0 or more"):
        budget.spend("cost_usd", amount)

    assert budget.left("cost_usd") == 1.0


@pytest.mark.parametrize(
    ("limits", "is_metered"),
    [
        (Limits(turns=1, frames=2, model_calls=3, wall_s=5), False),
        (Limits(tokens=1), True),
        (Limits(latency_s=1), True),
        (Limits(cost_usd=1), True),
    ],
)
def test_only_tokens_seconds_and_dollars_are_known_afterwards(
    limits: Limits, is_metered: bool
) -> None:
    assert Budget(limits).is_metered is is_metered
