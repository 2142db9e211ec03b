"""The running record of one cell: what it spent, how long its own work took, and what went wrong.

Time is measured inside: the work of a model call, a primitive operation and a tool is booked once,
by whoever did it, however they are nested.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Self

import anyio
from inspect_ai.log import transcript

from taketwo.benchmarks.canonical import JsonValue
from taketwo.tools.budget import Budget
from taketwo.tools.loggable import loggable_json

__all__ = ["CellAccount", "Watch"]


class CellAccount:
    """The account of one cell, shared by its toolbox, its tools and its models.

    `failure` is the first fault of a provider or of the media. A cell that has one has no answer,
    whatever the agent says afterwards. `booked_s` are the seconds that watches have timed so far.
    `unavailable` names the metrics that nobody measured in this cell, each with the reason.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.failure: BaseException | None = None
        self.call_id: str | None = None
        self.model_calls = 0
        self.tokens: int | None = None
        self.booked_s = 0.0
        self.unavailable: dict[str, str] = {}
        self._one_at_a_time = anyio.Lock()

    @property
    def latency_s(self) -> float:
        """Return the self-timed seconds of the cell so far, shared media as when they were made."""
        return self.budget.used("latency_s")

    def next_model_call(self) -> int:
        """Return the number of the next generation of the cell, counted from 0 over all roles."""
        self.model_calls += 1
        return self.model_calls - 1

    def charge(self, seconds: float) -> None:
        """Add self-timed work to the cell's latency."""
        self.budget.spend("latency_s", max(0.0, seconds))

    def spend_tokens(self, tokens: int) -> None:
        """Add the tokens that a provider reported."""
        self.tokens = (self.tokens or 0) + tokens
        self.budget.spend("tokens", tokens)

    def book_usage(self, model: str, used: tuple[int, int] | None) -> None:
        """Take in what a reply of `model` used, input and output; the log of a cell has it already."""

    def spend_money(self, cost_usd: float) -> None:
        """Add what a call cost in US dollars."""
        self.budget.spend("cost_usd", cost_usd)

    @asynccontextmanager
    async def metered(self) -> AsyncGenerator[None]:
        """Let work pass one piece after the other where a limit is known after the work only.

        Whoever comes next then sees what the one before has used, so that one piece of work at most
        goes over a limit in tokens, seconds or dollars, also where an agent asks in parallel. The
        wait is nobody's work. Without such a limit nothing waits.
        """
        if not self.budget.is_metered:
            yield
            return
        with self.watch():
            await self._one_at_a_time.acquire()
        try:
            yield
        finally:
            self._one_at_a_time.release()

    def fail(self, error: BaseException) -> None:
        """Keep `error` as the reason why the cell has no answer, unless there is one already."""
        if self.failure is None:
            self.failure = error

    def watch(self) -> Watch:
        """Return a stopwatch for a piece of work, to be used in a `with` statement."""
        return Watch(self)

    def record(self, source: str, data: Mapping[str, JsonValue]) -> None:
        """Write an event `taketwo.<source>` into the cell's log, cleaned so that it can be written."""
        transcript().info(loggable_json(data), source=f"taketwo.{source}")  # pyright: ignore[reportArgumentType] the engine's JsonValue names concrete containers


class Watch:
    """Times a piece of work: `elapsed_s` is all that passed, `own_s` what no inner watch has timed."""

    def __init__(self, account: CellAccount) -> None:
        self.elapsed_s = 0.0
        self.own_s = 0.0
        self._account = account
        self._started = 0.0
        self._booked_before = 0.0

    def __enter__(self) -> Self:
        self._booked_before = self._account.booked_s
        self._started = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.elapsed_s = time.perf_counter() - self._started
        inside_s = self._account.booked_s - self._booked_before
        self.own_s = max(0.0, self.elapsed_s - inside_s)
        self._account.booked_s += self.own_s
