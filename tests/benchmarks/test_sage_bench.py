from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from tests.benchmarks import synthetic_sage_bench as synthetic

from taketwo.benchmarks.catalog import load_benchmark
from taketwo.benchmarks.sage_bench import duration_bucket, sage_bench
from taketwo.errors import InvalidQuestion

ROW = {
    "video_id": "abc",
    "gt_answer": "a cup",
    "ques_type": "mcq",
    "difficulty": "easy",
    "modality": "visual",
    "duration_seconds": 61.5,
    "question": "What does she take?\nChoose from the following options:\n(A) a key\n(B) a cup",
}


def one(tmp_path: Path, **changes: object) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(ROW | changes) + "\n", encoding="utf-8")
    return path


def test_the_published_counts_come_out_of_parsing(tmp_path: Path) -> None:
    folder = synthetic.write(tmp_path, synthetic.rows())

    questions = sage_bench(folder).questions

    counts = {
        name: Counter(question.attributes[name] for question in questions)
        for name in ("question_type", "modality", "difficulty", "length")
    }
    assert len(questions) == 1744
    assert counts["question_type"] == {"mcq": 793, "open_ended": 951}
    assert counts["modality"] == {"visual": 1266, "verbal": 105, "both": 373}
    assert counts["difficulty"] == {"easy": 518, "medium": 438, "hard": 715, "very hard": 73}
    assert counts["length"] == {"short": 920, "long": 824}
    chosen = {
        int(question.video_id[4:]): question.options[question.answer_index]
        for question in questions
        if question.answer_index is not None
    }
    assert all(text.rstrip(".") == f"the {number}th thing" for number, text in chosen.items())
    in_words = {
        question.answer_text
        for question in questions
        if question.attributes["question_type"] == "mcq" and question.answer_index is None
    }
    assert len(chosen) == 793 - synthetic.WITHOUT_OPTIONS - synthetic.NO_OPTION_IS_TRUE
    assert synthetic.NOT_POSSIBLE in in_words
    assert not any("following options" in question.text for question in questions)


def test_options_and_truth_are_read_out_of_the_text(tmp_path: Path) -> None:
    (question,) = sage_bench(one(tmp_path)).questions

    assert question.text == "What does she take?"
    assert question.options == ("a key", "a cup")
    assert question.answer_index == 1
    assert question.answer_text is None
    assert question.attributes["duration"] == "60-180 s"
    assert question.attributes["length"] == "short"
    assert question.video_path == str(tmp_path / "videos" / "abc.mp4")


@pytest.mark.parametrize(
    ("seconds", "bucket"),
    [
        (0.1, "0-60 s"),
        (59.999, "0-60 s"),
        (60, "60-180 s"),
        (180, "180-300 s"),
        (300, "300-600 s"),
        (599.9, "300-600 s"),
        (600, "600-1200 s"),
        (1200, "1200-2400 s"),
        (2400, "2400+ s"),
        (90_000, "2400+ s"),
    ],
)
def test_a_duration_falls_into_one_bucket(seconds: float, bucket: str) -> None:
    assert duration_bucket(seconds) == bucket


def test_ids_do_not_depend_on_where_the_videos_lie(tmp_path: Path) -> None:
    here = sage_bench(one(tmp_path), videos=tmp_path / "here").questions[0]
    there = sage_bench(one(tmp_path), videos=tmp_path / "there").questions[0]

    assert here.question_id == there.question_id
    assert here.question_id.startswith("abc-")


def test_the_published_id_is_an_alias_where_its_folder_is_given(tmp_path: Path) -> None:
    question = sage_bench(one(tmp_path), legacy_folder="data/sage_bench_videos/").questions[0]

    written = f"{ROW['question']}|data/sage_bench_videos/abc.mp4"
    assert question.raw_id == hashlib.md5(written.encode(), usedforsecurity=False).hexdigest()


def test_a_truth_may_be_given_with_its_label(tmp_path: Path) -> None:
    assert sage_bench(one(tmp_path, gt_answer="(B) a cup")).questions[0].answer_index == 1
    assert sage_bench(one(tmp_path, gt_answer="B.")).questions[0].answer_index == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gt_answer": "(A) a cup"}, r"which has the label of one option and the text of another"),
        (
            {"gt_answer": "A CUP", "question": "What?\n(A) a cup\n(B) A cup."},
            r"which is the text of 2 of 2 options",
        ),
        ({"ques_type": "open-ended"}, r"'open-ended', but the question has 2 options"),
        ({"question": "What?\n(A) x\n(C) y"}, r"labelled A, C, not A, B, C in order"),
        ({"question": "What?\n(A) x\nand\n(B) y"}, r"'and' stands among them"),
        ({"modality": "smell"}, r"field 'modality' is 'smell'; known are visual, verbal, both"),
        ({"duration_seconds": None}, r"field 'duration_seconds' is None"),
        ({"duration_seconds": float("nan")}, r"field 'duration_seconds' is nan"),
        ({"duration_seconds": -3}, r"field 'duration_seconds' is -3"),
        (
            {"duration_seconds": True},
            r"field 'duration_seconds' is True: a truth value is no number",
        ),
        ({"duration_seconds": 10**400}, r"field 'duration_seconds' is 1000"),
        ({"duration_seconds": "1_000"}, r"field 'duration_seconds' is '1_000'"),
        ({"video_id": "../etc/passwd"}, r"'\.\./etc/passwd', which is no name of a video"),
        ({"gt_answer": 7}, r"field 'gt_answer' is 7"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidQuestion, match=rf"rows\.jsonl, line 1: .*{message}"):
        sage_bench(one(tmp_path, **changes))


def test_all_broken_rows_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [ROW, ROW | {"gt_answer": "(A) a cup"}, ROW, {"video_id": "x"}]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n{broken\n", encoding="utf-8")

    with pytest.raises(InvalidQuestion) as caught:
        sage_bench(path)

    text = str(caught.value)
    assert "4 of 5 rows cannot be used" in text
    assert "rows.jsonl, line 2: field 'gt_answer' is '(A) a cup'" in text
    assert "rows.jsonl, line 3: asks the same of the same video as rows.jsonl, line 1" in text
    assert "rows.jsonl, line 4: field 'question' is missing; field 'gt_answer' is missing" in text
    assert "rows.jsonl, line 5: not a JSON object" in text


def test_arrow_as_the_data_set_library_saves_it_is_read(tmp_path: Path) -> None:
    pl.DataFrame([ROW]).write_ipc_stream(tmp_path / "data-00000-of-00001.arrow")

    assert len(sage_bench(tmp_path).questions) == 1


def test_a_folder_without_the_data_set_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(InvalidQuestion, match=r"no file ending in \.parquet, \.arrow, \.jsonl"):
        sage_bench(tmp_path)


def test_a_study_names_it_by_path_and_videos(tmp_path: Path) -> None:
    one(tmp_path)
    (tmp_path / "clips").mkdir()
    (tmp_path / "clips" / "abc.webm").write_bytes(b"x")

    loaded = load_benchmark(
        {"name": "sage_bench", "path": "rows.jsonl", "videos": "clips"}, base=tmp_path
    )

    assert loaded.name == "sage_bench"
    assert loaded.questions[0].video_path == str(tmp_path / "clips" / "abc.webm")


def test_rows_of_one_line_are_told_apart_by_their_number(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([ROW, ROW | {"modality": "smell"}, ROW]), encoding="utf-8")

    with pytest.raises(InvalidQuestion) as caught:
        sage_bench(path)

    text = str(caught.value)
    assert "2 of 3 rows cannot be used" in text
    assert "rows.json, line 1, row 2: field " in text
    assert (
        "rows.json, line 1, row 3: asks the same of the same video as rows.json, line 1, row 1"
        in text
    )


def test_a_choice_whose_truth_is_no_option_keeps_the_truth_in_words(tmp_path: Path) -> None:
    (question,) = sage_bench(one(tmp_path, gt_answer="Not possible to answer.")).questions

    assert question.options == ("a key", "a cup")
    assert (question.answer_index, question.answer_text) == (None, "Not possible to answer.")
    assert not question.is_matched_by_option


def test_a_choice_that_lists_no_options_is_asked_as_an_open_question(tmp_path: Path) -> None:
    (question,) = sage_bench(one(tmp_path, question="What does she take?")).questions

    assert (question.format, question.attributes["question_type"]) == ("open", "mcq")
    assert (question.text, question.answer_text) == ("What does she take?", "a cup")


def test_labels_that_are_written_twice_fit_a_truth_that_has_one_of_them(tmp_path: Path) -> None:
    asked = "Which pose?\n(A) A) Arms crossed.\n(B) B) Kneeling."

    (question,) = sage_bench(one(tmp_path, question=asked, gt_answer="B) Kneeling.")).questions

    assert (question.options, question.answer_index) == (("Arms crossed.", "Kneeling."), 1)


@pytest.mark.parametrize(
    "place",
    [
        "test/data-00000-of-00001.arrow",
        "default/0.0.0/0123abcd/sage-bench-test.arrow",
        "datasets--allenai--SAGE-Bench/snapshots/0123abcd/data/test-00000-of-00001.parquet",
    ],
)
def test_the_copy_of_the_data_set_library_is_found_below_the_folder_that_is_named(
    tmp_path: Path, place: str
) -> None:
    file = tmp_path / place
    file.parent.mkdir(parents=True)
    frame = pl.DataFrame([ROW])
    if file.suffix == ".arrow":
        frame.write_ipc_stream(file)
        frame.write_ipc_stream(file.parent / "cache-0123abcd.arrow")
    else:
        frame.write_parquet(file)

    (question,) = sage_bench(tmp_path).questions

    assert question.video_path == str(tmp_path / "videos" / "abc.mp4")


def test_of_several_copies_below_a_folder_none_is_taken_without_being_named(tmp_path: Path) -> None:
    for version in ("a", "b"):
        (tmp_path / version).mkdir()
        one(tmp_path / version)

    with pytest.raises(
        InvalidQuestion, match=r"in 2 folders: 'a', 'b'; give the one that is meant"
    ):
        sage_bench(tmp_path)


def test_two_formats_in_one_folder_are_refused(tmp_path: Path) -> None:
    one(tmp_path)
    pl.DataFrame([ROW]).write_parquet(tmp_path / "rows.parquet")

    with pytest.raises(InvalidQuestion, match=r"two formats, first 'rows\.jsonl' and 'rows\.parq"):
        sage_bench(tmp_path)


@pytest.mark.parametrize("name", ["abc.MKV", "abc.m4v", "abc.MP4"])
def test_the_ending_of_a_video_may_be_in_capitals(tmp_path: Path, name: str) -> None:
    path = one(tmp_path)
    (tmp_path / "videos").mkdir()
    (tmp_path / "videos" / name).write_bytes(b"x")

    assert sage_bench(path).questions[0].video_path == str(tmp_path / "videos" / name)
