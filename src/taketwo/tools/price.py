"""What tokens cost, from a price in US dollars per million tokens (`input`, `output`)."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["tokens_cost_usd"]


def tokens_cost_usd(price: Mapping[str, float], input_tokens: int, output_tokens: int) -> float:
    """Return what that many tokens cost in US dollars; cached input counts as input.

    Examples
    --------
    >>> tokens_cost_usd({"input": 2.5, "output": 10.0}, 400_000, 20_000)
    1.2
    """
    return (price["input"] * input_tokens + price["output"] * output_tokens) / 1e6
