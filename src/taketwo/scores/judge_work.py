"""What a judge was asked for, what came of it, and what its labels took."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from taketwo.executions.prices import cost_usd

__all__ = ["JudgeWork", "Spent", "spent_on", "total_tokens"]


class _Label(Protocol):
    @property
    def input_tokens(self) -> int | None: ...
    @property
    def output_tokens(self) -> int | None: ...


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What labels took, in all replies.

    Tokens are None where there is no label or one did not report them; `cost_usd` is the tokens by the
    plan's prices, in US dollars, None without tokens or a price.
    """

    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


@dataclass(frozen=True, kw_only=True)
class JudgeWork:
    """What one judge was asked for and what came of it.

    `what` is `answers`, `options` (which one an ambiguous reply means), `trajectories`, `references`
    (curated trajectories) or a check of an audit. `asked` counts distinct contents, `done` those that
    have a label now, `failures` the causes of the others. Tokens and `cost_usd` are those of the
    labels (`Spent`). What failures took is in none.
    """

    what: str
    judge: str
    asked: int
    done: int
    failures: tuple[str, ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


def spent_on(
    labels: Sequence[_Label], judge: str, prices: Mapping[str, Mapping[str, float]]
) -> Spent:
    """Return what labels of `judge` took; `prices` are in US dollars a million tokens, by model."""
    used_in = total_tokens(label.input_tokens for label in labels) if labels else None
    used_out = total_tokens(label.output_tokens for label in labels) if labels else None
    return Spent(
        input_tokens=used_in,
        output_tokens=used_out,
        cost_usd=None
        if used_in is None or used_out is None
        else cost_usd(prices, judge, used_in, used_out),
    )


def total_tokens(values: Iterable[int | None]) -> int | None:
    """Return the sum, or None where one reply did not report its usage."""
    found = list(values)
    known = [value for value in found if value is not None]
    return sum(known) if len(known) == len(found) else None
