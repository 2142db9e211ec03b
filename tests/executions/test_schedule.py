"""The order of cells and the seeds of calls."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from itertools import groupby

import numpy as np
import pytest

from taketwo.benchmarks.question import Question
from taketwo.errors import RequestError
from taketwo.executions.plan import Arm, Plan, PlannedQuestion
from taketwo.executions.rule import Rule
from taketwo.executions.schedule import Cell, cell_order, cell_seed
from taketwo.tools.budget import Limits


def _arm(name: str) -> Arm:
    return Arm(
        name=name,
        agent="single_turn",
        baseline=None,
        options={},
        models={},
        sampling={},
        limits=Limits(),
        tools=(),
        prompts={},
        tools_sha256="",
    )


def _question(number: int) -> PlannedQuestion:
    question = Question(
        question_id=f"q{number}", text="?", video_id="v", video_path="v.mp4", answer_text="yes"
    )
    return PlannedQuestion(
        question=question,
        question_sha256=question.content_sha256,
        video_sha256=None,
        subtitles_sha256=None,
        availability="missing",
    )


def _plan(questions: int = 30, seed: int = 7) -> Plan:
    return Plan(
        study="order",
        created="2026-01-01T00:00:00Z",
        seed=seed,
        executions=3,
        benchmark="local",
        benchmark_version="1",
        benchmark_sha256="",
        questions=tuple(_question(number) for number in range(questions)),
        arms=(_arm("a"), _arm("b"), _arm("c")),
        rule=Rule(),
        judge=None,
        cells=1,
        connections=1,
        retries=0,
        timeout_s=1.0,
        provider_seeds=False,
        code_sha256="",
        packages={},
    )


def test_every_planned_cell_comes_once() -> None:
    cells = cell_order(_plan(), 1)

    assert sorted(cell.sample_id for cell in cells) == sorted(
        f"{arm}:q{number}" for arm in "abc" for number in range(30)
    )


def test_arms_of_a_question_stand_next_to_each_other() -> None:
    runs = [
        len(list(group))
        for _, group in groupby(cell_order(_plan(), 1), key=lambda c: c.question_id)
    ]

    assert runs == [3] * 30


def test_each_arm_goes_first_on_about_a_third_of_the_questions() -> None:
    first = [cell.arm for cell in cell_order(_plan(questions=600), 1)[::3]]

    # 600 draws at 1/3: 200 expected, standard deviation 11.5; the band is five of them.
    assert all(140 < first.count(arm) < 260 for arm in "abc")


def test_order_is_the_same_again_and_differs_between_executions_and_seeds() -> None:
    assert cell_order(_plan(), 1) == cell_order(_plan(), 1)
    assert cell_order(_plan(), 1) != cell_order(_plan(), 2)
    assert cell_order(_plan(), 1) != cell_order(_plan(seed=8), 1)


def test_order_does_not_depend_on_what_else_the_plan_holds() -> None:
    other = dataclasses.replace(_plan(), study="other", cells=9)

    assert cell_order(_plan(), 2) == cell_order(other, 2)


def test_seed_is_the_one_that_the_documented_formula_gives() -> None:
    entropy = [
        7,
        2,
        int(hashlib.sha256(b"a").hexdigest()[:16], 16),
        int(hashlib.sha256(b"q3").hexdigest()[:16], 16),
        5,
    ]
    expected = int(np.random.SeedSequence(entropy).generate_state(1)[0]) // 2

    assert cell_seed(_plan(), 2, "a", "q3", 5) == expected


def test_seeds_fit_31_bits_and_do_not_repeat_over_a_study() -> None:
    plan = _plan()
    seeds = [
        cell_seed(plan, execution, arm, f"q{number}", call)
        for execution in (1, 2, 3)
        for arm in "abc"
        for number in range(30)
        for call in range(4)
    ]

    assert all(0 <= seed < 2**31 for seed in seeds)
    assert len(set(seeds)) == len(seeds)


@pytest.mark.parametrize("execution", [0, 4])
def test_an_execution_outside_the_plan_is_refused(execution: int) -> None:
    message = re.escape(f"study 'order' has executions 1 to 3, found {execution}")
    with pytest.raises(RequestError, match=message):
        cell_order(_plan(), execution)
    with pytest.raises(RequestError, match=message):
        cell_seed(_plan(), execution, "a", "q1", 0)


def test_a_negative_call_is_refused() -> None:
    with pytest.raises(RequestError, match="numbered from 0, found -1"):
        cell_seed(_plan(), 1, "a", "q1", -1)


def test_a_cell_names_its_sample() -> None:
    assert Cell(arm="a", question_id="q1").sample_id == "a:q1"
