"""A benchmark: a named, versioned set of questions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from taketwo.benchmarks.canonical import sha256_of
from taketwo.benchmarks.question import Question
from taketwo.errors import InvalidQuestion

__all__ = ["Benchmark"]


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """A named, versioned set of questions with unique ids.

    Raises
    ------
    InvalidQuestion
        If it is empty or two questions share an id.
    """

    name: str
    version: str
    questions: tuple[Question, ...]

    def __post_init__(self) -> None:
        if not self.questions:
            raise InvalidQuestion(f"benchmark {self.name!r} has no questions")
        counts = Counter(question.question_id for question in self.questions)
        repeated = sorted(name for name, count in counts.items() if count > 1)
        if repeated:
            raise InvalidQuestion(
                f"benchmark {self.name!r}: {len(repeated)} question ids occur more than once, "
                f"first {repeated[0]!r}; ids must be unique"
            )

    @property
    def fingerprint(self) -> str:
        """Return the hash of the content of all questions, in their order."""
        return sha256_of([question.content_sha256 for question in self.questions])
