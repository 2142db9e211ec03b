from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from inspect_ai import Task
from inspect_ai import eval as run_eval
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import choice
from inspect_ai.util import registry_info
from tests.scripted_model import Step, calls, requests_of, says, script

from taketwo.agents.as_inspect import SOLVERS
from taketwo.agents.catalog import AGENT_NAMES
from taketwo.errors import RequestError


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seconds of video without sound, 5 frames a second, lighter and lighter."""
    path = tmp_path_factory.mktemp("video") / "grey.mp4"
    with av.open(path, "w") as file:
        stream = file.add_stream("libx264", rate=5)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(10):
            picture = np.full((48, 64, 3), 20 * number, dtype=np.uint8)
            file.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        file.mux(stream.encode())
    return path


def task_of(video: Path) -> Task:
    return Task(
        dataset=[
            Sample(
                id="q1",
                input="Does it get lighter?",
                choices=["no", "yes"],
                target="B",
                metadata={"video_path": str(video)},
            )
        ],
        scorer=choice(),
    )


@pytest.mark.filterwarnings("ignore")
def test_both_agents_run_as_solvers_on_a_real_video(video: Path, tmp_path: Path) -> None:
    looks: list[Step] = [calls(("analyze_video", {"fps": 2})), says('{"answer": "B"}')]
    orchestrator, observer = script(looks), script(["it gets lighter"])
    once = script(["FINAL ANSWER: B"])
    logs = []
    for solver, model, roles in (
        (
            SOLVERS["video_react"](store=str(tmp_path / "store")),
            orchestrator,
            {"observer": observer},
        ),
        (SOLVERS["single_turn"](frames=4, store=str(tmp_path / "store")), once, {}),
    ):
        logs += run_eval(
            task_of(video),
            solver=solver,
            model=get_model(model),
            model_roles=roles,
            log_dir=str(tmp_path / "logs"),
            display="none",
        )

    for log in logs:
        assert log.status == "success", log.error
        assert log.results is not None
        assert log.results.scores[0].metrics["accuracy"].value == 1.0
        assert log.samples is not None
        assert log.samples[0].store["taketwo:answer"]["status"] == "answered"
    assert len(requests_of(observer)[0].images) == 5
    assert len(requests_of(once)[0].images) == 4
    kinds = [event.event for event in logs[0].samples[0].events]
    assert kinds.count("tool") == 1
    assert kinds.count("model") == 3


@pytest.mark.filterwarnings("ignore")
def test_a_failing_provider_is_an_error_of_the_sample_not_an_answer(
    video: Path, tmp_path: Path
) -> None:
    (log,) = run_eval(
        task_of(video),
        solver=SOLVERS["single_turn"](store=str(tmp_path / "store")),
        model=get_model(script([RuntimeError("gone")])),
        log_dir=str(tmp_path / "logs"),
        display="none",
        fail_on_error=False,
    )

    assert log.samples is not None
    assert log.samples[0].error is not None
    assert "gone" in log.samples[0].error.message
    assert not log.samples[0].scores


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_the_engine_knows_every_agent_by_its_name(name: str) -> None:
    assert registry_info(SOLVERS[name]).name == f"taketwo/{name}"
    with pytest.raises(RequestError, match=rf"agent '{name}' cannot be built: no_such_option"):
        SOLVERS[name](no_such_option=1)
