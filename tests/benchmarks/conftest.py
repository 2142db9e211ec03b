from __future__ import annotations

from pathlib import Path

import pytest

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.rendered import Composition, compose, rendered
from taketwo.benchmarks.scene_sound import SpeechRecordings, load_speech


@pytest.fixture(scope="session")
def speech() -> SpeechRecordings:
    return load_speech()


@pytest.fixture(scope="session")
def composition(speech: SpeechRecordings) -> Composition:
    """The default benchmark of one seed, not painted."""
    return compose(
        11,
        speech,
        videos=12,
        questions=60,
        difficulty="mixed",
        open_questions=6,
        many_options=1,
    )


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("videos")


@pytest.fixture(scope="session")
def tiny(folder: Path) -> Benchmark:
    """Two painted videos with twelve questions."""
    return rendered(3, folder, videos=2, questions=12, open_questions=2)
