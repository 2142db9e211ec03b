"""What a judge's judgements took: counted, added up, priced; unknown where one of them does not say."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from taketwo.scores.judge_audit.judge_uses import use_of

PRICES = {"lab/judge": {"input": 10.0, "output": 100.0}}


@dataclass(frozen=True)
class Judged:
    served_model: str | None = "judge-2026"
    input_tokens: int | None = 100
    output_tokens: int | None = 5


def test_tokens_are_added_up_and_priced_by_the_model_that_was_asked_for() -> None:
    use = use_of("lab/judge, by one fixed path", "lab/judge", [Judged(), Judged()], PRICES)

    assert use.judge == "lab/judge, by one fixed path"
    assert (use.judgements, use.input_tokens, use.output_tokens) == (2, 200, 10)
    assert use.cost_usd == pytest.approx((200 * 10 + 10 * 100) / 1e6)


def test_a_judge_without_a_price_has_no_cost_and_keeps_its_tokens() -> None:
    use = use_of("other", "lab/other", [Judged()], PRICES)

    assert (use.input_tokens, use.cost_usd) == (100, None)


@pytest.mark.parametrize("silent", [Judged(input_tokens=None), Judged(output_tokens=None)])
def test_one_judgement_that_reports_no_tokens_leaves_no_sum_of_the_others(silent: Judged) -> None:
    use = use_of("j", "lab/judge", [Judged(), silent], PRICES)

    assert None in {use.input_tokens, use.output_tokens}
    assert use.cost_usd is None
    assert use.judgements == 2


def test_nothing_judged_took_nothing_known_and_not_0() -> None:
    use = use_of("j", "lab/judge", [], PRICES)

    assert (use.judgements, use.served) == (0, ())
    assert (use.input_tokens, use.output_tokens, use.cost_usd) == (None, None, None)


def test_every_served_model_is_named_once_and_what_is_not_reported_is_none() -> None:
    models = ["b", "a", "b", None]

    use = use_of("j", "lab/judge", [Judged(served_model=name) for name in models], PRICES)

    assert use.served == ("a", "b")
