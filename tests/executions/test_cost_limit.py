"""A limit in dollars, and the work that agents declare, from the study file to the frozen plan."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest
from tests.plans import make_arm, make_plan

from taketwo.benchmarks.question import Question
from taketwo.errors import RequestError
from taketwo.executions.freeze import freeze
from taketwo.executions.plan import Arm, Plan, read_plan
from taketwo.tools.budget import Limits
from taketwo.tools.expected_work import ExpectedWork

_STUDY = """\
study: march
benchmark: {name: local, path: questions.jsonl}
arms:
  single: {agent: single_turn, role: baseline, options: {frames: 12}}
  react: {agent: video_react, limits: {cost_usd: 0.05}}
models:
  orchestrator: openai/planner
  observer: openai/eye
  transcriber: taketwo/offline-transcriber
seed: 5
"""
_PRICES = """\
prices:
  date: 2026-03-01
  models:
    openai/planner: {input: 2.5, output: 10}
    openai/eye: {input: 1, output: 4}
    openai/other: {input: 1, output: 1}
"""
_QUESTION = '{"question_id": "q1", "text": "?", "video_path": "v.mp4", "options": ["a", "b"], "answer": "A"}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "questions.jsonl").write_text(_QUESTION)
    return tmp_path


def _frozen(folder: Path, study: str) -> Plan:
    path = folder / "study.yaml"
    path.write_text(study)
    return freeze(path, now="2026-03-01T12:00:00Z", probe=lambda _: pytest.fail("no video"))


def test_an_arm_that_may_cost_dollars_needs_the_price_of_every_model(folder: Path) -> None:
    with pytest.raises(RequestError) as refused:
        _frozen(folder, _STUDY)

    message = str(refused.value)
    assert (
        "study.yaml:5 arms.react.limits.cost_usd: a cell of arm 'react' may cost 0.05 US dollars, "
        "but 'openai/eye', 'openai/planner' have no price, so the limit could not be kept; add "
        "prices: {date: YYYY-MM-DD, models: {openai/eye: {input: ..., output: ...}}}"
    ) in message
    assert "transcriber" not in message


def test_a_limit_of_the_whole_study_is_told_where_it_stands(folder: Path) -> None:
    with pytest.raises(RequestError, match=r"study\.yaml:11 limits\.cost_usd: a cell of arm"):
        _frozen(
            folder, _STUDY.replace(", limits: {cost_usd: 0.05}", "") + "limits: {cost_usd: 1}\n"
        )


def test_with_prices_the_smallest_limit_in_dollars_is_in_force(folder: Path) -> None:
    plan = _frozen(folder, _STUDY + _PRICES + "limits: {cost_usd: 0.2}\n")

    assert [arm.limits.cost_usd for arm in plan.arms] == [0.2, 0.05]
    assert set(plan.prices) == {"openai/planner", "openai/eye"}


@pytest.mark.parametrize("wrong", ["0", "-1", ".nan", ".inf", '"much"'])
def test_a_limit_in_dollars_is_a_number_above_zero(folder: Path, wrong: str) -> None:
    with pytest.raises(RequestError, match=r"arms\.react\.limits\.cost_usd: "):
        _frozen(folder, _STUDY.replace("0.05", wrong) + _PRICES)


def test_the_declared_work_stands_in_the_plan(folder: Path) -> None:
    plan = _frozen(folder, _STUDY + _PRICES)

    single, react = (arm.work for arm in plan.arms)
    assert single == ExpectedWork(turns=1, orchestrator_frames=12, calls_most=1)
    assert react is not None
    assert (react.turns, react.visible_calls, react.observer_calls) == (4, 3, 3)


def _question() -> Question:
    return Question(
        question_id="q", text="?", video_id="v", video_path="v", options=("a", "b"), answer_index=0
    )


def test_work_and_limit_survive_writing_and_reading(tmp_path: Path) -> None:
    plan = make_plan(questions=[_question()])
    work = ExpectedWork(turns=6, observer_calls=2.5, index_is_shared=True, calls_most=9)
    arms = tuple(
        dataclasses.replace(arm, work=work, limits=Limits(cost_usd=0.05)) for arm in plan.arms
    )
    changed = dataclasses.replace(plan, arms=arms)
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(changed.to_json()))

    assert read_plan(path) == changed


def test_an_arm_without_them_is_written_as_before_they_existed() -> None:
    record = make_arm("base").to_json()

    assert "work" not in record
    assert "cost_usd" not in cast("Mapping[str, object]", record["limits"])
    assert Arm.from_json(record) == make_arm("base")
