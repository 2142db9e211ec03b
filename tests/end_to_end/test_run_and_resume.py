from __future__ import annotations

import fcntl
import json
import signal
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.end_to_end.small_study import PLUGIN, make_study

from taketwo.errors import HarnessError, PlanChanged, RequestError
from taketwo.executions import logs_by_engine
from taketwo.executions.attempts import attempts_in
from taketwo.executions.logs import attempt_files, collect, read_log
from taketwo.executions.manifest import build_manifest, compare_manifests, read_manifest
from taketwo.executions.progress import Progress
from taketwo.executions.run import run_execution, run_study
from taketwo.outcomes.build import outcomes_of


def test_a_study_runs_once_and_a_second_start_finds_nothing_to_do(tmp_path: Path) -> None:
    calls = tmp_path / "calls.txt"
    prices = {"playback/planner": {"input": 1.0, "output": 2.0}}
    plan = make_study(tmp_path, questions=2, args={"calls": str(calls)}, prices=prices)
    seen: list[Progress] = []

    result = run_study(tmp_path, on_progress=seen.append, plugins=[PLUGIN])

    assert Counter(cell.run_status for cell in result.trajectories) == {"answered": 8}
    assert seen[-1].done == {"base": 2, "react": 2}
    assert seen[-1].tokens == 2 * 110 + 2 * 330
    assert [read_manifest(tmp_path / f"K{k}" / "manifest.json") for k in (1, 2)] == list(
        result.manifests
    )
    comparison = compare_manifests(result.manifests)
    assert comparison.refusals == ()
    assert comparison.drift == ()
    frame = outcomes_of(plan, result.trajectories).frame
    assert frame.filter(arm="react")["turns"].to_list() == [2.0] * 4
    assert frame.filter(arm="base")["cost_usd"].to_list() == pytest.approx([120 / 1e6] * 4)
    assert frame.filter(arm="react")["cost_usd"].null_count() == 4
    before = calls.read_text()

    again = run_study(tmp_path, plugins=[PLUGIN])

    assert calls.read_text() == before
    assert again.trajectories == result.trajectories
    path = attempt_files(tmp_path / "K1")[0]
    by_id = {cell.sample_id: cell for cell in read_log(path)}
    assert {cell.sample_id: cell for cell in logs_by_engine.read_log(path)} == by_id


def test_errors_of_a_provider_resume_and_are_never_scored(tmp_path: Path) -> None:
    plan = make_study(tmp_path, questions=8, executions=1, args={"fail": 0.3}, attempts=99, cells=8)

    first = run_study(tmp_path, plugins=[PLUGIN])

    statuses = Counter(cell.run_status for cell in first.trajectories)
    assert set(statuses) == {"answered", "provider_error"}
    frame = outcomes_of(plan, first.trajectories).frame
    failures = frame.filter(run_status="provider_error")
    assert failures["accuracy"].null_count() == failures.height > 0
    kept = {cell.sample_id: cell for cell in first.trajectories if cell.run_status == "answered"}
    last = first
    while any(cell.run_status == "provider_error" for cell in last.trajectories):
        last = run_study(tmp_path, plugins=[PLUGIN])
    assert {cell.run_status for cell in last.trajectories} == {"answered"}
    after = {cell.sample_id: cell for cell in last.trajectories}
    assert all(after[name] == cell for name, cell in kept.items())


def test_another_byte_of_the_video_stops_the_run_before_it_spends(tmp_path: Path) -> None:
    calls = tmp_path / "calls.txt"
    make_study(tmp_path, questions=1, args={"calls": str(calls)})
    with (tmp_path / "clip.mp4").open("ab") as file:
        file.write(b"\0")

    with pytest.raises(PlanChanged, match="nothing was spent"):
        run_study(tmp_path, plugins=[PLUGIN])

    assert not calls.exists()
    assert not (tmp_path / "K1").exists()


def test_logs_that_a_changed_prompt_and_option_got_into_are_refused(tmp_path: Path) -> None:
    plan = make_study(tmp_path, questions=2)
    run_execution(tmp_path, plan, 1, located=plan.questions, plugins=[PLUGIN])
    question = replace(
        plan.questions[0].question, options=("a red circle", "a blue square", "a STAR")
    )
    planned = replace(plan.questions[0], question=question)
    changed = replace(plan, questions=(planned, *plan.questions[1:]))
    (tmp_path / "plan.json").unlink()
    (tmp_path / "plan.json").write_text(json.dumps(changed.to_json()))
    run_execution(tmp_path, changed, 2, located=changed.questions, plugins=[PLUGIN])

    second = collect(tmp_path, changed, executions=(2,))
    manifests = [
        read_manifest(tmp_path / "K1" / "manifest.json"),
        build_manifest(plan, 2, second, attempts_in(tmp_path / "K2")),
    ]
    refusals = compare_manifests(manifests).refusals

    assert {(item.check, item.arm, item.role) for item in refusals} == {
        ("first request", "base", "orchestrator"),
        ("first request", "react", "orchestrator"),
    }
    assert all("first 'q0': " in item.message for item in refusals)


def test_a_process_that_dies_is_reported_with_what_it_last_said(tmp_path: Path) -> None:
    make_study(tmp_path, questions=1)

    with pytest.raises(HarnessError, match="No module named 'no_such_plugin'"):
        run_study(tmp_path, plugins=["no_such_plugin"])


def test_an_interrupt_leaves_a_study_that_can_be_resumed(tmp_path: Path) -> None:
    make_study(tmp_path, questions=6, executions=1, cells=1, args={"wait_s": 0.05})

    def interrupt(progress: Progress) -> None:
        if sum(progress.done.values()) == 3:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run_study(tmp_path, on_progress=interrupt, plugins=[PLUGIN])
    left = {
        cell.sample_id: cell
        for path in attempt_files(tmp_path / "K1")
        for cell in read_log(path)
        if cell.run_status == "answered"
    }
    assert 3 <= len(left) < 12

    result = run_study(tmp_path, plugins=[PLUGIN])

    cells = {cell.sample_id: cell for cell in result.trajectories}
    assert Counter(cell.run_status for cell in cells.values()) == {"answered": 12}
    assert all(cells[name].log == cell.log for name, cell in left.items())
    assert [attempt.log for attempt in result.manifests[0].attempts] == [
        "attempt-01.eval",
        "attempt-02.eval",
    ]


def test_two_runs_of_one_study_at_once_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taketwo.executions.run._LOCK_S", 0.2)
    make_study(tmp_path, questions=1, executions=1)

    with (tmp_path / "run.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(RequestError, match="another process is running this study"):
            run_study(tmp_path, plugins=[PLUGIN])

    assert not (tmp_path / "K1").exists()
