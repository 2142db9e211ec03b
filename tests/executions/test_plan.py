"""The frozen plan as a record on disk."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.plans import make_plan

from taketwo.benchmarks.question import Milestone, Question
from taketwo.errors import DataError, RequestError
from taketwo.executions.plan import (
    Arm,
    ModelSpec,
    Plan,
    PlannedQuestion,
    Sampling,
    read_plan,
)
from taketwo.executions.rule import Rule
from taketwo.tools.budget import Limits


def _plan() -> Plan:
    question = Question(
        question_id="q1",
        text="Which colour?",
        video_id="v",
        video_path="v.mp4",
        options=("red", "blue"),
        answer_index=1,
        attributes={"kind": "counting"},
        skills=("look",),
        milestones=(Milestone(milestone_id="m1", text="see it", start_s=1.0, end_s=2.0),),
    )
    return Plan(
        study="record",
        created="2026-01-01T00:00:00Z",
        seed=2**52 + 1,
        executions=2,
        benchmark="local",
        benchmark_version="1",
        benchmark_sha256="b",
        questions=(
            PlannedQuestion(
                question=question,
                question_sha256=question.content_sha256,
                video_sha256="v",
                subtitles_sha256=None,
                availability="available",
            ),
        ),
        arms=(
            Arm(
                name="static",
                agent="single_turn",
                baseline=None,
                options={"frames": 8},
                models={"orchestrator": ModelSpec(name="a/b", args={"device": "cpu"})},
                sampling={"orchestrator": Sampling(temperature=0.7, reasoning_effort="low")},
                limits=Limits(turns=3, latency_s=2.5),
                tools=("analyze_video",),
                prompts={"orchestrator": "p"},
                tools_sha256="t",
                factors={"agent": "single_turn"},
            ),
        ),
        rule=Rule(margins={"accuracy": 0.02}),
        judge=ModelSpec(name="a/judge", base_url="http://localhost:8000/v1"),
        cells=4,
        connections=2,
        retries=3,
        timeout_s=60.0,
        provider_seeds=False,
        code_sha256="c",
        packages={"numpy": "2.1"},
        prices={"a/b": {"input": 1.0, "output": 2.0}},
        prices_date="2026-03-01",
        study_file="studies/record/study.yaml",
    )


def _written(tmp_path: Path, **changes: object) -> Path:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({**_plan().to_json(), **changes}))
    return path


def test_a_plan_survives_being_written_and_read(tmp_path: Path) -> None:
    assert read_plan(_written(tmp_path)) == _plan()


def test_time_and_place_of_freezing_do_not_name_the_study() -> None:
    elsewhere = dataclasses.replace(_plan(), created="2027-01-01T00:00:00Z", study_file=None)

    assert elsewhere.sha256 == _plan().sha256


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 3},
        {"executions": 3},
        {"rule": Rule(level=0.9)},
        {"judge": None},
        {"prices_date": "2026-03-02"},
        {"packages": {"numpy": "2.2"}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_everything_else_names_the_study(change: dict[str, object]) -> None:
    assert dataclasses.replace(_plan(), **change).sha256 != _plan().sha256  # pyright: ignore[reportArgumentType] fields of Plan


def test_an_edited_plan_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the plan was edited after it was frozen"):
        read_plan(_written(tmp_path, executions=5))


def test_a_newer_plan_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=re.escape("written by a newer version (taketwo.plan/2)")):
        read_plan(_written(tmp_path, format="taketwo.plan/2"))


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"format": ' + b'{"a":' * 50_000])
def test_a_plan_that_is_nested_without_end_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(content)

    with pytest.raises(DataError, match=r"plan\.json: not a readable plan \(.+\); freeze it anew"):
        read_plan(path)


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text('["not", "a", "plan"]')
    with pytest.raises(DataError, match="not a plan of Take Two: format is None"):
        read_plan(path)
    path.write_text("{broken")
    with pytest.raises(DataError, match="not a readable plan"):
        read_plan(path)


def test_a_plan_that_lacks_a_field_is_refused(tmp_path: Path) -> None:
    record = {**_plan().to_json()}
    del record["questions"]
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(record))

    with pytest.raises(
        DataError, match=re.escape("lacks or garbles a field (KeyError('questions'))")
    ):
        read_plan(path)


def test_no_plan_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no plan here; freeze one with: taketwo plan STUDY"):
        read_plan(tmp_path / "plan.json")


def test_arms_and_questions_are_found_by_name() -> None:
    plan = _plan()

    assert plan.arm("static").role == "baseline"
    assert plan.planned("q1").question.answer_index == 1
    with pytest.raises(RequestError, match=r"the plan has no arm 'x'; it has \['static'\]"):
        plan.arm("x")
    with pytest.raises(RequestError, match="the plan has no question 'x'"):
        plan.planned("x")


def test_the_record_is_light() -> None:
    code = (
        "import sys, taketwo.executions.plan, taketwo.executions.rule\n"
        "heavy = {'inspect_ai', 'av', 'scipy', 'yaml', 'pydantic'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.stderr == ""
    assert done.returncode == 0


def test_the_hash_of_a_plan_does_not_depend_on_where_its_media_lie() -> None:
    def plan_at(folder: str, text: str = "Which?") -> Plan:
        question = Question(
            question_id="q1",
            text=text,
            video_id="v1",
            video_path=f"{folder}/v1.mp4",
            subtitles_path=f"{folder}/v1.srt",
            options=("red", "green"),
            answer_index=1,
        )
        return make_plan(questions=[question])

    assert plan_at("/here").sha256 == plan_at("/there").sha256
    assert plan_at("/here").sha256 != plan_at("/here", "Which one?").sha256
