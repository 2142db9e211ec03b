from __future__ import annotations

import pytest

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.question import Question
from taketwo.errors import InvalidQuestion


def a_question(question_id: str, text: str = "What?") -> Question:
    return Question(
        question_id=question_id, text=text, video_id="v", video_path="v.mp4", answer_text="this"
    )


def test_ids_that_occur_twice_are_refused_with_the_first() -> None:
    questions = (a_question("b"), a_question("a"), a_question("b"), a_question("a"))
    with pytest.raises(InvalidQuestion, match="2 question ids occur more than once, first 'a'"):
        Benchmark(name="mine", version="1", questions=questions)


def test_a_benchmark_without_questions_is_refused() -> None:
    with pytest.raises(InvalidQuestion, match="benchmark 'mine' has no questions"):
        Benchmark(name="mine", version="1", questions=())


def test_the_fingerprint_follows_content_and_order() -> None:
    one, two = a_question("1"), a_question("2")

    def fingerprint(*questions: Question) -> str:
        return Benchmark(name="mine", version="1", questions=questions).fingerprint

    assert fingerprint(one, two) == fingerprint(one, two)
    assert fingerprint(one, two) != fingerprint(two, one)
    assert fingerprint(one, two) != fingerprint(one, a_question("2", "Which?"))
