"""What one arm will ask of its models over all executions: expected, and at most.

Expected numbers are what the agent declares (`ExpectedWork`), else rough assumptions, cut at the
limits. The largest ones follow from the limits and from what the agent's construction allows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from taketwo.benchmarks.canonical import JsonValue
from taketwo.executions.plan import Arm, ModelRole, Plan, PlannedQuestion
from taketwo.executions.prices import cost_usd
from taketwo.tools.budget import Limits
from taketwo.tools.expected_work import ExpectedWork

__all__ = ["LOCAL_TRANSCRIBER", "ArmCost", "Assumptions", "arm_cost"]

LOCAL_TRANSCRIBER = "taketwo/offline-transcriber"
"""The transcriber that is no model call (the name is that of `media.transcript`)."""

_SPEECH_PART_S = 300.0  # seconds of sound in one request, as in `tools.speech`


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """What a cell is taken to do where nothing was measured yet; rough, and printed with the result.

    `turns` and `visible_calls` are those of an agent with tools that declares nothing (one without
    takes one turn), and every visible call of it is taken to ask the observer once, on `frames`
    frames; an agent without an observer sees them itself. A turn's input grows by `input_per_turn`
    tokens with each turn before it. A second of sound is `tokens_per_audio_s` tokens of input (32
    in the documentation of Gemini) and `tokens_per_speech_s` of output.
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
    tokens_per_audio_s: float = 32.0
    tokens_per_speech_s: float = 5.0
    residual_sd: float = 0.437


@dataclass(frozen=True, kw_only=True)
class ArmCost:
    """Expected and largest possible use of one arm over all executions.

    None is not bounded, not priced, or not known, as for an agent that runs outside and reaches
    models of its own.
    """

    arm: str
    cells: int
    calls: int | None
    calls_most: int | None
    input_tokens: int | None
    output_tokens: int | None
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
class _Use:
    """Generations of one role and their tokens, over all executions."""

    role: ModelRole
    calls: float
    input_tokens: float
    output_tokens: float


def arm_cost(
    plan: Plan, arm: Arm, present: Sequence[PlannedQuestion], known: Assumptions
) -> ArmCost:
    """Return what an arm will cost on the questions whose video is there."""
    cells = len(present) * plan.executions
    uses = _uses(plan, arm, present, known)
    calls_most = _most_calls(plan, arm, present)
    usd_most = _dearest(plan, arm)
    return ArmCost(
        arm=arm.name,
        cells=cells,
        calls=None if uses is None else round(sum(use.calls for use in uses)),
        calls_most=calls_most,
        input_tokens=None if uses is None else round(sum(use.input_tokens for use in uses)),
        output_tokens=None if uses is None else round(sum(use.output_tokens for use in uses)),
        tokens_most=None if arm.limits.tokens is None else cells * arm.limits.tokens,
        usd=None if uses is None else _usd(plan, arm, uses),
        usd_most=None if usd_most is None else cells * usd_most,
        limits=arm.limits,
    )


def _uses(
    plan: Plan, arm: Arm, present: Sequence[PlannedQuestion], known: Assumptions
) -> list[_Use] | None:
    """Return what each role is expected to do; None where nobody can know."""
    if "orchestrator" not in arm.models:
        return None
    work = _within(arm.work or _assumed(arm, known), arm)
    index = _index_calls(work, plan, arm, present)
    speech_s = _speech_s(work, arm, present)
    by_length = _frames_by_length(work, present)
    if index is None or speech_s is None or by_length is None:
        return None
    cells = len(present) * plan.executions
    asked = cells * work.turns
    grown = known.input_per_turn * work.turns * max(0.0, work.turns - 1) / 2
    seen = cells * work.orchestrator_frames + plan.executions * by_length
    uses = [
        _Use(
            role="orchestrator",
            calls=asked,
            input_tokens=(asked * known.input_base + cells * grown + seen * known.tokens_per_frame),
            output_tokens=asked * known.output_per_call,
        )
    ]
    if "observer" in arm.models:
        looks = cells * work.observer_calls
        frames = looks * work.observer_frames + index * work.index_frames
        uses.append(
            _Use(
                role="observer",
                calls=looks + index,
                input_tokens=(looks + index) * known.input_base + frames * known.tokens_per_frame,
                output_tokens=(looks + index) * known.output_per_call,
            )
        )
    if speech_s:
        parts = sum(math.ceil(seconds / _SPEECH_PART_S) for seconds in speech_s)
        heard = plan.executions * work.transcriptions * sum(speech_s)
        uses.append(
            _Use(
                role="transcriber",
                calls=plan.executions * work.transcriptions * parts,
                input_tokens=heard * known.tokens_per_audio_s,
                output_tokens=heard * known.tokens_per_speech_s,
            )
        )
    return uses


def _assumed(arm: Arm, known: Assumptions) -> ExpectedWork:
    """Return the work of an agent that declares nothing."""
    visible = known.visible_calls if arm.tools else 0
    has_observer = "observer" in arm.models
    return ExpectedWork(
        turns=known.turns if arm.tools else 1,
        visible_calls=visible,
        observer_calls=visible if has_observer else 0,
        observer_frames=known.frames if has_observer else 0,
        orchestrator_frames=0 if has_observer else known.frames,
        transcriptions=1 if "transcriber" in arm.models else 0,
        calls_most=None if arm.tools else 1,
    )


def _within(work: ExpectedWork, arm: Arm) -> ExpectedWork:
    """Return `work` cut at the limits; looks shrink with the visible calls that ask for them."""
    limits = arm.limits
    visible = _least(work.visible_calls, limits.visible_calls)
    turns = _least(work.turns, limits.turns)
    looks = work.observer_calls if "observer" in arm.models else 0.0
    if work.visible_calls > 0:
        looks *= visible / work.visible_calls
    if limits.model_calls is not None and turns + looks > limits.model_calls:
        turns = min(turns, limits.model_calls)
        looks = limits.model_calls - turns
    return replace(
        work,
        turns=turns,
        visible_calls=visible,
        observer_calls=looks,
        observer_frames=_least(work.observer_frames, limits.frames),
        orchestrator_frames=_least(work.orchestrator_frames, limits.frames),
        orchestrator_frames_most=_smaller(work.orchestrator_frames_most, limits.frames),
    )


def _frames_by_length(work: ExpectedWork, present: Sequence[PlannedQuestion]) -> float | None:
    """Return the pictures that one cell of each question sees at a rate; None without a length."""
    if not work.orchestrator_frames_per_s:
        return 0.0
    lengths = [item.question.video_duration_s for item in present]
    most = math.inf if work.orchestrator_frames_most is None else work.orchestrator_frames_most
    known = [length for length in lengths if length is not None]
    if len(known) < len(lengths):
        return None
    return sum(min(most, length * work.orchestrator_frames_per_s) for length in known)


def _index_calls(
    work: ExpectedWork, plan: Plan, arm: Arm, present: Sequence[PlannedQuestion]
) -> float | None:
    """Return the generations that index the videos, over all executions; None without a length."""
    if not work.index_calls_per_minute or "observer" not in arm.models:
        return 0.0
    indexed = present
    if work.index_is_shared:
        indexed = list(
            {item.video_sha256 or item.question.video_path: item for item in present}.values()
        )
    lengths = [item.question.video_duration_s for item in indexed]
    known = [length for length in lengths if length is not None]
    if len(known) < len(lengths):
        return None
    each = [math.ceil(length / 60 * work.index_calls_per_minute) for length in known]
    return float(plan.executions * sum(each))


def _speech_s(
    work: ExpectedWork, arm: Arm, present: Sequence[PlannedQuestion]
) -> list[float] | None:
    """Return the lengths of the videos that a model would transcribe; None without a length."""
    model = arm.models.get("transcriber")
    if model is None or model.name == LOCAL_TRANSCRIBER or not work.transcriptions:
        return []
    lengths = [
        item.question.video_duration_s for item in present if item.question.subtitles_path is None
    ]
    known = [length for length in lengths if length is not None]
    return known if len(known) == len(lengths) else None


def _usd(plan: Plan, arm: Arm, uses: Sequence[_Use]) -> float | None:
    total = 0.0
    for use in uses:
        name = arm.models[use.role].name
        spent = cost_usd(plan.prices, name, round(use.input_tokens), round(use.output_tokens))
        if spent is None:
            return None
        total += spent
    return total


def _most_calls(plan: Plan, arm: Arm, present: Sequence[PlannedQuestion]) -> int | None:
    """Return the most generations over all executions; None is not bounded."""
    cells = len(present) * plan.executions
    limits = arm.limits
    bounds = [] if limits.model_calls is None else [cells * limits.model_calls]
    by_parts = _most_in_a_cell(arm)
    once = arm.work or ExpectedWork()
    index = _index_calls(once, plan, arm, present)
    speech = _speech_s(replace(once, transcriptions=1), arm, present)
    if by_parts is not None and index is not None and speech is not None:
        parts = plan.executions * sum(math.ceil(length / _SPEECH_PART_S) for length in speech)
        bounds.append(cells * by_parts + round(index) + parts)
    return min(bounds) if bounds else None


def _most_in_a_cell(arm: Arm) -> int | None:
    """Return the most turns and looks of one cell, by the agent's construction and the limits."""
    if "orchestrator" not in arm.models:
        return None
    limits, work = arm.limits, arm.work
    bounds = [] if work is None or work.calls_most is None else [work.calls_most]
    if not arm.tools and work is None:
        bounds.append(1)
    looks_once = work is None or work.observer_calls <= work.visible_calls
    if arm.tools and looks_once and limits.turns is not None:
        looks = [
            value for value in (limits.visible_calls, limits.primitive_ops) if value is not None
        ]
        if "observer" not in arm.models:
            bounds.append(limits.turns)
        elif looks:
            bounds.append(limits.turns + max(looks))
    return min(bounds) if bounds else None


def _dearest(plan: Plan, arm: Arm) -> float | None:
    """Return the most that a cell can cost: its limit in dollars, or all its tokens at the dearest price."""
    bounds = [] if arm.limits.cost_usd is None or not arm.models else [arm.limits.cost_usd]
    prices = [plan.prices.get(model.name) for model in arm.models.values()]
    known = [max(price.values()) for price in prices if price is not None]
    if arm.limits.tokens is not None and known and len(known) == len(prices):
        bounds.append(arm.limits.tokens * max(known) / 1e6)
    return min(bounds) if bounds else None


def _smaller(first: float | None, second: float | None) -> float | None:
    known = [value for value in (first, second) if value is not None]
    return min(known) if known else None


def _least(value: float, limit: int | None) -> float:
    return value if limit is None else min(value, limit)
