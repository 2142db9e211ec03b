from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from tests.end_to_end.indexed_study import PLUGIN, make_indexed_study

from taketwo.executions.logs import attempt_files, read_log
from taketwo.executions.logs_by_engine import read_log as read_by_engine
from taketwo.executions.manifest import compare_manifests
from taketwo.executions.run import StudyRun, run_study
from taketwo.executions.trajectory import Trajectory
from taketwo.executions.trajectory_table import read_trajectories, write_trajectories
from taketwo.outcomes.build import outcomes_of
from taketwo.tools.budget import Limits

RUNNER = """
import sys
from pathlib import Path
from taketwo.executions.run import run_study
run_study(Path(sys.argv[1]), plugins=[sys.argv[2]])
"""
PARTS = ["clip 1", "clip 2", "clip 3", "clip 4", "merge"]


def asked(calls: Path) -> Counter[str]:
    """Return how often each part of an index, and anything else, was asked for."""
    lines = calls.read_text().splitlines() if calls.exists() else []
    return Counter(line.split(" ", 1)[1] for line in lines)


def built_by(result: StudyRun) -> list[Trajectory]:
    return [
        cell
        for cell in result.trajectories
        if cell.index is not None and cell.index.source != "shared"
    ]


def test_the_cells_of_an_arm_and_an_execution_share_an_index_and_no_others_do(
    tmp_path: Path,
) -> None:
    calls = tmp_path / "calls.txt"
    plan = make_indexed_study(
        tmp_path, arms=("dvd", "again"), executions=2, args={"calls": str(calls)}
    )

    result = run_study(tmp_path, plugins=[PLUGIN])

    assert Counter(cell.run_status for cell in result.trajectories) == {"answered": 12}
    assert asked(calls) == dict.fromkeys(PARTS, 4) | {"other": 24}
    files = [path for place in ("K1", "K2") for path in (tmp_path / place / "index").rglob("*")]
    assert sorted({path.parent.name for path in files if path.is_file()}) == ["again", "dvd"]
    assert len([path for path in files if path.is_file()]) == 4
    assert len(built_by(result)) == 4
    assert compare_manifests(result.manifests).refusals == ()
    for cell in result.trajectories:
        assert [call.role for call in cell.model_calls] == ["orchestrator", "orchestrator"]
        assert [call.name for call in cell.tool_calls] == ["clip_search_tool"]
        assert cell.primitives == ()
    frame = outcomes_of(plan, result.trajectories).frame
    assert frame["tokens"].to_list() == [220.0] * 12
    assert frame["index_tokens"].to_list() == pytest.approx([5 * 110 / 3] * 12)
    assert frame["index_cost_usd"].to_list() == pytest.approx([5 * 120 / 3 / 1e6] * 12)
    assert frame["index_model_calls"].to_list() == pytest.approx([5 / 3] * 12)
    assert frame["index_frames"].to_list() == pytest.approx([8 / 3] * 12)
    assert frame["cost_usd"].to_list() == pytest.approx([240 / 1e6] * 12)
    assert frame["frames"].to_list() == [0.0] * 12
    assert frame["index_latency_s"].to_list() == pytest.approx([5 * 0.5 / 3] * 12, abs=0.3)
    assert max(frame["latency_s"].to_list()) < 1.6


def test_the_log_of_the_building_cell_tells_its_own_work_from_that_on_the_index(
    tmp_path: Path,
) -> None:
    make_indexed_study(tmp_path, connections=4)

    result = run_study(tmp_path, plugins=[PLUGIN])

    (builder,) = built_by(result)
    index = builder.index
    assert index is not None
    assert (index.source, index.clips, index.cells, index.charged) == ("built", 4, 3, False)
    kinds = Counter(event.kind for event in index.events)
    assert kinds == {"model": 5, "primitive": 9}
    assert [call.role for call in index.made_calls] == ["observer"] * 5
    for call in index.made_calls:
        assert call.request_sha256 is not None
        assert call.latency_s == 0.5
        about = "Clip " in call.input_text
        assert len(call.media_sha256) == (2 if about else 0)
        named = call.text.split("A circle in clip ")
        if about:
            assert f"Clip {named[1][0]} of 4" in call.input_text
    path = attempt_files(tmp_path / "K1")[0]
    own = {cell.sample_id: cell for cell in read_log(path)}
    assert {cell.sample_id: cell for cell in read_by_engine(path)} == own
    table = tmp_path / "trajectories.parquet"
    write_trajectories(table, result.trajectories)
    assert read_trajectories(table) == result.trajectories
    pl.read_parquet(table).drop("index").write_parquet(
        table, metadata={"format": "taketwo.trajectories/1"}
    )
    assert {cell.index for cell in read_trajectories(table)} == {None}


def test_a_charged_index_is_part_of_what_its_cells_used(tmp_path: Path) -> None:
    plan = make_indexed_study(tmp_path, options={"charge_index": True})

    result = run_study(tmp_path, plugins=[PLUGIN])

    frame = outcomes_of(plan, result.trajectories).frame
    assert frame["tokens"].to_list() == pytest.approx([220 + 550 / 3] * 3)
    assert frame["input_tokens"].to_list() == pytest.approx([200 + 500 / 3] * 3)
    assert frame["cost_usd"].to_list() == pytest.approx([(240 + 600 / 3) / 1e6] * 3)
    by_role = json.loads(frame["tokens_by_role"][0])
    assert by_role["index"]["output"] == pytest.approx(50 / 3)
    assert by_role["orchestrator"] == {"input": 200, "output": 20}
    assert min(frame["latency_s"].to_list()) > 1.0 + 2.5 / 3 - 0.01
    assert frame["primitive_ops"].to_list() == [0.0] * 3


def test_a_fault_while_an_index_is_made_ends_the_cell_and_the_next_start_goes_on(
    tmp_path: Path,
) -> None:
    calls, fails = tmp_path / "calls.txt", tmp_path / "fails"
    fails.touch()
    make_indexed_study(
        tmp_path,
        questions=1,
        connections=1,
        args={"calls": str(calls), "fails": str(fails)},
    )

    first = run_study(tmp_path, plugins=[PLUGIN])

    assert [cell.run_status for cell in first.trajectories] == ["provider_error"]
    (broken,) = first.trajectories
    assert broken.index is not None
    assert broken.index.index is None
    assert [call.error is None for call in broken.index.made_calls] == [True, False]
    assert asked(calls) == {"clip 1": 1, "clip 2": 1}
    fails.unlink()

    second = run_study(tmp_path, plugins=[PLUGIN])

    (cell,) = second.trajectories
    assert cell.run_status == "answered"
    assert cell.index is not None
    assert (cell.index.source, cell.index.model_calls) == ("resumed", 6)
    assert asked(calls) == {
        "clip 1": 1,
        "clip 2": 2,
        "clip 3": 1,
        "clip 4": 1,
        "merge": 1,
        "other": 2,
    }


def test_making_an_index_does_not_count_against_the_seconds_of_a_cell(tmp_path: Path) -> None:
    make_indexed_study(
        tmp_path, questions=2, seconds=24, args={"wait_s": 0.3}, limits=Limits(wall_s=3.5)
    )

    result = run_study(tmp_path, plugins=[PLUGIN])

    assert [cell.run_status for cell in result.trajectories] == ["answered"] * 2
    walls = [cell.latency_wall_s for cell in result.trajectories]
    assert max(wall for wall in walls if wall is not None) > 3.8


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_kill_9_loses_no_more_than_the_clips_under_way(tmp_path: Path) -> None:
    calls = tmp_path / "calls.txt"
    make_indexed_study(
        tmp_path,
        questions=2,
        seconds=12,
        connections=2,
        args={"calls": str(calls), "wait_s": 0.2},
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with subprocess.Popen(
        [sys.executable, "-c", RUNNER, str(tmp_path), PLUGIN],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as runner:
        deadline = time.monotonic() + 120
        while sum(asked(calls).values()) < 6 and time.monotonic() < deadline:
            time.sleep(0.02)
        pids = {int(line.split()[0]) for line in calls.read_text().splitlines()}
        runner.send_signal(signal.SIGKILL)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
    before = asked(calls)
    kept = sorted(path.stem for path in (tmp_path / "K1" / "index").rglob("clip-*.json"))
    assert len(kept) >= 4

    result = run_study(tmp_path, plugins=[PLUGIN])

    assert Counter(cell.run_status for cell in result.trajectories) == {"answered": 2}
    total = asked(calls)
    again = sorted(part for part, times in total.items() if part.startswith("clip") and times > 1)
    assert len(again) <= 2
    assert all(total[f"clip {number}"] >= 1 for number in range(1, 13))
    for name in kept:
        assert total[f"clip {int(name.removeprefix('clip-')) + 1}"] == 1
    assert sum(before[part] for part in before if part.startswith("clip")) < 12
    assert "resumed" in {cell.index.source for cell in result.trajectories if cell.index}
