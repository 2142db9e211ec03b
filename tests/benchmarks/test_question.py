from __future__ import annotations

from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taketwo.benchmarks.question import Milestone, Question, option_labels, safe_question_id
from taketwo.errors import InvalidQuestion


def a_question(**changes: object) -> Question:
    question = Question(
        question_id="q1",
        text="What is shown?",
        video_id="v1",
        video_path="v1.mp4",
        options=("a cat", "a dog", "a cow"),
        answer_index=1,
        attributes={"kind": "recognition"},
        skills=("seeing",),
        milestones=(Milestone(milestone_id="m1", text="see the dog", start_s=1.0, end_s=2.0),),
        licence="CC0-1.0",
    )
    return replace(question, **changes)


def test_an_agent_sees_neither_truth_nor_milestones_nor_category() -> None:
    visible = asdict(a_question().for_agent())
    assert set(visible) == {"question_id", "text", "options", "video_duration_s"}


def test_reading_back_gives_an_equal_question() -> None:
    question = a_question()
    assert Question.from_json(question.to_json()) == question


def test_a_choice_may_have_its_truth_in_words_where_no_option_is_the_truth() -> None:
    question = a_question(answer_index=None, answer_text="neither")

    assert (question.format, question.is_matched_by_option) == ("mcq", False)
    assert a_question().is_matched_by_option
    assert Question.from_json(question.to_json()) == question
    with pytest.raises(InvalidQuestion, match="the true option None is not one of 0 to 2"):
        a_question(answer_index=None, answer_text="  ")


def test_factors_with_several_levels_are_kept_and_stand_beside_skills_and_capabilities() -> None:
    question = a_question(
        multi_attributes={"audio_type": ("speech", "music")}, capabilities=("temporal",)
    )

    assert Question.from_json(question.to_json()) == question
    assert question.several_levels == {
        "audio_type": ("speech", "music"),
        "capability": ("temporal",),
        "skill": ("seeing",),
    }
    assert question.content_sha256 != a_question(capabilities=("temporal",)).content_sha256


def test_a_question_without_skills_has_no_such_factor() -> None:
    assert a_question(skills=()).several_levels == {}


def test_up_to_26_options_have_letters_and_more_have_numbers_throughout() -> None:
    assert option_labels(3) == ("A", "B", "C")
    assert option_labels(26)[-1] == "Z"
    assert option_labels(27)[:2] == ("1", "2")
    assert option_labels(27)[-1] == "27"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"question_id": "a b"}, "the id needs 1 to 128 characters"),
        ({"text": "  "}, "the text is empty"),
        ({"video_id": ""}, "the video id is empty"),
        ({"options": ("one",), "answer_index": 0}, "needs at least 2"),
        ({"options": ("x", "x"), "answer_index": 0}, "two options are equal"),
        ({"answer_index": 3}, "the true option 3 is not one of 0 to 2"),
        ({"answer_index": None}, "the true option None is not one of 0 to 2"),
        ({"options": (), "answer_index": None}, "neither options nor a true answer text"),
        ({"options": (), "answer_text": "x"}, "but there are no options"),
        ({"video_duration_s": float("nan")}, "the length of the video is nan s"),
        ({"video_duration_s": -1.0}, "the length of the video is -1.0 s"),
        (
            {"attributes": {"skill": "seeing"}},
            "the factor 'skill' is given with one level and with several",
        ),
        (
            {"milestones": (Milestone(milestone_id="m", text="x"),) * 2},
            "two milestones have the same id",
        ),
        ({"multi_attributes": {"style": ("\ud800",)}}, "multi_attributes holds half a character"),
    ],
)
def test_a_question_that_cannot_be_asked_says_why(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidQuestion, match=message):
        a_question(**changes)


@pytest.mark.parametrize(
    "changes",
    [{"unknown": 1}, {"text": 5}, {"options": "abc"}, {"milestones": None}, {"milestones": [3]}],
)
def test_a_record_of_the_wrong_kind_is_an_invalid_question(changes: dict[str, object]) -> None:
    record = {**a_question().to_json(), **changes}
    with pytest.raises(InvalidQuestion, match="question 'q1' cannot be read"):
        Question.from_json(record)  # pyright: ignore[reportArgumentType]


def test_the_content_hash_follows_what_is_asked_and_not_where_the_video_lies() -> None:
    question = a_question()
    assert a_question(video_path="elsewhere.mp4").content_sha256 == question.content_sha256
    assert a_question(text="What is seen?").content_sha256 != question.content_sha256
    assert a_question(answer_index=2).content_sha256 != question.content_sha256


def test_an_id_that_fits_is_kept_and_another_is_encoded() -> None:
    assert safe_question_id("v01-q2") == "v01-q2"
    assert safe_question_id("v/1 é") == "v_x2F1_x20_xC3_xA9"


@given(raw=st.text(min_size=1, max_size=10))
def test_every_short_id_becomes_usable(raw: str) -> None:
    a_question(question_id=safe_question_id(raw))


def test_an_id_that_stays_too_long_is_refused() -> None:
    with pytest.raises(InvalidQuestion, match="give the question a shorter id"):
        safe_question_id("é" * 100)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"text": "What \ud800?"}, r"text holds half a character \(a lone surrogate, '\\ud800'\)"),
        ({"options": ("a", "\udfff")}, "options holds half a character"),
        ({"options": ("a", "  ")}, "option 2 is empty; give it a text"),
    ],
)
def test_a_text_that_cannot_be_sent_is_refused(changed: dict[str, object], message: str) -> None:
    fields: dict[str, object] = {
        "question_id": "q",
        "text": "What?",
        "video_id": "v",
        "video_path": "v.mp4",
        "options": ("a", "b"),
        "answer_index": 0,
        **changed,
    }
    with pytest.raises(InvalidQuestion, match=message):
        Question(**fields)  # type: ignore[arg-type] pyright: ignore[reportArgumentType]


def test_a_milestone_of_one_instant_is_fine() -> None:
    assert Milestone(milestone_id="m", text="see", start_s=2.0, end_s=2.0).problems == []
