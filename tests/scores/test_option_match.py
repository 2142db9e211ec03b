from __future__ import annotations

import pytest

from taketwo.benchmarks.question import Question
from taketwo.scores.option_match import match_open, match_option, normalised_answer


def open_question(truth: str, *accepted: str) -> Question:
    return Question(
        question_id="q1",
        text="What is shown?",
        video_id="v1",
        video_path="v1.mp4",
        answer_text=truth,
        accepted_answers=accepted,
    )


def test_an_option_is_right_only_where_it_is_the_true_one() -> None:
    question = Question(
        question_id="q1",
        text="Which?",
        video_id="v1",
        video_path="v1.mp4",
        options=("red", "green", "blue"),
        answer_index=2,
    )

    assert [match_option(question, index) for index in range(3)] == [
        "incorrect",
        "incorrect",
        "correct",
    ]


def test_where_no_option_is_the_truth_a_choice_needs_a_judge() -> None:
    question = Question(
        question_id="q1",
        text="Which?",
        video_id="v1",
        video_path="v1.mp4",
        options=("red", "green"),
        answer_text="neither",
    )

    assert [match_option(question, index) for index in range(2)] == [None, None]


@pytest.mark.parametrize("answer", ["4", "four", " Four. ", "the 4", "FOUR"])
def test_case_punctuation_articles_and_number_words_do_not_count(answer: str) -> None:
    assert match_open(open_question("four"), answer) == "correct"


@pytest.mark.parametrize("answer", ["not four", "4 or 5", "14", "four cats", ""])
def test_anything_else_needs_a_judge(answer: str) -> None:
    assert match_open(open_question("four"), answer) is None


def test_a_complete_list_of_answers_makes_a_judge_unnecessary() -> None:
    question = open_question("four", "4", "quadruple")

    assert match_open(question, "Quadruple!") == "correct"
    assert match_open(question, "five") == "incorrect"
    assert match_open(question, "") == "incorrect"


def test_compatibility_forms_case_and_inner_space_do_not_count_in_a_match() -> None:
    assert normalised_answer("Ｒｅｄ  1st\n") == "red 1st"
    assert match_open(open_question("four cats"), "ＦＯＵＲ  Cats") == "correct"
