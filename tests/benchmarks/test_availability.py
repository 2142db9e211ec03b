from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from taketwo.benchmarks.availability import media_states
from taketwo.benchmarks.benchmark import Benchmark
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
