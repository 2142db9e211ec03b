"""What a written score or status means; nothing is guessed.

Scores are numbers, truth values, or one of the words below. A number written as text is a number.
Anything else is an error that names the value and its place: mapping `"A-"` or `"mostly right"` to a
number is for its author to do.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from taketwo.errors import InvalidResults
from taketwo.outcomes.imports.record import STATUSES, Status

__all__ = ["SCORE_WORDS", "STATUS_WORDS", "score_of", "status_of"]

SCORE_WORDS: Mapping[str, float] = {
    "true": 1.0,
    "false": 0.0,
    "pass": 1.0,
    "fail": 0.0,
    "passed": 1.0,
    "failed": 0.0,
    "correct": 1.0,
    "incorrect": 0.0,
    "c": 1.0,
    "i": 0.0,
    "p": 0.5,
    "n": 0.0,
}
"""Without regard to case. C, I, P, N are inspect's: correct, incorrect, partly correct, no answer."""

STATUS_WORDS: Mapping[str, Status] = {
    **{status: status for status in STATUSES},
    "": "scored",
    "ok": "scored",
    "success": "scored",
    "completed": "scored",
    "answered": "scored",
    "valid": "scored",
    "error": "agent_error",
    "exception": "agent_error",
    "crash": "agent_error",
    "failed": "agent_error",
    "infrastructure_error": "provider_error",
    "api_error": "provider_error",
    "rate_limit": "provider_error",
    "refused": "abstained",
    "no_answer": "abstained",
    "parse_error": "unparsed",
    "missing": "not_run",
    "skipped": "not_run",
    "cancelled": "not_run",
    "unscored": "not_judged",
}
"""Without regard to case; blanks and hyphens count as underscores."""

LARGEST = 1e100
"""Scores beyond this overflow when they are squared."""

_WHOLE = re.compile(r"[+-]?[0-9]{1,400}")
_NUMBER = re.compile(
    r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|[+-]?(?:nan|inf(?:inity)?)"
)

_EMPTY = {"", "na", "n/a", "null", "none"}


def score_of(value: object, place: str) -> float | None:
    """Return the number that a score stands for; None where none was given; NaN stays NaN.

    Raises
    ------
    InvalidResults
        If it is a text without an agreed meaning, or no single value.

    Examples
    --------
    >>> score_of("C", "row 1"), score_of(True, "row 2"), score_of("", "row 3")
    (1.0, 1.0, None)
    """
    if value is None:
        return None
    if isinstance(value, (bool, int, float)):
        return _exact(value, place)
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _EMPTY:
            return None
        if word in SCORE_WORDS:
            return SCORE_WORDS[word]
        if _WHOLE.fullmatch(word):
            return _exact(int(word), place)
        if _NUMBER.fullmatch(word):
            return _exact(float(word), place)
    raise InvalidResults(
        f"{place}: score {_shown(value)} is neither a number nor one of the words "
        f"{', '.join(sorted(SCORE_WORDS))}; map it to a number before the audit, or leave this "
        "metric out with --primary"
    )


def _exact(value: float, place: str) -> float:
    """Return `value` as a float; refuse one that a float does not hold, or that cannot be squared."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if isinstance(value, int) and (math.isinf(number) or int(number) != value):
        raise InvalidResults(
            f"{place}: the whole number {_shown(value)} is beyond what can be computed with exactly "
            "(2**53); subtract a constant from the metric, or give it in a larger unit"
        )
    if math.isfinite(number) and abs(number) > LARGEST:
        raise InvalidResults(
            f"{place}: score {_shown(value)} is too large to compute with (over {LARGEST:g}); give "
            "the metric in a larger unit"
        )
    return number


def _shown(value: object) -> str:
    written = repr(value)
    return written if len(written) <= 80 else f"{written[:77]}..."


def status_of(written: str | None, place: str) -> Status:
    """Return the status that a word stands for.

    Raises
    ------
    InvalidResults
        If the word has no agreed meaning.
    """
    word = (written or "").strip().lower().replace(" ", "_").replace("-", "_")
    found = STATUS_WORDS.get(word)
    if found is None:
        raise InvalidResults(
            f"{place}: status {_shown(written)} is not known; use one of "
            f"{', '.join(sorted(word for word in STATUS_WORDS if word))}"
        )
    return found
