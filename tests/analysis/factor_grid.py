"""A grid of 3 models x 2 frameworks x 2 executions on 4 questions, written out, for tests."""

from __future__ import annotations

import json
from collections.abc import Mapping

import polars as pl
from tests.analysis.outcome_tables import table

from taketwo.outcomes.table import Outcomes

GRID: Mapping[tuple[str, str], tuple[str, str]] = {
    ("large", "single"): ("1101", "1001"),
    ("large", "agent"): ("1111", "1101"),
    ("middle", "single"): ("0101", "0110"),
    ("middle", "agent"): ("1101", "0111"),
    ("small", "single"): ("0000", "0001"),
    ("small", "agent"): ("0100", "0011"),
}
"""By model and framework: right and wrong on questions q0 to q3, in K1 and in K2."""


def grid_outcomes(
    *, executions: int = 2, baseline: bool = False, extra: Mapping[str, str] | None = None
) -> Outcomes:
    """Return the grid as outcomes; `extra` are factors that every arm has beside its own."""
    frame = table([
        {
            "arm": f"{model}-{framework}",
            "baseline": f"{model}-single" if baseline and framework == "agent" else None,
            "execution": k + 1,
            "question_id": f"q{q}",
            "video_id": f"v{q}",
            "accuracy": float(digit),
        }
        for (model, framework), runs in GRID.items()
        for k, digits in enumerate(runs[:executions])
        for q, digit in enumerate(digits)
    ]).frame
    factors = {
        f"{model}-{framework}": json.dumps({
            "model": model,
            "framework": framework,
            **(extra or {}),
        })
        for model, framework in GRID
    }
    return Outcomes(frame.with_columns(factors=pl.col("arm").replace_strict(factors)))
