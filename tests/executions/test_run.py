from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.executions.test_logs import QUESTIONS, failed
from tests.executions.written_logs import sample_member, start_member, write_log
from tests.plans import make_plan, make_trajectory

from taketwo.errors import DataError, ForeignLog
from taketwo.executions.attempt_run import child_environment
from taketwo.executions.attempts import (
    attempts_in,
    number_of_next_attempt,
    require_listed_logs,
    settle_attempts,
)
from taketwo.executions.deaths import death_record
from taketwo.executions.freeze import write_plan
from taketwo.executions.manifest import build_manifest
from taketwo.executions.plan import Plan
from taketwo.executions.progress import ProgressCount
from taketwo.executions.rule import Rule
from taketwo.executions.run import cells_to_run
from taketwo.executions.schedule import cell_order

PLAN = replace(make_plan(questions=QUESTIONS, executions=1), rule=Rule(attempts=2))
START = start_member(plan_sha256=PLAN.sha256)


def planned(folder: Path, plan: Plan = PLAN) -> Path:
    write_plan(plan, folder)
    return folder


def test_all_cells_run_first_in_the_planned_order(tmp_path: Path) -> None:
    wanted = cells_to_run(planned(tmp_path), PLAN, 1, retry_errors=False)

    assert wanted == tuple(cell.sample_id for cell in cell_order(PLAN, 1))


def test_finished_cells_are_never_run_again(tmp_path: Path) -> None:
    members = [
        sample_member("base", "q1"),
        sample_member("base", "q2", events=failed("agent_error")),
        sample_member("method", "q1", events=failed("provider_error")),
        sample_member("method", "q2", events=[]),
    ]
    write_log(planned(tmp_path) / "K1" / "attempt-01.eval", START, *members)

    wanted = cells_to_run(tmp_path, PLAN, 1, retry_errors=False)

    assert set(wanted) == {"method:q1", "method:q2"}
    assert set(cells_to_run(tmp_path, PLAN, 1, retry_errors=True)) == {*wanted, "base:q2"}


def test_a_cell_is_given_up_after_as_many_errors_as_the_rule_allows(tmp_path: Path) -> None:
    planned(tmp_path)
    for attempt in (1, 2):
        write_log(
            tmp_path / "K1" / f"attempt-0{attempt}.eval",
            START,
            sample_member("base", "q1", events=failed("provider_error")),
        )

    assert "base:q1" not in cells_to_run(tmp_path, PLAN, 1, retry_errors=True)


def test_the_child_sees_no_setting_of_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSPECT_EVAL_CACHE", "true")
    monkeypatch.setenv("INSPECT_EVAL_MODEL", "openai/other")
    monkeypatch.setenv("INSPECT_LOG_DIR", "/elsewhere")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://kept")

    environment = child_environment(tmp_path)

    engine = {name: value for name, value in environment.items() if name.startswith("INSPECT_")}
    assert engine == {"INSPECT_CACHE_DIR": str(tmp_path)}
    assert environment["PYTHON_DOTENV_DISABLED"] == "1"
    assert environment["OPENAI_BASE_URL"] == "http://kept"


def test_attempts_that_ended_become_one_file_each(tmp_path: Path) -> None:
    left = write_log(tmp_path / "attempt-01" / "2026_study_x.eval", START)
    (left.parent / "cells.json").write_text("[]")
    (tmp_path / "attempt-02").mkdir()

    assert number_of_next_attempt(tmp_path) == 3
    settle_attempts(tmp_path)

    assert [entry.name for entry in tmp_path.iterdir()] == ["attempt-01.eval"]
    assert number_of_next_attempt(tmp_path) == 2
    assert number_of_next_attempt(tmp_path / "none") == 1


def test_an_attempt_whose_log_has_no_byte_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "attempt-01").mkdir()
    (tmp_path / "attempt-01" / "x.eval").touch()
    (tmp_path / "attempt-02.eval").touch()

    settle_attempts(tmp_path)

    assert list(tmp_path.iterdir()) == []
    assert attempts_in(tmp_path) == ()


def test_an_attempt_whose_log_was_cut_off_in_its_header_is_listed(tmp_path: Path) -> None:
    log = write_log(tmp_path / "attempt-01.eval", START, directory=False)
    log.write_bytes(log.read_bytes()[:40])

    (attempt,) = attempts_in(tmp_path)

    assert (attempt.log, attempt.status, attempt.created) == ("attempt-01.eval", "started", None)


def test_the_attempt_after_99_is_100_and_settles(tmp_path: Path) -> None:
    write_log(tmp_path / "attempt-99.eval", START)
    assert number_of_next_attempt(tmp_path) == 100
    write_log(tmp_path / "attempt-100" / "x.eval", START)

    settle_attempts(tmp_path)

    assert {entry.name for entry in tmp_path.iterdir()} == {"attempt-99.eval", "attempt-100.eval"}
    assert number_of_next_attempt(tmp_path) == 101


def test_an_attempt_that_left_only_what_its_starter_noted_keeps_its_number(tmp_path: Path) -> None:
    (tmp_path / "attempt-07.json").write_text("{}")

    assert number_of_next_attempt(tmp_path) == 8


def test_a_folder_inside_an_attempt_is_refused_and_nothing_is_removed(tmp_path: Path) -> None:
    log = write_log(tmp_path / "attempt-01" / "x.eval", START)
    (tmp_path / "attempt-01" / "mine").mkdir()

    with pytest.raises(DataError, match=r"attempt-01/mine: a folder, where an attempt has files"):
        settle_attempts(tmp_path)

    assert log.is_file()


def test_two_logs_of_one_attempt_are_refused_and_none_is_lost(tmp_path: Path) -> None:
    inside = write_log(tmp_path / "attempt-01" / "x.eval", START)
    settled = write_log(tmp_path / "attempt-01.eval", START, sample_member("base", "q1"))
    before = settled.read_bytes()

    with pytest.raises(DataError, match="an attempt has one log, found"):
        settle_attempts(tmp_path)

    assert inside.is_file()
    assert settled.read_bytes() == before


@pytest.mark.parametrize("is_emptied", [True, False])
def test_a_listed_log_that_is_gone_is_never_sampled_again_in_silence(
    tmp_path: Path, is_emptied: bool
) -> None:
    log = write_log(planned(tmp_path) / "K1" / "attempt-01.eval", START)
    manifest = build_manifest(PLAN, 1, (), attempts_in(log.parent))
    manifest.write(log.parent / "manifest.json")
    require_listed_logs(log.parent)
    if is_emptied:
        log.write_bytes(b"")
    else:
        log.unlink()

    with pytest.raises(
        ForeignLog, match=r"lists logs that are gone: .*K1/attempt-01\.eval; .* or "
    ):
        require_listed_logs(log.parent)


def test_a_manifest_that_cannot_be_read_lists_nothing(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes(b"[" * 100_000)

    require_listed_logs(tmp_path)


def test_deaths_count_as_starts_of_a_cell(tmp_path: Path) -> None:
    place = planned(tmp_path) / "K1"
    failing = sample_member("base", "q1", events=failed("provider_error"))
    write_log(place / "attempt-01.eval", START, failing)
    assert "base:q1" in cells_to_run(tmp_path, PLAN, 1, retry_errors=False)
    record = death_record(["base:q1", "base:q2"], is_alone=False, said="signal 9")
    (place / "attempt-02.json").write_text(json.dumps({"death": record}))

    wanted = cells_to_run(tmp_path, PLAN, 1, retry_errors=True)

    assert set(wanted) == {"base:q2", "method:q1", "method:q2"}


def test_an_attempt_is_listed_with_hash_status_and_what_its_process_knew(tmp_path: Path) -> None:
    write_log(tmp_path / "attempt-01.eval", start_member(code_sha256="c"))
    (tmp_path / "attempt-01.json").write_text(json.dumps({"loop_lag_p99_s": 0.02}))

    (attempt,) = attempts_in(tmp_path)

    assert (attempt.log, attempt.status, attempt.code_sha256) == ("attempt-01.eval", "started", "c")
    assert (len(attempt.sha256), attempt.loop_lag_p99_s) == (64, 0.02)


def test_a_log_that_is_none_stops_the_listing(tmp_path: Path) -> None:
    (tmp_path / "attempt-01.eval").write_bytes(b"junk")

    with pytest.raises(ForeignLog, match=r"attempt-01\.eval: not an \.eval log"):
        attempts_in(tmp_path)


def test_progress_counts_by_arm_and_says_what_is_left() -> None:
    priced = replace(PLAN, prices={"openai/m": {"input": 1.0, "output": 2.0}})
    count = ProgressCount(priced, 1, [make_trajectory("q1")])
    count.start(3)
    usage = [{"model": "openai/m", "input": 1_000_000, "output": 500_000}]

    count.add({"arm": "base", "run_status": "limit", "usage": usage})
    count.add({"arm": "method", "run_status": "provider_error", "usage": []})
    progress = count.at(20.0)

    assert (progress.planned, progress.done) == ({"base": 2, "method": 2}, {"base": 2, "method": 0})
    assert progress.failures == {"base": {}, "method": {"provider_error": 1}}
    assert (progress.tokens, progress.cost_usd) == (1_500_000, 2.0)
    assert (progress.elapsed_s, progress.left_s) == (20.0, 10.0)


def test_progress_without_a_price_has_no_cost_and_without_an_end_no_time_left() -> None:
    count = ProgressCount(PLAN, 1, [])
    count.start(2)

    assert (count.at(1.0).tokens, count.at(1.0).cost_usd, count.at(1.0).left_s) == (
        None,
        None,
        None,
    )

    count.add({
        "arm": "base",
        "run_status": "answered",
        "usage": [{"model": "m", "input": 1, "output": 1}],
    })

    assert (count.at(1.0).tokens, count.at(1.0).cost_usd) == (2, None)
