from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from taketwo.benchmarks.catalog import load_benchmark
from taketwo.benchmarks.minerva import minerva, youtube_id
from taketwo.benchmarks.question import Question
from taketwo.errors import InvalidQuestion


def row(**changes: Any) -> dict[str, Any]:
    return {
        "key": "a-b_c:1",
        "video_id": "https://www.youtube.com/watch?v=a-b_c&t=3s",
        "question": "How often does the ball cross the line before 02:10?",
        "answer": "Three times",
        "answer_choice_0": "Twice",
        "answer_choice_1": "Three times",
        "answer_choice_2": "Four times",
        "answer_choice_3": "Never",
        "answer_choice_4": "Once",
        "answer_id": 1,
        "reasoning": "The ball crosses at 00:20, 01:04 and 02:01, so three times.",
        "question_type": "Counting, Temporal Reasoning,Counting",
        "split": "Sports",
        "category": "Football",
    } | changes


def data_set(folder: Path, *rows: dict[str, Any]) -> Path:
    (folder / "minerva.json").write_text(json.dumps(list(rows), indent=1), encoding="utf-8")
    return folder


def only(folder: Path, **changes: Any) -> Question:
    (question,) = minerva(data_set(folder, row(**changes))).questions
    return question


def test_a_row_becomes_a_question_with_its_reasoning_as_explanation(tmp_path: Path) -> None:
    question = only(tmp_path)

    assert question.question_id == "a-b_c_x3A1"
    assert question.raw_id == "a-b_c:1"
    assert question.video_id == "a-b_c"
    assert question.video_path == str(tmp_path / "videos" / "a-b_c.mp4")
    assert question.options == ("Twice", "Three times", "Four times", "Never", "Once")
    assert question.answer_index == 1
    assert question.skills == ("Counting", "Temporal Reasoning")
    assert question.attributes == {"split": "Sports", "category": "Football"}
    assert question.explanation == "The ball crosses at 00:20, 01:04 and 02:01, so three times."


def test_nothing_of_the_reasoning_is_in_what_an_agent_sees(tmp_path: Path) -> None:
    seen = repr(only(tmp_path).for_agent())

    for secret in ("01:04", "Sports", "Football", "Counting", "answer"):
        assert secret not in seen


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("https://www.youtube.com/watch?v=a-b_c", "a-b_c"),
        ("https://youtu.be/a-b_c?t=9", "a-b_c"),
        ("https://www.youtube.com/shorts/a-b_c/", "a-b_c"),
        ("a-b_c", "a-b_c"),
        ("http://[", "http://["),
    ],
)
def test_the_id_of_a_video_is_read_out_of_its_address(written: str, found: str) -> None:
    assert youtube_id(written) == found


def test_a_video_may_lie_in_a_folder_of_its_own(tmp_path: Path) -> None:
    data_set(tmp_path, row())
    (tmp_path / "films" / "a-b_c").mkdir(parents=True)
    (tmp_path / "films" / "a-b_c" / "a-b_c.webm").write_bytes(b"x")

    loaded = load_benchmark({"name": "minerva", "path": ".", "videos": "films"}, base=tmp_path)

    assert loaded.questions[0].video_path.endswith("films/a-b_c/a-b_c.webm")


def test_what_documents_spell_with_a_blank_is_read_too_and_the_rest_may_be_missing(
    tmp_path: Path,
) -> None:
    written = row(**{"question type": ["Counting"]})
    for name in ("question_type", "answer", "reasoning", "split", "category"):
        del written[name]

    (question,) = minerva(data_set(tmp_path, written)).questions

    assert question.skills == ("Counting",)
    assert question.explanation is None
    assert question.attributes == {}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"answer_id": 5}, "field 'answer_id' is 5: Input should be less than 5"),
        ({"answer_id": -1}, "field 'answer_id' is -1"),
        ({"answer_id": True}, "field 'answer_id' is True: a truth value is no number"),
        ({"answer_id": 1.5}, "field 'answer_id' is 1.5"),
        ({"answer_choice_4": None}, "field 'answer_choice_4' is None"),
        ({"answer_choice_4": "Never"}, "two options are equal"),
        ({"answer_choice_4": " "}, "option 5 is empty"),
        (
            {"answer_id": 2},
            "field 'answer' is 'Three times', the text of option 1, but 'answer_id' is 2",
        ),
        (
            {"video_id": "../../etc/passwd"},
            "field 'video_id' is '../../etc/passwd', which is no name",
        ),
        ({"video_id": "https://www.youtube.com/watch?v=../x"}, "which is no name of a video"),
        ({"question": None}, "field 'question' is None"),
        ({"key": ""}, "field 'key' is ''"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        only(tmp_path, **changes)

    assert "minerva.json, line 2: " in str(caught.value)
    assert message in str(caught.value)


def test_all_broken_rows_are_told_at_once(tmp_path: Path) -> None:
    data_set(tmp_path, row(), row(), row(key="k", answer_id="x"), row(key="l", question=3))

    with pytest.raises(InvalidQuestion) as caught:
        minerva(tmp_path)

    text = str(caught.value)
    assert "3 of 4 rows cannot be used" in text
    assert "key 'a-b_c_x3A1' is used at minerva.json, line 2 already" in text
    assert "field 'answer_id' is 'x'" in text
    assert "field 'question' is 3" in text


def test_rows_of_one_line_are_told_apart_by_their_number(tmp_path: Path) -> None:
    rows = [
        row(key="a"), row(key="b"), row(key="c", answer_id=9), row(key="a"),
        row(key="e", question=3), row(key="f"),
    ]  # fmt: skip
    (tmp_path / "minerva.json").write_text(json.dumps(rows), encoding="utf-8")

    with pytest.raises(InvalidQuestion) as caught:
        minerva(tmp_path)

    assert "3 of 6 rows cannot be used" in str(caught.value)
    first, second, third = caught.value.problems
    assert first.startswith("minerva.json, line 1, row 3: field 'answer_id' is 9: ")
    assert second == (
        "minerva.json, line 1, row 4: key 'a' is used at minerva.json, line 1, row 1 already"
    )
    assert third.startswith("minerva.json, line 1, row 5: field 'question' is 3: ")


def test_a_folder_without_the_file_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidQuestion, match="give the folder that the data set was downloaded to"
    ):
        minerva(tmp_path)
