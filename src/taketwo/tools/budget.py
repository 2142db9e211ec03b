"""What a cell may spend, checked before each call, and what it has spent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal

__all__ = ["KNOWN_AFTERWARDS", "Budget", "BudgetExhausted", "Limits", "Resource"]

Resource = Literal[
    "turns",
    "visible_calls",
    "primitive_ops",
    "model_calls",
    "frames",
    "tokens",
    "latency_s",
    "cost_usd",
]
KNOWN_AFTERWARDS: tuple[Resource, ...] = ("latency_s", "tokens", "cost_usd")
"""Resources of which a call says only afterwards how much it took."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The most that one cell may use of each resource; None is no limit.

    `turns` are generations of the orchestrator, `visible_calls` tool calls that it issues,
    `model_calls` generations of any role, `frames` images handed to any model, `tokens` input plus
    output of all roles, `latency_s` seconds of self-timed work, `cost_usd` US dollars by the plan's
    prices, and `wall_s` the safety net in seconds as observed, which ends the cell as a fault of
    the infrastructure.
    """

    turns: int | None = None
    visible_calls: int | None = None
    primitive_ops: int | None = None
    model_calls: int | None = None
    frames: int | None = None
    tokens: int | None = None
    latency_s: float | None = None
    cost_usd: float | None = None
    wall_s: float | None = None

    def tightened_by(self, other: Limits) -> Limits:
        """Return the smaller of both limits, resource by resource."""
        merged: dict[str, int | float | None] = {}
        for item in fields(self):
            mine: int | float | None = getattr(self, item.name)
            theirs: int | float | None = getattr(other, item.name)
            known = [value for value in (mine, theirs) if value is not None]
            merged[item.name] = min(known) if known else None
        return Limits(**merged)  # pyright: ignore[reportArgumentType] values keep their field's type

    def to_json(self) -> dict[str, int | float | None]:
        """Return the limits by name."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    @classmethod
    def from_json(cls, record: Mapping[str, int | float | None]) -> Limits:
        """Read what `to_json` wrote."""
        return cls(**record)  # pyright: ignore[reportArgumentType] names and values as written


class BudgetExhausted(Exception):
    """A call was not made because the cell has used up a resource; becomes a status, never an answer.

    The resource `context` is that of a model: see `taketwo.tools.context_overflow`.
    """

    def __init__(self, resource: Resource | Literal["context"], used: float, limit: float) -> None:
        super().__init__(f"{resource} budget is used up: {used:g} of {limit:g}")
        self.resource: Resource | Literal["context"] = resource
        self.used = used
        self.limit = limit


class Budget:
    """The running account of one cell against its limits.

    `reserve` is called before work is done and refuses what would exceed a countable limit;
    `spend` books what turns out afterwards (tokens, seconds, dollars), so that the next call is
    refused.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._used: dict[Resource, float] = {}

    def tighten(self, limits: Limits) -> None:
        """Put the smaller of both limits in force from now on, resource by resource."""
        self.limits = self.limits.tightened_by(limits)

    def used(self, resource: Resource) -> float:
        """Return what was booked on `resource` so far."""
        return self._used.get(resource, 0)

    def left(self, resource: Resource) -> float | None:
        """Return what is left of `resource`, at least 0; None is no limit."""
        limit: float | None = getattr(self.limits, resource)
        return None if limit is None else max(0, limit - self.used(resource))

    def reserve(self, resource: Resource, amount: float = 1) -> None:
        """Book `amount` of `resource`.

        Raises
        ------
        BudgetExhausted
            If that would exceed the limit; nothing is booked then.
        """
        self.reserve_all({resource: amount})

    def reserve_all(self, amounts: Mapping[Resource, float]) -> None:
        """Book several resources, or none.

        Raises
        ------
        BudgetExhausted
            For the first one whose limit would be exceeded; nothing is booked then.
        """
        for resource, amount in amounts.items():
            limit: float | None = getattr(self.limits, resource)
            if limit is not None and self.used(resource) + amount > limit:
                raise BudgetExhausted(resource, self.used(resource), limit)
        for resource, amount in amounts.items():
            self.spend(resource, amount)

    def spend(self, resource: Resource, amount: float) -> None:
        """Book `amount` of `resource`, whatever the limit.

        Raises
        ------
        ValueError
            If `amount` is negative or no number, which would lift the limit.
        """
        if math.isnan(amount) or amount < 0:
            raise ValueError(f"{amount} of {resource} cannot be booked; it must be 0 or more")
        self._used[resource] = self.used(resource) + amount

    @property
    def is_metered(self) -> bool:
        """Return whether a resource is limited whose use is known after a call only."""
        return any(getattr(self.limits, resource) is not None for resource in KNOWN_AFTERWARDS)

    def check(self, *resources: Resource) -> None:
        """Raise `BudgetExhausted` where one of `resources` has nothing left."""
        for resource in resources:
            limit: float | None = getattr(self.limits, resource)
            if limit is not None and self.used(resource) >= limit:
                raise BudgetExhausted(resource, self.used(resource), limit)
