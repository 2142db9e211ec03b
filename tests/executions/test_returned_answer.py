from __future__ import annotations

import pytest

from taketwo.agents.answer import Answer
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.executions.returned_answer import LONGEST_TEXT, BrokenContract, checked_answer

CHOICE = VisibleQuestion(
    question_id="q", text="Which?", options=("red", "blue"), video_duration_s=None
)
OPEN = VisibleQuestion(question_id="q", text="What?", options=(), video_duration_s=None)


def changed(**fields: object) -> Answer:
    """Return an answer with fields of any kind, as an agent without type checks makes it."""
    answer = Answer(status="answered", text="A", option_index=0, reasoning="seen")
    for name, value in fields.items():
        object.__setattr__(answer, name, value)
    return answer


@pytest.mark.parametrize(
    ("answer", "question"),
    [
        (Answer(status="answered", text="B", option_index=1, reasoning="r"), CHOICE),
        (Answer(status="answered", text="a cat", forced=True, limit="turns"), OPEN),
        (Answer(status="abstained", text=""), CHOICE),
        (Answer(status="unparsed", text="hm"), OPEN),
        (Answer(status="limit", text="", limit="turns"), CHOICE),
    ],
)
def test_an_answer_by_the_contract_is_kept_as_it_is(
    answer: Answer, question: VisibleQuestion
) -> None:
    assert checked_answer(answer, question) == answer


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "the agent returned NoneType"),
        ("A", "the agent returned str"),
        (changed(status="correct"), "has status 'correct', expected one of answered, abstained"),
        (changed(status="provider_error"), "has status 'provider_error'"),
        (changed(status=["answered"]), "has status"),
        (changed(option_index=2), "names option 2, the question has 0 to 1"),
        (changed(option_index=-1), "names option -1, the question has 0 to 1"),
        (changed(option_index="0"), "`option_index` of the answer is str"),
        (changed(option_index=0.0), "`option_index` of the answer is float"),
        (changed(option_index=True), "`option_index` of the answer is bool"),
        (changed(status="abstained"), "an answer with status 'abstained' names option 0"),
        (changed(text=5), "`text` of the answer is int"),
        (changed(reasoning={1}), "`reasoning` of the answer is set"),
        (changed(forced=1), "`forced` of the answer is int"),
        (changed(limit=3), "`limit` of the answer is int"),
    ],
)
def test_what_is_no_answer_to_the_question_breaks_the_contract(
    answer: object, message: str
) -> None:
    with pytest.raises(BrokenContract, match=message):
        checked_answer(answer, CHOICE)


def test_an_open_question_has_no_option_to_name() -> None:
    with pytest.raises(BrokenContract, match="names option 0, the question has no options"):
        checked_answer(changed(), OPEN)


def test_answered_without_an_answer_is_unparsed_and_so_wrong() -> None:
    assert checked_answer(changed(option_index=None), CHOICE).status == "unparsed"
    assert checked_answer(changed(option_index=None, text=" \n"), OPEN).status == "unparsed"


def test_texts_are_bounded_and_can_be_encoded() -> None:
    long = changed(text="x" * (LONGEST_TEXT + 7), reasoning="a\ud800b")

    answer = checked_answer(long, CHOICE)

    assert answer.text == "x" * 100_000 + "\n[7 characters left out]"
    assert answer.reasoning == "a?b"
