"""What a plan will cost before anything is paid: cells, calls, tokens, dollars, and what it can detect."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from scipy import special

from taketwo.benchmarks.canonical import JsonValue
from taketwo.executions.arm_cost import ArmCost, Assumptions, arm_cost
from taketwo.executions.judge_cost import JudgeCalls, judge_calls
from taketwo.executions.plan import Plan
from taketwo.tools.budget import Limits

__all__ = ["ArmCost", "Assumptions", "ExpectedCost", "Sensitivity", "expected_cost", "sensitivity"]


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
    judges: tuple[JudgeCalls, ...]
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

    @property
    def judged_most(self) -> int:
        """Return how many answers may be sent to judges, were no two alike."""
        return sum(one.requests for one in self.judges if one.what == "answers")

    @property
    def trajectories_most(self) -> int:
        """Return how many trajectories may be sent to judges, the curated ones included."""
        return sum(one.requests for one in self.judges if one.what == "trajectories")

    @property
    def judges_usd(self) -> float | None:
        """Return roughly what judging can cost in US dollars; None where a judge has no price."""
        return _total([one.usd for one in self.judges])

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as JSON values."""
        return {
            "cells": self.cells,
            "usd": self.usd,
            "usd_most": self.usd_most,
            "judged_most": self.judged_most,
            "trajectories_most": self.trajectories_most,
            "answer_judges": [one.judge for one in self.judges if one.what == "answers"],
            "trajectory_judges": [one.judge for one in self.judges if one.what == "trajectories"],
            "judges": [judge.to_json() for judge in self.judges],
            "judges_usd": self.judges_usd,
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

    Expected numbers are for orientation: they are what each agent declares of its work, else rough
    `Assumptions`, cut at the limits. The largest ones follow from the limits and from what an agent
    declares as its most; an agent that declares nothing is taken to look once a visible call.
    """
    known = assumptions or Assumptions()
    present = [item for item in plan.questions if item.availability == "available"]
    return ExpectedCost(
        arms=tuple(arm_cost(plan, arm, present, known) for arm in plan.arms),
        judges=judge_calls(plan, present, known),
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


def _total(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _cost_table(cost: ExpectedCost) -> list[str]:
    rows = [("arm", "cells", "calls", "at most", "tokens", "at most", "US$", "at most")]
    rows += [
        (
            arm.arm,
            f"{arm.cells:,}",
            _roughly(arm.calls),
            _count(arm.calls_most),
            _roughly(
                None
                if arm.input_tokens is None or arm.output_tokens is None
                else arm.input_tokens + arm.output_tokens
            ),
            _count(arm.tokens_most),
            _usd_text(arm),
            "-" if arm.usd_most is None else f"{arm.usd_most:,.2f}",
        )
        for arm in cost.arms
    ]
    lines = [f"{cost.cells:,} cells with a video, over all executions", *_aligned(rows)]
    lines += [_judge_line(judge) for judge in cost.judges]
    if cost.prices_date is not None:
        lines.append(f"prices as of {cost.prices_date}")
    if cost.judges:
        lines.append(
            "what judges cost is in none of the dollars of the arms, and in no limit of a cell"
        )
    lines.append("~ is a rough expectation; 'at most' follows from the limits, '-' is not bounded")
    outside = [arm.arm for arm in cost.arms if arm.calls is None]
    if outside:
        lines.append(
            f"unknown: {', '.join(outside)} reaches models of its own, or a video's length is missing"
        )
    return lines


def _judge_line(judge: JudgeCalls) -> str:
    usd = "no price" if judge.usd is None else f"~US$ {judge.usd:,.2f}"
    once = (
        "equal answers are judged once"
        if judge.what == "answers"
        else "equal ones are judged once, and up to two more for each reply that breaks a rule"
    )
    return (
        f"judge of {judge.what} {judge.judge}: at most {judge.requests:,} requests, "
        f"~{judge.input_tokens + judge.output_tokens:,} tokens, {usd} ({once})"
    )


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


def _usd_text(arm: ArmCost) -> str:
    if arm.calls is None:
        return "unknown"
    return "no price" if arm.usd is None else f"~{arm.usd:,.2f}"


def _roughly(value: int | None) -> str:
    return "unknown" if value is None else f"~{value:,}"


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
