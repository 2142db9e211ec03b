from __future__ import annotations

import json
from pathlib import Path

import pytest

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.catalog import BENCHMARK_NAMES, load_benchmark
from taketwo.errors import RequestError, UnknownName

TINY = {"seed": 3, "videos": 2, "questions": 12, "open_questions": 2}


def test_names_are_those_of_the_documentation() -> None:
    assert BENCHMARK_NAMES == (
        "agentvidbench",
        "demo",
        "local",
        "minerva",
        "real_clips",
        "rendered",
        "sage_bench",
        "video_mme",
    )


def test_options_reach_the_benchmark(tiny: Benchmark, folder: Path) -> None:
    spec = {"name": "rendered", "folder": folder.name, **TINY}
    assert load_benchmark(spec, base=folder.parent) == tiny


def test_the_demo_is_rendered_videos_and_real_clips(tiny: Benchmark, folder: Path) -> None:
    demo = load_benchmark({"name": "demo", "folder": folder.name, **TINY}, base=folder.parent)
    assert demo.name == "demo"
    assert demo.questions[:12] == tiny.questions
    assert {q.video_id for q in demo.questions[12:]} == {"real-bunny", "real-reading"}


def test_a_local_file_is_found_from_the_folder_of_the_study(tmp_path: Path) -> None:
    row = {"question_id": "q", "text": "What?", "video_path": "v.mp4", "answer": "this"}
    (tmp_path / "q.jsonl").write_text(json.dumps(row), encoding="utf-8")
    spec = {"name": "local", "path": "q.jsonl", "videos": "clips", "label": "mine"}
    benchmark = load_benchmark(spec, base=tmp_path)
    assert benchmark.name == "mine"
    assert benchmark.questions[0].video_path == str(tmp_path.resolve() / "clips" / "v.mp4")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"name": "renderd"}, "unknown benchmark 'renderd': did you mean 'rendered'"),
        (
            {"name": "rendered", "video": 2},
            "unknown option of benchmark 'rendered' 'video': did you mean 'videos'",
        ),
    ],
)
def test_unknown_names_come_with_near_ones(
    spec: dict[str, str | int], message: str, tmp_path: Path
) -> None:
    with pytest.raises(UnknownName, match=message):
        load_benchmark(spec, base=tmp_path)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({}, "expected a name, found None"),
        ({"name": "local"}, "benchmark 'local': option 'path' is missing"),
        ({"name": "rendered", "videos": 0}, "option 'videos': .* found 0"),
        ({"name": "rendered", "difficulty": "evil"}, "option 'difficulty': .* found 'evil'"),
    ],
)
def test_options_that_cannot_be_used_are_named(
    spec: dict[str, str | int], message: str, tmp_path: Path
) -> None:
    with pytest.raises(RequestError, match=message):
        load_benchmark(spec, base=tmp_path)
    assert list(tmp_path.iterdir()) == []
