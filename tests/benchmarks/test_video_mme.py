from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.catalog import load_benchmark
from taketwo.benchmarks.question import Question
from taketwo.benchmarks.video_mme import video_mme
from taketwo.errors import InvalidQuestion, RequestError


def row(**changes: Any) -> dict[str, Any]:
    return {
        "video_id": "001",
        "duration": "short",
        "domain": "Knowledge",
        "sub_category": "Humanity & History",
        "url": "https://www.youtube.com/watch?v=a-b_c",
        "videoID": "a-b_c",
        "question_id": "001-1",
        "task_type": "Counting Problem",
        "question": "How many flags are shown?",
        "options": ["A. Two.", "B. Three.", "C. Four.", "D. Five."],
        "answer": "C",
    } | changes


def data_set(folder: Path, *rows: dict[str, Any]) -> Path:
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return folder


def load(folder: Path, **options: Any) -> Benchmark:
    return load_benchmark({"name": "video_mme", "path": ".", **options}, base=folder)


def only(folder: Path, **changes: Any) -> Question:
    (question,) = load(data_set(folder, row(**changes))).questions
    return question


def test_a_row_becomes_a_question_without_the_letters_of_its_options(tmp_path: Path) -> None:
    question = only(tmp_path)

    assert question.question_id == "001-1"
    assert question.text == "How many flags are shown?"
    assert question.options == ("Two.", "Three.", "Four.", "Five.")
    assert question.answer_index == 2
    assert question.video_id == "a-b_c"
    assert question.video_path == str(tmp_path / "videos" / "a-b_c.mp4")
    assert question.subtitles_path is None
    assert question.attributes == {
        "duration": "short",
        "domain": "Knowledge",
        "sub_category": "Humanity & History",
        "task_type": "Counting Problem",
    }


def test_the_published_layout_is_found(tmp_path: Path) -> None:
    (tmp_path / "videomme").mkdir()
    pl.DataFrame([row(), row(question_id="001-2")]).write_parquet(
        tmp_path / "videomme" / "test-00000-of-00001.parquet"
    )
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a-b_c.mkv").write_bytes(b"x")

    first, second = load(tmp_path).questions

    assert first.options == second.options == ("Two.", "Three.", "Four.", "Five.")
    assert first.video_path == str(tmp_path / "data" / "a-b_c.mkv")


@pytest.mark.parametrize(
    ("written", "options"),
    [
        (["Two", "Three"], ("Two", "Three")),
        (["(A) Two", "(B) Three"], ("Two", "Three")),
        (["A: Two", "B: Three"], ("Two", "Three")),
        (["J. Bach", "K. Bach"], ("J. Bach", "K. Bach")),
        (["3. Two", "4. Three"], ("3. Two", "4. Three")),
    ],
)
def test_options_may_carry_their_letters_or_not(
    tmp_path: Path, written: list[str], options: tuple[str, ...]
) -> None:
    assert only(tmp_path, options=written, answer="A").options == options


def test_a_subset_is_of_one_duration_and_says_so_in_its_version(tmp_path: Path) -> None:
    data_set(tmp_path, row(), row(question_id="601-1", duration="long"))

    every, long = load(tmp_path), load(tmp_path, subset="long")

    assert len(every.questions) == 2
    assert [question.question_id for question in long.questions] == ["601-1"]
    assert long.version.startswith("long ")
    assert not every.version.startswith("long")


def test_subtitles_are_an_option_and_a_video_without_them_is_told_apart(tmp_path: Path) -> None:
    data_set(tmp_path, row(), row(question_id="002-1", videoID="mute"))
    (tmp_path / "subtitle").mkdir()
    (tmp_path / "subtitle" / "a-b_c.srt").write_text("", "utf-8")

    spoken, mute = load(tmp_path, subtitles=True).questions
    without, _ = load(tmp_path).questions

    assert spoken.subtitles_path == str(tmp_path / "subtitle" / "a-b_c.srt")
    assert spoken.attributes["subtitles"] == "yes"
    assert mute.subtitles_path is None
    assert mute.attributes["subtitles"] == "no"
    assert without.subtitles_path is None
    assert "subtitles" not in without.attributes


def test_subtitles_that_are_nowhere_are_refused(tmp_path: Path) -> None:
    data_set(tmp_path, row())

    with pytest.raises(RequestError, match=r"no folder of subtitles .*/srt'; give the folder"):
        load(tmp_path, subtitles="srt")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"duration": "2:30"}, "field 'duration' is '2:30': Input should be 'short', 'medium'"),
        ({"answer": "E"}, "field 'answer' is 'E', not one letter from A to D"),
        ({"answer": "Two."}, "field 'answer' is 'Two.', not one letter"),
        ({"answer": None}, "field 'answer' is None"),
        ({"options": "A. Two"}, "field 'options' is 'A. Two': Input should be a valid list"),
        ({"options": ["A. Two"]}, "field 'options' is ['A. Two']"),
        (
            {"options": ["A. Two", "C. Three"]},
            "the letters A, C on 2 options, not A, B, C in order",
        ),
        ({"options": ["A. Two", "Three"]}, "the letters A on 2 options, not A, B, C in order"),
        ({"options": ["A. Two", "B. "], "answer": "A"}, "option 2 is empty"),
        ({"videoID": "../etc"}, "field 'videoID' is '../etc', which is no name of a video"),
        ({"question_id": 7}, "field 'question_id' is 7"),
        ({"question": ""}, "field 'question' is ''"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        only(tmp_path, **changes)

    assert "rows.jsonl, line 1: " in str(caught.value)
    assert message in str(caught.value)


def test_all_broken_rows_are_told_at_once_also_outside_the_subset(tmp_path: Path) -> None:
    data_set(tmp_path, row(), row(question_id="2", answer=""), row(), row(duration="x"))

    with pytest.raises(InvalidQuestion) as caught:
        load(tmp_path, subset="long")

    text = str(caught.value)
    assert "3 of 4 rows cannot be used" in text
    assert "line 2: field 'answer' is ''" in text
    assert "line 3: question_id '001-1' is used at rows.jsonl, line 1 already" in text
    assert "line 4: field 'duration' is 'x'" in text
    assert len(caught.value.problems) == 3


def test_rows_of_one_line_are_told_apart_by_their_number(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([row(), row(question_id="2", answer="?"), row()]), encoding="utf-8")

    with pytest.raises(InvalidQuestion) as caught:
        video_mme(path)

    text = str(caught.value)
    assert "2 of 3 rows cannot be used" in text
    assert "rows.json, line 1, row 2: field " in text
    assert (
        "rows.json, line 1, row 3: question_id '001-1' is used at rows.json, line 1, row 1 already"
        in text
    )
