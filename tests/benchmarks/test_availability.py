from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from taketwo.benchmarks.availability import availability_of, media_states
from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.exclusion import named_questions, without_questions
from taketwo.benchmarks.question import Question
from taketwo.errors import RequestError
from taketwo.media.video import VideoInfo, file_sha256, probe


def test_every_question_has_the_state_of_its_media(tiny: Benchmark, tmp_path: Path) -> None:
    good = tiny.questions[0]
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no video")
    questions = (
        good,
        replace(good, question_id="gone", video_path=str(tmp_path / "gone.mp4")),
        replace(good, question_id="broken", video_path=str(broken)),
        replace(good, question_id="mute", subtitles_path=str(tmp_path / "gone.srt")),
    )
    looked: list[Path] = []

    def counting(path: Path) -> VideoInfo:
        looked.append(path)
        return probe(path)

    states = media_states(Benchmark(name="b", version="1", questions=questions), counting)

    assert [s.question_id for s in states] == [good.question_id, "gone", "broken", "mute"]
    assert [s.state for s in states] == ["available", "missing", "unreadable", "missing"]
    assert states[0].video_sha256 == file_sha256(Path(good.video_path))
    assert states[0].video_duration_s is not None
    assert states[0].reason is None
    assert states[1].reason == f"video {str(tmp_path / 'gone.mp4')!r} does not exist"
    assert "broken.mp4" in (states[2].reason or "")
    assert states[2].video_sha256 is None
    assert states[3].reason == f"subtitles {str(tmp_path / 'gone.srt')!r} do not exist"
    assert looked == [Path(good.video_path), broken]


def test_links_to_one_file_are_looked_at_once(tiny: Benchmark, tmp_path: Path) -> None:
    good = tiny.questions[0]
    os.link(good.video_path, tmp_path / "second.mp4")
    (tmp_path / "third.mp4").symlink_to(good.video_path)
    names = ("second", "third")
    questions = (
        good,
        *(replace(good, question_id=n, video_path=str(tmp_path / f"{n}.mp4")) for n in names),
    )
    looked: list[Path] = []

    def counting(path: Path) -> VideoInfo:
        looked.append(path)
        return probe(path)

    states = media_states(Benchmark(name="b", version="1", questions=questions), counting)

    assert len(looked) == 1
    assert {state.video_sha256 for state in states} == {file_sha256(Path(good.video_path))}


def _video(path: Path, duration_s: float) -> VideoInfo:
    return VideoInfo(
        path=path, sha256="ab" * 32, size_bytes=1, duration_s=duration_s, fps=30.0, width=320,
        height=180, rotation=0, codec="h264", container="mp4", frames=12, has_audio=False,
        audio_codec=None, problems=(),
    )  # fmt: skip


def _expecting(folder: Path, *expected_s: float | None) -> Benchmark:
    for number in range(len(expected_s)):
        (folder / f"v{number}.mp4").write_bytes(b"x")
    return Benchmark(
        name="b",
        version="1",
        questions=tuple(
            Question(
                question_id=f"q{number}",
                text="What?",
                video_id=f"v{number}",
                video_path=str(folder / f"v{number}.mp4"),
                answer_text="this",
                video_duration_s=expected,
            )
            for number, expected in enumerate(expected_s)
        ),
    )


@pytest.mark.parametrize(
    ("expected_s", "found_s", "state"),
    [
        (10.0, 12.0, "available"),
        (10.0, 12.1, "other duration"),
        (10.0, 7.9, "other duration"),
        (1000.0, 1019.9, "available"),
        (1000.0, 1020.1, "other duration"),
        (None, 3.0, "available"),
    ],
)
def test_a_duration_may_differ_by_two_seconds_or_two_per_cent(
    tmp_path: Path, expected_s: float | None, found_s: float, state: str
) -> None:
    found = availability_of(_expecting(tmp_path, expected_s), lambda path: _video(path, found_s))

    assert found.states[0].state == state


def test_another_duration_says_both_and_the_tolerance(tmp_path: Path) -> None:
    found = availability_of(
        _expecting(tmp_path, 95.0), lambda path: _video(path, 12.0), tolerance_s=3.0
    )

    assert found.states[0].reason == (
        "lasts 12.0 s, the data set says 95.0 s (tolerance 3.0 s): another video, or a part of it"
    )
    assert found.states[0].video_sha256 == "ab" * 32
    assert [question.question_id for question in found.lost] == ["q0"]


def test_a_frozen_list_leaves_out_the_lost_questions(tmp_path: Path) -> None:
    benchmark = _expecting(tmp_path, 10.0, 99.0, 10.0)
    found = availability_of(benchmark, lambda path: _video(path, 10.0))
    record = found.to_json()
    (tmp_path / "list.json").write_text(json.dumps(record), "utf-8")

    rest = without_questions(benchmark, tmp_path / "list.json")

    assert [question.question_id for question in rest.questions] == ["q0", "q2"]
    assert named_questions(benchmark, tmp_path / "list.json") == ["q1"]
    assert record["lost"] == [
        {
            "question_id": "q1",
            "video_id": "v1",
            "state": "other duration",
            "reason": found.states[1].reason,
            "video_sha256": "ab" * 32,
            "expected_s": 99.0,
            "found_s": 10.0,
        }
    ]
    assert [item.question_id for item in found.available] == ["q0", "q2"]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -1.0])
@pytest.mark.parametrize("name", ["tolerance_s", "tolerance_share"])
def test_a_tolerance_is_a_finite_number_from_0_on(
    tiny: Benchmark, name: str, number: float
) -> None:
    with pytest.raises(RequestError, match=f"{name} is {number!r}, not a finite number from 0 on"):
        availability_of(tiny, probe, **{name: number})
