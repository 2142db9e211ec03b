"""In which order the cells of an execution start, and which seed each call gets."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from taketwo.errors import RequestError
from taketwo.executions.plan import Plan

__all__ = ["Cell", "cell_order", "cell_seed"]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One arm on one question, inside the execution that is asked for."""

    arm: str
    question_id: str

    @property
    def sample_id(self) -> str:
        """Return the id that the cell has in a log."""
        return f"{self.arm}:{self.question_id}"


def cell_order(plan: Plan, execution: int) -> tuple[Cell, ...]:
    """Return every planned cell of an execution, in the order in which they start.

    Questions come in a random order, the arms of one question next to each other and in a random
    order among themselves, so that a slow hour of a provider hits all arms alike. The order depends
    on `plan.seed` and `execution` only. Questions whose video is missing are included: whether a
    cell can run is the state of its media on that day, not of the order.

    Raises
    ------
    RequestError
        If the plan has no such execution.
    """
    _check_execution(plan, execution)
    rng = np.random.default_rng(np.random.SeedSequence([plan.seed, execution, _number("order")]))
    arms = [arm.name for arm in plan.arms]
    questions = [planned.question.question_id for planned in plan.questions]
    return tuple(
        Cell(arm=arms[arm], question_id=questions[question])
        for question in _shuffled(len(questions), rng)
        for arm in _shuffled(len(arms), rng)
    )


def cell_seed(plan: Plan, execution: int, arm: str, question_id: str, call: int) -> int:
    """Return the seed of one model call, from 0 to 2**31 - 1.

    It is the first 31 bits that NumPy's `SeedSequence` makes of `[plan.seed, execution, arm,
    question, call]`, names entering as the first 64 bits of their SHA-256; equal arguments give
    equal seeds on every machine, and no two executions share a stream.

    Raises
    ------
    RequestError
        If the plan has no such execution, or `call` is negative.
    """
    _check_execution(plan, execution)
    if call < 0:
        raise RequestError(f"calls of a cell are numbered from 0, found {call!r}")
    entropy = [plan.seed, execution, _number(arm), _number(question_id), call]
    state = np.random.SeedSequence(entropy).generate_state(1, np.uint32)
    return int(state[0]) >> 1


def _check_execution(plan: Plan, execution: int) -> None:
    if not 1 <= execution <= plan.executions:
        raise RequestError(
            f"study {plan.study!r} has executions 1 to {plan.executions}, found {execution!r}; "
            "more executions are a new plan"
        )


def _shuffled(count: int, rng: np.random.Generator) -> list[int]:
    return [int(index) for index in rng.permutation(count)]


def _number(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
