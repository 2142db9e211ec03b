"""How asking judges ends when the user presses Ctrl-C somewhere inside."""

from __future__ import annotations

import pytest

from taketwo.scores.judged_in_batches import run_judging


async def _raising(error: BaseException) -> None:
    raise error


async def _seven() -> int:
    return 7


def test_what_the_work_returns_comes_back() -> None:
    assert run_judging(_seven()) == 7


def test_an_interrupt_inside_of_a_group_of_tasks_is_an_interrupt() -> None:
    group = BaseExceptionGroup("tasks", [KeyboardInterrupt(), ValueError("one reply")])

    with pytest.raises(KeyboardInterrupt):
        run_judging(_raising(group))


def test_another_group_of_failures_stays_one() -> None:
    with pytest.raises(ExceptionGroup, match="tasks"):
        run_judging(_raising(ExceptionGroup("tasks", [ValueError("one reply")])))
