from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.benchmarks.test_agentvidbench import row as agentvidbench_row
from tests.benchmarks.test_minerva import row as minerva_row
from tests.benchmarks.test_sage_bench import ROW as SAGE_ROW
from tests.benchmarks.test_video_mme import row as video_mme_row

from taketwo.benchmarks.availability import media_states
from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.catalog import load_benchmark
from taketwo.benchmarks.named_files import file_is_there, something_is_there
from taketwo.benchmarks.published_rows import read_published
from taketwo.benchmarks.question import Question
from taketwo.errors import InvalidQuestion, UnreadableVideo
from taketwo.media.video import VideoInfo
from taketwo.video_availability import check_availability

ZERO, HALF, LONG = "a\0.mp4", "\ud800.mp4", "a" * 300 + ".mp4"
NO_FILES = pytest.mark.parametrize("name", [ZERO, HALF, LONG])

Rows = Callable[[int, str], dict[str, Any]]


def local_row(at: int, video: str) -> dict[str, Any]:
    return {"question_id": f"q{at}", "text": "Who?", "video_path": video, "answer": "he"}


LOADERS: dict[str, tuple[str, str, Rows]] = {
    "local": ("q.jsonl", "video_path", local_row),
    "agentvidbench": (
        "questions.jsonl",
        "video_path",
        lambda at, video: agentvidbench_row(question_id=at, video_path=video),
    ),
    "video_mme": (
        "rows.jsonl",
        "videoID",
        lambda at, video: video_mme_row(question_id=f"q{at}", videoID=video),
    ),
    "minerva": (
        "minerva.json",
        "video_id",
        lambda at, video: minerva_row(key=f"q{at}", video_id=video),
    ),
    "sage_bench": (
        "rows.jsonl",
        "video_id",
        lambda _, video: SAGE_ROW | {"video_id": video},
    ),
}


def data_set(name: str, folder: Path, *videos: str) -> str:
    file, _, row = LOADERS[name]
    rows = [row(at, video) for at, video in enumerate(videos, start=1)]
    (folder / "videos").mkdir()
    lines = ",\n".join(map(json.dumps, rows))
    text = f"[{lines}]" if file.endswith(".json") else lines.replace(",\n", "\n")
    (folder / file).write_text(text, encoding="utf-8")
    return file if name in {"local", "minerva"} else "."


@NO_FILES
@pytest.mark.parametrize("loader", list(LOADERS))
def test_a_row_that_names_what_can_be_no_file_is_told_and_the_others_are_checked(
    loader: str, name: str, tmp_path: Path
) -> None:
    path = data_set(loader, tmp_path, name, "good.mp4", name.replace("a", "b") + "c")
    with pytest.raises(InvalidQuestion) as caught:
        load_benchmark({"name": loader, "path": path}, base=tmp_path)
    first, *bad = str(caught.value).split("\n")
    assert first.endswith("2 of 3 rows cannot be used")
    assert ["line 1: " in bad[0], "line 3: " in bad[1]] == [True, True]
    assert all(LOADERS[loader][1] in line and len(line) < 300 for line in bad)
    str(caught.value).encode()  # a message that a terminal can show


@NO_FILES
@pytest.mark.parametrize(
    ("loader", "field"), [("local", "subtitles_path"), ("agentvidbench", "transcript_path")]
)
def test_the_field_that_names_no_file_is_told(
    loader: str, field: str, name: str, tmp_path: Path
) -> None:
    file, _, row = LOADERS[loader]
    (tmp_path / file).write_text(json.dumps(row(1, "v.mp4") | {field: name}), encoding="utf-8")
    path = file if loader == "local" else "."
    with pytest.raises(InvalidQuestion, match=rf"line 1: {field} '.*' (holds|names no file)"):
        load_benchmark({"name": loader, "path": path}, base=tmp_path)


def no_video(path: Path) -> VideoInfo:
    raise UnreadableVideo(f"{path.name} is no video")


@NO_FILES
def test_a_file_that_cannot_be_looked_up_is_missing(name: str, tmp_path: Path) -> None:
    good = Question(question_id="q", text="t", video_id="v", video_path="v.mp4", answer_text="x")
    video = str(tmp_path / name.replace("\ud800", "b" * 300))
    there = tmp_path / "there.mp4"
    there.touch()
    questions = (
        replace(good, question_id="long", video_path=video),
        replace(good, video_path=str(there), subtitles_path=video),
    )
    states = media_states(Benchmark(name="b", version="1", questions=questions), no_video)
    assert [state.state for state in states] == ["missing", "unreadable"]
    assert not file_is_there(tmp_path / name)
    assert not something_is_there(tmp_path / name)


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """A folder with videos that are a broken link, a folder, and links to each other."""
    (tmp_path / "videos" / "folder.mp4").mkdir(parents=True)
    for name, target in {"nowhere": "gone", "one": "two", "two": "one"}.items():
        (tmp_path / "videos" / f"{name}.mp4").symlink_to(f"{target}.mp4")
    return tmp_path


def test_broken_links_and_folders_in_place_of_videos_are_not_available(linked: Path) -> None:
    rows = [SAGE_ROW | {"video_id": name} for name in ("nowhere", "one", "folder")]
    (linked / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    report = check_availability("sage_bench", {"path": str(linked)}, probe=no_video)
    assert [item.state for item in report.availability.states] == [
        "missing",
        "missing",
        "unreadable",
    ]


@pytest.mark.parametrize("name", ["data-2.jsonl", "data-2.parquet", "data-2.arrow"])
def test_a_part_of_a_data_set_that_is_a_broken_link_is_not_left_out(
    name: str, tmp_path: Path
) -> None:
    if name.endswith(".jsonl"):
        (tmp_path / "data-1.jsonl").write_text(json.dumps(SAGE_ROW), encoding="utf-8")
    (tmp_path / name).symlink_to("gone")
    with pytest.raises(InvalidQuestion, match=name.replace(".", r"\.")):
        read_published(tmp_path)


def test_a_list_of_films_that_is_a_broken_link_is_not_taken_for_none(tmp_path: Path) -> None:
    data_set("agentvidbench", tmp_path, "v.mp4")
    (tmp_path / "videos.jsonl").symlink_to("gone.jsonl")
    with pytest.raises(InvalidQuestion, match=r"videos\.jsonl"):
        load_benchmark({"name": "agentvidbench", "path": "."}, base=tmp_path)
