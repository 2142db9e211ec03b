"""What a question of a run folder was answered with, and how it ended."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from taketwo.agents.answer import parse_answer
from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.question import VisibleQuestion, option_labels
from taketwo.executions.log_json import Json, items, part, plain_json, text
from taketwo.executions.trajectory import RunStatus
from taketwo.scores.formats.run_folder_summary import OWN_KEY
from taketwo.scores.formats.run_folder_trajectory import StructuredAnswer

__all__ = ["FoundLetter", "LetterSource", "ending_of", "error_in", "letter_of", "reading_record"]

LetterSource = Literal["trajectory", "letters", "text"]

_STATUSES: tuple[RunStatus, ...] = (
    "answered",
    "abstained",
    "unparsed",
    "limit",
    "agent_error",
    "provider_error",
    "media_error",
    "not_run",
)
_SOURCES: tuple[LetterSource, ...] = ("trajectory", "letters", "text")
_LETTERS = option_labels(26)
_UNKNOWN = tuple(f"\0option {letter}" for letter in _LETTERS)


@dataclass(frozen=True, kw_only=True)
class FoundLetter:
    """A letter, None where there is none, and where it is from.

    `is_doubtful` marks one that all votes missed and that our parser reads in the text.
    """

    letter: str | None = None
    source: LetterSource | None = None
    is_doubtful: bool = False


def error_in(record: Json | None) -> str | None:
    """Return the error that a record tells of: its text, or whatever else stands there as JSON.

    What says nothing (null, false, 0, or empty) is none.
    """
    told = None if record is None else record.get("error")
    if not told or (isinstance(told, str) and not told.strip()):
        return None
    if isinstance(told, str):
        return text(record, "error")
    return json.dumps(plain_json(told), ensure_ascii=False)


def letter_of(
    written: str | None,
    answer: StructuredAnswer | None,
    letters: Json | None,
    options: Sequence[str] | None = None,
) -> FoundLetter:
    """Return the letter that the steps state; without an answer step that of the votes, else of the text.

    `options` are the texts of the question's options, with which a reply that repeats one is read, and
    an answer step that states a number which is no label but an option. What `reading_record` kept of
    an earlier reading stands where the options are not known.
    """
    kept = part(letters, OWN_KEY)
    if options is None and "letter_source" in kept:
        return _kept(kept)
    if answer is not None:
        stated = answer.letter
        if stated is not None and options and stated not in option_labels(len(options)):
            stated = _read(stated, tuple(options))
        return FoundLetter(letter=stated, source=None if stated is None else "trajectory")
    majority = (text(letters, "majority_letter") or "").strip().upper()
    if majority in _LETTERS:
        return FoundLetter(letter=majority, source="letters")
    votes = items(letters, "votes")
    if votes and any(vote is not None for vote in votes):
        return FoundLetter()
    read = _read(written or "", _UNKNOWN if options is None else tuple(options))
    if read is None:
        return FoundLetter()
    return FoundLetter(letter=read, source="text", is_doubtful=bool(votes))


def reading_record(found: FoundLetter) -> dict[str, JsonValue]:
    """Return what was read with the options' texts, for a record of votes, under our own key."""
    return {
        "letter": found.letter,
        "letter_source": found.source,
        "is_doubtful": found.is_doubtful,
    }


def _kept(record: Json) -> FoundLetter:
    letter = text(record, "letter")
    source: LetterSource | None = next(
        (name for name in _SOURCES if name == text(record, "letter_source")), None
    )
    if letter is None or source is None:
        return FoundLetter()
    return FoundLetter(letter=letter, source=source, is_doubtful=record.get("is_doubtful") is True)


def _read(written: str, options: tuple[str, ...]) -> str | None:
    """Return the letter that our own parser finds in a reply."""
    if not options:
        return None
    asked = VisibleQuestion(question_id="q", text="?", options=options, video_duration_s=None)
    index = parse_answer(written, asked).option_index
    return None if index is None else asked.labels[index]


def ending_of(
    *,
    error: str | None,
    written: str | None,
    letter: str | None,
    own: Json,
    gave_up: bool,
) -> tuple[RunStatus, str | None]:
    """Return how a question ended and why it has no answer; where we wrote the run, as we wrote it."""
    told: RunStatus | None = next(
        (name for name in _STATUSES if name == text(own, "run_status")), None
    )
    if told is not None:
        return told, error or text(own, "failure")
    if error is not None:
        return "agent_error", error
    if written is None:
        return "not_run", "no trajectory was recorded"
    if gave_up:
        return "limit", "the agent ended without an answer and the run wrote the letter A"
    if not written.strip():
        return "unparsed", "the reply is empty"
    return ("answered", None) if letter is not None else ("unparsed", "no letter in the reply")
