"""What an audit's numbers rest on: judgements of each judge, the models that served them, tokens and price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from taketwo.executions.prices import cost_usd
from taketwo.scores.judge_audit.audit_findings import JudgeUse
from taketwo.scores.judged_in_parallel import total_tokens

__all__ = ["use_of"]


class _Judged(Protocol):
    @property
    def served_model(self) -> str | None: ...
    @property
    def input_tokens(self) -> int | None: ...
    @property
    def output_tokens(self) -> int | None: ...


def use_of(
    name: str,
    judge: str,
    judgements: Sequence[_Judged],
    prices: Mapping[str, Mapping[str, float]],
) -> JudgeUse:
    """Return what one judge's judgements took, whenever they were made.

    Parameters
    ----------
    name
        What the use is called.
    judge
        The model that was asked for, by which `prices` (US dollars a million tokens) are found.
    """
    used_in = total_tokens(item.input_tokens for item in judgements) if judgements else None
    used_out = total_tokens(item.output_tokens for item in judgements) if judgements else None
    return JudgeUse(
        judge=name,
        judgements=len(judgements),
        served=tuple(sorted({item.served_model for item in judgements if item.served_model})),
        input_tokens=used_in,
        output_tokens=used_out,
        cost_usd=None
        if used_in is None or used_out is None
        else cost_usd(prices, judge, used_in, used_out),
    )
