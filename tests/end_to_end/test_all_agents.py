"""One study with every agent of the catalogue, through the commands, with the offline models."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import av
import cv2
import numpy as np
import polars as pl
import pytest
from pydantic import JsonValue

from taketwo.agents.catalog import AGENT_NAMES
from taketwo.executions.plan import read_plan

EXAMPLE = Path(__file__).parents[2] / "studies" / "offline-agents.yaml"
COMMAND = [sys.executable, "-m", "taketwo.cli.main"]
ARMS = ("single_turn", "video_react", "sage_static", "sage_dynamic", "dvd", "avp", "star")
MEASURED = (
    "accuracy",
    "turns",
    "visible_calls",
    "primitive_ops",
    "latency_s",
    "tokens",
    "cost_usd",
)
SMALLER = (
    (
        "{name: rendered, seed: 7, videos: 2, questions: 12, open_questions: 1}",
        "{name: local, path: questions.jsonl}",
    ),
    ("{frames: 16, transcript", "{frames: 6, transcript"),
    ("context_frames: 16", "context_frames: 6"),
    ("turns: 8}", "turns: 4, clip_seconds: 3}"),
    ("{agent: avp}", "{agent: avp, options: {observation_tokens: 4000}}"),
    ("{max_frames: 32}", "{frames: 6, max_frames: 16, max_tools: 3}"),
    ("visible_calls: 8, frames: 600", "visible_calls: 4, frames: 120"),
)
QUESTIONS: tuple[Mapping[str, JsonValue], ...] = (
    {
        "question_id": "circles",
        "text": "How many red circles are shown while the sign shows LAMP?",
        "options": ["1", "2", "3", "4"],
        "answer": "B",
        "milestones": [
            {"text": "Find the time at which the sign shows LAMP."},
            {"text": "Count 2 red circles while it does."},
        ],
    },
    {
        "question_id": "order",
        "text": 'Which word appears right after the speaker says "the boat leaves at noon"?',
        "options": ["LAMP", "EXIT", "RIVER"],
        "answer": "C",
        "milestones": [
            {"text": "Hear the words the boat leaves at noon."},
            {"text": "Read the word RIVER after them."},
        ],
    },
)
SUBTITLES = """1
00:00:02,200 --> 00:00:03,800
The boat leaves at noon.
"""


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A study that was run and scored, and what `run` said."""

    folder: Path
    told: str
    questions: int

    @property
    def outcomes(self) -> pl.DataFrame:
        return pl.read_parquet(self.folder / "outcomes.parquet")


def told(*arguments: object) -> str:
    shown = subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert shown.returncode == 0, shown.stderr
    return shown.stdout + shown.stderr


def paint(folder: Path) -> None:
    """Write a video of 6 s (EXIT, then LAMP with two red circles, then RIVER), its speech, its questions."""
    with av.open(str(folder / "signs.mp4"), "w") as container:
        stream = container.add_stream("mpeg4", rate=8)
        stream.width, stream.height, stream.pix_fmt = 320, 180, "yuv420p"
        stream.bit_rate = 2_000_000
        for number in range(48):
            picture = np.full((180, 320, 3), 128, np.uint8)
            word = ("EXIT", "LAMP", "RIVER")[number // 16]
            if word == "LAMP":
                for x in (80, 220):
                    cv2.circle(picture, (x, 50), 22, (220, 40, 40), -1, cv2.LINE_AA)
            cv2.putText(
                picture, word, (40, 150), cv2.FONT_HERSHEY_SIMPLEX, 1.6, (255, 255, 255), 4,
                cv2.LINE_AA,
            )  # fmt: skip
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    (folder / "signs.srt").write_text(SUBTITLES, "utf-8")
    rows = [
        {**question, "video_path": "signs.mp4", "subtitles_path": "signs.srt"}
        for question in QUESTIONS
    ]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")


def finished_study(folder: Path, text: str, questions: int) -> Finished:
    (folder / "study.yaml").write_text(text, "utf-8")
    said = told("run", folder)
    told("score", folder)
    return Finished(folder=folder, told=said, questions=questions)


def smaller(text: str) -> str:
    for old, new in SMALLER:
        assert old in text, f"{EXAMPLE.name} no longer says {old!r}"
        text = text.replace(old, new)
    return text


@pytest.fixture(
    scope="module", params=[pytest.param("small"), pytest.param("example", marks=pytest.mark.slow)]
)
def finished(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    folder = tmp_path_factory.mktemp("agents") / "study"
    folder.mkdir()
    text = EXAMPLE.read_text("utf-8")
    if request.param == "small":
        paint(folder)
        return finished_study(folder, smaller(text), len(QUESTIONS))
    return finished_study(folder, text, 12)


def test_every_agent_of_the_catalogue_has_an_arm(finished: Finished) -> None:
    plan = read_plan(finished.folder / "plan.json")

    assert tuple(arm.name for arm in plan.arms) == ARMS
    assert {arm.agent for arm in plan.arms} == set(AGENT_NAMES)


def test_every_planned_cell_has_a_row_and_ended_without_an_error(finished: Finished) -> None:
    frame, each = finished.outcomes, 2 * finished.questions

    assert frame.height == len(ARMS) * each
    assert frame.unique(["arm", "execution", "question_id"]).height == frame.height
    assert {
        row["arm"]: row["len"] for row in frame.group_by("arm").len().to_dicts()
    } == dict.fromkeys(ARMS, each)
    statuses = {
        row["run_status"]: row["len"] for row in frame.group_by("run_status").len().to_dicts()
    }
    assert set(statuses) <= {"answered", "abstained", "limit"}, (
        frame["failure"].drop_nulls().to_list()
    )
    assert sum(statuses.values()) == frame.height
    ended = ", ".join(f"{status} {number}" for status, number in sorted(statuses.items()))
    assert f"{frame.height} cells: {ended}" in finished.told
    progress = re.findall(r"K2 of 2: (.*?); 0 failed", finished.told)[-1]
    assert progress == ", ".join(f"{arm} {finished.questions}/{finished.questions}" for arm in ARMS)


@pytest.mark.parametrize("arm", ARMS)
def test_everything_is_measured_of_every_answered_cell(finished: Finished, arm: str) -> None:
    answered = finished.outcomes.filter(
        (pl.col("arm") == arm) & (pl.col("run_status") == "answered")
    )
    scored = answered.filter(pl.col("score_status") == "scored")

    assert answered.height > 0
    assert scored.height > 0
    for metric in MEASURED:
        known = scored if metric == "accuracy" else answered
        assert known[metric].null_count() == 0, metric
    assert (answered["latency_s"] > 0).all()
    assert (answered["cost_usd"] > 0).all()
    assert (answered["turns"] >= 1).all()
    assert (answered["visible_calls"] > 0).any() == (arm != "single_turn")


def test_each_method_gets_a_verdict_on_each_metric(finished: Finished) -> None:
    compared = json.loads(
        subprocess.run(
            [*COMMAND, "compare", str(finished.folder), "--json"],
            capture_output=True, text=True, check=True,
        ).stdout
    )  # fmt: skip

    pairs = {pair["method"]: pair for pair in compared["comparisons"]}
    assert set(pairs) == set(ARMS) - {"single_turn"}
    for pair in pairs.values():
        assert set(MEASURED) <= set(pair["metrics"])
        assert all(metric["verdict"] for metric in pair["metrics"].values())


def test_the_report_is_written_and_names_every_arm(finished: Finished) -> None:
    told("report", finished.folder)

    page = (finished.folder / "report.html").read_text("utf-8")
    assert all(f">{arm}<" in page or f" {arm}" in page for arm in ARMS)
    assert "Trajectories by arm" in page


@pytest.mark.parametrize("arm", ARMS)
def test_the_trajectories_of_every_agent_are_judged(finished: Finished, arm: str) -> None:
    of_arm = finished.outcomes.filter(pl.col("arm") == arm)
    ran = of_arm.filter(~pl.col("run_status").is_in(["agent_error", "provider_error"]))

    assert ran.height > 0
    assert set(ran["trajectory_status"]) == {"scored"}
    assert ran["trajectory_score"].is_between(0, 1).all()
