"""A study whose rule lets a re-execution stop early, through real processes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from tests.end_to_end.small_study import PLUGIN, make_study

from taketwo.errors import DataError
from taketwo.executions.progress import Progress
from taketwo.executions.rule import Stopping
from taketwo.executions.schedule import cell_order
from taketwo.executions.stopped import Stopped, stopped_in, write_stopped
from taketwo.outcomes.table import read_outcomes
from taketwo.report.accounts import denominators_table, failures_table, losses_table
from taketwo.reporting import write_report
from taketwo.scoring import score
from taketwo.study import compare, run

BLOCK = 10
QUESTIONS = 30


def test_a_large_shift_stops_the_second_execution_after_a_block(tmp_path: Path) -> None:
    calls, turned = tmp_path / "calls.txt", tmp_path / "turned"
    plan = make_study(
        tmp_path,
        questions=QUESTIONS,
        args={"calls": str(calls), "turned": str(turned)},
        stopping=Stopping(block=BLOCK),
        cells=8,
    )

    def turn_after_the_first_execution(progress: Progress) -> None:
        if sum(progress.done.values()) == 2 * QUESTIONS:
            turned.touch()

    ran = run(tmp_path, on_progress=turn_after_the_first_execution, plugins=[PLUGIN])

    drawn = list(dict.fromkeys(cell.question_id for cell in cell_order(plan, 2)))
    record = json.loads((tmp_path / "K2" / "stopped.json").read_bytes())
    assert record["format"] == "taketwo.stopped/1"
    assert record["questions"] == drawn[: 2 * BLOCK]
    assert record["alpha"] == 0.05
    assert record["statistic"]["shift"] < -1
    assert record["statistic"]["high"] < 0
    assert ran.statuses == {"answered": 100, "stopped": 20}
    assert (ran.failed, ran.first_failure) == (0, None)
    _requires_a_visible_stop(tmp_path, drawn)
    before, files = calls.read_text(), sorted(tmp_path.glob("K2/*"))

    again = run(tmp_path, plugins=[PLUGIN])

    assert again.statuses == ran.statuses
    assert calls.read_text() == before
    assert sorted(tmp_path.glob("K2/*")) == files


def _requires_a_visible_stop(folder: Path, drawn: list[str]) -> None:
    score(folder)
    outcomes = read_outcomes(folder / "outcomes.parquet")
    left = outcomes.frame.filter(availability="stopped")
    assert set(left["question_id"]) == set(drawn[2 * BLOCK :])
    assert set(left["run_status"]) == {"not_run"}
    assert set(left["execution"]) == {2}
    comparison = compare(folder)
    assert [(s.step, s.n_before, s.n_after) for s in comparison.population.losses] == [
        ("video there in every cell", 30, 30),
        ("not stopped early", 30, 20),
        ("no failed cell", 20, 20),
    ]
    lost = comparison.population.losses[1].lost
    assert {loss.question_id for loss in lost} == set(drawn[2 * BLOCK :])
    assert lost[0].cells == ("base in K2: stopped", "react in K2: stopped")
    assert comparison.not_as_planned == ()
    told = comparison.not_known or ""
    assert told.startswith("K2 was stopped early, as the rule allows, after 20 of 30 questions.")
    assert "the sequential statement is: betting confidence sequence: rejected after" in told
    counts = {(c.execution, c.arm): c.run_statuses for c in comparison.population.cells}
    assert counts[2, "base"] == {"answered": 20, "stopped": 10}
    assert "stopped" in [column.heading for column in denominators_table(comparison).columns]
    assert any("not stopped early" in str(row) for row in losses_table(comparison).rows)
    assert failures_table(outcomes) is None
    page = write_report(folder).html.read_text()
    assert "K2 was stopped early, as the rule allows, after 20 of 30 questions." in page
    logs = sorted(folder.glob("K*/attempt-*.eval"))
    assert compare(*logs).population.losses == comparison.population.losses
    table = compare(folder / "outcomes.parquet")
    assert table.not_known == comparison.not_known


def test_without_a_shift_every_block_runs(tmp_path: Path) -> None:
    make_study(tmp_path, questions=QUESTIONS, stopping=Stopping(block=15), cells=8)

    ran = run(tmp_path, plugins=[PLUGIN])

    assert Counter(ran.statuses) == {"answered": 4 * QUESTIONS}
    assert not (tmp_path / "K2" / "stopped.json").exists()
    assert len(sorted(tmp_path.glob("K1/attempt-*.eval"))) == 1
    assert len(sorted(tmp_path.glob("K2/attempt-*.eval"))) == 2
    comparison = compare(tmp_path)
    assert len(comparison.population.losses) == 2
    assert "stopped" not in (comparison.not_known or "")


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"format": "taketwo.stopped/1", "plan_sha256": "0", "questions": []}']
)
def test_a_garbled_record_of_a_stop_is_told(tmp_path: Path, text: str) -> None:
    plan = make_study(tmp_path, questions=20, stopping=Stopping(block=10))
    (tmp_path / "K2").mkdir()
    (tmp_path / "K2" / "stopped.json").write_text(text)

    with pytest.raises(DataError, match=r"K2/stopped\.json: no readable record of an early stop"):
        stopped_in(tmp_path / "K2", plan)


def test_a_record_of_another_plan_is_refused(tmp_path: Path) -> None:
    own = make_study(tmp_path / "own", questions=20, stopping=Stopping(block=10))
    other = make_study(tmp_path / "other", questions=21, stopping=Stopping(block=10))
    record = Stopped(
        execution=2, questions=("q1",), statistic={}, method="m", alpha=0.05, reason="why"
    )
    write_stopped(record, tmp_path / "own" / "K2", own)

    assert stopped_in(tmp_path / "own" / "K2", own) == record
    with pytest.raises(
        DataError, match=f"of plan {own.sha256[:12]}, expected .*{other.sha256[:12]}"
    ):
        stopped_in(tmp_path / "own" / "K2", other)
