"""One bad cell: it ends as what it is, and neither stops nor falsifies anything else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.end_to_end.small_study import PLUGIN, make_arm, make_study

from taketwo.errors import DataError, ForeignLog, HarnessError
from taketwo.executions.deaths import PROCESS_DIED
from taketwo.executions.freeze import write_plan
from taketwo.executions.logs import collect, read_header
from taketwo.executions.plan import Plan
from taketwo.executions.run import run_study
from taketwo.executions.trajectory import Trajectory
from taketwo.tools.budget import Limits

RUNNER = """
import sys
from pathlib import Path
from taketwo.executions.run import run_study
run_study(Path(sys.argv[1]), plugins=[sys.argv[2]])
"""


def bad_study(
    folder: Path,
    agents: Sequence[str],
    *,
    questions: int = 1,
    cells: int = 4,
    attempts: int = 3,
    wall_s: float | None = None,
) -> Plan:
    """Freeze a study of one execution in which a good agent stands beside bad ones."""
    plan = make_study(folder, questions=questions, executions=1, cells=cells, attempts=attempts)
    limits = Limits(wall_s=wall_s)
    arms = [
        make_arm(name, f"tests.end_to_end.bad_agents:{name}", "base", {}, limits) for name in agents
    ]
    (folder / "plan.json").unlink()
    changed = replace(plan, arms=(plan.arm("base"), *arms))
    write_plan(changed, folder)
    return changed


def ends(cells: Sequence[Trajectory]) -> dict[str, tuple[str, str | None]]:
    """Return status and cause by sample id."""
    return {
        cell.sample_id: (cell.run_status, None if cell.failure is None else cell.failure.cause)
        for cell in cells
    }


def test_what_an_agent_raises_or_prints_is_its_own_affair(tmp_path: Path) -> None:
    bad_study(tmp_path, ["exits", "interrupts", "cancels", "prints"])

    result = run_study(tmp_path, plugins=[PLUGIN])

    assert ends(result.trajectories) == {
        "base:q0": ("answered", None),
        "exits:q0": ("agent_error", "SystemExit"),
        "interrupts:q0": ("agent_error", "KeyboardInterrupt"),
        "cancels:q0": ("agent_error", "CancelledError"),
        "prints:q0": ("answered", None),
    }
    assert [attempt.log for attempt in result.manifests[0].attempts] == ["attempt-01.eval"]


def test_the_limit_in_observed_seconds_holds_against_an_agent_that_ignores_it(
    tmp_path: Path,
) -> None:
    bad_study(tmp_path, ["swallows", "blocks"], wall_s=0.2)

    result = run_study(tmp_path, plugins=[PLUGIN])

    assert ends(result.trajectories) == {
        "base:q0": ("answered", None),
        "swallows:q0": ("provider_error", "WallLimitReached"),
        "blocks:q0": ("provider_error", "WallLimitReached"),
    }


def test_a_cell_that_takes_its_process_with_it_is_found_and_stops_no_other(tmp_path: Path) -> None:
    bad_study(tmp_path, ["ends_process"], questions=3, attempts=2)

    result = run_study(tmp_path, plugins=[PLUGIN])

    found = ends(result.trajectories)
    assert found.pop("ends_process:q0") == ("agent_error", PROCESS_DIED)
    assert len(found) == 5
    assert set(found.values()) == {("answered", None)}
    (bad,) = [cell for cell in result.trajectories if cell.sample_id == "ends_process:q0"]
    assert bad.failure is not None
    assert "status 11" in bad.failure.message
    before = sorted(entry.name for entry in (tmp_path / "K1").iterdir())

    again = run_study(tmp_path, plugins=[PLUGIN], retry_errors=True)

    assert again.trajectories == result.trajectories
    assert sorted(entry.name for entry in (tmp_path / "K1").iterdir()) == before


def test_a_cell_that_lets_nothing_else_run_is_ended_from_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAD_AGENTS_NOTE", str(tmp_path / "note"))
    monkeypatch.setattr("taketwo.executions.attempt_run._LEAST_PATIENCE_S", 1.5)
    bad_study(tmp_path, ["holds_interpreter"], attempts=1, wall_s=0.2)

    result = run_study(tmp_path, plugins=[PLUGIN])

    assert ends(result.trajectories) == {
        "base:q0": ("answered", None),
        "holds_interpreter:q0": ("agent_error", PROCESS_DIED),
    }
    (bad,) = [cell for cell in result.trajectories if cell.failure is not None]
    assert bad.failure is not None
    assert "killed because cell holds_interpreter:q0 did not end" in bad.failure.message


@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel of Linux")
def test_a_process_that_holds_its_interpreter_still_ends_with_the_one_that_started_it(
    tmp_path: Path,
) -> None:
    bad_study(tmp_path, ["holds_interpreter"])
    note = tmp_path / "note"
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "BAD_AGENTS_NOTE": str(note),
    }
    deadline = time.monotonic() + 60
    with subprocess.Popen(
        [sys.executable, "-c", RUNNER, str(tmp_path), PLUGIN], env=environment
    ) as runner:
        while not (note.exists() and note.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        child = Path("/proc") / note.read_text() / "stat"
        assert child.exists()
        runner.send_signal(signal.SIGKILL)
    while time.monotonic() < deadline:
        if not child.exists() or child.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.05)
    pytest.fail("the process of the attempt is still there")


def test_a_log_that_was_deleted_is_not_sampled_again_in_silence(tmp_path: Path) -> None:
    plan = make_study(tmp_path, questions=1, executions=1)
    run_study(tmp_path, plugins=[PLUGIN])
    (tmp_path / "K1" / "attempt-01.eval").unlink()

    with pytest.raises(ForeignLog, match=r"lists logs that are gone: .*attempt-01\.eval"):
        run_study(tmp_path, plugins=[PLUGIN])

    assert {cell.run_status for cell in collect(tmp_path, plan)} == {"not_run"}


def test_a_file_in_place_of_an_execution_stops_the_run_before_it_spends(tmp_path: Path) -> None:
    make_study(tmp_path, questions=1)
    (tmp_path / "K2").write_text("")

    with pytest.raises(DataError, match="K2: a file, where the folder of an execution should be"):
        run_study(tmp_path, plugins=[PLUGIN])

    assert not (tmp_path / "K1").exists()


def test_what_the_machine_refuses_to_write_is_its_fault(tmp_path: Path) -> None:
    make_study(tmp_path, questions=1, executions=1)
    (tmp_path / "run.lock").mkdir()

    with pytest.raises(HarnessError, match=r"run\.lock: Is a directory"):
        run_study(tmp_path, plugins=[PLUGIN])


def test_settings_of_the_engine_around_a_run_have_no_effect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {
        "INSPECT_EVAL_MODEL": "no_such_provider/model",
        "INSPECT_EVAL_LIMIT": "1",
        "INSPECT_EVAL_EPOCHS": "3",
        "INSPECT_EVAL_CACHE": "true",
        "INSPECT_EVAL_TEMPERATURE": "1.5",
        "INSPECT_EVAL_LOG_FORMAT": "json",
        "INSPECT_LOG_FORMAT": "json",
        "INSPECT_LOG_DIR": str(tmp_path / "elsewhere"),
    }
    study = tmp_path / "study"
    bad_study(study, ["looks_around"], questions=2)
    here = tmp_path / "here"
    here.mkdir()
    written = "".join(f"{name}={value}\n" for name, value in settings.items())
    for folder in (here, study):
        (folder / ".env").write_text(f"{written}DOTENV_READ=yes\n")
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(here)

    result = run_study(study, plugins=[PLUGIN])

    assert set(ends(result.trajectories).values()) == {("answered", None)}
    assert len(result.trajectories) == 4
    calls = [call for cell in result.trajectories for call in cell.model_calls]
    assert {call.cache for call in calls} == {None}
    assert all((call.sampling_sent or {}).get("temperature") in {None, 0.5} for call in calls)
    header = read_header(study / "K1" / "attempt-01.eval")
    assert header.config.get("limit") is None
    assert header.config.get("epochs") in {None, 1}
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["here", "study"]
    assert [entry.name for entry in here.iterdir()] == [".env"]
