"""Outcomes with judged trajectories, written out, for tests of their aggregates."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from tests.analysis.outcome_tables import table

from taketwo.outcomes.table import Outcomes
from taketwo.scores.process_scores import AXES, trajectory_score

Row = dict[str, object]


def judged(
    arm: str,
    question: str,
    axes: Sequence[int | None],
    statuses: Mapping[str, str] | None = None,
    tags: Sequence[str] = (),
    **changes: object,
) -> Row:
    """Return a judged cell: `axes` in their order, `statuses` of milestones by their type."""
    by_axis = dict(zip(AXES, axes, strict=True))
    labels = {
        f"M{number}": {"kind": kind, "status": status}
        for number, (kind, status) in enumerate((statuses or {}).items(), start=1)
    }
    credit = {"covered": 1.0, "partial": 0.5}
    reached = [credit.get(str(label["status"]), 0.0) for label in labels.values()]
    return {
        "arm": arm,
        "execution": 1,
        "question_id": question,
        "baseline": None,
        "accuracy": 1.0,
        "trajectory_status": "scored",
        "trajectory_score": trajectory_score(by_axis),
        "mc_rate": sum(reached) / len(reached) if reached else None,
        **{name: None if value is None else float(value) for name, value in by_axis.items()},
        "milestones": json.dumps(labels) if labels else None,
        "failure_tags": json.dumps(list(tags)),
        **changes,
    }


def unjudged(arm: str, question: str, status: str = "judge_error", **changes: object) -> Row:
    """Return an answered cell whose trajectory has no scores."""
    return {
        "arm": arm,
        "execution": 1,
        "question_id": question,
        "baseline": None,
        "accuracy": 1.0,
        "trajectory_status": status,
        **changes,
    }


def outcomes_of(rows: Sequence[Row]) -> Outcomes:
    """Return the rows as a table of outcomes."""
    return table(rows)
