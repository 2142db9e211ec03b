from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.real_clips import PHOTOS_SHOWN, photo_times, real_clips
from taketwo.media.audio import load_audio
from taketwo.media.frames import frames_at
from taketwo.media.video import probe


@pytest.fixture(scope="module")
def clips(folder: Path) -> Benchmark:
    return real_clips(folder)


def video(clips: Benchmark, name: str) -> Path:
    return next(Path(q.video_path) for q in clips.questions if q.video_id == f"real-{name}")


def test_every_question_states_a_free_licence(clips: Benchmark) -> None:
    assert 6 <= len(clips.questions) <= 10
    for question in clips.questions:
        licence = question.licence or ""
        assert "CC BY 3.0, (c) copyright 2008, Blender" in licence or "public domain" in licence


def test_lengths_and_milestones_fit_the_files(clips: Benchmark) -> None:
    for question in clips.questions:
        info = probe(Path(question.video_path))
        assert info.has_audio
        assert info.duration_s == pytest.approx(question.video_duration_s, abs=0.05)
        for step in question.milestones:
            assert step.start_s is not None
            assert step.end_s is not None
            assert 0 <= step.start_s < step.end_s <= info.duration_s


def test_pictures_change_at_the_cuts_and_the_cat_is_shown_twice(clips: Benchmark) -> None:
    times = photo_times()
    middles = [(start + end) / 2 for start, end in times]
    means = [frame.image.mean(axis=(0, 1)) for frame in frames_at(video(clips, "reading"), middles)]
    assert [np.abs(means[4] - mean).max() < 15 for mean in means] == [
        name == "cat" for name in PHOTOS_SHOWN
    ]
    for cut in (start for start, _ in times[1:]):
        before, after = frames_at(video(clips, "reading"), [cut - 0.02, cut])
        assert np.abs(before.image.astype(int) - after.image).mean() > 20


def test_sentences_are_heard_in_their_seconds_and_pauses_at_the_cuts(clips: Benchmark) -> None:
    sound = load_audio(video(clips, "reading"))
    spoken = next(
        step
        for question in clips.questions
        if question.question_id == "real-reading-disposed"
        for step in question.milestones
        if step.text.startswith("hear")
    )
    assert spoken.start_s is not None
    assert spoken.end_s is not None
    loud = np.abs(sound[int(spoken.start_s * 16_000) : int(spoken.end_s * 16_000)])
    assert np.sqrt((loud**2).mean()) > 0.01
    for start, _ in photo_times()[1:]:
        pause = sound[int((start - 0.05) * 16_000) : int((start + 0.05) * 16_000)]
        assert np.abs(pause).max() < 0.02


def test_a_clip_that_was_changed_is_written_again(clips: Benchmark, folder: Path) -> None:
    film = video(clips, "bunny")
    whole, stamp = film.read_bytes(), video(clips, "reading").stat().st_mtime_ns
    film.write_bytes(b"x")
    assert real_clips(folder) == clips
    assert film.read_bytes() == whole
    assert video(clips, "reading").stat().st_mtime_ns == stamp
