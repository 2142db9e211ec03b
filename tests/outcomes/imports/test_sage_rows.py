from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.outcomes.imports.files import cells, read, write_json, write_lines

from taketwo.errors import InvalidResults
from taketwo.outcomes.imports.detect import recognise
from taketwo.outcomes.imports.to_outcomes import to_outcomes
from taketwo.scores.formats.sage_trace import join_id

STEM = "sage_SAGE-MM-8B_sage_bench_results"


def score(number: int, correct: object = True, **fields: Any) -> dict[str, Any]:
    return {
        "index": number,
        "question": f"Question {number}?",
        "answer": "blue",
        "correct_answer": None,
        "full_answer": "blue",
        "is_correct": correct,
        "evaluation_reasoning": "same",
        "none_prediction": False,
        "could_not_produce": False,
        "is_list_answer": False,
        "used_tool_calls": True,
        "tool_call_types": {"web-search": 2, "None": 3},
        "ques_type": "mcq",
        "difficulty": "hard",
        "modality": "visual",
        "duration": 75.0,
        "video_path": f"data/videos/v{number}.mp4",
        **fields,
    }


def answer(number: int, spelling: str = "search_llm", **fields: Any) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [
        {"tool_calls": {"web-search_#1": {"result": "x", "arguments": {}}},
         f"{spelling}_results": "again"},
        {"tool_calls": {"None_#2": {"result": "none"}}, f"{spelling}_results": "blue"},
    ]  # fmt: skip
    return {
        "path": f"/elsewhere/v{number}.mp4",
        "question": f"Question  {number}?",
        "answer": "blue",
        "full_answer": "blue",
        "correct_answer": None,
        "reasoning_steps": ["never read"],
        "complete_results": {"context_vlm": [{"vlm_response": "hm"}], spelling: steps},
        **fields,
    }


def name(number: int) -> str:
    return join_id(f"v{number}.mp4", f"Question {number}?")


def metrics(results: Any, number: int) -> dict[str, float | None]:
    own = results.rows.filter(results.rows["question_id"] == name(number))
    return dict(own.select("metric", "value").iter_rows())


def test_scores_and_answers_of_one_name_are_one_run(tmp_path: Path) -> None:
    write_json(tmp_path / f"{STEM}.json", [score(1), score(2, correct=False, time_taken=9.5)])
    write_lines(
        tmp_path / f"{STEM}.jsonl", [answer(2, "iterative_reasoner"), answer(1, "search_llm")]
    )

    found = read(tmp_path)

    assert found.reading.formats == ("SAGE rows",)
    assert found.reading.systems == ("sage_SAGE-MM-8B",)
    assert cells(found, "accuracy") == {
        ("sage_SAGE-MM-8B", "K1", name(1)): (1.0, "scored"),
        ("sage_SAGE-MM-8B", "K1", name(2)): (0.0, "scored"),
    }
    for number in (1, 2):
        assert metrics(found, number)["visible_calls"] == 1
        assert metrics(found, number)["turns"] == 3
    assert metrics(found, 2)["latency_s"] == 9.5
    assert "latency_s" not in metrics(found, 1)
    assert any("the trace beside them says otherwise" in item.why for item in found.reading.asides)


def test_scores_alone_count_calls_without_the_pseudo_tool(tmp_path: Path) -> None:
    found = read(write_json(tmp_path / f"{STEM}.json", [score(1, num_attempts=2)]))

    assert metrics(found, 1) == {"accuracy": 1, "visible_calls": 2, "num_attempts": 2}
    assert found.rows["cluster"].to_list() == ["v1"] * 3


def test_questions_that_a_file_lacks_are_named_and_not_run(tmp_path: Path) -> None:
    write_json(tmp_path / f"{STEM}.json", [score(3), score(1)])
    write_json(tmp_path / "sage_flash_sage_bench_results.json", [score(1), score(2), score(3)])

    found = read(tmp_path)

    assert ("sage_SAGE-MM-8B", "K1", name(2)) not in cells(found, "accuracy")
    table = to_outcomes(found, {}).to_polars()
    own = table.filter(table["arm"] == "sage_SAGE-MM-8B")
    assert dict(own.select("question_id", "run_status").iter_rows()) == {
        name(1): "answered", name(2): "not_run", name(3): "answered",
    }  # fmt: skip
    assert (found.reading.n_questions, found.reading.n_common) == (3, 2)
    assert [item.n_questions for item in found.reading.executions] == [2, 3]
    assert found.reading.statuses["sage_SAGE-MM-8B"] == {"scored": 2, "not_run": 1}
    (told,) = [note for note in found.reading.notes if "have no row" in note]
    assert f"1 of 3 questions have no row: {name(2)}" in told


def test_executions_are_told_by_name_or_folder(tmp_path: Path) -> None:
    for run in ("K1", "K2"):
        write_json(tmp_path / f"arm_{run}_sage_bench_results.json", [score(1, index=run)])
    for folder in ("one", "two"):
        write_json(tmp_path / folder / f"{STEM}.json", [score(1, index=folder)])

    found = read(tmp_path)

    assert [(item.system, item.number) for item in found.reading.executions] == [
        ("arm", 1), ("arm", 2), ("sage_SAGE-MM-8B", 1), ("sage_SAGE-MM-8B", 2),
    ]  # fmt: skip


def test_a_copy_of_a_run_is_no_execution(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        write_json(tmp_path / folder / f"{STEM}.json", [score(1)])

    found = read(tmp_path)

    assert len(found.reading.executions) == 1
    assert found.reading.asides[0].what == "files that repeat another byte for byte"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"answer": None, "is_correct": False, "evaluation_reasoning": None}, (0.0, "abstained")),
        (
            {"answer": "Could not produce an answer after 10 search calls", "is_correct": False},
            (0.0, "limit"),
        ),
        (
            {"answer": "Could not produce an answer after 5 attempts", "is_correct": False},
            (None, "agent_error"),
        ),
        ({"answer": "Could not produce an answer.", "is_correct": True}, (1.0, "scored")),
        ({"answer": "He could not produce an answer", "is_correct": False}, (0.0, "scored")),
        ({"is_correct": False, "evaluation_reasoning": None}, (None, "judge_error")),
        ({"is_correct": None}, (None, "not_judged")),
        ({"is_correct": True, "evaluation_reasoning": None}, (1.0, "scored")),
    ],
)
def test_what_is_no_answer_is_a_status(
    tmp_path: Path, fields: dict[str, Any], expected: tuple[float | None, str]
) -> None:
    found = read(write_json(tmp_path / f"{STEM}.json", [score(1, **fields), score(2)]))

    assert cells(found, "accuracy")["sage_SAGE-MM-8B", "K1", name(1)] == expected


def test_answers_without_scores_are_not_judged(tmp_path: Path) -> None:
    write_lines(tmp_path / "a_sage_bench_results.jsonl", [answer(1)])
    write_json(tmp_path / f"{STEM}.json", [score(1)])

    found = read(tmp_path)

    assert cells(found, "accuracy")["a", "K1", name(1)] == (None, "not_judged")


def test_levels_of_the_questions_can_be_asked_for(tmp_path: Path) -> None:
    found = read(write_json(tmp_path / f"{STEM}.json", [score(1)]), by=("difficulty", "duration"))

    assert found.rows["subgroups"][0] == '{"difficulty": "hard", "duration": "60-180 s"}'


def test_all_rows_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    rows = [score(1), score(2, question=None), score(3, is_correct="yes")]
    rows.append(score(1, answer="red"))
    path = write_json(tmp_path / f"{STEM}.json", rows)

    with pytest.raises(InvalidResults) as caught:
        read(path)

    told = str(caught.value)
    assert "item 2: field 'question' is None, expected a text" in told
    assert "item 3: field 'is_correct' is 'yes'" in told
    assert "item 4: asks the same of the same video as item 1" in told


def test_the_rows_are_recognised_by_what_is_in_them(tmp_path: Path) -> None:
    assert recognise(write_json(tmp_path / "a.json", [score(1)])) == "sage"
    assert recognise(write_lines(tmp_path / "a.jsonl", [answer(1)])) == "sage"
    assert recognise(write_lines(tmp_path / "b.jsonl", [{"question": 1, "score": 1}])) == "table"


def test_negative_amounts_are_named_with_file_and_field(tmp_path: Path) -> None:
    rows = [
        score(1, time_taken=-1.5, num_attempts=-1),
        score(2, tool_call_types={"web-search": -2}),
        score(3, duration=-9, taketwo={"tokens": -4}),
        score(4, wall_clock_seconds=0),
    ]
    path = write_json(tmp_path / f"{STEM}.json", rows)
    write_lines(tmp_path / f"{STEM}.jsonl", [answer(1, total_tokens_logged=-7)])

    with pytest.raises(InvalidResults) as caught:
        read(tmp_path)

    assert sorted(str(caught.value).split("\n")) == [
        f"{path}, item 1: field 'time_taken' is negative, expected 0 or more; field 'num_attempts' "
        "is negative, expected 0 or more",
        f"{path}, item 2: field 'tool_call_types.web-search' is negative, expected 0 or more",
        f"{path}, item 3: field 'duration' is negative, expected 0 or more; field 'taketwo.tokens' "
        "is negative, expected 0 or more",
        f"{path}l, line 1: field 'total_tokens_logged' is negative, expected 0 or more",
    ]


def test_half_a_line_does_not_hide_other_faults(tmp_path: Path) -> None:
    path = write_lines(tmp_path / f"{STEM}.jsonl", [answer(1), answer(2, question=None), answer(3)])
    path.write_text(path.read_text("utf-8")[:-40] + "\n[1]\n", "utf-8")
    other = write_json(tmp_path / "b_sage_bench_results.json", [score(1, is_correct="yes")])

    with pytest.raises(InvalidResults) as caught:
        read(tmp_path)

    told = str(caught.value)
    assert f"{path}, line 3: not readable JSON" in told
    assert f"{path}, line 4: a list, expected an object" in told
    assert f"{path}, line 2: field 'question' is None, expected a text" in told
    assert f"{other}, item 1: field 'is_correct' is 'yes', expected true, false or null" in told


@pytest.mark.parametrize(
    ("verdict", "told", "value", "status"),
    [
        (True, "scored", 1.0, "unparsed"),
        (False, "scored", 0.0, "unparsed"),
        (None, "judge_error", None, "judge_error"),
        (None, "not_judged", None, "not_judged"),
    ],
)
def test_a_reply_of_ours_that_nobody_read_is_worth_what_it_was_scored(
    tmp_path: Path, verdict: object, told: str, value: object, status: str
) -> None:
    own = {"question_id": "q", "run_status": "unparsed", "score_status": told}
    rows = [score(1, correct=verdict, taketwo=own), score(2)]

    found = read(write_json(tmp_path / f"{STEM}.json", rows))

    assert cells(found, "accuracy")["sage_SAGE-MM-8B", "K1", "q"] == (value, status)


def test_a_row_that_stands_twice_is_one_row_and_two_that_differ_are_told(tmp_path: Path) -> None:
    path = write_json(tmp_path / f"{STEM}.json", [score(1), score(2), score(1, index=9)])

    found = read(path)

    assert cells(found, "accuracy").keys() == {
        ("sage_SAGE-MM-8B", "K1", name(1)), ("sage_SAGE-MM-8B", "K1", name(2)),
    }  # fmt: skip
    assert [(item.what, item.count) for item in found.reading.asides] == [
        ("rows that repeat another one", 1)
    ]
    write_json(path, [score(1), score(1, answer="red")])
    with pytest.raises(
        InvalidResults, match="item 2: asks the same of the same video as item 1 and"
    ):
        read(path)


def test_words_that_a_table_wrote_as_not_a_number_are_not_there(tmp_path: Path) -> None:
    nan = float("nan")
    rows = [
        score(1, answer=nan), score(2, correct=nan), score(3, correct=False, evaluation_reasoning=nan),
        score(4, difficulty=nan),
    ]  # fmt: skip

    found = read(write_json(tmp_path / f"{STEM}.json", rows))

    assert [cells(found, "accuracy")["sage_SAGE-MM-8B", "K1", name(at)] for at in (1, 2, 3, 4)] == [
        (0.0, "abstained"), (None, "not_judged"), (None, "judge_error"), (1.0, "scored"),
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["%s\n", "[\n%s]"])
def test_a_verdict_that_stands_twice_in_a_row_is_a_fault_and_not_the_last_one(
    tmp_path: Path, form: str
) -> None:
    rows = write_lines(tmp_path / "row.jsonl", [score(1, True)]).read_text("utf-8")
    path = tmp_path / "flash_sage_bench_results.json"
    path.write_text(
        form % rows.replace('"is_correct": true', '"is_correct": true, "is_correct": false')
    )
    (tmp_path / "row.jsonl").unlink()

    with pytest.raises(InvalidResults, match="the key 'is_correct' stands 2 times"):
        read(path)
