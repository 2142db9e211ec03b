"""What an audit's numbers rest on: judgements of each judge, the models that served them, tokens and price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from taketwo.scores.judge_audit.audit_findings import JudgeUse
from taketwo.scores.judge_work import spent_on

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
    spent = spent_on(judgements, judge, prices)
    return JudgeUse(
        judge=name,
        judgements=len(judgements),
        served=tuple(sorted({item.served_model for item in judgements if item.served_model})),
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        cost_usd=spent.cost_usd,
    )
