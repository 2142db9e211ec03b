from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from tests.plans import make_plan

from taketwo.benchmarks.question import Question
from taketwo.executions import attempt_run, cell_index
from taketwo.executions.attempt_run import _Following
from taketwo.executions.cell_index import WallClock, index_store, seed_name
from taketwo.executions.plan import Plan
from taketwo.tools.budget import Limits
from taketwo.tools.video_index_store import IndexLocks, IndexStore


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, module: object) -> None:
        self.now = 0.0
        monkeypatch.setattr(module, "time", self)

    def monotonic(self) -> float:
        return self.now


def plan_of(*videos: str) -> Plan:
    plan = make_plan(
        questions=[
            Question(
                question_id=f"q{n}",
                text="?",
                video_id=name,
                video_path=f"{name}.mp4",
                answer_text="x",
            )
            for n, name in enumerate(videos)
        ]
    )
    hashed = tuple(
        replace(item, video_sha256=item.question.video_id * 64) for item in plan.questions
    )
    return replace(plan, questions=hashed)


def store_of(plan: Plan, execution: int, arm: str, number: int) -> IndexStore:
    return index_store(
        plan,
        execution,
        arm,
        plan.questions[number],
        folder=Path("study"),
        roles={},
        locks=IndexLocks(),
        clock=WallClock(None),
    )


def test_an_index_lies_with_its_execution_and_arm_and_counts_the_questions_on_its_video() -> None:
    plan = plan_of("a", "b", "a", "a")

    first, other = store_of(plan, 1, "base", 0), store_of(plan, 2, "method", 1)

    assert first.folder == Path("study/K1/index/base")
    assert other.folder == Path("study/K2/index/method")
    assert (first.cells, other.cells) == (3, 1)
    assert first.at_once == plan.connections


def test_no_two_studies_executions_or_arms_have_one_scope() -> None:
    plan = plan_of("a")
    scopes = {
        store_of(one, execution, arm, 0).scope
        for one in (plan, replace(plan, seed=2), replace(plan, study="other"))
        for execution in (1, 2)
        for arm in ("base", "method")
    }

    assert len(scopes) == 12


def test_a_video_that_was_moved_since_keeps_the_scope() -> None:
    plan = plan_of("a")
    gone = replace(plan.questions[0], availability="missing")

    assert store_of(replace(plan, questions=(gone,)), 1, "base", 0).scope == (
        store_of(plan, 1, "base", 0).scope
    )


def test_the_seeds_of_an_index_are_those_of_its_video_and_of_no_question() -> None:
    plan = plan_of("a", "a", "b")
    names = [seed_name(item) for item in plan.questions]

    assert names[0] == names[1] != names[2]
    assert " " in names[0]


async def test_the_limit_of_a_cell_stands_still_while_the_clock_is_paused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    time = Clock(monkeypatch, cell_index)
    told: list[bool] = []
    clock = WallClock(100.0, told.append)

    with clock.limited():
        before = anyio.current_effective_deadline()
        with clock.paused():
            assert anyio.current_effective_deadline() == float("inf")
            time.now = 1000.0
        assert anyio.current_effective_deadline() == pytest.approx(before + 1000.0)
        time.now = 1099.0
        assert not clock.is_over
        time.now = 1101.0
        assert clock.is_over
    assert told == [True, False]
    assert not clock.was_cancelled


async def test_without_a_limit_nothing_is_ever_over() -> None:
    clock = WallClock(None)

    with clock.limited(), clock.paused():
        pass

    assert not clock.is_over


def test_a_cell_that_makes_an_index_is_not_overdue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt_run, "_LEAST_PATIENCE_S", 0.0)
    time = Clock(monkeypatch, attempt_run)
    plan = plan_of("a")
    arm = replace(plan.arms[0], limits=Limits(wall_s=10.0))
    following = _Following(replace(plan, arms=(arm,)))

    def overdue_at(second: float) -> bool:
        time.now = second
        return following._find_overdue()

    following._note({"kind": "started", "cell": "base:q0"})
    assert not overdue_at(19.0)
    following._note({"kind": "paused", "cell": "base:q0"})
    assert not overdue_at(5000.0)
    following._note({"kind": "resumed", "cell": "base:q0"})
    assert not overdue_at(5019.0)
    assert overdue_at(5021.0)
    assert following.started == ["base:q0"]
