"""What an agent hands back, taken at its word only where the word can stand in a record.

An agent may be anybody's code. What is no answer by the contract of `taketwo.agents.answer` ends
the cell as `agent_error`; it never becomes a wrong answer, and never a record that no reader of
the log understands.
"""

from __future__ import annotations

from typing import cast, get_args

from taketwo.agents.answer import Answer, AnswerStatus
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.executions.log_json import encodable

__all__ = ["LONGEST_TEXT", "BrokenContract", "checked_answer"]

LONGEST_TEXT = 100_000
"""Characters of an answer's text, and of its reasoning, that are kept."""

_LONGEST_LIMIT = 100


class BrokenContract(TypeError):
    """An agent returned something that is no answer to its question."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}; an agent returns a taketwo Answer that fits its question")


def checked_answer(answer: object, question: VisibleQuestion) -> Answer:
    """Return `answer` as it goes into the record.

    Texts are cut after 100 000 characters, with a note of how much was left out, and lone
    surrogates become question marks. `answered` without an option of a multiple-choice question,
    or without any text of an open one, is `unparsed`.

    Raises
    ------
    BrokenContract
        If it is no `Answer`, a field has another kind of value, its status is unknown, or its
        option is none of the question's.
    """
    if not isinstance(answer, Answer):
        raise BrokenContract(f"the agent returned {type(answer).__name__}")
    status = cast("object", answer.status)
    if not isinstance(status, str) or status not in get_args(AnswerStatus):
        raise BrokenContract(
            f"the answer has status {status!r:.60}, expected one of {', '.join(get_args(AnswerStatus))}"
        )
    index = _option(answer.option_index, status, question)
    text = _text(answer.text, "text")
    forced = cast("object", answer.forced)
    if not isinstance(forced, bool):
        raise BrokenContract(f"`forced` of the answer is {type(forced).__name__}, expected bool")
    is_said = index is not None if question.options else bool(text.strip())
    return Answer(
        status="unparsed" if status == "answered" and not is_said else answer.status,
        text=text,
        option_index=index,
        reasoning=_text(answer.reasoning, "reasoning"),
        forced=forced,
        limit=None if answer.limit is None else _text(answer.limit, "limit")[:_LONGEST_LIMIT],
    )


def _option(index: object, status: str, question: VisibleQuestion) -> int | None:
    if index is None:
        return None
    if not isinstance(index, int) or isinstance(index, bool):
        raise BrokenContract(
            f"`option_index` of the answer is {type(index).__name__}, expected int or None"
        )
    count = len(question.options)
    if not question.options:
        raise BrokenContract(f"the answer names option {index}, the question has no options")
    if not 0 <= index < count:
        raise BrokenContract(f"the answer names option {index}, the question has 0 to {count - 1}")
    if status != "answered":
        raise BrokenContract(f"an answer with status {status!r} names option {index}")
    return int(index)


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise BrokenContract(f"`{name}` of the answer is {type(value).__name__}, expected str")
    left_out = len(value) - LONGEST_TEXT
    kept = value if left_out <= 0 else f"{value[:LONGEST_TEXT]}\n[{left_out} characters left out]"
    return encodable(kept)
