from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.benchmarks.test_agentvidbench import row as agentvidbench_row
from tests.benchmarks.test_named_files import LOADERS

from taketwo.benchmarks.agentvidbench import agentvidbench
from taketwo.benchmarks.catalog import load_benchmark
from taketwo.benchmarks.video_files import VideoFinder
from taketwo.errors import InvalidQuestion

ID = "a-b_c012345"
BY_ID = pytest.mark.parametrize("loader", ["video_mme", "minerva", "sage_bench", "agentvidbench"])


def videos(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def path_in(folder: Path, loader: str) -> str:
    file, _, row = LOADERS[loader]
    written = f"videos/{ID}.mp4" if loader == "agentvidbench" else ID
    records: Any = row(1, written)
    text = json.dumps([records] if file.endswith(".json") else records)
    (folder / file).write_text(text, encoding="utf-8")
    (question,) = load_benchmark({"name": loader, "path": "."}, base=folder).questions
    return str(Path(question.video_path).relative_to(folder.resolve()))


@BY_ID
@pytest.mark.parametrize("name", [f"Two cats [HD] [{ID}].webm", f"[{ID}].MP4", f"v1.5 [{ID}].mkv"])
def test_a_video_as_yt_dlp_names_it_is_found_by_its_id(
    loader: str, name: str, tmp_path: Path
) -> None:
    videos(tmp_path / "videos", name, "Two dogs [another0123].mp4", f"{ID} [x].mp4")
    assert path_in(tmp_path, loader) == f"videos/{name}"


@BY_ID
def test_a_video_called_by_its_id_goes_before_titles(loader: str, tmp_path: Path) -> None:
    videos(tmp_path / "videos", f"{ID}.mp4", f"A [{ID}].mp4", f"B [{ID}].mp4")
    assert path_in(tmp_path, loader) == f"videos/{ID}.mp4"


@BY_ID
def test_several_videos_with_the_id_in_brackets_are_refused(loader: str, tmp_path: Path) -> None:
    videos(tmp_path / "videos", f"A [{ID}].mp4", f"B [{ID}].webm")
    with pytest.raises(
        InvalidQuestion,
        match=rf"{LOADERS[loader][1]} '{ID}': 2 files have that id in brackets at the end .*'.*A \[",
    ):
        path_in(tmp_path, loader)


@BY_ID
def test_what_is_no_whole_video_is_not_taken_for_one(loader: str, tmp_path: Path) -> None:
    names = (f"A [{ID}].mp4.part", f"A [{ID}].f137.mp4", f"A [{ID}].srt", f"A [{ID}] 2.mp4")
    videos(tmp_path / "videos", *names)
    (tmp_path / "videos" / f"B [{ID}].mp4").symlink_to("gone.mp4")
    assert path_in(tmp_path, loader) == f"videos/{ID}.mp4"


def test_videos_of_another_folder_go_before_those_of_the_data_set(tmp_path: Path) -> None:
    videos(tmp_path / "videos", f"A [{ID}].mp4")
    other = videos(tmp_path / "small", f"{ID}.mp4")
    text = json.dumps(agentvidbench_row(video_path=f"videos/{ID}.mp4"))
    (tmp_path / "questions.jsonl").write_text(text, encoding="utf-8")
    (question,) = agentvidbench(tmp_path, videos=other).questions
    assert question.video_path == str(other / f"{ID}.mp4")


def test_a_titled_link_out_of_the_data_set_is_refused(tmp_path: Path) -> None:
    outside = videos(tmp_path, "outside.mp4") / "outside.mp4"
    home = videos(tmp_path / "set" / "videos", "x.mp4")
    (home / f"A [{ID}].mp4").symlink_to(outside)
    with pytest.raises(InvalidQuestion, match="leaves the data set's folder"):
        path_in(tmp_path / "set", "agentvidbench")


@pytest.mark.parametrize("name", ["v.mp4", "v.MKV", "v/v.webm", "v/Title [v].mov"])
def test_a_video_lies_in_the_folder_or_in_one_of_its_name(name: str, tmp_path: Path) -> None:
    assert VideoFinder().video(videos(tmp_path, name), "v") == tmp_path / name


def test_endings_have_an_order_and_small_letters_go_first(tmp_path: Path) -> None:
    videos(tmp_path, "v.webm", "v.MKV", "v.mkv", "v/v.mp4")
    assert VideoFinder().video(tmp_path, "v") == tmp_path / "v.mkv"


@pytest.mark.parametrize("video_id", ["", ".", "..", "a/b", "/a"])
def test_an_id_that_is_a_path_is_refused(video_id: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidQuestion, match=r"field 'video_id' is '.*', which is no name"):
        VideoFinder().video(tmp_path, video_id)


def test_a_folder_is_listed_once_however_many_ids_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    videos(tmp_path, *(f"v{number}.mp4" for number in range(20)))
    listed: list[Path] = []
    plain = Path.iterdir

    def counting(path: Path) -> Any:
        listed.append(path)
        return plain(path)

    monkeypatch.setattr(Path, "iterdir", counting)
    finder = VideoFinder()
    found = [finder.video(tmp_path, f"v{number}").name for number in range(40)]
    assert found == [f"v{number}.mp4" for number in range(40)]
    assert listed == [tmp_path]
