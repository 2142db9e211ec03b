from __future__ import annotations

import gc
from collections.abc import Generator
from pathlib import Path

import pytest
import tests.end_to_end.playback  # noqa: F401 registers its provider
from inspect_ai import eval as evaluate
from inspect_ai.log import EvalLog, read_eval_log
from tests.end_to_end.small_study import make_study

from taketwo.errors import PlanChanged, RequestError
from taketwo.executions.logs import read_header, read_log
from taketwo.executions.plan import Plan
from taketwo.executions.schedule import cell_order
from taketwo.executions.task import study, task_of_cells
from taketwo.executions.trajectory import Trajectory
from taketwo.tools.budget import Limits

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def _swept() -> Generator[None]:
    """Let go of the streams that the engine leaves open while their warning is still ignored."""
    yield
    gc.collect()


def run(plan: Plan, folder: Path, *ids: str) -> tuple[EvalLog, dict[str, Trajectory]]:
    cells = [cell for cell in cell_order(plan, 1) if not ids or cell.sample_id in ids]
    (log,) = evaluate(
        task_of_cells(plan, 1, folder, cells, located=plan.questions),
        model=None,
        log_dir=str(folder / "logs"),
        display="none",
        score=False,
        log_model_api=True,
        log_images=False,
        log_realtime=False,
        ctl_server=False,
    )
    found = {cell.sample_id: cell for cell in read_log(Path(log.location))}
    return log, found


def test_the_samples_are_the_cells_in_their_planned_order(tmp_path: Path) -> None:
    plan = make_study(tmp_path)

    task = study(plan=str(tmp_path / "plan.json"), execution=2)

    assert [sample.id for sample in task.dataset] == [
        cell.sample_id for cell in cell_order(plan, 2)
    ]
    sample = next(sample for sample in task.dataset if sample.id == "react:q3")
    assert sample.input == "What is shown in scene 3?\nA. a red circle\nB. a blue square\nC. a star"
    assert sample.target == "B"
    assert sample.metadata == {
        "arm": "react",
        "question_id": "q3",
        "execution": 2,
        "factor_agent": "video_react",
    }


def test_an_execution_that_is_not_planned_is_refused(tmp_path: Path) -> None:
    make_study(tmp_path)

    with pytest.raises(RequestError, match="found 3"):
        study(plan=str(tmp_path / "plan.json"), execution=3)


def test_a_video_with_another_byte_is_refused_before_anything_runs(tmp_path: Path) -> None:
    make_study(tmp_path)
    with (tmp_path / "clip.mp4").open("ab") as file:
        file.write(b"\0")

    with pytest.raises(PlanChanged, match="nothing was spent"):
        study(plan=str(tmp_path / "plan.json"), execution=1)


def test_cells_run_and_leave_what_the_light_reader_needs(tmp_path: Path) -> None:
    plan = make_study(tmp_path, questions=1)

    log, cells = run(plan, tmp_path)

    header = read_header(Path(log.location))
    assert (header.study, header.execution, header.plan_sha256) == ("small", 1, plan.sha256)
    assert header.plan_path == str(tmp_path / "plan.json")
    base, react = cells["base:q0"], cells["react:q0"]
    assert (base.run_status, base.answer_index) == ("answered", 0)
    assert (react.run_status, react.answer_index) == ("answered", 0)
    assert [call.role for call in react.model_calls] == ["orchestrator", "observer", "orchestrator"]
    assert [call.name for call in react.tool_calls] == ["analyze_video"]
    assert base.latency_s == pytest.approx(0.5, abs=0.4)
    assert base.video_sha256 == plan.questions[0].video_sha256
    assert all(call.request_sha256 and call.cache is None for call in react.model_calls)
    assert base.model_calls[0].sampling_sent == {"temperature": 0.5}
    frames = base.model_calls[0].media_sha256
    assert frames
    assert all((tmp_path / "frames" / sha[:2] / f"{sha}.jpg").is_file() for sha in frames)


def test_what_an_agent_is_sent_never_holds_the_truth_or_the_path(tmp_path: Path) -> None:
    plan = make_study(tmp_path, questions=1)

    log, _ = run(plan, tmp_path)

    sent = "".join(
        event.model_dump_json(include={"input", "call"})
        for sample in read_eval_log(log.location, resolve_attachments="full").samples or []
        for event in sample.events
        if event.event == "model"
    )
    assert "What is shown in scene 0?" in sent
    assert "clip.mp4" not in sent
    assert "text reading" not in sent


def test_a_missing_video_is_a_media_error_and_a_loss_of_availability(tmp_path: Path) -> None:
    plan = make_study(tmp_path, questions=1)
    (tmp_path / "clip.mp4").unlink()

    _, cells = run(plan, tmp_path, "base:q0")

    failure = cells["base:q0"].failure
    assert cells["base:q0"].run_status == "media_error"
    assert failure is not None
    assert failure.cause == "VideoMissing"
    assert cells["base:q0"].model_calls == ()


def test_a_video_that_gives_nothing_is_unreadable(tmp_path: Path) -> None:
    plan = make_study(tmp_path, questions=1)
    (tmp_path / "clip.mp4").write_bytes(b"no video")

    _, cells = run(plan, tmp_path, "base:q0")

    failure = cells["base:q0"].failure
    assert failure is not None
    assert (cells["base:q0"].run_status, failure.cause) == ("media_error", "VideoUnreadable")


@pytest.mark.parametrize("fail", [1.0])
def test_a_provider_that_fails_makes_no_answer(tmp_path: Path, fail: float) -> None:
    plan = make_study(tmp_path, questions=3, args={"fail": fail})

    log, cells = run(plan, tmp_path)

    assert log.status == "success"
    assert {cell.run_status for cell in cells.values()} == {"provider_error"}
    assert all(cell.answer_index is None and cell.failure for cell in cells.values())
    causes = {cell.failure.cause for cell in cells.values() if cell.failure}
    assert causes <= {"Fault", "TimeoutError", "ProviderReplyError", "ModelGenerateError"}


def test_a_cell_that_runs_too_long_is_a_fault_of_the_infrastructure(tmp_path: Path) -> None:
    plan = make_study(tmp_path, questions=1, args={"wait_s": 60}, limits=Limits(wall_s=0.5))

    _, cells = run(plan, tmp_path, "base:q0")

    failure = cells["base:q0"].failure
    assert failure is not None
    assert (cells["base:q0"].run_status, failure.cause) == ("provider_error", "WallLimitReached")


def test_the_limits_in_force_are_recorded(tmp_path: Path) -> None:
    plan = make_study(tmp_path, questions=1, limits=Limits(visible_calls=3))

    _, cells = run(plan, tmp_path, "react:q0")

    assert cells["react:q0"].limits is not None
    assert cells["react:q0"].limits["visible_calls"] == 3
