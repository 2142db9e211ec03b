from __future__ import annotations

import json
from pathlib import Path

import pytest

from taketwo.benchmarks.local import local
from taketwo.errors import InvalidQuestion, UnknownName

MCQ: dict[str, object] = {
    "question_id": "q1",
    "text": "Which animal?",
    "video_path": "a/v1.mp4",
    "options": ["a cat", "a dog"],
    "answer": "B",
}


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_row_of_json_lines_becomes_a_question(tmp_path: Path) -> None:
    row = {
        **MCQ,
        "subtitles_path": "a/v1.srt",
        "attributes": {"kind": "recognition"},
        "skills": ["seeing"],
        "milestones": [{"text": "see the dog", "start_s": 1, "end_s": 2.5}],
        "licence": "CC0-1.0",
    }
    benchmark = local(write(tmp_path / "q.jsonl", row))
    (question,) = benchmark.questions
    assert benchmark.name == "local"
    assert question.video_id == "a/v1"
    assert question.video_path == str(tmp_path.resolve() / "a" / "v1.mp4")
    assert question.subtitles_path == str(tmp_path.resolve() / "a" / "v1.srt")
    assert question.answer_index == 1
    assert question.milestones[0].milestone_id == "m1"
    assert question.milestones[0].end_s == 2.5


@pytest.mark.parametrize(
    ("answer", "index"),
    [("A", 0), ("b", 1), ("a dog", 1), (" a cat ", 0)],
)
def test_an_answer_is_a_label_or_the_text_of_an_option(
    answer: str, index: int, tmp_path: Path
) -> None:
    benchmark = local(write(tmp_path / "q.jsonl", {**MCQ, "answer": answer}))
    assert benchmark.questions[0].answer_index == index


def test_an_open_question_has_an_answer_and_other_forms_of_it(tmp_path: Path) -> None:
    row = {
        "question_id": 7,
        "text": "What is his name?",
        "video_path": "v.mp4",
        "answer": "John Dashwood",
        "accepted_answers": ["Mr Dashwood"],
    }
    (question,) = local(write(tmp_path / "q.jsonl", row)).questions
    assert (question.question_id, question.format) == ("7", "open")
    assert question.answer_text == "John Dashwood"
    assert question.accepted_answers == ("Mr Dashwood",)


def test_csv_json_and_yaml_say_the_same_as_json_lines(tmp_path: Path) -> None:
    row = {**MCQ, "attributes": {"kind": "x"}, "skills": ["see", "hear"], "video_duration_s": 9.5}
    lines = write(tmp_path / "q.jsonl", row)
    (tmp_path / "q.json").write_text(json.dumps({"questions": [row]}), encoding="utf-8")
    (tmp_path / "list.json").write_text(json.dumps([row], indent=2), encoding="utf-8")
    (tmp_path / "q.csv").write_text(
        "question_id,text,video_path,option_1,option_2,answer,attributes.kind,skills,"
        "video_duration_s\r\n"
        "q1,Which animal?,a/v1.mp4,a cat,a dog,B,x,see|hear,9.5\r\n",
        encoding="utf-8-sig",
    )
    (tmp_path / "q.yaml").write_text(
        "- question_id: q1\n  text: Which animal?\n  video_path: a/v1.mp4\n"
        "  options: [a cat, a dog]\n  answer: B\n  attributes: {kind: x}\n"
        "  skills: [see, hear]\n  video_duration_s: 9.5\n",
        encoding="utf-8",
    )
    expected = local(lines)
    for name in ("q.json", "list.json", "q.csv", "q.yaml"):
        assert local(tmp_path / name) == expected, name


def test_every_bad_row_is_listed_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    rows = [
        json.dumps(MCQ),
        "{broken",
        "",
        json.dumps([1]),
        json.dumps({**MCQ, "question_id": "q4", "answer": "C"}),
        json.dumps({**MCQ, "question_id": "q5", "colour": "red"}),
        json.dumps({**MCQ}),
        json.dumps({k: v for k, v in MCQ.items() if k != "text"}),
        json.dumps({**MCQ, "question_id": "q8", "video_duration_s": "long"}),
    ]
    path.write_text("\n".join(rows), encoding="utf-8")
    with pytest.raises(InvalidQuestion) as caught:
        local(path)
    message = str(caught.value)
    assert "7 of 8 rows cannot be used" in message
    assert "line 2: not a JSON object" in message
    assert "line 4: expected an object with fields, found list" in message
    assert "line 5: answer 'C' is neither one of the labels A to B nor the text" in message
    assert "line 6: unknown field 'colour'; known are question_id, text, video_path" in message
    assert "; labels of your own go into 'attributes'" in message
    assert "line 7: the id 'q1' is used on line 1 already" in message
    assert "line 8: field 'text' is missing" in message
    assert "line 9: field 'video_duration_s' is 'long'" in message


@pytest.mark.parametrize("name", ["q.json", "q.yaml"])
def test_rows_of_one_line_are_told_apart_by_their_number(tmp_path: Path, name: str) -> None:
    rows = [MCQ, {**MCQ, "question_id": "q2", "answer": "C"}, MCQ]
    (tmp_path / name).write_text(json.dumps(rows), encoding="utf-8")

    with pytest.raises(InvalidQuestion) as caught:
        local(tmp_path / name)

    assert "2 of 3 rows cannot be used" in str(caught.value)
    bad, repeated = caught.value.problems
    assert bad.startswith("line 1, row 2: answer 'C' is neither one of the labels")
    assert repeated == "line 1, row 3: the id 'q1' is used on line 1, row 1 already"


def test_only_rows_that_share_a_line_are_numbered(tmp_path: Path) -> None:
    broken = json.dumps({**MCQ, "answer": "C"})
    (tmp_path / "q.json").write_text(f"[\n{broken},\n{broken}, {broken}]", encoding="utf-8")

    with pytest.raises(InvalidQuestion) as caught:
        local(tmp_path / "q.json")

    places = [problem.split(": ")[0] for problem in caught.value.problems]
    assert places == ["line 2", "line 3, row 2", "line 3, row 3"]


def test_where_a_list_on_one_line_breaks_off_is_told_by_row(tmp_path: Path) -> None:
    (tmp_path / "q.json").write_text('[{"a": 1}, {"b": 2} {"c": 3}]', encoding="utf-8")

    with pytest.raises(InvalidQuestion, match="expected ',' or ']' after a question, row 2 of the"):
        local(tmp_path / "q.json")


def test_lines_of_csv_and_yaml_rows_count_line_ends_inside_cells(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text(
        'question_id,text,video_path,answer_text\nq1,"two\nlines",v.mp4,x\nq2,,v.mp4,x\n',
        encoding="utf-8",
    )
    with pytest.raises(InvalidQuestion, match="line 4: field 'text' is missing"):
        local(tmp_path / "q.csv")
    (tmp_path / "q.yaml").write_text(
        "questions:\n  - question_id: q1\n    text: |\n      a\n      b\n    video_path: v.mp4\n"
        "    answer: x\n  - question_id: q2\n",
        encoding="utf-8",
    )
    with pytest.raises(InvalidQuestion, match="line 8: field 'text' is missing"):
        local(tmp_path / "q.yaml")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("q.json", '[\n{"a": 1}\n{"b": 2}]', "line 3: expected ',' or ']' after a question"),
        ("q.json", '[\n{"a": 1},\n{"b"', "line 3: not JSON"),
        ("q.json", "7", "line 1: expected a list of questions"),
        ("q.yaml", "- a: 1\n- b: [\n", "line 3: not YAML"),
        ("q.yaml", "name: x\n", "line 1: expected a list of questions"),
        ("q.csv", 'question_id\n"q1', "line 2: not CSV"),
        ("q.jsonl", "\n", "has no questions"),
        ("q.jsonl", "\ud800", "cannot be read"),
    ],
)
def test_a_file_that_is_broken_as_a_whole_says_where(
    name: str, text: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InvalidQuestion, match=message):
        local(tmp_path / name)


def test_a_missing_file_and_an_unknown_ending_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidQuestion, match="does not exist"):
        local(tmp_path / "q.jsonl")
    with pytest.raises(UnknownName, match=r"unknown ending of a question file '\.jsonn'"):
        local(tmp_path / "q.jsonn")


def test_videos_cannot_lie_outside_their_folder(tmp_path: Path) -> None:
    root = tmp_path / "videos"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    for path in ("../v.mp4", "a/../../v.mp4", "link/v.mp4", "/etc/passwd", "a\0b"):
        row = {**MCQ, "video_path": path}
        with pytest.raises(InvalidQuestion, match="line 1: video_path"):
            local(write(tmp_path / "q.jsonl", row), videos=root)
    with pytest.raises(InvalidQuestion, match="line 1: subtitles_path '/etc/passwd' leaves"):
        local(write(tmp_path / "q.jsonl", {**MCQ, "subtitles_path": "/etc/passwd"}), videos=root)


def test_absolute_paths_are_taken_where_they_are_allowed(tmp_path: Path) -> None:
    path = write(tmp_path / "q.jsonl", {**MCQ, "video_path": "/data/v.mp4"})
    with pytest.raises(InvalidQuestion, match="set allow_absolute to permit absolute paths"):
        local(path)
    assert local(path, allow_absolute=True).questions[0].video_path == "/data/v.mp4"
    path = write(tmp_path / "q.jsonl", {**MCQ, "video_path": "../v.mp4"})
    with pytest.raises(InvalidQuestion, match="put the file inside it"):
        local(path, allow_absolute=True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"answer_index": 1}, "answer and answer_index given; give one of"),
        ({"answer": None}, "no answer given; give one of"),
        ({"options": [], "answer": None, "answer_index": 0}, "answer_index 0 without options"),
        ({"answer": None, "answer_text": "a dog"}, "answer_text is for open questions"),
        ({"options": ["B", "A"], "answer": "A"}, "the label of one option and the text of"),
        ({"options": ["x", "x"], "answer": "A"}, "two options are equal"),
    ],
)
def test_an_answer_that_can_be_read_in_two_ways_or_none_is_refused(
    changes: dict[str, object], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidQuestion, match=message):
        local(write(tmp_path / "q.jsonl", {**MCQ, **changes}))


def test_an_id_with_odd_characters_is_encoded_and_kept_raw(tmp_path: Path) -> None:
    (question,) = local(write(tmp_path / "q.jsonl", {**MCQ, "question_id": "a b"})).questions
    assert (question.question_id, question.raw_id) == ("a_x20b", "a b")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"video_path": "."}, "line 1: video_path '.' is a folder; give the path of a file"),
        (
            {"video_path": "loop.mp4"},
            "line 1: video_path 'loop.mp4' names no file: its links lead in a circle",
        ),
        (
            {"video_path": "x" * 5000},
            r"line 1: video_path 'x{77}\.\.\.' names no file: File name too",
        ),
        ({"options": ["", "a dog"]}, "line 1: question 'q1': option 1 is empty; give it a text"),
        (
            {"answer": None, "answer_index": True},
            "line 1: field 'answer_index' is True: a truth value is no number",
        ),
        (
            {"milestones": [{"text": "see", "start_s": 5, "end_s": 1}]},
            "line 1: question 'q1': milestone 'm1' ends at 1 s, before it starts at 5 s; exchange",
        ),
    ],
)
def test_a_row_that_no_agent_could_be_asked_is_told_with_its_line_and_remedy(
    changed: dict[str, object], message: str, tmp_path: Path
) -> None:
    (tmp_path / "loop.mp4").symlink_to("loop.mp4")

    with pytest.raises(InvalidQuestion, match=message):
        local(write(tmp_path / "q.jsonl", {**MCQ, **changed}))


def test_half_a_character_in_a_row_is_told_with_its_field(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(
        '{"question_id": "q", "text": "\\ud800?", "video_path": "v.mp4", "options": ["a", "b"],'
        ' "answer": "A"}',
        encoding="utf-8",
    )
    with pytest.raises(InvalidQuestion, match="line 1: question 'q': text holds half a char"):
        local(path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "q.jsonl",
            '\n{"question_id": "a", "question_id": "b"}',
            "line 2: field 'question_id' is given",
        ),
        ("q.json", '[{"text": "a", "text": "b"}]', "line 1: field 'text' is given twice; keep one"),
        ("q.yaml", "- text: a\n  text: b\n", "line 1: field 'text' is given twice; keep one"),
        ("q.yaml", "- text: a\n- text: !!int x\n", "line 2: 'x' reads as int but is not a valid"),
        ("q.yaml", "[" * 3000, "line 1: not YAML: nested too deeply; write it out plainly"),
        (
            "q.json",
            "[]\n\nmore",
            "line 3: text after the list of questions, where nothing may follow",
        ),
        (
            "q.json",
            '{"questions": [],\n "more": 1}',
            "line 1: text after the list of questions, where only '}' may follow; found ',",
        ),
        ("q.csv", "text,text\na,b\n", "line 1: column 'text' is there twice; rename or remove one"),
        ("q.json", '[{"a":' + "[" * 100_000, "line 1: not JSON: nested too deeply"),
    ],
)
def test_what_a_reader_would_have_dropped_in_silence_is_told(
    name: str, text: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")

    with pytest.raises(InvalidQuestion, match=message):
        local(tmp_path / name)


def test_milestones_have_types_and_a_question_what_its_judges_need(tmp_path: Path) -> None:
    row = {
        **MCQ,
        "capabilities": ["temporal", "counting"],
        "sweep": "yes",
        "explanation": "The dog runs by at 2 s.",
        "multi_attributes": {"audio_type": ["speech", "music"]},
        "reference": [{"tool": "scan", "observation": "a dog at 2 s"}],
        "milestones": [
            {"text": "find the yard", "kind": "temporal_localization"},
            {
                "milestone_id": "dog",
                "text": "see the dog",
                "kind": "visual_recognition",
                "end_s": 4,
            },
            {"text": "no type"},
        ],
    }

    (question,) = local(write(tmp_path / "q.jsonl", row)).questions

    assert question.capabilities == ("temporal", "counting")
    assert question.sweep == "yes"
    assert question.explanation == "The dog runs by at 2 s."
    assert question.multi_attributes == {"audio_type": ("speech", "music")}
    assert question.reference[0].observation == "a dog at 2 s"
    assert [(m.milestone_id, m.kind) for m in question.milestones] == [
        ("m1", "temporal_localization"),
        ("dog", "visual_recognition"),
        ("m3", None),
    ]
    assert "2 s" not in repr(question.for_agent())


def test_a_sweep_that_yaml_reads_as_a_truth_value_is_what_was_written(tmp_path: Path) -> None:
    text = (
        "- {question_id: a, text: What, video_path: v.mp4, answer: x, sweep: yes}\n"
        "- {question_id: b, text: What, video_path: v.mp4, answer: x, sweep: no}\n"
        "- {question_id: c, text: What, video_path: v.mp4, answer: x, sweep: unknown}\n"
    )
    (tmp_path / "q.yaml").write_text(text, encoding="utf-8")

    found = local(tmp_path / "q.yaml").questions

    assert [question.sweep for question in found] == ["yes", "no", "unknown"]


def test_capabilities_of_csv_are_separated_as_skills_are(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text(
        "question_id,text,video_path,answer,capabilities,skills,sweep,explanation\n"
        "q1,What?,v.mp4,this,temporal|counting,event ordering,no,because\n",
        encoding="utf-8",
    )

    (question,) = local(tmp_path / "q.csv").questions

    assert question.capabilities == ("temporal", "counting")
    assert (question.sweep, question.explanation) == ("no", "because")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sweep": "maybe"}, "field 'sweep' is 'maybe': Input should be 'yes', 'no' or 'unknown'"),
        ({"capabilities": "temporal"}, "field 'capabilities' is 'temporal'"),
        ({"milestones": [{"text": "x", "kind": ""}]}, "field 'milestones.0.kind'"),
        ({"milestones": [{"text": ""}]}, "field 'milestones.0.text'"),
        ({"milestones": [{"kind": "x"}]}, "field 'milestones.0.text' is missing"),
        (
            {"milestones": [{"text": "x", "milestone_id": "a b"}]},
            "field 'milestones.0.milestone_id' is 'a b': a milestone id needs 1 to 64 characters out",
        ),
        (
            {
                "milestones": [
                    {"text": "x", "milestone_id": "A"},
                    {"text": "y"},
                    {"text": "z", "milestone_id": "a"},
                ]
            },
            "field 'milestones.2' has the id 'a', which 'milestones.0' has already; give each",
        ),
        (
            {"milestones": [{"text": "x"}, {"text": "y", "type": "z"}]},
            "unknown field 'milestones.1.type'; known are milestone_id, text, kind, start_s, end_s",
        ),
        (
            {"reference": [{"tol": "x"}]},
            "unknown field 'reference.0.tol'; known are tool, arguments, thought, observation",
        ),
        ({"attributes": {"kind": ["a"]}}, "field 'attributes.kind' is ['a']: "),
        (
            {"milestones": [{"milestone_id": "m2", "text": "x"}, {"text": "y"}]},
            "field 'milestones.1' has the id 'm2', which 'milestones.0' has already; give each",
        ),
    ],
)
def test_what_judges_cannot_use_is_refused(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        local(write(tmp_path / "q.jsonl", {**MCQ, **changes}))

    assert message in str(caught.value)


def test_problems_beyond_the_fiftieth_are_all_in_the_error(tmp_path: Path) -> None:
    rows = [{**MCQ, "question_id": f"q{number}", "answer": "?"} for number in range(70)]

    with pytest.raises(InvalidQuestion) as caught:
        local(write(tmp_path / "q.jsonl", *rows))

    assert "and 20 more" in str(caught.value)
    assert len(caught.value.problems) == 70
    assert caught.value.problems[69].startswith("line 70: answer '?' is neither")


def test_yaml_keeps_texts_as_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "q.yaml").write_text(
        "- question_id: 007\n"
        "  text: 2026-99-99\n"
        "  video_path: v.mp4\n"
        "  options: [1:30, 010, 1_000, 1e3, 2026-01-01, yes, 0x1F, 1.50, .inf, =]\n"
        "  answer: 1:30\n"
        "  attributes: {010: off}\n"
        "  milestones: [{milestone_id: 08, text: 1:05, start_s: 65}]\n"
        "  video_duration_s: 90.5\n"
        "- {question_id: t2, text: When, video_path: v.mp4, answer: 0:45, accepted_answers: [045]}\n",
        encoding="utf-8",
    )

    first, second = local(tmp_path / "q.yaml").questions

    assert (first.question_id, first.text) == ("007", "2026-99-99")
    assert first.options == (
        "1:30", "010", "1_000", "1e3", "2026-01-01", "yes", "0x1F", "1.50", ".inf", "=",
    )  # fmt: skip
    assert first.answer_index == 0
    assert first.attributes == {"010": "off"}
    assert (first.milestones[0].milestone_id, first.milestones[0].text) == ("08", "1:05")
    assert (first.milestones[0].start_s, first.video_duration_s) == (65, 90.5)
    assert (second.answer_text, second.accepted_answers) == ("0:45", ("045",))


def test_json_numbers_that_stand_for_texts_keep_their_form(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text(
        '{"question_id": 1, "text": "Q", "video_path": "v.mp4", "answer_index": 1,'
        ' "options": [1e3, 1.50, 12345678901234567890.0], "video_duration_s": 1.50}',
        encoding="utf-8",
    )

    (question,) = local(tmp_path / "q.jsonl").questions

    assert question.options == ("1e3", "1.50", "12345678901234567890.0")
    assert question.video_duration_s == 1.5


@pytest.mark.parametrize("ending", ["yaml", "csv"])
@pytest.mark.parametrize(
    ("field", "written"),
    [
        ("video_duration_s", "1:30"),
        ("video_duration_s", "1_000"),
        ("video_duration_s", "0x10"),
        ("video_duration_s", "9" * 400),
        ("video_duration_s", "true"),
        ("answer_index", "1_0"),
        ("answer_index", "9" * 5000),
    ],
)
def test_a_number_that_is_written_as_none_is_refused(
    field: str, written: str, ending: str, tmp_path: Path
) -> None:
    values = {"question_id": "q", "text": "Q", "video_path": "v.mp4", field: written}
    if field == "video_duration_s":
        values["answer"] = "x"
    path = tmp_path / f"q.{ending}"
    if ending == "csv":
        path.write_text(f"{','.join(values)}\n{','.join(values.values())}\n", "utf-8")
    else:
        path.write_text(
            "- " + "\n  ".join(f"{name}: {text}" for name, text in values.items()), "utf-8"
        )

    with pytest.raises(InvalidQuestion) as caught:
        local(path)

    assert f"field '{field}' is '{written[:4]}" in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "changes",
    [
        {"video_duration_s": True},
        {"milestones": [{"text": "x", "start_s": False}]},
        {"milestones": [{"text": "x", "end_s": True}]},
        {"options": [True, "b"]},
        {"question_id": True},
        {"video_duration_s": 10**400},
    ],
)
def test_truth_values_and_endless_numbers_are_no_fields_of_a_question(
    changes: dict[str, object], tmp_path: Path
) -> None:
    with pytest.raises(InvalidQuestion, match=f"line 1: field '{next(iter(changes))}"):
        local(write(tmp_path / "q.jsonl", {**MCQ, **changes}))


@pytest.mark.parametrize(
    ("header", "cells", "message"),
    [
        (
            "option_1,option_2,option_3",
            "red,,blue",
            "column 'option_2' is empty, but 'option_3' is 'blue'",
        ),
        ("option_1,option_2,option_3", ",x,blue", "column 'option_1' is empty, but 'option_2'"),
        ("option_1,option_3", "red,blue", "column 'option_2' is not there, but 'option_3' is"),
    ],
)
def test_an_option_that_is_left_out_of_csv_does_not_move_the_others(
    header: str, cells: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "q.csv").write_text(
        f"question_id,text,video_path,{header},answer\nq1,Q,v.mp4,{cells},B\n", "utf-8"
    )

    with pytest.raises(InvalidQuestion, match=f"line 2: {message}"):
        local(tmp_path / "q.csv")


def test_options_that_are_empty_at_the_end_of_csv_are_none(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text(
        "question_id,text,video_path,option_1,option_2,option_3,option_4,answer\n"
        "q1,Q,v.mp4,red,blue,,,B\nq2,Q,v.mp4,,,,,free\n",
        "utf-8",
    )

    first, second = local(tmp_path / "q.csv").questions

    assert (first.options, first.answer_index) == (("red", "blue"), 1)
    assert (second.options, second.answer_text) == ((), "free")


def test_a_column_with_an_endless_number_is_an_unknown_field(tmp_path: Path) -> None:
    name = "option_" + "1" * 5000
    (tmp_path / "q.csv").write_text(
        f"question_id,text,video_path,{name},answer\nq1,Q,v.mp4,x,y\n", "utf-8"
    )

    with pytest.raises(InvalidQuestion, match="line 2: unknown field 'option_1111"):
        local(tmp_path / "q.csv")
