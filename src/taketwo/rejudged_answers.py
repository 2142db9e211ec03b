"""The answers of a run that is judged again, read now that the options' texts are known."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.question import Question
from taketwo.executions.log_json import items, part, plain_json, text
from taketwo.executions.trajectory import ModelCall
from taketwo.scores.answer_parsing import parse_option
from taketwo.scores.formats.run_folder import RunItem
from taketwo.scores.formats.run_folder_answers import FoundLetter, reading_record
from taketwo.scores.formats.run_folder_summary import OWN_KEY, Evaluated, letters_record
from taketwo.scores.trajectory_judgements import TrajectoryJudgement

__all__ = ["evaluated", "not_run", "with_letter"]

_OWN_STATUSES = ("ungradable", "judge_error")


def with_letter(item: RunItem, question: Question, framework: str) -> RunItem:
    """Return an item with the letter that its answer names, now that the options' texts are known.

    A label in the answer step stands, and so do stored votes, and all that we wrote ourselves. What
    is read in words stands in the record of the votes, for who reads the result without the texts.
    """
    is_readable = item.run_status in {"answered", "unparsed"} and (item.text or "").strip()
    if item.own_id is not None or not is_readable or not question.options:
        return item
    steps = [step for step in items(item.normalized, "steps") if text(step, "phase") == "answer"]
    given = (text(part(steps[-1], "data"), "letter") or "").strip() if steps else ""
    if given.upper() in question.labels:
        return item
    votes = items(item.letters, "votes")
    is_voted = item.letter_source == "letters" or any(vote is not None for vote in votes)
    if is_voted and not given:
        return item
    said = given or _reply(item)
    at = parse_option(said, question.for_agent()).option_index
    found = FoundLetter()
    if at is not None:
        found = FoundLetter(
            letter=question.labels[at],
            source="trajectory" if given else "text",
            is_doubtful=bool(votes) and not given,
        )
    stored = item.letters or letters_record(
        found.letter,
        question_id=item.question_id,
        framework=framework,
        excerpt=said,
        sha1=hashlib.sha1(said.encode(errors="replace"), usedforsecurity=False).hexdigest(),
    )
    return replace(
        item,
        run_status="unparsed" if at is None else "answered",
        failure=item.failure if at is None else None,
        letter=found.letter,
        letter_source=found.source,
        is_doubtful=found.is_doubtful,
        letters={**stored, OWN_KEY: reading_record(found)},
    )


def _reply(item: RunItem) -> str:
    """Return the words that an answer may stand in: of steps the last ones, unless a call came after."""
    if item.normalized is None:
        return item.text or ""
    events = () if item.trajectory is None else item.trajectory.events
    last = events[-1] if events else None
    return last.text if isinstance(last, ModelCall) else ""


def evaluated(
    item: RunItem,
    question: Question,
    *,
    judge: str,
    key: str | None,
    judged: TrajectoryJudgement | None,
    failure: str | None,
) -> Evaluated:
    """Return an item as it is written; `key` is None where nothing was to be judged."""
    gold = _gold(question)
    correct = _is_correct(item, question, gold)
    own: dict[str, JsonValue] = {"letter_source": item.letter_source}
    if judged is not None:
        own["judging"] = {
            "served_model": judged.served_model,
            "protocol": judged.protocol,
            "rubric": judged.rubric,
            "prompt_sha256": judged.prompt_sha256,
            "key": judged.key,
            "created": judged.created,
        }
    letters = item.letters
    return Evaluated(
        question_id=item.question_id,
        question=question,
        gold=gold,
        letter=item.letter,
        is_correct=correct,
        status=_status(item, question, correct),
        process=None if judged is None else judged.scores,
        judge=None if key is None else judge,
        judge_error=failure,
        letters=None
        if letters is None
        else {name: plain_json(value) for name, value in letters.items()},
        own=own,
    )


def not_run(number: int, question: Question) -> Evaluated:
    """Return a question that the run was given and left no record of."""
    return Evaluated(
        question_id=number,
        question=question,
        gold=_gold(question),
        letter=None,
        is_correct=None,
        status="not_run",
    )


def _gold(question: Question) -> str | None:
    truth = question.answer_index
    return question.answer_text if truth is None else question.labels[truth]


def _is_correct(item: RunItem, question: Question, gold: str | None) -> bool | None:
    """Return whether the answer is right.

    Where we wrote the folder, or no option is the truth, the stored verdict stands as long as the truth
    is the one that it was made with: a judge of answers may have given it. Else the letter decides.
    """
    in_words = not question.is_matched_by_option
    if (item.own_id is not None or in_words) and item.has_evaluation and item.gold == gold:
        return item.stored_correct
    if item.run_status in {"abstained", "unparsed", "limit"}:
        return False
    if item.run_status != "answered" or item.is_doubtful or item.letter is None or gold is None:
        return None
    return None if in_words else item.letter == gold


def _status(item: RunItem, question: Question, correct: bool | None) -> str:
    if item.run_status != "answered":
        return item.run_status
    if correct is not None:
        return "scored"
    if item.own_id is None and question.options:
        return "judge_error"
    told = text(item.own, "score_status")
    return told if told in _OWN_STATUSES else "not_judged"
