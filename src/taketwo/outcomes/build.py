"""From trajectories and judgements to the table of outcomes: a row for every planned cell.

A value that nobody reported or that is not defined is null, never 0: an error has no accuracy, a
model without a price has no cost, a cell that did not run took no time at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from taketwo.benchmarks.question import Question
from taketwo.errors import InvalidResults
from taketwo.executions.manifest import availability_of
from taketwo.executions.plan import Plan
from taketwo.executions.prices import cost_usd
from taketwo.executions.trajectory import ModelCall, RunStatus, Trajectory
from taketwo.outcomes.index_share import index_share
from taketwo.outcomes.table import COLUMNS, AnswerSource, Outcomes, ScoreStatus
from taketwo.scores.process_scores import TrajectoryStatus
from taketwo.scores.trajectory_judgements import TrajectoryJudgement

__all__ = ["Label", "LabelOf", "ProcessOf", "outcomes_of"]

_WRONG: frozenset[RunStatus] = frozenset({"abstained", "unparsed", "limit"})
"""Without an answer, by the agent's own doing: counts as wrong."""

_FAILED: frozenset[RunStatus] = frozenset({
    "agent_error",
    "provider_error",
    "media_error",
    "not_run",
})


_GOES_WITH: Mapping[str, tuple[str, ...]] = {
    "primitive_ops": ("primitive_ops", "primitive_ops_succeeded", "primitive_ops_shared"),
    "tokens": ("tokens", "input_tokens", "output_tokens", "tokens_by_role"),
}
"""Columns that are as little known as a metric that nobody measured."""


class Label(NamedTuple):
    """What judging made of an answer: its status, and 1.0 for right, 0.0 for wrong, else None.

    `option_accuracy` is what the option alone says, `source` who read that option, and
    `option_index` the option that a model read where the agent's own reader read none.
    """

    status: ScoreStatus
    accuracy: float | None
    option_accuracy: float | None = None
    source: AnswerSource | None = None
    option_index: int | None = None


LabelOf = Callable[[str, Trajectory], Label]
"""Judges the answer of a cell that ran: question id and trajectory in."""

ProcessOf = Callable[[str, Trajectory], tuple[TrajectoryStatus, TrajectoryJudgement | None]]
"""Finds the judgement of the trajectory of a cell that ran: question id and trajectory in."""


def outcomes_of(
    plan: Plan,
    trajectories: Sequence[Trajectory],
    label_of: LabelOf | None = None,
    process_of: ProcessOf | None = None,
) -> Outcomes:
    """Return the outcomes of all planned cells.

    Parameters
    ----------
    plan
        The study's plan: arms, questions, executions and prices.
    trajectories
        At most one per cell; cells without one are `not_run`.
    label_of
        Says whether an answer is right; asked for cells that ran. Without it, multiple-choice
        answers are matched by option and open ones stay `not_judged`.
    process_of
        Says what a judge made of a trajectory; asked for cells that ran. Without it, trajectories
        stay `not_judged`.

    Raises
    ------
    InvalidResults
        If a trajectory is of no planned cell, a cell has two, or a label contradicts itself.
    """
    judge = _by_option(plan) if label_of is None else label_of
    by_cell = _by_cell(plan, trajectories)
    rows: list[dict[str, object]] = []
    for execution in range(1, plan.executions + 1):
        for planned in plan.questions:
            for arm in plan.arms:
                key = (arm.name, planned.question.question_id, execution)
                cell = by_cell.get(key) or Trajectory(
                    arm=key[0], question_id=key[1], execution=execution, run_status="not_run"
                )
                rows.append(_row(plan, cell, judge, process_of or _not_judged))
    schema = {column.name: column.dtype for column in COLUMNS}
    return Outcomes(pl.DataFrame(rows, schema=schema, orient="row"))


def _by_cell(
    plan: Plan, trajectories: Sequence[Trajectory]
) -> dict[tuple[str, str, int], Trajectory]:
    arms = {arm.name for arm in plan.arms}
    questions = {planned.question.question_id for planned in plan.questions}
    cells: dict[tuple[str, str, int], Trajectory] = {}
    for item in trajectories:
        key = (item.arm, item.question_id, item.execution)
        is_planned = item.arm in arms and item.question_id in questions
        if not is_planned or not 1 <= item.execution <= plan.executions:
            raise InvalidResults(
                f"trajectory {item.sample_id!r} of K{item.execution} is of no planned cell; the "
                f"plan has {len(arms)} arms, {len(questions)} questions, {plan.executions} executions"
            )
        if key in cells:
            raise InvalidResults(f"cell {item.sample_id!r} of K{item.execution} occurs twice")
        cells[key] = item
    return cells


def _by_option(plan: Plan) -> LabelOf:
    def label(question_id: str, trajectory: Trajectory) -> Label:
        truth = plan.planned(question_id).question.answer_index
        if trajectory.run_status in _WRONG:
            return Label("scored", 0.0)
        if truth is None or trajectory.answer_index is None:
            return Label("not_judged", None)
        matched = float(trajectory.answer_index == truth)
        return Label("scored", matched, matched, "agent")

    return label


def _not_judged(
    question_id: str,  # noqa: ARG001 - the shape of ProcessOf
    trajectory: Trajectory,  # noqa: ARG001
) -> tuple[TrajectoryStatus, TrajectoryJudgement | None]:
    return "not_judged", None


def _label(plan: Plan, cell: Trajectory, judge: LabelOf) -> Label:
    if cell.run_status in _FAILED:
        return Label("not_judged", None)
    label = judge(cell.question_id, cell)
    is_counted_wrong = (
        plan.scoring.ungradable == "wrong"
        and label.status == "ungradable"
        and label.accuracy == 0.0
    )
    if not is_counted_wrong and (label.status == "scored") != (label.accuracy is not None):
        raise InvalidResults(
            f"the label of {cell.sample_id!r} in K{cell.execution} contradicts itself: status "
            f"{label.status!r} with accuracy {label.accuracy!r}"
        )
    return label


def _row(plan: Plan, cell: Trajectory, judge: LabelOf, process: ProcessOf) -> dict[str, object]:
    arm = plan.arm(cell.arm)
    question = plan.planned(cell.question_id).question
    label = _label(plan, cell, judge)
    failure = cell.failure
    return {
        "arm": cell.arm,
        "baseline": arm.baseline,
        "execution": cell.execution,
        "question_id": cell.question_id,
        "video_id": question.video_id,
        "availability": availability_of(plan, cell),
        "run_status": cell.run_status,
        "score_status": label.status,
        "forced": cell.forced,
        "answer_index": cell.answer_index if label.option_index is None else label.option_index,
        "answer_text": cell.answer_text or None,
        "failure": None if failure is None else f"{failure.cause}: {failure.message}",
        "attempts": cell.attempts,
        "log": None if cell.log is None else f"K{cell.execution}/{cell.log}",
        "accuracy": label.accuracy,
        **_process(question, cell, process),
        **_effort(plan, cell),
        "option_accuracy": label.option_accuracy,
        "answer_source": label.source,
        "factors": _json(arm.factors),
        "attributes": _json({
            **question.attributes,
            **{name: list(levels) for name, levels in question.several_levels.items()},
        }),
    }


def _process(question: Question, cell: Trajectory, process: ProcessOf) -> dict[str, object]:
    """Return what the judge of trajectories said; null where nobody judged."""
    status, judgement = (
        ("not_judged", None) if cell.run_status in _FAILED else process(cell.question_id, cell)
    )
    if judgement is None:
        return {"trajectory_status": status}
    scores = judgement.scores
    kinds = {step.milestone_id: step.kind for step in question.milestones}
    return {
        "trajectory_status": status,
        "trajectory_score": judgement.trajectory_score,
        "mc_rate": judgement.mc_rate,
        **{axis: None if score is None else float(score) for axis, score in scores.axes.items()},
        "milestones": _json({
            label.milestone_id: {"kind": kinds.get(label.milestone_id), "status": label.status}
            for label in scores.milestones
        }),
        "failure_tags": json.dumps(list(scores.failure_tags)),
    }


def _effort(plan: Plan, cell: Trajectory) -> dict[str, object]:
    """Return what the cell used. A cell that ended in an error has no comparable effort: null."""
    calls = [call for call in cell.model_calls if call.error is None]
    billed = [
        call for call in cell.model_calls if call.error is None or call.input_tokens is not None
    ]
    is_complete = cell.run_status not in _FAILED
    tokens_in, tokens_out = _tokens(billed)
    by_role = _tokens_by_role(billed)
    cost = _cost(plan, billed)
    primitives = cell.primitives
    index = index_share(plan.prices, cell)
    if index is not None and index.is_charged:
        # The seconds are part of the cell's latency already, which the harness booked on it.
        tokens_in, tokens_out = (
            _plus(tokens_in, index.input_tokens),
            _plus(tokens_out, index.output_tokens),
        )
        cost = _plus(cost, index.cost_usd)
        by_role["index"] = {"input": index.input_tokens, "output": index.output_tokens}

    def count(number: float | None) -> float | None:
        return float(number) if is_complete and number is not None else None

    effort: dict[str, object] = {
        "turns": count(sum(call.role == "orchestrator" for call in calls)),
        "visible_calls": count(len(cell.tool_calls)),
        "primitive_ops": count(len(primitives)),
        "latency_s": count(cell.latency_s),
        "tokens": count(_plus(tokens_in, tokens_out)),
        "cost_usd": count(cost),
        "primitive_ops_succeeded": count(sum(item.succeeded for item in primitives)),
        "primitive_ops_shared": count(sum(item.freshness == "shared" for item in primitives)),
        "frames": count(sum(len(c.media_sha256) for c in calls if c.role != "transcriber")),
        "latency_wall_s": count(cell.latency_wall_s),
        "input_tokens": count(tokens_in),
        "output_tokens": count(tokens_out),
        "tokens_by_role": _json(by_role) if is_complete else None,
        "index_tokens": count(None if index is None else index.tokens),
        "index_cost_usd": count(None if index is None else index.cost_usd),
        "index_latency_s": count(None if index is None else index.latency_s),
        "index_model_calls": count(None if index is None else index.model_calls),
        "index_frames": count(None if index is None else index.frames),
    }
    unknown = [name for metric in cell.unavailable for name in _GOES_WITH.get(metric, (metric,))]
    return effort | {name: None for name in unknown if name in effort}


def _plus(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second


def _tokens(calls: Sequence[ModelCall]) -> tuple[int | None, int | None]:
    """Return the sums of input and output tokens; None where one call does not report them."""
    if not calls:
        return None, None
    used_in = [call.input_tokens for call in calls]
    used_out = [call.output_tokens for call in calls]
    return _sum(used_in), _sum(used_out)


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _tokens_by_role(calls: Sequence[ModelCall]) -> dict[str, dict[str, float | None]]:
    roles = sorted({call.role for call in calls})
    used = {role: _tokens([call for call in calls if call.role == role]) for role in roles}
    return {role: {"input": sums[0], "output": sums[1]} for role, sums in used.items()}


def _cost(plan: Plan, calls: Sequence[ModelCall]) -> float | None:
    """Return the cost of all calls; None where that of one is not known.

    It is the usage by the plan's prices; for a call of an agent outside without either, what the
    agent says that it cost.
    """
    if not calls:
        return None
    costs = [_cost_of(plan, call) for call in calls]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def _cost_of(plan: Plan, call: ModelCall) -> float | None:
    if call.input_tokens is None or call.output_tokens is None:
        return call.cost_usd
    cost = cost_usd(plan.prices, call.model, call.input_tokens, call.output_tokens)
    return call.cost_usd if cost is None else cost


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(dict(value), sort_keys=True, ensure_ascii=False)
