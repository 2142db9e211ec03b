"""What an agent hands back: an answer, an abstention, or text from which none can be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Answer", "AnswerStatus"]

AnswerStatus = Literal["answered", "abstained", "unparsed", "limit"]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An agent's reply to a question.

    `option_index` is the 0-based option of a multiple-choice question and None otherwise. `text`
    is the reply as given (for an open question, the answer). `forced` marks an answer that was
    given because a budget ran out. A status other than `answered` never carries an option.
    """

    status: AnswerStatus
    text: str
    option_index: int | None = None
    reasoning: str = ""
    forced: bool = False
    limit: str | None = None

    def __post_init__(self) -> None:
        if self.status != "answered" and self.option_index is not None:
            raise ValueError(f"an answer with status {self.status!r} cannot carry an option")
