"""What a judge was asked for and what came of it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["JudgeWork"]


@dataclass(frozen=True, kw_only=True)
class JudgeWork:
    """What one judge was asked for and what came of it.

    `what` is `answers`, `options` (which one an ambiguous reply means), `trajectories`, `references`
    (curated trajectories) or a check of an audit. `asked` counts distinct contents, `done` those that
    have a label now, `failures` the causes of the others. Tokens are those of the labels, in all
    replies; None where there is no label or one did not report them. What failures took is in none.
    `cost_usd` is the tokens by the plan's prices, None without a price.
    """

    what: str
    judge: str
    asked: int
    done: int
    failures: tuple[str, ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
