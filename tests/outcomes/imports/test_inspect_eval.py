from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.executions.written_logs import write_log
from tests.outcomes.imports.files import cells, read, summary, write_inspect, write_json

from taketwo.errors import InvalidResults, RequestError, UnknownName


def test_letters_numbers_and_records_are_scores_and_epochs_are_executions(tmp_path: Path) -> None:
    log = write_inspect(
        tmp_path / "a.eval",
        [
            summary("q1", "C", metadata={"video": "v1"}),
            summary("q2", "I", metadata={"video": "v1"}),
            summary("q1", "C", epoch=2, metadata={"video": "v1"}),
            summary("q2", "P", epoch=2, metadata={"video": "v1"}),
        ],
        config={"epochs": 2},
    )

    found = read(log, cluster="video")

    assert cells(found) == {
        ("openai/gpt-4o", "K1", "q1"): (1.0, "scored"),
        ("openai/gpt-4o", "K1", "q2"): (0.0, "scored"),
        ("openai/gpt-4o", "K2", "q1"): (1.0, "scored"),
        ("openai/gpt-4o", "K2", "q2"): (0.5, "scored"),
    }
    assert (found.reading.n_clusters, found.reading.alignment) == (1, "arbitrary")


def test_several_logs_of_a_task_and_model_are_executions_by_their_time(tmp_path: Path) -> None:
    write_inspect(tmp_path / "z.eval", [summary(1, "C")], created="2026-01-01T00:00:00+00:00")
    write_inspect(tmp_path / "a.eval", [summary(1, "I")], created="2026-01-02T00:00:00+00:00")
    write_inspect(tmp_path / "b.eval", [summary(1, True)], model="x/y")

    assert cells(read(tmp_path)) == {
        ("openai/gpt-4o", "K1", "1"): (1.0, "scored"),
        ("openai/gpt-4o", "K2", "1"): (0.0, "scored"),
        ("x/y", "K1", "1"): (1.0, "scored"),
    }


def test_errors_limits_and_absent_samples_are_statuses(tmp_path: Path) -> None:
    log = write_inspect(
        tmp_path / "a.eval",
        [
            summary("ok", "C"),
            summary("crash", "I", error="RuntimeError: no"),
            summary("limit", limit="token"),
            summary("late", "C", limit="time"),
            summary("nan", float("nan")),
            summary("cancelled", completed=False),
        ],
        dataset={"sample_ids": ["ok", "crash", "limit", "late", "nan", "cancelled", "never"]},
    )

    model = "openai/gpt-4o"
    assert cells(read(log)) == {
        (model, "K1", "ok"): (1.0, "scored"),
        (model, "K1", "crash"): (None, "agent_error"),
        (model, "K1", "limit"): (None, "limit"),
        (model, "K1", "late"): (1.0, "scored"),
        (model, "K1", "nan"): (None, "not_judged"),
        (model, "K1", "cancelled"): (None, "not_run"),
        (model, "K1", "never"): (None, "not_run"),
    }


@pytest.mark.parametrize("directory", [True, False])
def test_an_unfinished_log_is_read_through_its_journal(tmp_path: Path, directory: bool) -> None:
    log = write_inspect(
        tmp_path / "a.eval",
        [summary("q1", "C"), summary("q2", "I")],
        finished=False,
        directory=directory,
    )

    found = read(log)

    assert [value for value, _ in cells(found).values()] == [1.0, 0.0]
    assert f"{log}: the run did not finish; read through its journal" in found.reading.notes


def test_a_sample_without_a_summary_is_read_itself(tmp_path: Path) -> None:
    spec = {"task": "t", "model": "m", "task_id": "x", "dataset": {}, "metadata": {}}
    log = write_log(
        tmp_path / "a.eval",
        ("_journal/start.json", json.dumps({"version": 2, "eval": spec}).encode()),
        ("samples/q1_epoch_1.json", json.dumps(summary("q1", "C")).encode()),
        ("samples/q2_epoch_1/sample.json", json.dumps(summary("q2", "I")).encode()),
    )
    assert [value for value, _ in cells(read(log)).values()] == [1.0, 0.0]


def test_the_older_json_form_is_read(tmp_path: Path) -> None:
    log = write_json(
        tmp_path / "log.json",
        {
            "version": 2,
            "status": "success",
            "eval": {"task": "t", "model": "m", "eval_id": "e", "dataset": {}},
            "samples": [summary("q1", "C"), summary("q2", None, error={"message": "boom"})],
        },
    )
    assert cells(read(log)) == {
        ("m", "K1", "q1"): (1.0, "scored"),
        ("m", "K1", "q2"): (None, "agent_error"),
    }


def test_a_retry_completes_its_run_and_is_no_second_execution(tmp_path: Path) -> None:
    first = [summary("q1", "C"), summary("q2", None, error="RuntimeError: x")]
    later = [summary("q1", "C"), summary("q2", "I")]
    write_inspect(tmp_path / "a.eval", first, task_id="T", created="2026-01-01")
    write_inspect(tmp_path / "b.eval", later, task_id="T", created="2026-01-02")

    found = read(tmp_path)

    assert len(found.reading.executions) == 1
    assert [value for value, _ in cells(found).values()] == [1.0, 0.0]


def test_two_tries_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    one = write_inspect(tmp_path / "a.eval", [summary("q1", "C")], task_id="T", created="1")
    two = write_inspect(tmp_path / "b.eval", [summary("q1", "I")], task_id="T", created="2")
    with pytest.raises(InvalidResults) as caught:
        read(tmp_path)
    assert str(one) in str(caught.value)
    assert str(two) in str(caught.value)


def test_a_copied_log_is_one_run(tmp_path: Path) -> None:
    log = write_inspect(tmp_path / "a.eval", [summary("q1", "C")])
    (tmp_path / "copy.eval").write_bytes(log.read_bytes())

    found = read(tmp_path)

    assert len(found.reading.executions) == 1
    assert found.reading.asides[0].why == "a run found twice is one run"


def test_a_text_score_is_refused_unless_its_metric_is_left_out(tmp_path: Path) -> None:
    scores = {"match": {"value": "C"}, "grade": {"value": {"style": "good", "facts": 1}}}
    log = write_inspect(tmp_path / "a.eval", [{"id": "q1", "epoch": 1, "scores": scores}])

    with pytest.raises(InvalidResults, match=r"summaries\.json item 1: score 'good' is neither"):
        read(log)
    found = read(log, metrics=("match", "grade.facts"))
    assert found.reading.metrics == ("grade.facts", "match")
    assert [aside.what for aside in found.reading.asides] == ["values of 'grade.style'"]


def test_the_system_can_be_a_field_of_the_log(tmp_path: Path) -> None:
    write_inspect(tmp_path / "a.eval", [summary("q", "C")], solver="react", metadata={"arm": "x"})
    write_inspect(tmp_path / "b.eval", [summary("q", "I")], solver="plain", metadata={"arm": "y"})

    assert read(tmp_path).reading.systems == ("openai/gpt-4o/plain", "openai/gpt-4o/react")
    assert read(tmp_path, system="arm").reading.systems == ("x", "y")
    with pytest.raises(UnknownName, match="unknown field for --system 'agent'"):
        read(tmp_path, system="agent")
    with pytest.raises(RequestError, match="--score: names a column of a table"):
        read(tmp_path, score="match")


def test_a_log_of_our_own_study_is_sent_to_compare(tmp_path: Path) -> None:
    log = write_inspect(tmp_path / "a.eval", [summary("q", "C")], metadata={"plan_sha256": "ab"})
    with pytest.raises(InvalidResults, match="compare it with: taketwo compare"):
        read(log)
