from __future__ import annotations

import json

import pytest

from taketwo.agents.answer import parse_answer
from taketwo.benchmarks.question import VisibleQuestion


def asked(*options: str) -> VisibleQuestion:
    return VisibleQuestion(question_id="q", text="?", options=options, video_duration_s=None)


FOUR = asked("red car", "blue car", "12", "None of the above")
LETTERS = asked(*(f"thing {number}" for number in range(26)))
NUMBERED = asked(*(f"thing {number}" for number in range(30)))


@pytest.mark.parametrize(
    "said",
    [
        *("[A, B]", "A, B]", "A, B?", "A, or B!", "A, maybe **B**", 'A, maybe "B"', "A: or B?"),
        *("A) or B?", "A. Or B;", "A, B: unsure", 'A. No, "B".', "A, [B]", "A, {B}", "A, `B`"),
        *("A, <B>", "A. Actually B: blue car", "A. Actually it is B: blue car", "A. I mean b"),
        *("A, b", "A) b)", "A, option b", "A, B-C", "A, B\u2026", "A, \u201cB\u201d", "A, 'B'"),
        *("A\u2014b", "A, B!", "A. It was B instead", "A) No, B is right", "B) or A is right"),
        *("B, because A", "B) no, a", "A, \u24b7", "A. red car? no, blue car", "A. no. blue car"),
        *("A) red car and B) blue car", "A) red car or 12", "A. The blue car", "A) it is b"),
    ],
)
def test_a_second_option_in_one_commitment_is_never_passed_over(said: str) -> None:
    for text in (f"FINAL ANSWER: {said}", json.dumps({"answer": said}), f"The answer is {said}"):
        assert parse_answer(text, FOUR).status == "unparsed", text


@pytest.mark.parametrize(
    "said",
    [
        *("T-shirt", "X-ray", "B-roll", "e.g. a car", "i.e. unclear", "n.a.", "a.m.", "N. Korea"),
        *("J. Smith", "I, too, am unsure", "I, as a model, cannot", "Q: what?", "A: unclear"),
        *(
            "A: It is dark",
            "E. coli",
            "P - a letter",
            "E.T. phoned",
            "V-shaped",
            "D) was ruled out",
        ),
        *(
            "D) I do not think so",
            "D) not this",
            "A, an article",
            "I. The first",
            "N. \0Korea",
            "3:45",
        ),
    ],
)
def test_words_and_initials_are_no_labels(said: str) -> None:
    for text in (f"FINAL ANSWER: {said}", json.dumps({"answer": said}), f"The answer is {said}"):
        for question in (LETTERS, NUMBERED):
            assert parse_answer(text, question).status == "unparsed", text


@pytest.mark.parametrize(
    ("said", "index"),
    [
        *(("A. a red car", 0), ("B) blue car, parked", 1), ("B. The blue car by the tree", 1)),
        *(("B-blue car", 1), ("B: blue car, as I saw", 1), ("B - the BLUE  car, parked", 1)),
        *(
            ("B. blue", 1),
            ("B. blue vehicle", 1),
            ("C. because I saw it", 2),
            ("C: 12, all told", 2),
        ),
        *(("C - because I saw it", 2), ("C: since it is so", 2), ("C, probably", 2)),
        *(("(C) seen twice", 2), ("**C.** Because I saw it", 2), ("C) A man is seen at 5 s", 2)),
        *(("C) as far as I can tell, e.g. at noon", 2), ("B) the C++-free one, not a T-shirt", 1)),
        *(("C. it doesn't end", 2), ("C) I'd say so", 2), ("B \u2014 it is blue", 1)),
    ],
)
def test_a_label_stays_one_before_its_own_text_or_a_remark(said: str, index: int) -> None:
    assert parse_answer(f"FINAL ANSWER: {said}", FOUR).option_index == index
    assert parse_answer(json.dumps({"answer": said}), FOUR).option_index == index


@pytest.mark.parametrize(
    ("options", "said", "index"),
    [
        (("tea", "Korea"), "B. Korea, by the flag", 1),
        (("car", "red car"), "B. the red car, parked", 1),
        (("car", "red car"), "A. the red car, parked", None),
        (("vitamin B", "vitamin A"), "B) vitamin A, as the label says", 1),
        (("Washington, B.C.", "Rome", "Bern"), "A. Washington, B.C. that is", 0),
        (("caf\u00e9", "tea"), "A. Cafe\u0301, surely", 0),
        (("tea", "\uff11\uff12 cups"), "B - 12 cups in all", 1),
        (("x.*", "tea"), "A) x.* matches", 0),
        (("3", "3.5"), "A. 3.5 metres", None),
    ],
)
def test_words_after_a_label_are_compared_with_the_options_texts(
    options: tuple[str, ...], said: str, index: int | None
) -> None:
    assert parse_answer(f"FINAL ANSWER: {said}", asked(*options)).option_index == index


def test_a_number_as_a_label_is_read_like_a_letter() -> None:
    assert parse_answer("FINAL ANSWER: 3) seen at 12 s", NUMBERED).option_index == 2
    assert parse_answer("FINAL ANSWER: 3. No, 4!", NUMBERED).status == "unparsed"
    assert parse_answer("FINAL ANSWER: [3, 4]", NUMBERED).status == "unparsed"
