"""How often each failure tag was given, per hundred judged trajectories, and which one leads."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import polars as pl

from taketwo.analysis.process import arms_in
from taketwo.errors import InvalidResults
from taketwo.outcomes.table import Outcomes
from taketwo.scores.process_scores import FAILURE_TAGS

__all__ = ["TagRates", "dominant_of", "in_order_of_frequency", "tag_rates"]

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


def tag_rates(outcomes: Outcomes, arms: Sequence[str] | None = None) -> TagRates:
    """Return the failure tags of the judged trajectories, over all executions.

    A trajectory whose judgement failed has no tags and is no part of the hundred.

    Raises
    ------
    InvalidResults
        If a cell's tags are no list of names.
    """
    shown = arms_in(outcomes) if arms is None else tuple(arms)
    frame = outcomes.frame.filter(
        pl.col("failure_tags").is_not_null() & pl.col("arm").is_in(list(shown))
    )
    judged: Counter[str] = Counter()
    counts: dict[str, Counter[str]] = {}
    for arm, execution, question, text in frame.select(
        "arm", "execution", "question_id", "failure_tags"
    ).iter_rows():
        judged[arm] += 1
        for tag in _names(text, f"K{execution}, arm {arm!r}, question {question!r}"):
            counts.setdefault(tag, Counter())[arm] += 1
    rates = {
        tag: [100 * by_arm[arm] / judged[arm] for arm in shown if judged[arm]]
        for tag, by_arm in counts.items()
    }
    return TagRates(
        tags=in_order_of_frequency(rates),
        judged={arm: judged[arm] for arm in shown},
        counts={tag: dict(by_arm) for tag, by_arm in counts.items()},
    )


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
