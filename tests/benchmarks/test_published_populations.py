"""The published attrition and tables of SAGE-Bench, through the functions that the commands call."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.benchmarks import synthetic_sage_bench as synthetic
from tests.benchmarks.published_populations import Row, published_population
from tests.media.clips import X264, Clip, write

from taketwo.benchmarks.population import Difference
from taketwo.benchmarks.sage_bench import sage_bench
from taketwo.media.video import VideoInfo
from taketwo.media.video import probe as measured
from taketwo.question_sets import check_benchmark, compare_population
from taketwo.video_availability import AvailabilityReport, check_availability

ANY_LENGTH_S = 1e4
"""All videos are links to one short clip."""


class World:
    """The data set on disk, the videos that were there at first, and the published lists."""

    def __init__(self, folder: Path) -> None:
        self.rows: list[Row] = published_population()
        self.path = synthetic.write(folder / "sage", [row.values for row in self.rows])
        videos = self.path / "videos"
        videos.mkdir()
        clip = write(Clip(name="clip.mp4", codec="libx264", options=X264, frames=12), folder)
        there = (row for row in self.rows if row.group != "lost" or row.lost_later)
        for video in {str(row.values["video_id"]) for row in there}:
            os.link(clip, videos / f"{video}.mp4")
        questions = sage_bench(self.path).questions
        self.ids = {
            group: [
                question.question_id
                for row, question in zip(self.rows, questions, strict=True)
                if row.group == group
            ]
            for group in ("evaluated", "holdout", "lost")
        }
        self.holdout = folder / "holdout.json"
        self.holdout.write_text(json.dumps(self.ids["holdout"]), "utf-8")
        self.lost = folder / "lost.json"
        self.lost.write_text(json.dumps(self.ids["lost"]), "utf-8")
        self.looked = 0

    def look(self, *excluded: Path) -> AvailabilityReport:
        return check_availability(
            "sage_bench",
            {"path": str(self.path), "exclude": list(map(str, excluded))},
            tolerance_s=ANY_LENGTH_S,
            probe=self._probe,
        )

    def _probe(self, path: Path) -> VideoInfo:
        self.looked += 1
        return measured(path)

    def lose_later(self) -> None:
        for video in {str(row.values["video_id"]) for row in self.rows if row.lost_later}:
            (self.path / "videos" / f"{video}.mp4").unlink()


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_1744_questions_end_as_1283_after_a_holdout_and_two_losses(
    world: World, tmp_path: Path
) -> None:
    whole = check_benchmark("sage_bench", {"path": str(world.path)})
    assert whole.composition.questions == 1744

    at_first = world.look(world.holdout)
    assert at_first.before.questions == 1594
    assert at_first.availability.counts == {"available": 1304, "missing": 290}

    at_first.write(tmp_path / "first.json")
    world.lose_later()
    later = world.look(world.holdout, tmp_path / "first.json")
    assert later.before.questions == 1304
    assert later.availability.counts == {"available": 1283, "missing": 21}
    assert later.after is not None
    assert (later.after.questions, later.after.videos) == (1283, 922)
    assert [item.question_id for item in later.availability.available] == world.ids["evaluated"]
    assert later.overlap.shared == 0
    missing = [item for item in later.availability.states if item.state == "missing"]
    assert {item.video_id for item in missing} == {
        *(f"gone-later-short-{number}" for number in range(10)),
        *(f"gone-later-long-{number}" for number in range(11)),
    }
    assert all((item.reason or "").endswith(".mp4' does not exist") for item in missing)


def test_a_thousand_names_of_one_file_are_looked_at_once(world: World) -> None:
    found = world.look(world.holdout)

    assert world.looked == 1
    (sha256,) = {item.video_sha256 for item in found.availability.states if item.video_sha256}
    assert len(sha256) == 64


def _points(found: tuple[Difference, ...], factor: str, level: str) -> float:
    (item,) = [item for item in found if (item.factor, item.level) == (factor, level)]
    return item.points


def test_the_published_table_a5_comes_out(world: World) -> None:
    found = compare_population(
        "sage_bench",
        {"path": str(world.path)},
        part=[world.holdout, world.lost],
        complement=True,
    )

    assert (found.part.questions, found.reference.questions) == (1283, 1744)
    printed = {
        (item.factor, item.level): f"{item.points:+.2f}"
        for item in found.differences
        if item.factor in {"question_type", "modality", "difficulty", "length"}
    }
    assert printed == {
        ("question_type", "mcq"): "+0.20",
        ("question_type", "open_ended"): "-0.20",
        ("modality", "visual"): "+0.05",
        ("modality", "verbal"): "-0.17",
        ("modality", "both"): "+0.12",
        ("difficulty", "easy"): "+0.31",
        # Printed as -0.01, the difference of the rounded shares; the counts give -0.017.
        ("difficulty", "medium"): "-0.02",
        ("difficulty", "hard"): "-0.00",
        ("difficulty", "very hard"): "-0.29",
        ("length", "short"): "+0.33",
        ("length", "long"): "-0.33",
    }


def test_the_published_table_a6_and_its_shared_videos_come_out(world: World) -> None:
    found = compare_population(
        "sage_bench",
        {"path": str(world.path), "exclude": str(world.lost)},
        part=world.holdout,
        against="rest",
    )

    shown = {
        level: round(_points(found.differences, factor, level), 1)
        for factor, level in [
            ("question_type", "mcq"),
            ("modality", "visual"),
            ("modality", "verbal"),
            ("modality", "both"),
            ("difficulty", "easy"),
            ("difficulty", "medium"),
            ("difficulty", "hard"),
            ("difficulty", "very hard"),
        ]
    }
    assert (found.part.questions, found.reference.questions) == (150, 1283)
    assert shown == {
        "mcq": 2.3,
        "visual": -3.3,
        "verbal": 3.5,
        "both": -0.2,
        "easy": 8.7,
        "medium": 2.2,
        "hard": -9.7,
        "very hard": -1.2,
    }
    assert (found.overlap.shared, found.overlap.first) == (122, 146)
