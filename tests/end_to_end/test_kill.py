from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.end_to_end.small_study import PLUGIN, make_study

from taketwo.executions.logs import attempt_files, read_log
from taketwo.executions.run import run_study
from taketwo.executions.trajectory import Trajectory
from taketwo.outcomes.build import outcomes_of

RUNNER = """
import sys
from pathlib import Path
from taketwo.executions.run import run_study
report = lambda progress: print(progress.execution, sum(progress.done.values()), flush=True)
run_study(Path(sys.argv[1]), on_progress=report, plugins=[sys.argv[2]])
"""
KILLS = 20


def finished(folder: Path) -> dict[tuple[int, str], Trajectory]:
    """Return every finished record in the logs, and fail where a cell has two."""
    records = [
        cell
        for execution in (1, 2)
        for path in attempt_files(folder / f"K{execution}")
        for cell in read_log(path)
        if cell.run_status != "not_run"
    ]
    counts = Counter((cell.execution, cell.sample_id) for cell in records)
    assert max(counts.values(), default=1) == 1
    return {(cell.execution, cell.sample_id): cell for cell in records}


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_kill_9_at_random_moments_loses_no_finished_cell_and_doubles_none(tmp_path: Path) -> None:
    plan = make_study(tmp_path, questions=30, executions=2, cells=2, args={"wait_s": 0.15})
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    rng = np.random.default_rng(20)
    kept: dict[tuple[int, str], Trajectory] = {}
    killed_while_running = 0
    for kill in range(KILLS):
        with subprocess.Popen(
            [sys.executable, "-c", RUNNER, str(tmp_path), PLUGIN],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
        ) as runner:
            deadline = time.monotonic() + float(rng.uniform(0.5, 9.0))
            while time.monotonic() < deadline and runner.poll() is None:
                time.sleep(0.01)
            killed_while_running += runner.poll() is None
            runner.send_signal(signal.SIGKILL)
            assert runner.stdout is not None
            reports = [line.split() for line in runner.stdout.read().splitlines()]
        now = finished(tmp_path)
        for key, cell in kept.items():
            assert now[key].events == cell.events, f"kill {kill}: {key} is not what it was"
        for execution, done in reports[-1:]:
            in_logs = sum(key[0] == int(execution) for key in now)
            assert in_logs >= int(done), f"kill {kill}: a cell that was reported is gone"
        kept = now

    result = run_study(tmp_path, plugins=[PLUGIN])

    assert killed_while_running >= KILLS // 2
    assert set(kept) <= {(cell.execution, cell.sample_id) for cell in result.trajectories}
    assert Counter(cell.run_status for cell in result.trajectories) == {"answered": 120}
    final = finished(tmp_path)
    assert all(final[key].events == cell.events for key, cell in kept.items())
    frame = outcomes_of(plan, result.trajectories).frame
    assert frame.height == 120
    assert frame["accuracy"].null_count() == 0
