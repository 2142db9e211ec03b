from __future__ import annotations

from pathlib import Path

from tests.benchmarks.test_video_mme import data_set, load, row

from taketwo.benchmarks.saturation import expected_saturation


def test_long_videos_of_video_mme_are_near_the_ceiling(tmp_path: Path) -> None:
    data_set(tmp_path, row(), row(question_id="601-1", duration="long"))
    benchmark = load(tmp_path)

    told = expected_saturation(benchmark.name, benchmark.questions)

    assert told is not None
    assert told.startswith("1 of 2 questions are of Video-MME's long videos")
    assert "about 90 %" in told
    assert "expect saturation" in told


def test_short_ones_and_other_benchmarks_are_not(tmp_path: Path) -> None:
    data_set(tmp_path, row(), row(question_id="601-1", duration="long"))

    assert expected_saturation("video_mme", load(tmp_path, subset="short").questions) is None
    assert expected_saturation("local", load(tmp_path).questions) is None
