from __future__ import annotations

import json
import time
from pathlib import Path

import polars as pl
import pytest
from tests.benchmarks.test_agentvidbench import data_set, row
from tests.benchmarks.test_sage_bench import ROW as SAGE_ROW

from taketwo.benchmarks.agentvidbench import agentvidbench
from taketwo.benchmarks.local import local
from taketwo.benchmarks.question import Question
from taketwo.benchmarks.sage_bench import sage_bench
from taketwo.errors import InvalidQuestion

OPEN: dict[str, object] = {"question_id": "q1", "text": "Who?", "video_path": "v.mp4"}
NAN = float("nan")
HUGE = "x" * 100_000
YAML_ROW = "- {question_id: last, text: Who, video_path: v.mp4, answer: he}\n"


def write(path: Path, *rows: object) -> Path:
    text = json.dumps(rows) if path.suffix == ".json" else "\n".join(map(json.dumps, rows))
    path.write_text(text, encoding="utf-8")
    return path


def only(path: Path) -> Question:
    (question,) = local(path).questions
    return question


@pytest.mark.parametrize("name", ["q.jsonl", "q.json"])
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"answer": NAN}, "answer"),
        ({"answer": "he", "video_id": NAN}, "video_id"),
        ({"answer": "he", "accepted_answers": ["him", NAN]}, "accepted_answers.1"),
        ({"answer": "A", "options": ["a", NAN]}, "options.1"),
        ({"answer": "he", "question_id": NAN}, "question_id"),
        ({"answer": "he", "explanation": float("-inf")}, "explanation"),
        ({"answer": "he", "attributes": {"kind": float("inf")}}, "attributes.kind"),
        ({"answer": "he", "milestones": [{"text": NAN}]}, "milestones.0.text"),
    ],
)
def test_nan_is_no_text(name: str, changes: dict[str, object], field: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, OPEN | changes, OPEN | {"answer": "x", "video_path": "../v"})
    with pytest.raises(InvalidQuestion, match="2 of 2 rows") as caught:
        local(path)
    assert f"{name}': " in str(caught.value)
    assert f": field '{field}' is NaN or an infinity, which no" in str(caught.value)


def test_a_number_too_large_for_a_float_and_a_text_nan_are_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(
        '{"question_id": "q", "text": "NaN", "video_path": "v.mp4", "answer": 1e400}',
        encoding="utf-8",
    )
    question = only(path)
    assert (question.text, question.answer_text) == ("NaN", "1e400")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("answer", NAN),
        ("question_text", NAN),
        ("options", [NAN, *range(25)]),
        ("trajectory", {"steps": [{"thought": NAN}]}),
        ("trajectory", {"steps": [{"args": {"at": [1, NAN]}}]}),
    ],
)
def test_nan_is_no_text_of_agentvidbench(field: str, value: object, tmp_path: Path) -> None:
    with pytest.raises(InvalidQuestion, match=rf"questions\.jsonl, line 1: field '{field}"):
        agentvidbench(data_set(tmp_path, row(**{field: value})))


@pytest.mark.parametrize("field", ["gt_answer", "video_id", "duration_seconds"])
def test_nan_is_no_value_of_sage_bench_in_parquet(field: str, tmp_path: Path) -> None:
    pl.DataFrame([SAGE_ROW | {field: NAN}]).write_parquet(tmp_path / "d.parquet")
    with pytest.raises(InvalidQuestion, match=rf"d\.parquet, row 1: field '{field}' is nan"):
        sage_bench(tmp_path)


@pytest.mark.parametrize("name", ["q.jsonl", "q.json"])
def test_null_says_that_a_field_is_not_given(name: str, tmp_path: Path) -> None:
    plain = OPEN | {"answer": "he"}
    optional = (
        "video_id", "options", "answer_index", "answer_text", "accepted_answers", "subtitles_path",
        "video_duration_s", "attributes", "multi_attributes", "skills", "capabilities", "milestones",
        "sweep", "explanation", "reference", "raw_id", "licence",
    )  # fmt: skip
    written = plain | dict.fromkeys(optional)
    assert only(write(tmp_path / name, written)) == only(write(tmp_path / name, plain))


def test_null_inside_of_milestones_steps_and_attributes_is_not_given_either(tmp_path: Path) -> None:
    question = only(
        write(
            tmp_path / "q.jsonl",
            OPEN
            | {
                "answer": "he",
                "attributes": {"kind": None, "modality": "visual"},
                "multi_attributes": {"sound": None},
                "milestones": [{"milestone_id": None, "text": "see", "kind": None, "end_s": None}],
                "reference": [{"tool": "seek", "arguments": None, "observation": None}],
            },
        )
    )
    assert question.attributes == {"modality": "visual"}
    assert question.multi_attributes == {}
    assert (question.milestones[0].milestone_id, question.milestones[0].kind) == ("m1", None)
    assert (question.reference[0].tool, question.reference[0].arguments) == ("seek", "")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"text": None}, "field 'text' is missing"),
        ({"answr": None}, "unknown field 'answr'"),
        ({"skills": [None]}, "field 'skills.0' is None"),
        ({"milestones": [{"text": None}]}, "field 'milestones.0.text' is missing"),
        ({"milestones": [None]}, "field 'milestones.0' is None"),
    ],
)
def test_null_is_refused_where_something_is_needed_or_nothing_is_known(
    changes: dict[str, object], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidQuestion, match=message):
        local(write(tmp_path / "q.jsonl", OPEN | {"answer": "he"} | changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"answer": HUGE, "options": ["a", "b"]},
        {"answer": "A", "options": [HUGE, HUGE]},
        {"answer": "he", "video_path": f"../{HUGE}"},
        {"answer": "he", "video_path": "../" + "a/" * 5_000},
        {"answer": "he", "attributes": {HUGE: [1]}},
        {"answer": "he", HUGE: 1},
        {"answer": "he", "attributes": {"kind": "x", HUGE: NAN}},
        {"answer": "he", "milestones": [{"text": "t", "milestone_id": HUGE}]},
        {"answer": "he", "question_id": HUGE},
        {"answer": "he", "sweep": HUGE},
        {"answer": "he", "attributes": {HUGE: "a"}, "multi_attributes": {HUGE: ["b"]}},
    ],
)
def test_a_long_value_is_not_printed_whole(changes: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        local(write(tmp_path / "q.jsonl", OPEN | changes))
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("q.jsonl", f'{{"{HUGE}": 1, "{HUGE}": 2}}'),
        ("q.yaml", f"- ? {HUGE}\n  : 1\n  ? {HUGE}\n  : 2\n"),
        ("q.csv", f"{HUGE},{HUGE}\n"),
    ],
)
def test_a_long_name_that_is_given_twice_is_not_printed_whole(
    name: str, text: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InvalidQuestion, match="twice") as caught:
        local(tmp_path / name)
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize(
    "changes",
    [
        {"answer": HUGE},
        {"options": [{"letter": HUGE, "text": str(number)} for number in range(26)]},
        {"milestones": [{"id": HUGE, "type": "counting", "description": "d"}] * 3},
        {"milestones": [{"id": f"M{n}", "type": HUGE, "description": "d"} for n in (1, 2, 3)]},
    ],
)
def test_a_long_value_of_agentvidbench_is_not_printed_whole(
    changes: dict[str, object], tmp_path: Path
) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        agentvidbench(data_set(tmp_path, row(**changes)))
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("field", ["ques_type", "modality", "difficulty", "video_id"])
def test_a_long_value_of_sage_bench_is_not_printed_whole(field: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        sage_bench(write(tmp_path / "q.jsonl", SAGE_ROW | {field: HUGE}))
    assert len(str(caught.value)) < 1_000


def test_half_a_character_in_the_id_of_a_milestone_can_be_told(tmp_path: Path) -> None:
    broken = [{"id": "\ud800", "type": "counting", "description": "d"}] * 3
    with pytest.raises(InvalidQuestion, match=r"the ids \\ud800, ") as caught:
        agentvidbench(data_set(tmp_path, row(milestones=broken)))
    str(caught.value).encode()


def bomb(doublings: int) -> str:
    steps = "".join(f", &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, doublings))
    return (
        f"- {{question_id: q, text: Who, video_path: v.mp4, answer: x, skills: [&a0 [x]{steps}]}}\n"
    )


@pytest.mark.parametrize(
    "bad",
    [
        bomb(12),
        "- &row {question_id: q, text: Who, skills: *row}\n",
        "- &m0 {x: 1, y: 2}\n"
        + "".join(f"- &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 9)}]}}\n" for n in range(1, 9)),
    ],
)
def test_a_row_that_aliases_blow_up_is_told_and_the_others_are_checked(
    bad: str, tmp_path: Path
) -> None:
    path = tmp_path / "q.yaml"
    path.write_text(bad + YAML_ROW + "- {text: Who}\n", encoding="utf-8")
    started = time.process_time()
    with pytest.raises(InvalidQuestion) as caught:
        local(path)
    assert time.process_time() - started < 10
    assert ": expanded by aliases beyond 100000 values; write it out plainly" in str(caught.value)
    last = f"line {bad.count('- ') + 2}: field 'question_id' is missing"
    assert last in str(caught.value)


def test_aliases_of_many_rows_count_together(tmp_path: Path) -> None:
    rows = [
        f"- {{question_id: q{n}, text: Who, video_path: v.mp4, answer: x, skills: *skills}}\n"
        for n in range(2, 60)
    ]
    first = rows[0].replace("q2", "q1").replace("*skills", f"&skills [{', '.join(['x'] * 5000)}]")
    path = tmp_path / "q.yaml"
    path.write_text("".join([first, *rows]), encoding="utf-8")
    with pytest.raises(
        InvalidQuestion, match="40 of 59 rows cannot be used\n  line 20: expanded by"
    ):
        local(path)


def test_aliases_that_spare_writing_are_as_good_as_what_they_stand_for(tmp_path: Path) -> None:
    path = tmp_path / "q.yaml"
    path.write_text(
        "".join(
            f"- {{question_id: q{n}, text: Who, video_path: v.mp4, answer: A, options: "
            f"{'*answers' if n else '&answers [yes, no]'}}}\n"
            for n in range(50)
        ),
        encoding="utf-8",
    )
    assert {question.options for question in local(path).questions} == {("yes", "no")}


def test_a_key_that_aliases_blow_up_is_not_written_out(tmp_path: Path) -> None:
    steps = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    path = tmp_path / "q.yaml"
    path.write_text(f"a0: &a0 [x]\n{steps}? [*a11]\n: x\nquestions:\n{YAML_ROW}", encoding="utf-8")
    assert only(path).question_id == "last"


def test_the_lines_of_a_long_list_are_counted_once(tmp_path: Path) -> None:
    """Counting from the top for each row would read 8,000 times 8 MB, half of it on average."""
    rows = [OPEN | {"question_id": f"q{n}", "answer": "x" * 1_000} for n in range(8_000)]
    path = tmp_path / "q.json"
    path.write_text(json.dumps(rows, indent=1) + "]", encoding="utf-8")
    started = time.process_time()
    with pytest.raises(InvalidQuestion, match=r"line 48002: text after the list of questions"):
        local(path)
    assert time.process_time() - started < 4


@pytest.mark.parametrize(
    "text", [f"- *{HUGE}\n", f"- !{HUGE} x\n", f"- {{text: !!float {HUGE}}}\n"]
)
def test_a_long_fault_of_yaml_is_not_printed_whole(text: str, tmp_path: Path) -> None:
    (tmp_path / "q.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidQuestion, match="line 1") as caught:
        local(tmp_path / "q.yaml")
    assert len(str(caught.value)) < 1_000
