"""The account of an agent that runs outside: what it reports is booked, logged and held to the limits.

What it reports is known, the rest is not: every metric of the cell that nothing was reported for
is marked as unavailable, with the reason, and never stands at 0.
"""

from __future__ import annotations

import json
from dataclasses import replace

from taketwo.agents.answer import Answer, parse_answer
from taketwo.agents.external_protocol import (
    PROTOCOL,
    AnswerEvent,
    BrokenProtocol,
    Event,
    HelloEvent,
    ModelCallEvent,
    OperationEvent,
    ProgressEvent,
    Reportable,
    ToolCallEvent,
)
from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.tools.budget import KNOWN_AFTERWARDS, Resource
from taketwo.tools.toolbox import Toolbox

__all__ = ["Report"]

_MOST_EVENTS = 10_000
_METRICS: dict[Reportable, tuple[str, ...]] = {
    "model_call": ("turns", "tokens", "cost_usd"),
    "tool_call": ("visible_calls",),
    "operation": ("primitive_ops",),
}
_WHAT: dict[Reportable, str] = {
    "model_call": "model calls",
    "tool_call": "tool calls",
    "operation": "operations",
}
_CHECKED_BY: dict[Resource, Reportable] = {
    "turns": "model_call",
    "model_calls": "model_call",
    "tokens": "model_call",
    "cost_usd": "model_call",
    "visible_calls": "tool_call",
    "primitive_ops": "operation",
}


class Report:
    """What one agent outside says about one question.

    Events are taken in as they come (`take`); at the end `close` marks what is not known, and
    `answer` is what the agent said at last.
    """

    def __init__(self, question: VisibleQuestion, toolbox: Toolbox) -> None:
        self._question = question
        self._toolbox = toolbox
        self._account = toolbox.account
        self._events = 0
        self._kinds: set[Reportable] = set()
        self._stated_s = 0.0
        self._untold: list[ModelCallEvent] = []
        self._answer: AnswerEvent | None = None

    @property
    def is_begun(self) -> bool:
        """Return whether anything was taken in."""
        return self._events > 0

    def take(self, event: Event) -> None:
        """Book and log an event.

        Raises
        ------
        BrokenProtocol
            If it may not come here, or there are too many.
        BudgetExhausted
            If it reports work that was done although a budget was used up; the work is logged.
        """
        self._events += 1
        if self._answer is not None:
            again = "a second answer" if isinstance(event, AnswerEvent) else f"{event.event!r}"
            raise BrokenProtocol(f"{again} after the answer, which must be the last event")
        if self._events > _MOST_EVENTS:
            raise BrokenProtocol(f"more than {_MOST_EVENTS} events")
        if isinstance(event, HelloEvent):
            self._hello(event)
        elif isinstance(event, ProgressEvent):
            self._toolbox.note(event.text)
        elif isinstance(event, AnswerEvent):
            self._answer = event
        else:
            self._work(event)

    def close(self) -> None:
        """Mark what this agent did not report as not known; to be called however the cell ends."""
        unavailable = self._account.unavailable
        for kind, metrics in _METRICS.items():
            if kind not in self._kinds:
                reason = f"the agent runs outside and reports no {_WHAT[kind]}"
                unavailable.update(dict.fromkeys(metrics, reason))
        if self._untold:
            calls, told_nothing = self._toolbox.budget.used("model_calls"), len(self._untold)
            unavailable["tokens"] = f"{told_nothing} of {calls:.0f} model calls report no tokens"
            if any(event.cost_usd is None for event in self._untold):
                unavailable["cost_usd"] = "a model call reports neither its tokens nor its cost"
        unavailable["frames"] = "the agent runs outside: what its models were handed is not seen"
        stated = None if self._answer is None else self._answer.latency_s
        if stated is None:
            unavailable["latency_s"] = (
                "the agent runs outside and does not state the seconds of its own work; "
                "latency_wall_s is as observed"
            )
        else:
            self._account.charge(stated - self._stated_s)
        self._note_unchecked()

    def answer(self) -> Answer:
        """Return what the agent said at last, read as every answer is.

        Raises
        ------
        BrokenProtocol
            If it said nothing.
        """
        said = self._answer
        if said is None:
            raise BrokenProtocol("the agent ended without an answer event")
        # As an object with the key `answer`, so that the one reader of answers reads it.
        found = parse_answer(json.dumps({"answer": said.answer}), self._question)
        is_open_answer = found.status == "answered" and not self._question.options
        return replace(
            found,
            text=found.text if is_open_answer else said.answer or "",
            reasoning=said.reasoning,
            forced=said.forced,
            limit=said.limit,
        )

    def _hello(self, event: HelloEvent) -> None:
        if self._events > 1:
            raise BrokenProtocol("'hello' must be the first event")
        if event.protocol != PROTOCOL:
            raise BrokenProtocol(
                f"the agent speaks {event.protocol!r:.60}, this version of Take Two {PROTOCOL!r}"
            )
        self._kinds.update(event.reports)

    def _work(self, event: ModelCallEvent | ToolCallEvent | OperationEvent) -> None:
        """Log the work, which was done, then book it; past a limit that ends the cell."""
        self._kinds.add(event.event)
        record: dict[str, JsonValue] = {**event.model_dump(mode="json"), "number": self._events}
        self._account.record("reported", record)
        budget = self._account.budget
        counted: dict[Resource, float]
        if isinstance(event, ModelCallEvent):
            counted = {"model_calls": 1, **({"turns": 1} if event.role == "orchestrator" else {})}
        elif isinstance(event, ToolCallEvent):
            counted = {"visible_calls": 1}
        else:
            counted = {"primitive_ops": 1}
        if isinstance(event, ModelCallEvent):
            self._require_usage(event)
        budget.check(*KNOWN_AFTERWARDS)
        budget.reserve_all(counted)
        seconds = event.latency_s or 0.0
        self._stated_s += seconds
        self._account.charge(seconds)
        if isinstance(event, ModelCallEvent):
            if event.input_tokens is not None and event.output_tokens is not None:
                self._account.spend_tokens(event.input_tokens + event.output_tokens)
            else:
                self._untold.append(event)
            if event.cost_usd is not None:
                self._account.spend_money(event.cost_usd)

    def _require_usage(self, event: ModelCallEvent) -> None:
        limits = self._account.budget.limits
        has_tokens = event.input_tokens is not None and event.output_tokens is not None
        for name, limit, is_told in (
            ("tokens", limits.tokens, has_tokens),
            ("cost_usd", limits.cost_usd, event.cost_usd is not None),
        ):
            if limit is not None and not is_told:
                raise BrokenProtocol(
                    f"a model_call without {name}, while limits.{name} is {limit:g}: it could not "
                    "be kept"
                )

    def _note_unchecked(self) -> None:
        limits = self._account.budget.limits.to_json()
        unchecked = [
            name
            for name, kind in _CHECKED_BY.items()
            if limits[name] is not None and kind not in self._kinds
        ]
        if unchecked:
            self._toolbox.note(
                f"not checked, because the agent reports nothing of it: limits.{', '.join(unchecked)}"
            )
