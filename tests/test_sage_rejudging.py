"""Finished runs of SAGE, their answers judged again by a scripted judge."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from tests.exported_study import cells_of, make_study_plan, write_study
from tests.outcomes.imports.files import cells, read, write_json, write_lines
from tests.scripted_model import HttpError, Request, requests_of, says, script

from taketwo.benchmarks.question import Question
from taketwo.cli.rejudge import command
from taketwo.errors import InvalidResults, RequestError
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.trajectory import Trajectory
from taketwo.exporting import export_study
from taketwo.outcomes.imports.sage_answers import sage_answers
from taketwo.outcomes.imports.sources import open_source
from taketwo.sage_rejudging import rejudge_sage
from taketwo.scores.formats.sage_trace import SageCell, inference_row
from taketwo.scores.grading import JudgeRequest
from taketwo.scores.judgement_pool import asking

KEYS = [
    "index", "question", "answer", "correct_answer", "full_answer", "is_correct",
    "evaluation_reasoning", "none_prediction", "could_not_produce", "is_list_answer",
    "used_tool_calls", "tool_call_types", "ques_type", "difficulty", "modality", "duration",
    "video_path", "num_attempts",
]  # fmt: skip
OPTIONS = "Which colour is cup {}?\nOptions:\n(A) red\n(B) blue"


def verdict(label: str) -> str:
    return json.dumps({"label": label, "reason": f"it is {label}"})


def by_colour(asked: Request) -> Any:
    """Answer as a judge would that knows blue to be right."""
    given = asked.text.partition("<<<UNTRUSTED answer to grade")[2]
    return says(verdict("correct" if "blue" in given else "incorrect"))


def answer(number: int, said: object = "blue", **fields: Any) -> dict[str, Any]:
    return {
        "path": f"/elsewhere/v{number}.mp4",
        "question": OPTIONS.format(number),
        "answer": said,
        "correct_answer": None,
        "id": f"{number:032x}",
        "full_answer": "blue",
        "ques_type": "mcq",
        "difficulty": "hard",
        "modality": "visual",
        "num_attempts": 2,
        "reasoning_steps": ["the near answer"],
        "complete_results": {
            "context_vlm": [{"vlm_response": "a secret trace"}],
            "search_llm": [
                {"tool_calls": {"web-search_#1": {"result": "x"}}, "search_llm_results": "again"},
                {"tool_calls": {"None_#2": {"result": "none"}}, "search_llm_results": "blue"},
            ],
        },
        **fields,
    }


def score(number: int, correct: object, **fields: Any) -> dict[str, Any]:
    left_out = ("path", "id", "complete_results", "reasoning_steps")
    row = {name: value for name, value in answer(number).items() if name not in left_out}
    return {
        "index": number,
        **row,
        "is_correct": correct,
        "evaluation_reasoning": "said so",
        "used_tool_calls": True,
        "tool_call_types": {"web-search": 7},
        "duration": 75.5,
        "video_path": f"data/videos/v{number}.mp4",
        **fields,
    }


def judged(run: Path, out: Path, name: str | None = None) -> Any:
    judge = name or script([by_colour], repeat_last=True)
    done = rejudge_sage(run, ModelSpec(name=judge), output=out, connections=2, retries=1)
    return done, json.loads(out.read_text("utf-8")), judge


def test_rows_have_the_keys_of_sage_and_the_verdict_of_the_new_judge(tmp_path: Path) -> None:
    run = write_lines(tmp_path / "run.jsonl", [answer(1), answer(2, "red", duration=75.5)])
    before = run.read_bytes()

    done, rows, judge = judged(run, tmp_path / "again/run.json")

    assert list(rows[0])[: len(KEYS)] == KEYS
    assert list(rows[0])[len(KEYS) :] == ["error", "taketwo"]
    own = rows[0].pop("taketwo")
    assert rows[0] == {
        "index": 0,
        "question": OPTIONS.format(1),
        "answer": "blue",
        "correct_answer": None,
        "full_answer": "blue",
        "is_correct": True,
        "evaluation_reasoning": "it is correct",
        "none_prediction": False,
        "could_not_produce": False,
        "is_list_answer": False,
        "used_tool_calls": True,
        "tool_call_types": {"web-search": 1},
        "ques_type": "mcq",
        "difficulty": "hard",
        "modality": "visual",
        "duration": None,
        "video_path": "/elsewhere/v1.mp4",
        "num_attempts": 2,
        "error": None,
    }
    assert (own["score_status"], own["judging"]["judge"]) == ("scored", judge)
    assert (rows[1]["index"], rows[1]["is_correct"], rows[1]["duration"]) == (1, False, 75.5)
    assert (done.rows, done.judged, done.pooled, done.decided, done.correct) == (2, 2, 0, 2, 1)
    assert done.accuracy == 0.5
    assert run.read_bytes() == before


def test_the_judge_is_shown_question_truth_and_answer_and_nothing_else(tmp_path: Path) -> None:
    run = write_lines(tmp_path / "run.jsonl", [answer(1, "(B)", correct_answer="B")])

    _, _, judge = judged(run, tmp_path / "out.json")

    (sent,) = requests_of(judge)
    shown = sent.messages[-1].text
    assert shown == "\n\n".join([
        f"<<<UNTRUSTED question\n{OPTIONS.format(1)}\n>>>UNTRUSTED",
        "<<<UNTRUSTED true answer\nblue\nB\n>>>UNTRUSTED",
        "<<<UNTRUSTED answer to grade\n(B)\n>>>UNTRUSTED",
    ])
    for hidden in ("near answer", "secret trace", "web-search", "elsewhere", "hard"):
        assert hidden not in sent.text


def test_the_second_time_nobody_is_asked_and_a_changed_answer_once(tmp_path: Path) -> None:
    rows = [answer(1), answer(2), answer(3)]
    run = write_lines(tmp_path / "run.jsonl", rows)
    _, first, judge = judged(run, tmp_path / "1.json")
    assert len(requests_of(judge)) == 3

    done, second, _ = judged(run, tmp_path / "2.json", judge)
    assert len(requests_of(judge)) == 3
    assert (done.judged, done.pooled) == (0, 3)
    assert second == first

    write_lines(run, [rows[0], answer(2, "red"), rows[2]])
    done, third, _ = judged(run, tmp_path / "3.json", judge)
    assert len(requests_of(judge)) == 4
    assert (done.judged, done.pooled) == (1, 2)
    assert [row["is_correct"] for row in third] == [True, False, True]


def test_equal_answers_to_a_question_are_judged_once(tmp_path: Path) -> None:
    rows = [answer(1), answer(1), answer(1, " blue\n", path="/other/v9.mp4"), answer(1, "red")]
    run = write_lines(tmp_path / "run.jsonl", rows)

    done, scored, judge = judged(run, tmp_path / "out.json")

    assert len(requests_of(judge)) == 2
    assert [row["is_correct"] for row in scored] == [True, True, True, False]
    assert (done.rows, done.judged) == (4, 2)


@pytest.mark.parametrize("said", [None, "", " \n"])
def test_no_answer_is_wrong_without_a_question_to_the_judge(tmp_path: Path, said: object) -> None:
    run = write_lines(tmp_path / "run.jsonl", [answer(1, said)])

    done, (row,), judge = judged(run, tmp_path / "out.json")

    assert requests_of(judge) == []
    assert (row["is_correct"], row["none_prediction"]) == (False, said is None)
    assert (row["answer"], row["error"], done.unanswered) == (said, None, 1)


def test_lists_are_judged_as_text_and_given_up_answers_are_flagged(tmp_path: Path) -> None:
    gave_up = "The model Could Not Produce an answer after 10 calls"
    run = write_lines(tmp_path / "run.jsonl", [answer(1, ["red", "blue"]), answer(2, gave_up)])

    _, rows, judge = judged(run, tmp_path / "out.json")

    sent = "\n".join(request.text for request in requests_of(judge))
    assert "answer to grade\n['red', 'blue']\n" in sent
    assert (rows[0]["answer"], rows[0]["is_list_answer"]) == (["red", "blue"], True)
    assert rows[0]["is_correct"] is True
    assert (rows[1]["could_not_produce"], rows[1]["is_correct"]) == (True, False)
    assert (rows[1]["is_list_answer"], rows[0]["could_not_produce"]) == (False, False)


def test_what_the_judge_does_not_label_is_no_wrong_answer(tmp_path: Path) -> None:
    broken = [True]

    def replies(asked: Request) -> Any:
        if "cup 2" in asked.text:
            return HttpError(400) if broken[0] else by_colour(asked)
        return says(verdict("ungradable")) if "cup 3" in asked.text else by_colour(asked)

    judge = script([replies], repeat_last=True)
    stem = "sage_x_sage_bench_results"
    run = write_lines(tmp_path / f"{stem}.jsonl", [answer(1), answer(2), answer(3)])

    done, rows, _ = judged(run, tmp_path / f"a/{stem}.json", judge)

    assert [row["is_correct"] for row in rows] == [True, None, None]
    assert "HTTP 400" in rows[1]["error"]
    assert rows[2]["error"] is None
    assert rows[2]["evaluation_reasoning"] == "it is ungradable"
    assert list(done.failures) == ["line 2"]
    assert (done.accuracy, done.decided, done.ungradable) == (1.0, 1, 1)
    read_again = cells(read(tmp_path / f"a/{stem}.json"), "accuracy")
    assert list(read_again.values()) == [(1, "scored"), (None, "judge_error"), (None, "ungradable")]

    broken[0] = False
    pool = tmp_path / "a/judgements"
    again = rejudge_sage(run, ModelSpec(name=judge), output=tmp_path / "b.json", judgements=pool)
    assert (again.judged, again.pooled, dict(again.failures)) == (1, 2, {})


def test_a_file_of_scores_keeps_its_counts_and_tells_what_changed(tmp_path: Path) -> None:
    rows = [
        score(4, True, time_taken=9.5),
        score(5, False),
        score(6, False, evaluation_reasoning=None),
    ]
    run = write_json(tmp_path / "run.json", rows)

    done, scored, _ = judged(run, tmp_path / "out.json")

    assert [row["index"] for row in scored] == [4, 5, 6]
    assert (scored[0]["tool_call_types"], scored[0]["time_taken"]) == ({"web-search": 7}, 9.5)
    assert (scored[0]["duration"], scored[0]["video_path"]) == (75.5, "data/videos/v4.mp4")
    assert [row["is_correct"] for row in scored] == [True, True, True]
    assert [row["taketwo"]["is_correct_before"] for row in scored] == [True, False, None]
    assert (done.compared, done.changed) == (2, 1)


def test_a_row_without_a_trace_has_no_count_of_calls(tmp_path: Path) -> None:
    row = answer(1)
    del row["complete_results"]
    run = tmp_path / "run.jsonl.gz"
    run.write_bytes(gzip.compress(json.dumps(row).encode()))

    _, (scored,), _ = judged(run, tmp_path / "out.json")

    assert (scored["used_tool_calls"], scored["tool_call_types"]) == (None, None)


def test_one_of_our_cells_that_broke_is_not_asked_about(tmp_path: Path) -> None:
    own = {
        "question_id": "v1-abc",
        "run_status": "provider_error",
        "score_status": "not_judged",
        "failure": "timeout: 300 s",
    }
    run = write_lines(tmp_path / "run.jsonl", [answer(1, None, taketwo=own)])

    done, (row,), judge = judged(run, tmp_path / "out.json")

    assert requests_of(judge) == []
    assert (row["is_correct"], row["error"]) == (None, "timeout: 300 s")
    assert row["taketwo"] == own
    assert (done.failed_runs, done.unanswered, done.accuracy) == (1, 0, None)


def test_an_open_answer_of_a_study_has_the_label_that_it_has_there(tmp_path: Path) -> None:
    asked = Question(
        question_id="v-1", text="What is on the table?", video_id="v", video_path="v.mp4",
        answer_text="a lemon", accepted_answers=("lemon", "one lemon"),
    )  # fmt: skip
    cell = Trajectory(
        arm="base", question_id="v-1", execution=1, run_status="answered", answer_text="a lime"
    )
    row = inference_row(
        SageCell(
            question=asked, trajectory=cell, is_correct=None, score_status="not_judged",
            option_index=None, shows_letter=False, measures={},
        )
    )  # fmt: skip
    run = write_lines(tmp_path / "run.jsonl", [row])

    (found,) = sage_answers(open_source(run))

    assert found.request is not None
    assert found.request.key("j") == JudgeRequest(question=asked, answer="a lime").key("j")


@pytest.mark.parametrize("status", ["limit", "abstained"])
def test_one_of_our_cells_that_ended_without_an_answer_is_wrong_here_as_in_the_study(
    tmp_path: Path, status: str
) -> None:
    own = {"question_id": "v1-abc", "run_status": status, "score_status": "scored"}
    run = write_lines(tmp_path / "run.jsonl", [answer(1, "It may be blue.", taketwo=own)])

    done, (row,), judge = judged(run, tmp_path / "out.json")

    assert requests_of(judge) == []
    assert (row["is_correct"], row["error"], done.unanswered) == (False, None, 1)
    ((value, told),) = cells(read(tmp_path / "out.json"), "accuracy").values()
    assert (value, told) == (0.0, status)


def test_a_letter_that_is_not_a_number_is_none(tmp_path: Path) -> None:
    run = write_lines(tmp_path / "run.jsonl", [answer(1, correct_answer=float("nan"))])

    _, (row,), judge = judged(run, tmp_path / "out.json")

    assert "nan" not in requests_of(judge)[0].text.lower()
    assert row["correct_answer"] is None


def test_all_broken_rows_are_named_and_nobody_is_asked(tmp_path: Path) -> None:
    run = tmp_path / "run.jsonl"
    unanswered = answer(5)
    del unanswered["answer"]
    lines = [
        json.dumps(answer(1)),
        json.dumps(answer(2, full_answer=None, question=" ")),
        '{"path": "v3.mp4", "ques',
        "[1]",
        json.dumps(unanswered),
        json.dumps(answer(6, path=7, full_answer=["blue"])),
        json.dumps(answer(7, is_correct="yes")),
    ]
    run.write_text("\n".join(lines), "utf-8")
    judge = script([by_colour], repeat_last=True)

    with pytest.raises(InvalidResults) as caught:
        judged(run, tmp_path / "out.json", judge)

    told = str(caught.value)
    for fault in (
        "line 2: field 'question' is ' ', expected a text",
        "line 2: field 'full_answer' is None, expected the true answer as a text",
        "line 3: not readable JSON",
        "line 4: a list, expected an object",
        "line 5: field 'answer' is not there",
        "line 6: field 'path' is 7, expected a text",
        "line 6: field 'full_answer' is ['blue'], expected the true answer as a text",
        "line 7: field 'is_correct' is 'yes', expected true, false or null",
    ):
        assert f"{run}, {fault}" in told
    assert "line 1:" not in told
    assert requests_of(judge) == []
    assert not (tmp_path / "out.json").exists()


def test_an_output_that_is_there_or_in_the_run_is_refused(tmp_path: Path) -> None:
    run = write_json(tmp_path / "run.json", [score(1, True)])
    there = write_json(tmp_path / "there.json", {})
    before = run.read_bytes()
    judge = ModelSpec(name="scripted/none")
    for out, told in (
        (run, "the run itself, which is never written to"),
        (tmp_path / "x/../run.json", "the run itself, which is never written to"),
        (run / "out.json", "inside the run's file"),
        (there, "is there already; name a new file"),
        (tmp_path, "is there already; name a new file"),
        (tmp_path / "out.jsonl", r"name a file that ends in \.json"),
        (there / "out.json", "a file, where a folder is needed"),
    ):
        with pytest.raises(RequestError, match=told):
            rejudge_sage(run, judge, output=out)
    with pytest.raises(RequestError, match="a file, where a folder is needed"):
        rejudge_sage(run, judge, output=tmp_path / "o.json", judgements=there)
    assert run.read_bytes() == before
    assert there.read_text("utf-8") == "{}"


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    judge = ModelSpec(name="scripted/none")
    with pytest.raises(InvalidResults, match="no row in it"):
        rejudge_sage(write_json(tmp_path / "e.json", []), judge, output=tmp_path / "out.json")
    with pytest.raises(InvalidResults, match=r"nowhere\.jsonl: cannot be read"):
        rejudge_sage(tmp_path / "nowhere.jsonl", judge, output=tmp_path / "out.json")


def test_the_command_judges_a_file_and_needs_no_questions(tmp_path: Path) -> None:
    run = write_lines(tmp_path / "run.jsonl", [answer(1), answer(2, "red"), answer(3, None)])
    judge = script([by_colour], repeat_last=True)
    asked = [str(run), "--judge", judge, "--judgements", str(tmp_path / "pool")]

    shown = CliRunner().invoke(
        command, [*asked, "-o", str(tmp_path / "a.json")], catch_exceptions=False
    )

    assert shown.exit_code == 0
    assert f"asking {judge} about 2 different answers, 0 are judged already" in shown.stderr
    assert "3 rows, different answers: 2 judged now, 0 from the pool" in shown.stdout
    assert "accuracy 0.333 (1 of 3 decided rows; 1 of them without an answer" in shown.stdout
    again = CliRunner().invoke(
        command, [*asked, "-o", str(tmp_path / "b.json"), "--json"], catch_exceptions=False
    )
    assert json.loads(again.stdout)["from_pool"] == 2
    assert again.stderr == ""


@pytest.mark.parametrize(
    "option", [("--questions", "d"), ("--protocol", "blind"), ("--preset", "published")]
)
def test_the_command_refuses_options_of_run_folders_for_a_file(
    tmp_path: Path, option: tuple[str, str]
) -> None:
    run = write_lines(tmp_path / "run.jsonl", [answer(1)])

    shown = CliRunner().invoke(command, [str(run), "--judge", "j/k", "-o", "o.json", *option])

    assert isinstance(shown.exception, RequestError)
    assert f"{option[0]} is for run folders of AgentVidBench" in str(shown.exception)


def test_the_command_needs_a_judge_for_a_file(tmp_path: Path) -> None:
    run = write_lines(tmp_path / "run.jsonl", [answer(1)])

    shown = CliRunner().invoke(command, [str(run), "-o", str(tmp_path / "o.json")])

    assert isinstance(shown.exception, RequestError)
    assert "name one with --judge" in str(shown.exception)


@pytest.mark.parametrize("reads", ["rejudge", "audit"])
def test_a_first_line_that_was_cut_off_is_told_as_a_line_of_sage(
    tmp_path: Path, reads: str
) -> None:
    run = write_lines(tmp_path / "run.jsonl", [answer(1), answer(2)])
    run.write_text('{"path": "v\n' + run.read_text("utf-8"), "utf-8")

    def again(path: Path) -> Any:
        return judged(path, tmp_path / "out.json")

    reader: Callable[[Path], Any] = read if reads == "audit" else again
    with pytest.raises(InvalidResults, match="line 1: not readable JSON") as refused:
        reader(run)

    assert "a run that was cut off leaves half a line: remove it" in str(refused.value)


def test_an_export_tells_of_cells_without_an_answer_where_there_are_some(tmp_path: Path) -> None:
    plan = make_study_plan()
    cells_ = cells_of(plan)
    done = [cell for cell in cells_ if cell.run_status != "provider_error"]
    all_ran = [
        replace(cell, arm=arm, question_id=name)
        for cell in done[:1]
        for arm in ("base", "method")
        for name in ("7", "8", "9")
    ]
    every = [replace(cell, execution=number) for cell in all_ran for number in (1, 2)]
    some = export_study(
        write_study(tmp_path / "some", plan, cells_), form="sage", output=tmp_path / "a"
    )
    none = export_study(
        write_study(tmp_path / "none", plan, every), form="sage", output=tmp_path / "b"
    )

    # Two cells failed, two did not run.
    (note,) = some.notes
    assert note.startswith("4 cells that ended in an error or did not run have no answer")
    assert none.notes == ()


def served_by(model: str) -> Any:
    return says(verdict("correct")).model_copy(update={"model": model})


def test_another_model_behind_the_judges_name_is_left_out_and_the_result_is_written(
    tmp_path: Path,
) -> None:
    run = write_lines(tmp_path / "run.jsonl", [answer(number) for number in range(12)])
    judge = script([*[served_by("served-1")] * 6, served_by("served-2")], repeat_last=True)

    done, rows, _ = judged(run, tmp_path / "out.json", judge)

    assert (done.judged, len(done.failures), done.decided, done.correct) == (6, 6, 6, 6)
    assert all("served-1" in why and "served-2" in why for why in done.failures.values())
    served = [row["taketwo"]["judging"].get("served_model") for row in rows]
    assert sorted(map(str, served)) == ["None"] * 6 + ["served-1"] * 6
    assert [row["is_correct"] is None for row in rows] == [row["error"] is not None for row in rows]
    again, _, _ = judged(run, tmp_path / "again.json", judge)
    assert (again.judged, again.pooled, again.decided) == (0, 6, 6)


def test_pooled_labels_of_two_served_models_are_refused_before_anything_is_asked(
    tmp_path: Path,
) -> None:
    run = write_lines(tmp_path / "run.jsonl", [answer(1), answer(2), answer(3)])
    judge = script([served_by("served-1")], repeat_last=True)
    judged(run, tmp_path / "out.json", judge)
    (part,) = (tmp_path / "judgements").glob("part-*.parquet")
    served = pl.Series("served_model", ["served-1", "served-2"])
    pl.read_parquet(part).head(2).with_columns(served).write_parquet(part)

    with pytest.raises(InvalidResults, match="come from 2 served models") as told:
        judged(run, tmp_path / "again.json", judge)

    assert str(part) in str(told.value)
    assert len(requests_of(judge)) == 3


def test_while_a_process_asks_for_these_labels_no_other_one_does(tmp_path: Path) -> None:
    run = write_lines(tmp_path / "run.jsonl", [answer(1)])
    judge = script([by_colour], repeat_last=True)

    with (
        asking(tmp_path / "judgements"),
        pytest.raises(RequestError, match="another process is asking judges"),
    ):
        judged(run, tmp_path / "out.json", judge)

    assert requests_of(judge) == []
    assert judged(run, tmp_path / "out.json", judge)[0].judged == 1


@pytest.mark.parametrize("place", ["folder", "name"])
def test_an_output_that_cannot_be_written_is_told_before_anything_is_spent(
    tmp_path: Path, place: str
) -> None:
    if place == "folder" and not Path("/proc/self").exists():
        pytest.skip("needs a place nobody can write")
    run = write_lines(tmp_path / "run.jsonl", [answer(1)])
    out = Path("/proc/again/out.json") if place == "folder" else tmp_path / f"{'x' * 245}.json"
    judge = script([by_colour], repeat_last=True)

    with pytest.raises(RequestError, match=r"cannot be written .* nothing was spent"):
        rejudge_sage(run, ModelSpec(name=judge), output=out, judgements=tmp_path / "pool")

    assert requests_of(judge) == []


def test_a_key_that_stands_twice_is_named_and_nobody_is_asked(tmp_path: Path) -> None:
    row = json.dumps(score(1, True))
    run = tmp_path / "run.jsonl"
    twice = row.replace('"is_correct": true', '"is_correct": true, "is_correct": false')
    run.write_text(f"{json.dumps(score(0, True))}\n{twice}\n", "utf-8")
    judge = script([by_colour], repeat_last=True)

    with pytest.raises(InvalidResults, match=r"line 2: the key 'is_correct' stands 2 times"):
        judged(run, tmp_path / "out.json", judge)

    assert requests_of(judge) == []
