from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import av
import numpy as np
import pytest
from inspect_ai import Task
from inspect_ai import eval as run_eval
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import choice
from tests.indexed_cells import observing
from tests.scripted_model import calls, requests_of, script

from taketwo.agents.as_inspect import SOLVERS


def paint(path: Path) -> Path:
    """Two seconds of video without sound, 5 frames a second, lighter and lighter."""
    with av.open(str(path), "w") as file:
        stream = file.add_stream("libx264", rate=5)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(10):
            picture = np.full((48, 64, 3), 20 * number, dtype=np.uint8)
            file.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        file.mux(stream.encode())
    return path


@pytest.fixture(autouse=True)
def _swept() -> Generator[None]:
    """Let go of the streams that the engine leaves open while their warning is still ignored."""
    yield
    gc.collect()


@pytest.mark.filterwarnings("ignore")
def test_the_samples_of_an_epoch_share_the_index_and_the_next_epoch_makes_its_own(
    tmp_path: Path,
) -> None:
    video = paint(tmp_path / "grey.mp4")
    orchestrator = script([calls(("finish", {"answer": "B"}))], repeat_last=True)
    observer = script([observing()], repeat_last=True)
    samples = [
        Sample(
            id=f"q{number}",
            input="Does it get lighter?",
            choices=["no", "yes"],
            target="B",
            metadata={"video_path": str(video)},
        )
        for number in range(3)
    ]

    (log,) = run_eval(
        Task(dataset=samples, scorer=choice()),
        solver=SOLVERS["dvd"](search="bm25", store=str(tmp_path / "store")),
        model=get_model(orchestrator),
        model_roles={"observer": observer},
        epochs=2,
        log_dir=str(tmp_path / "logs"),
        display="none",
    )

    assert log.status == "success", log.error
    assert log.results is not None
    assert log.results.scores[0].metrics["accuracy"].value == 1.0
    assert len(requests_of(observer)) == 2  # one clip, described once in each epoch
    files = sorted((tmp_path / "store" / "index").rglob("*.json"))
    assert Counter(path.parent.name for path in files) == {"epoch-1": 1, "epoch-2": 1}
    assert log.samples is not None
    spans = [
        event
        for sample in log.samples
        for event in sample.events
        if event.event == "span_begin" and event.type == "taketwo.index"
    ]
    assert [span.name for span in spans] == ["index clip-000000"] * 2
