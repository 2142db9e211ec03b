"""What a written score or status means; nothing is guessed.

Scores are numbers, truth values, or one of the words below. A number written as text is a number.
Anything else is an error that names the value and its place: mapping `"A-"` or `"mostly right"` to a
number is for its author to do.
"""

from __future__ import annotations

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
        return float(value)
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _EMPTY:
            return None
        if word in SCORE_WORDS:
            return SCORE_WORDS[word]
        try:
            return float(word)
        except ValueError:
            pass
    raise InvalidResults(
        f"{place}: score {_shown(value)} is neither a number nor one of the words "
        f"{', '.join(sorted(SCORE_WORDS))}; map it to a number before the audit, or leave this "
        "metric out with --primary"
    )


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
