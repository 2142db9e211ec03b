"""What a run's tokens bought: accuracy per million tokens, as AgentVidBench defines it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import polars as pl

from taketwo.analysis.process import arms_in
from taketwo.outcomes.missing import with_causes
from taketwo.outcomes.table import Outcomes

__all__ = ["Efficiency", "efficiencies", "token_efficiency"]


@dataclass(frozen=True, kw_only=True)
class Efficiency:
    """Accuracy and tokens of one run of an arm: one execution over all questions.

    `cells` are those whose video was there and that an early stop left. `tokens` is their sum over
    all roles of the agent; those of judges are no part of it. It is None, with the `reason`, where
    those of one cell are not known. `per_question` is tokens over cells; `efficiency` is accuracy in
    percent per million tokens.
    """

    arm: str
    execution: int
    cells: int
    scored: int
    accuracy: float | None
    tokens: float | None
    per_question: float | None
    efficiency: float | None
    reason: str | None = None


def token_efficiency(accuracy: float, tokens: float) -> float:
    """Return accuracy over the million tokens of the whole run, in percent per million.

    AgentVidBench (2026, arXiv 2609.21386), Section 4.4. The tokens are those of all questions
    together, so that two runs compare only over the same questions.

    Parameters
    ----------
    accuracy
        0 to 1.
    tokens
        Of the whole run, above 0.

    Raises
    ------
    ValueError
        If there are no tokens.

    Examples
    --------
    >>> round(token_efficiency(0.51, 15_160_000), 2)
    3.36
    """
    if not tokens > 0:
        raise ValueError(f"an efficiency needs a run with tokens, got {tokens:g}")
    return 100 * accuracy / (tokens / 1e6)


def efficiencies(
    outcomes: Outcomes,
    arms: Sequence[str] | None = None,
    executions: Sequence[int] | None = None,
) -> tuple[Efficiency, ...]:
    """Return the efficiency of every arm in every execution that it ran in."""
    frame = with_causes(outcomes.frame).filter(pl.col("availability") == "available")
    ks = sorted(frame["execution"].unique().to_list()) if executions is None else list(executions)
    found: list[Efficiency] = []
    for arm in arms_in(outcomes) if arms is None else arms:
        for execution in ks:
            cells = frame.filter((pl.col("arm") == arm) & (pl.col("execution") == execution))
            if cells.height:
                found.append(_efficiency(arm, execution, cells))
    return tuple(found)


def _efficiency(arm: str, execution: int, cells: pl.DataFrame) -> Efficiency:
    n = cells.height
    scored = n - cells["accuracy"].null_count()
    accuracy = cast("float | None", cells["accuracy"].mean())
    unknown = cells.filter(pl.col("tokens").is_null()).sort("question_id")
    tokens = None if unknown.height else float(cells["tokens"].sum())
    reason: str | None = None
    if unknown.height:
        first = unknown.row(0, named=True)
        reason = (
            f"the tokens of {unknown.height} of {n} cells are not known, first question "
            f"{first['question_id']!r} ({str(first['run_status']).replace('_', ' ')})"
        )
    elif not tokens:
        reason = "the run used no tokens"
    elif accuracy is None:
        reason = "no answer has been scored"
    return Efficiency(
        arm=arm,
        execution=execution,
        cells=n,
        scored=scored,
        accuracy=accuracy,
        tokens=tokens,
        per_question=None if tokens is None else tokens / n,
        efficiency=token_efficiency(accuracy, tokens)
        if reason is None and accuracy is not None and tokens
        else None,
        reason=reason,
    )
