"""The state of every question's media, when freezing and before an execution."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.question import Question
from taketwo.errors import UnreadableVideo
from taketwo.executions.plan import PlannedQuestion
from taketwo.executions.planned_media import MediaChange, media_now, planned_questions
from taketwo.media.video import VideoInfo


class _Probe:
    """Says of any file that it is a video of 5 seconds, except of one that begins with `bad`."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, path: Path) -> VideoInfo:
        self.asked.append(path.name)
        data = path.read_bytes()
        if data.startswith(b"bad"):
            raise UnreadableVideo(f"{path}: no video stream")
        return VideoInfo(
            path=path,
            sha256=hashlib.sha256(data).hexdigest(),
            size_bytes=len(data),
            duration_s=5.0,
            fps=25.0,
            width=64,
            height=48,
            rotation=0,
            codec="h264",
            container="mp4",
            frames=125,
            has_audio=False,
            audio_codec=None,
            problems=(),
        )


def _question(
    folder: Path, name: str, video: str, subtitles: str | None = None, duration: float | None = None
) -> Question:
    return Question(
        question_id=name,
        text="?",
        video_id=video,
        video_path=str(folder / video),
        answer_text="yes",
        subtitles_path=None if subtitles is None else str(folder / subtitles),
        video_duration_s=duration,
    )


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    (tmp_path / "a.mp4").write_bytes(b"video a")
    (tmp_path / "b.mp4").write_bytes(b"video b")
    (tmp_path / "bad.mp4").write_bytes(b"bad video")
    (tmp_path / "a.srt").write_bytes(b"subtitles")
    return Benchmark(
        name="local",
        version="1",
        questions=(
            _question(tmp_path, "q1", "a.mp4", "a.srt"),
            _question(tmp_path, "q2", "a.mp4", duration=4.5),
            _question(tmp_path, "q3", "b.mp4", "none.srt"),
            _question(tmp_path, "q4", "none.mp4"),
            _question(tmp_path, "q5", "bad.mp4"),
        ),
    )


def _states(planned: tuple[PlannedQuestion, ...]) -> dict[str, tuple[str, str | None]]:
    return {item.question.question_id: (item.availability, item.reason) for item in planned}


def test_questions_are_planned_with_the_state_of_their_media(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    planned = planned_questions(benchmark, _Probe())

    assert _states(planned) == {
        "q1": ("available", None),
        "q2": ("available", None),
        "q3": ("missing", f"subtitles {str(tmp_path / 'none.srt')!r} do not exist"),
        "q4": ("missing", f"video {str(tmp_path / 'none.mp4')!r} does not exist"),
        "q5": ("unreadable", f"{tmp_path / 'bad.mp4'}: no video stream"),
    }
    assert planned[0].video_sha256 == hashlib.sha256(b"video a").hexdigest()
    assert planned[0].subtitles_sha256 == hashlib.sha256(b"subtitles").hexdigest()
    assert planned[3].video_sha256 is None


def test_every_video_is_looked_at_once(benchmark: Benchmark) -> None:
    probe = _Probe()
    planned_questions(benchmark, probe)

    assert probe.asked == ["a.mp4", "b.mp4", "bad.mp4"]


def test_a_duration_is_filled_in_only_where_the_data_set_gives_none(benchmark: Benchmark) -> None:
    planned = planned_questions(benchmark, _Probe())

    assert planned[0].question.video_duration_s == 5.0
    assert planned[1].question.video_duration_s == 4.5
    assert planned[0].question_sha256 == benchmark.questions[0].content_sha256


def test_untouched_media_are_no_change(benchmark: Benchmark) -> None:
    planned = planned_questions(benchmark, _Probe())

    assert media_now(planned, {}) == (planned, ())


def test_one_byte_of_a_video_is_a_change_for_each_of_its_questions(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    planned = planned_questions(benchmark, _Probe())
    (tmp_path / "a.mp4").write_bytes(b"video A")

    _, changes = media_now(planned, {})

    before, after = (hashlib.sha256(data).hexdigest() for data in (b"video a", b"video A"))
    assert changes == tuple(
        MediaChange(
            question_id=name,
            what="video",
            path=str(tmp_path / "a.mp4"),
            planned_sha256=before,
            found_sha256=after,
        )
        for name in ("q1", "q2")
    )


def test_a_video_that_is_gone_is_a_loss_and_no_change(benchmark: Benchmark, tmp_path: Path) -> None:
    planned = planned_questions(benchmark, _Probe())
    (tmp_path / "a.mp4").unlink()

    now, changes = media_now(planned, {})

    assert changes == ()
    gone = f"gone since the plan was frozen: video {tmp_path / 'a.mp4'}"
    assert _states(now)["q1"] == ("missing", gone)
    assert _states(now)["q2"] == ("missing", gone)
    assert now[0].video_sha256 == planned[0].video_sha256


def test_subtitles_that_are_gone_or_other_are_told(benchmark: Benchmark, tmp_path: Path) -> None:
    planned = planned_questions(benchmark, _Probe())
    (tmp_path / "a.srt").write_bytes(b"other")
    _, changes = media_now(planned, {})
    (tmp_path / "a.srt").unlink()
    now, _ = media_now(planned, {})

    assert [(change.question_id, change.what) for change in changes] == [("q1", "subtitles")]
    assert _states(now)["q1"] == (
        "missing",
        f"gone since the plan was frozen: subtitles {tmp_path / 'a.srt'}",
    )
    assert _states(now)["q2"] == ("available", None)


def test_subtitles_that_are_no_longer_named_are_a_change(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    planned = planned_questions(benchmark, _Probe())

    _, changes = media_now(planned, {"q1": _question(tmp_path, "q1", "a.mp4")})

    assert changes == (
        MediaChange(
            question_id="q1",
            what="removed subtitles",
            path=str(tmp_path / "a.srt"),
            planned_sha256=hashlib.sha256(b"subtitles").hexdigest(),
            found_sha256=None,
        ),
    )


@pytest.mark.parametrize("fetched", ["a.srt", "not_there.srt"])
def test_subtitles_that_were_not_named_then_are_a_change(
    benchmark: Benchmark, tmp_path: Path, fetched: str
) -> None:
    planned = planned_questions(benchmark, _Probe())

    _, changes = media_now(
        planned, {"q2": _question(tmp_path, "q2", "a.mp4", fetched, duration=4.5)}
    )

    assert [(item.question_id, item.what, item.path, item.planned_sha256) for item in changes] == [
        ("q2", "added subtitles", str(tmp_path / fetched), None)
    ]


def test_what_was_missing_when_the_plan_was_frozen_stays_missing(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    planned = planned_questions(benchmark, _Probe())
    (tmp_path / "none.mp4").write_bytes(b"found again")

    now, changes = media_now(planned, {})

    assert changes == ()
    assert _states(now)["q4"] == ("missing", f"video {str(tmp_path / 'none.mp4')!r} does not exist")


def test_videos_may_move_with_their_benchmark(benchmark: Benchmark, tmp_path: Path) -> None:
    planned = planned_questions(benchmark, _Probe())
    (tmp_path / "moved").mkdir()
    (tmp_path / "a.mp4").rename(tmp_path / "moved/a.mp4")
    moved = {"q2": _question(tmp_path / "moved", "q2", "a.mp4", duration=4.5)}

    now, changes = media_now(planned, moved)

    assert changes == ()
    assert _states(now)["q2"] == ("available", None)
    assert now[1].question.video_path == str(tmp_path / "moved/a.mp4")
    assert _states(now)["q1"][0] == "missing"
