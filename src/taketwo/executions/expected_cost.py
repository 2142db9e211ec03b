"""What a plan will cost before anything is paid: cells, calls, tokens, dollars, and what it can detect."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from scipy import special

from taketwo.benchmarks.canonical import JsonValue
from taketwo.executions.plan import Arm, ModelRole, Plan
from taketwo.executions.prices import cost_usd
from taketwo.tools.budget import Limits

__all__ = ["ArmCost", "Assumptions", "ExpectedCost", "Sensitivity", "expected_cost", "sensitivity"]


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """What a cell is taken to do where nothing was measured yet; rough, and printed with the result.

    `turns` and `visible_calls` are those of an agent with tools (an agent without takes one turn).
    A turn's input grows by `input_per_turn` tokens with each turn before it. Every visible call is
    taken to ask the observer once, on `frames` frames; an agent without tools sees them itself.
    `residual_sd` is the standard deviation over questions of a method's minus a baseline's score,
    0 to 1, inside one execution (0.437 in the accuracy table of REPAIR).
    """

    turns: int = 4
    visible_calls: int = 3
    input_base: int = 1_500
    input_per_turn: int = 700
    output_per_call: int = 350
    frames: int = 16
    tokens_per_frame: int = 400
    residual_sd: float = 0.437


@dataclass(frozen=True, kw_only=True)
class ArmCost:
    """Expected and largest possible use of one arm over all executions; None is not bounded or not priced."""

    arm: str
    cells: int
    calls: int
    calls_most: int | None
    input_tokens: int
    output_tokens: int
    tokens_most: int | None
    usd: float | None
    usd_most: float | None
    limits: Limits

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as JSON values."""
        return {
            "arm": self.arm,
            "cells": self.cells,
            "calls": self.calls,
            "calls_most": self.calls_most,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "tokens_most": self.tokens_most,
            "usd": self.usd,
            "usd_most": self.usd_most,
            "limits": self.limits.to_json(),
        }


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """What `executions` on `questions` can detect with the given power, in the metric's unit.

    `shift` is a fixed difference between the effects of two executions; `between_sd` the standard
    deviation of effects between executions. Both are None for one execution.
    """

    questions: int
    executions: int
    power: float
    level: float
    shift: float | None
    between_sd: float | None

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as JSON values."""
        return {
            "questions": self.questions,
            "executions": self.executions,
            "power": self.power,
            "level": self.level,
            "shift": self.shift,
            "between_sd": self.between_sd,
        }


@dataclass(frozen=True, kw_only=True)
class ExpectedCost:
    """What a plan will cost and what it can detect."""

    arms: tuple[ArmCost, ...]
    judged_most: int
    prices_date: str | None
    sensitivity: Sensitivity
    assumptions: Assumptions

    @property
    def cells(self) -> int:
        """Return how many cells have a video."""
        return sum(arm.cells for arm in self.arms)

    @property
    def usd(self) -> float | None:
        """Return the expected cost in US dollars; None where an arm has no price."""
        return _total([arm.usd for arm in self.arms])

    @property
    def usd_most(self) -> float | None:
        """Return the most it can cost in US dollars; None where an arm is not bounded or priced."""
        return _total([arm.usd_most for arm in self.arms])

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as JSON values."""
        return {
            "cells": self.cells,
            "usd": self.usd,
            "usd_most": self.usd_most,
            "judged_most": self.judged_most,
            "prices_date": self.prices_date,
            "arms": [arm.to_json() for arm in self.arms],
            "sensitivity": self.sensitivity.to_json(),
        }

    def to_text(self) -> str:
        """Return what `taketwo plan` prints."""
        return "\n".join((
            *_cost_table(self),
            "",
            *_limits_table(self.arms),
            "",
            *_sensitivity_lines(self.sensitivity, self.assumptions),
        ))


def expected_cost(plan: Plan, assumptions: Assumptions | None = None) -> ExpectedCost:
    """Return what a plan will cost, from its limits and prices and from rough assumptions.

    Expected numbers are for orientation: they come from `Assumptions`, cut at the limits. The
    largest ones follow from the limits alone, with at most one look of the observer a visible call.
    """
    known = assumptions or Assumptions()
    present = [item for item in plan.questions if item.availability == "available"]
    is_open = sum(1 for item in present if item.question.format == "open")
    cells = len(present) * plan.executions
    return ExpectedCost(
        arms=tuple(_arm_cost(plan, arm, cells, known) for arm in plan.arms),
        judged_most=0 if plan.judge is None else is_open * plan.executions * len(plan.arms),
        prices_date=plan.prices_date,
        sensitivity=sensitivity(
            len(present), plan.executions, residual_sd=known.residual_sd, level=plan.rule.level
        ),
        assumptions=known,
    )


def sensitivity(
    questions: int,
    executions: int,
    *,
    residual_sd: float = 0.437,
    power: float = 0.8,
    level: float = 0.95,
) -> Sensitivity:
    """Return the smallest shift, and spread between executions, that a design detects.

    With the effect of every question in every execution as a two-way table without replicates, the
    omnibus statistic F / (1 + lambda) follows F(K - 1, (K - 1)(N - 1)), where lambda = N tau^2 /
    s^2, tau is the standard deviation between executions and s the residual one; so tau = s sqrt(
    lambda / N) at the lambda that reaches the power. A fixed shift of one pair is found by the
    normal approximation at (z_level + z_power) s sqrt(2 / N).

    Notes
    -----
    Questions are taken as independent. Several questions a video make the true numbers larger, by
    about sqrt(1 + (m - 1) r) for m questions a video with intraclass correlation r.
    """
    if executions < 2 or questions < 2:
        shift = between_sd = None
    else:
        degrees = (executions - 1, (executions - 1) * (questions - 1))
        critical = float(special.fdtri(*degrees, level))
        at_power = float(special.fdtri(*degrees, 1 - power))
        noise = residual_sd / sqrt(questions)
        between_sd = noise * sqrt(critical / at_power - 1)
        z = float(special.ndtri((1 + level) / 2)) + float(special.ndtri(power))
        shift = z * sqrt(2) * noise
    return Sensitivity(
        questions=questions,
        executions=executions,
        power=power,
        level=level,
        shift=shift,
        between_sd=between_sd,
    )


def _arm_cost(plan: Plan, arm: Arm, cells: int, known: Assumptions) -> ArmCost:
    limits = arm.limits
    visible = _least(known.visible_calls, limits.visible_calls) if arm.tools else 0
    turns = _least(known.turns, limits.turns) if arm.tools else 1
    looks = visible if "observer" in arm.models else 0
    frames = _least(known.frames, limits.frames)
    orchestrator_input = turns * known.input_base + known.input_per_turn * turns * (turns - 1) // 2
    if "observer" not in arm.models:
        orchestrator_input += frames * known.tokens_per_frame
    observer_input = looks * (known.input_base + frames * known.tokens_per_frame)
    calls = _least(turns + looks, limits.model_calls)
    parts: list[tuple[ModelRole, int, int]] = [("orchestrator", orchestrator_input, turns)]
    if "observer" in arm.models:
        parts.append(("observer", observer_input, looks))
    usd = _total([
        cost_usd(plan.prices, arm.models[role].name, given, count * known.output_per_call)
        for role, given, count in parts
    ])
    usd_most = _dearest(plan, arm)
    return ArmCost(
        arm=arm.name,
        cells=cells,
        calls=cells * calls,
        calls_most=_times(cells, _most_calls(arm)),
        input_tokens=cells * (orchestrator_input + observer_input),
        output_tokens=cells * calls * known.output_per_call,
        tokens_most=_times(cells, limits.tokens),
        usd=None if usd is None else cells * usd,
        usd_most=None if usd_most is None else cells * usd_most,
        limits=limits,
    )


def _most_calls(arm: Arm) -> int | None:
    """Return the most generations that the limits allow in one cell; None is not bounded."""
    limits = arm.limits
    by_parts = limits.turns if arm.tools else 1
    if arm.tools and "observer" in arm.models:
        looks = [
            value for value in (limits.visible_calls, limits.primitive_ops) if value is not None
        ]
        by_parts = None if by_parts is None or not looks else by_parts + max(looks)
    known = [value for value in (by_parts, limits.model_calls) if value is not None]
    return min(known) if known else None


def _dearest(plan: Plan, arm: Arm) -> float | None:
    """Return the cost of a cell that spends its whole token limit at the dearest price of its models."""
    if arm.limits.tokens is None:
        return None
    prices = [plan.prices.get(model.name) for model in arm.models.values()]
    known = [max(price.values()) for price in prices if price is not None]
    if len(known) < len(prices) or not known:
        return None
    return arm.limits.tokens * max(known) / 1e6


def _least(value: int, limit: int | None) -> int:
    return value if limit is None else min(value, limit)


def _times(cells: int, value: int | None) -> int | None:
    return None if value is None else cells * value


def _total(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _cost_table(cost: ExpectedCost) -> list[str]:
    rows = [("arm", "cells", "calls", "at most", "tokens", "at most", "US$", "at most")]
    rows += [
        (
            arm.arm,
            f"{arm.cells:,}",
            f"~{arm.calls:,}",
            _count(arm.calls_most),
            f"~{arm.input_tokens + arm.output_tokens:,}",
            _count(arm.tokens_most),
            "no price" if arm.usd is None else f"~{arm.usd:,.2f}",
            "-" if arm.usd_most is None else f"{arm.usd_most:,.2f}",
        )
        for arm in cost.arms
    ]
    lines = [f"{cost.cells:,} cells with a video, over all executions", *_aligned(rows)]
    if cost.judged_most:
        lines.append(
            f"judge: at most {cost.judged_most:,} open answers (equal ones are judged once)"
        )
    if cost.prices_date is not None:
        lines.append(f"prices as of {cost.prices_date}")
    lines.append("~ is a rough expectation; 'at most' follows from the limits, '-' is not bounded")
    return lines


def _limits_table(arms: tuple[ArmCost, ...]) -> list[str]:
    names = list(Limits().to_json())
    rows: list[tuple[str, ...]] = [("arm", *names)]
    rows += [(arm.arm, *(_count(arm.limits.to_json()[name]) for name in names)) for arm in arms]
    return ["limits of one cell", *_aligned(rows)]


def _sensitivity_lines(found: Sensitivity, known: Assumptions) -> list[str]:
    if found.shift is None or found.between_sd is None:
        return [
            f"{found.executions} execution on {found.questions} questions: no shift can be seen; "
            "whether the effect survives re-execution stays unknown"
        ]
    return [
        f"{found.executions} executions on {found.questions} questions detect, with "
        f"{found.power:.0%} power and for accuracy, a shift of {_points(found.shift)} "
        "between two executions",
        f"(rough: independent questions, residual standard deviation {known.residual_sd:g})",
    ]


def _points(share: float) -> str:
    return f"{100 * share:.1f} points" if share <= 1 else "over 100 points (that is, none)"


def _count(value: float | None) -> str:
    return "-" if value is None else f"{value:,}"


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  "
        + "  ".join(
            text.ljust(width) if column == 0 else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
