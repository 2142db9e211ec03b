"""How often each failure tag was given, per hundred judged trajectories, and which one leads."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import polars as pl

from taketwo.analysis.effects import Interval
from taketwo.analysis.process import arms_in
from taketwo.analysis.unit_intervals import Drawing, mean_interval, unit_names
from taketwo.errors import InvalidResults
from taketwo.executions.rule import ClusterBy
from taketwo.outcomes.table import Outcomes
from taketwo.scores.process_scores import FAILURE_TAGS

__all__ = [
    "TagRates",
    "TaggedCell",
    "dominant_of",
    "in_order_of_frequency",
    "tag_intervals",
    "tag_rates",
    "tagged_cells",
]

_TIE = 1e-9


@dataclass(frozen=True, kw_only=True)
class TagRates:
    """Failure tags of judged trajectories: `counts` by tag and arm, `judged` trajectories by arm.

    `tags` are those that occur, the most frequent first by the mean of the arms' rates.
    """

    tags: tuple[str, ...]
    judged: Mapping[str, int]
    counts: Mapping[str, Mapping[str, int]]

    def per_100(self, tag: str, arm: str) -> float | None:
        """Return how often a tag was given per 100 judged trajectories; None where none is judged."""
        judged = self.judged[arm]
        return 100 * self.counts[tag].get(arm, 0) / judged if judged else None

    def dominant(self, arm: str) -> tuple[str, ...]:
        """Return the arm's most frequent tag; all of them where several tie, none where it has none."""
        return dominant_of({tag: self.per_100(tag, arm) for tag in self.tags})


def dominant_of(rates: Mapping[str, float | None]) -> tuple[str, ...]:
    """Return the tags with the highest rate; none where no rate is above 0.

    Examples
    --------
    >>> dominant_of({"ocr_error": 12.0, "counting_error": 12.0, "wrong_arithmetic": 3.0})
    ('ocr_error', 'counting_error')
    """
    known = {tag: rate for tag, rate in rates.items() if rate}
    highest = max(known.values(), default=0.0)
    return tuple(tag for tag, rate in known.items() if rate >= highest - _TIE)


def in_order_of_frequency(rates: Mapping[str, Sequence[float | None]]) -> tuple[str, ...]:
    """Return tags by the mean of their known rates, the highest first; ties in the judge's order."""

    def key(tag: str) -> tuple[float, int, str]:
        known = [rate for rate in rates[tag] if rate is not None]
        mean = sum(known) / len(known) if known else 0.0
        # Rates that are equal but for the rounding of a sum tie.
        return (-round(mean, 9), FAILURE_TAGS.index(tag) if tag in FAILURE_TAGS else 99, tag)

    return tuple(sorted(rates, key=key))


@dataclass(frozen=True, kw_only=True)
class TaggedCell:
    """The failure tags of one judged trajectory; `unit` is what an interval draws."""

    arm: str
    question: str
    unit: str
    tags: tuple[str, ...]


def tagged_cells(
    outcomes: Outcomes, arms: Sequence[str] | None = None, by: ClusterBy = "video"
) -> tuple[TaggedCell, ...]:
    """Return the judged trajectories with their tags, over all executions.

    A trajectory whose judgement failed has no tags and is none of them.

    Raises
    ------
    InvalidResults
        If a cell's tags are no list of names.
    """
    shown = arms_in(outcomes) if arms is None else tuple(arms)
    cells = outcomes.frame.filter(
        pl.col("failure_tags").is_not_null() & pl.col("arm").is_in(list(shown))
    ).select("arm", "execution", "question_id", unit_names(by), "failure_tags")
    return tuple(
        TaggedCell(
            arm=arm,
            question=question,
            unit=unit,
            tags=_names(text, f"K{execution}, arm {arm!r}, question {question!r}"),
        )
        for arm, execution, question, unit, text in cells.iter_rows()
    )


def tag_rates(outcomes: Outcomes, arms: Sequence[str] | None = None) -> TagRates:
    """Return the failure tags of the judged trajectories, over all executions.

    A trajectory whose judgement failed has no tags and is no part of the hundred.

    Raises
    ------
    InvalidResults
        If a cell's tags are no list of names.
    """
    shown = arms_in(outcomes) if arms is None else tuple(arms)
    judged: Counter[str] = Counter()
    counts: dict[str, Counter[str]] = {}
    for cell in tagged_cells(outcomes, shown):
        judged[cell.arm] += 1
        for tag in cell.tags:
            counts.setdefault(tag, Counter())[cell.arm] += 1
    rates = {
        tag: [100 * by_arm[arm] / judged[arm] for arm in shown if judged[arm]]
        for tag, by_arm in counts.items()
    }
    return TagRates(
        tags=in_order_of_frequency(rates),
        judged={arm: judged[arm] for arm in shown},
        counts={tag: dict(by_arm) for tag, by_arm in counts.items()},
    )


def tag_intervals(
    outcomes: Outcomes, drawing: Drawing, arms: Sequence[str] | None = None
) -> Mapping[tuple[str, str], Interval | None]:
    """Return the interval of each tag's rate per 100 judged trajectories, by tag and arm.

    All trajectories of a question (or video) are drawn together.
    """
    by_arm: dict[str, list[TaggedCell]] = {}
    for cell in tagged_cells(outcomes, arms, drawing.by):
        by_arm.setdefault(cell.arm, []).append(cell)
    given = dict.fromkeys(tag for cells in by_arm.values() for cell in cells for tag in cell.tags)
    return {
        (tag, arm): mean_interval(
            np.array([100.0 * (tag in cell.tags) for cell in cells]),
            [cell.unit for cell in cells],
            drawing,
            most=100.0,
        )
        for tag in given
        for arm, cells in by_arm.items()
    }


def _names(text: str, place: str) -> tuple[str, ...]:
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(
        isinstance(name, str) for name in cast("list[object]", found)
    ):
        raise InvalidResults(
            f"{place}: failure_tags is {text[:60]!r}, not a list of names such as "
            '["counting_error"]; judge the trajectory again, or leave the column null'
        )
    return tuple(dict.fromkeys(cast("list[str]", found)))
