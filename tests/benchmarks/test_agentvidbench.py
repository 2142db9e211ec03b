from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from taketwo.benchmarks.agentvidbench import agentvidbench
from taketwo.benchmarks.catalog import load_benchmark
from taketwo.benchmarks.question import Question
from taketwo.benchmarks.written_durations import duration_of
from taketwo.errors import InvalidQuestion

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def row(**changes: Any) -> dict[str, Any]:
    return {
        "question_id": 9001,
        "title": "Lemon slices before 0:45",
        "video_path": "videos/video901.mp4",
        "transcript_path": "transcripts/video901.srt",
        "question_text": "How many slices of the lemon are cut before the timer reads 0:45?",
        "options": [
            {"letter": letter, "text": f"{number} slices"} for number, letter in enumerate(LETTERS)
        ],
        "options_type": "numeric",
        "answer": "F",
        "answer_explanation": "Five slices are cut until then.",
        "milestones": [
            {
                "id": "M1",
                "type": "temporal_localization",
                "description": "Find when it reads 0:45.",
            },
            {"id": "M2", "type": "counting", "description": "Count the slices up to then."},
            {"id": "M3", "type": "exclusion_check", "description": "Leave out the lime."},
        ],
        "ecom_required": True,
        "categories": ["counting", "temporal"],
        "skills": ["conditional_counting", "event_localization"],
        "difficulty": "hard",
        "trajectory": {
            "steps": [
                {"tool": "scan", "args": {"fps": 1}, "thought": "Find it.", "observation": "62 s."}
            ],
            "final_answer": "F",
        },
    } | changes


FILM = {
    "file_name": "videos/video901.mp4",
    "title": "Two garnishes",
    "duration": "1:35",
    "genre": "Cooking/Food",
    "length_category": "short",
    "license": "CC BY 4.0",
    "source": "Self Recorded",
}


def data_set(
    folder: Path, *rows: dict[str, Any], films: list[dict[str, Any]] | None = None
) -> Path:
    texts = {"questions.jsonl": list(rows), "videos.jsonl": [FILM] if films is None else films}
    for name, records in texts.items():
        (folder / name).write_text("\n".join(map(json.dumps, records)) + "\n", encoding="utf-8")
    return folder


def only(folder: Path, **changes: Any) -> Question:
    (question,) = agentvidbench(data_set(folder, row(**changes))).questions
    return question


def test_a_question_is_read_with_all_that_judges_need(tmp_path: Path) -> None:
    question = only(tmp_path)

    assert question.question_id == "9001"
    assert len(question.options) == 26
    assert question.options[5] == "5 slices"
    assert question.answer_index == 5
    assert question.video_id == "video901"
    assert question.video_path == str(tmp_path / "videos" / "video901.mp4")
    assert question.subtitles_path == str(tmp_path / "transcripts" / "video901.srt")
    assert question.video_duration_s == 95.0
    assert [step.milestone_id for step in question.milestones] == ["M1", "M2", "M3"]
    assert question.milestones[1].kind == "counting"
    assert question.sweep == "yes"
    assert question.explanation == "Five slices are cut until then."
    assert question.reference[0].arguments == '{"fps": 1}'
    assert question.skills == ("conditional_counting", "event_localization")
    assert question.capabilities == ("counting", "temporal")
    assert question.attributes == {
        "difficulty": "hard",
        "options_type": "numeric",
        "sweep": "yes",
        "genre": "Cooking/Food",
        "super_category": "Daily Lifestyle",
        "length_category": "short",
        "source": "Self Recorded",
        "licence": "CC BY 4.0",
    }
    assert question.licence == "CC BY 4.0"


def test_nothing_of_the_truth_is_in_what_an_agent_sees(tmp_path: Path) -> None:
    seen = repr(only(tmp_path).for_agent())

    for secret in ("M1", "0:45 ", "Leave out", "Five slices", "62 s", "hard", "Cooking", "answer"):
        assert secret not in seen


def test_plain_options_get_their_letters_by_position(tmp_path: Path) -> None:
    question = only(tmp_path, options=[f"{number} slices" for number in range(26)])

    assert question.options[25] == "25 slices"


@pytest.mark.parametrize(
    ("flag", "sweep"), [(True, "yes"), (False, "no"), (None, "unknown"), ("x", "unknown")]
)
def test_the_sweep_flag_is_yes_no_or_unknown(tmp_path: Path, flag: object, sweep: str) -> None:
    assert only(tmp_path, ecom_required=flag).sweep == sweep


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        (83.5, 83.5),
        ("2:26", 146),
        ("~17:00", 1020),
        ("1:23:45", 5025),
        ("45", 45),
        ("soon", None),
        (0, None),
        ("0:00", None),
        (None, None),
        ("-3", None),
        ("1:2:3:4", None),
        (True, None),
    ],
)
def test_durations_are_read_as_they_are_written(written: Any, seconds: float | None) -> None:
    assert duration_of(written) == seconds


def test_transcoded_copies_go_before_the_videos_of_the_data_set(tmp_path: Path) -> None:
    copies = tmp_path / "copies"
    copies.mkdir()
    (copies / "video901.mp4").write_bytes(b"x")

    loaded = load_benchmark(
        {"name": "agentvidbench", "path": ".", "videos": "copies"}, base=data_set(tmp_path, row())
    )

    assert loaded.questions[0].video_path == str(copies / "video901.mp4")


def test_without_transcripts_speech_is_left_to_the_transcriber(tmp_path: Path) -> None:
    data_set(tmp_path, row())

    loaded = load_benchmark(
        {"name": "agentvidbench", "path": ".", "transcripts": False}, base=tmp_path
    )

    assert loaded.questions[0].subtitles_path is None


def _milestones(*ids: str) -> list[dict[str, str]]:
    return [{"id": name, "type": "counting", "description": "Count."} for name in ids]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"options": ["a", "b"]}, "field 'options' has 2 entries, not 26"),
        (
            {"options": [{"letter": "B", "text": f"{n}"} for n in range(26)]},
            "letter 'B' where A stands",
        ),
        ({"answer": "AB"}, "field 'answer' is 'AB', not one letter from A to Z"),
        ({"answer": None}, "field 'answer' is None"),
        ({"question_id": "9001"}, "field 'question_id' is '9001'"),
        ({"question_id": True}, "field 'question_id' is True"),
        ({"milestones": _milestones("M1", "M3", "M4")}, "ids M1, M3, M4, not M1 to Mn in order"),
        ({"milestones": _milestones("M1", "M1", "M2")}, "ids M1, M1, M2, not M1 to Mn in order"),
        ({"milestones": _milestones("M1", "M2")}, "has 2 entries, not 3 to 7"),
        (
            {
                "milestones": [
                    *_milestones("M1", "M2"),
                    {"id": "M3", "type": "guess", "description": "x"},
                ]
            },
            "has the type 'guess'",
        ),
        ({"video_path": "../../etc/passwd"}, "leaves the data set's folder"),
        (
            {"transcript_path": "/etc/passwd"},
            "field 'transcript_path' is '/etc/passwd', which leaves",
        ),
        ({"options": [{"letter": None, "text": "same"}] * 26}, "two options are equal"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        only(tmp_path, **changes)

    assert "questions.jsonl, line 1: " in str(caught.value)
    assert message in str(caught.value)


def test_all_broken_rows_of_both_files_are_told_at_once(tmp_path: Path) -> None:
    data_set(tmp_path, row(), row(answer="?"), row(), films=[FILM, FILM, {"duration": 3}])

    with pytest.raises(InvalidQuestion) as caught:
        agentvidbench(tmp_path)

    text = str(caught.value)
    assert "4 of 6 rows cannot be used" in text
    assert "videos.jsonl, line 2: file_name 'videos/video901.mp4' is there twice" in text
    assert "videos.jsonl, line 3: field 'file_name'" in text
    assert "questions.jsonl, line 2: field 'answer' is '?'" in text
    assert "questions.jsonl, line 3: question_id 9001 is used at questions.jsonl, line 1" in text


def test_rows_of_both_files_are_counted_where_every_one_is_broken(tmp_path: Path) -> None:
    data_set(tmp_path, row(answer="?"), row(answer="!"), films=[{"duration": 3}] * 7)

    with pytest.raises(InvalidQuestion, match="9 of 9 rows cannot be used"):
        agentvidbench(tmp_path)


def test_a_film_that_cannot_be_used_takes_no_question_with_it(tmp_path: Path) -> None:
    data_set(tmp_path, row(), films=[FILM | {"duration": []}])

    with pytest.raises(InvalidQuestion) as caught:
        agentvidbench(tmp_path)

    assert "1 of 2 rows cannot be used" in str(caught.value)
    (problem,) = {problem.split(": ")[0] for problem in caught.value.problems}
    assert problem == "videos.jsonl, line 1"


def test_a_folder_without_questions_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(InvalidQuestion, match=r"questions\.jsonl' is not there; give the folder"):
        agentvidbench(tmp_path)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("9" * 310, "field 'duration' is '9999"),
        ("9" * 5000, "field 'duration' is '9999"),
        (True, "field 'duration' is True: a truth value is no number"),
        (float("inf"), "field 'duration' is inf: "),
        (float("nan"), "field 'duration' is nan: "),
        (10**400, "field 'duration' is 1000"),
        ([1], r"field 'duration' is \[1\]: "),
    ],
)
def test_a_duration_that_is_no_number_of_seconds_breaks_its_row(
    tmp_path: Path, written: Any, message: str
) -> None:
    folder = data_set(tmp_path, row())
    (folder / "videos.jsonl").write_text(json.dumps(FILM | {"duration": written}), "utf-8")

    with pytest.raises(InvalidQuestion, match=rf"videos\.jsonl, line 1: {message}"):
        agentvidbench(folder)


def test_a_missing_field_is_told_as_missing(tmp_path: Path) -> None:
    broken = row(milestones=[{"type": "counting", "description": "Count."}])
    del broken["question_text"]

    with pytest.raises(InvalidQuestion) as caught:
        agentvidbench(data_set(tmp_path, broken))

    assert caught.value.problems == (
        "questions.jsonl, line 1: field 'question_text' is missing; "
        "field 'milestones.0.id' is missing",
    )


def test_options_that_are_numbers_are_the_texts_that_they_were_written_as(tmp_path: Path) -> None:
    folder = data_set(tmp_path, row())
    numbers = ["1.50", *map(str, range(25))]
    written = [{"letter": letter, "text": "#"} for letter in LETTERS]
    line = json.dumps(row(options=written))
    for number in numbers:
        line = line.replace('"#"', number, 1)
    (folder / "questions.jsonl").write_text(line + "\n", encoding="utf-8")

    assert agentvidbench(folder).questions[0].options == tuple(numbers)
    assert only(tmp_path, options=list(range(26))).options == tuple(map(str, range(26)))


@pytest.mark.parametrize(
    "changes",
    [
        {"categories": None, "skills": None, "trajectory": None},
        {"categories": [], "skills": "", "trajectory": {"steps": None}},
        {"categories": [" "], "skills": [], "trajectory": {"final_answer": "F"}},
    ],
)
def test_what_is_not_needed_may_be_null_or_empty(tmp_path: Path, changes: dict[str, Any]) -> None:
    question = only(tmp_path, **changes)

    assert (question.capabilities, question.skills, question.reference) == ((), (), ())


def test_labels_may_stand_in_one_text_and_steps_of_a_path_need_not_be_texts(tmp_path: Path) -> None:
    step = {"tool": "scan", "args": None, "thought": None, "observation": {"seen": ["é"]}}

    question = only(tmp_path, categories="counting, temporal", trajectory={"steps": [step]})

    assert question.capabilities == ("counting", "temporal")
    assert question.reference[0].thought == question.reference[0].arguments == ""
    assert question.reference[0].observation == '{"seen": ["é"]}'


def test_a_label_under_a_name_that_nobody_documented_is_a_factor_too(tmp_path: Path) -> None:
    film = FILM | {
        "Camera Style": ["static camera", "split screen"],
        "audio": "speech",
        "url": "somewhere",
        "author": "Example Kitchen",
        "year": 2020,
        "notes": "x" * 61,
        "skill": "no name for a label of a video",
    }
    folder = data_set(tmp_path, row(category="counting", audio="music"), films=[film])

    (question,) = agentvidbench(folder).questions

    assert question.multi_attributes == {"camera_style": ("static camera", "split screen")}
    further = {"category": "counting", "audio": "music"}
    assert {name: question.attributes.get(name) for name in further} == further
    assert not {"url", "author", "year", "notes", "title", "skill"} & set(question.attributes)


def test_a_film_is_found_by_the_name_of_its_file_too(tmp_path: Path) -> None:
    folder = data_set(tmp_path, row(), films=[FILM | {"file_name": "video901.mp4"}])

    assert agentvidbench(folder).questions[0].attributes["genre"] == "Cooking/Food"
