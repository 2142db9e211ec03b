"""From the table to arrays that can be compared: every question in every cell, or a stated reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from taketwo.errors import UnpairedCells
from taketwo.executions.rule import METRICS, Metric, Missing, Rule
from taketwo.outcomes.grid import Grid, baselines_of, grid_of, without_unstarted
from taketwo.outcomes.missing import FAILED_RUNS, FAILED_SCORES, with_causes
from taketwo.outcomes.table import Outcomes

__all__ = ["Loss", "LossStep", "PairedOutcomes", "pair"]


@dataclass(frozen=True, kw_only=True)
class Loss:
    """A question that left the population, and the cells that cost it, each with what happened."""

    question_id: str
    video_id: str
    cells: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class LossStep:
    """One step of the chain of losses, with the questions before and after it."""

    step: str
    n_before: int
    n_after: int
    lost: tuple[Loss, ...]


@dataclass(frozen=True, kw_only=True)
class PairedOutcomes:
    """The study as arrays over Q questions (sorted by id), A arms and K executions.

    `values` holds Q x A x K numbers by metric, NaN where a cell has none, after the treatment of
    failed cells. `population` is Q x K: whether the question counts in that execution. `eligible` is
    the same before the treatment of failed cells. `observed` is the accuracy before it. `present` is
    Q x A x K: the video was there, and its execution was not stopped before; `failed` marks present cells without an accuracy. `is_judged` is
    whether any answer has been judged, `not_run` the executions of which nothing has run.
    """

    arms: tuple[str, ...]
    baselines: Mapping[str, str]
    executions: tuple[int, ...]
    question_ids: tuple[str, ...]
    video_ids: tuple[str, ...]
    values: Mapping[Metric, NDArray[np.float64]]
    observed: NDArray[np.float64]
    present: NDArray[np.bool_]
    failed: NDArray[np.bool_]
    eligible: NDArray[np.bool_]
    population: NDArray[np.bool_]
    steps: tuple[LossStep, ...]
    missing: Missing
    is_judged: bool
    not_run: tuple[int, ...]


def pair(outcomes: Outcomes, rule: Rule, *, missing: Missing | None = None) -> PairedOutcomes:
    """Return the outcomes as arrays of questions that can be compared.

    A question whose video is gone in some cell is a loss of availability: it leaves the matched
    population and is listed. A failed cell of a present question is treated by `missing` (the
    rule's, unless another is given): `refuse` raises, but for answers that nobody can grade, whose
    questions leave as by the next rule; `drop-question` takes the question out of all
    cells; `as-wrong` counts a failed run as 0, while a failed judgement still takes the question
    out, since nobody knows that it was wrong. A cell that was not run because its execution was
    stopped early is neither gone nor failed: its question leaves in a step of its own. An execution of which no cell has run is left out.

    Raises
    ------
    UnpairedCells
        If failed cells are to be refused, an execution lacks an arm, or no question is left.
    InvalidResults
        If rows contradict one another.
    """
    frame, not_run = without_unstarted(with_causes(outcomes.frame))
    grid = grid_of(frame)
    availability = grid.texts(frame["availability"], absent="no row")
    cause = grid.texts(frame["cause"])
    present = availability == "available"
    stopped = availability == "stopped"
    values: dict[Metric, NDArray[np.float64]] = {
        metric: grid.numbers(frame[metric]) for metric in METRICS
    }
    is_judged = bool(
        (
            (frame["score_status"] == "scored")
            | ((frame["score_status"] == "ungradable") & frame["accuracy"].is_not_null())
        ).any()
    )
    observed: NDArray[np.float64] = np.where(is_judged, values["accuracy"], np.nan)
    if not is_judged:
        cause[cause == "not_judged"] = ""
    failed = cause != ""
    eligible = _eligible(present, rule)
    treatment: Missing = rule.missing if missing is None else missing
    losing = failed & eligible[:, None, :]
    # An answer that nobody can grade cannot be finished: its question leaves, and is listed.
    unfinished = losing & (cause != "ungradable")
    if treatment == "refuse" and unfinished.any():
        raise UnpairedCells(_refusal(grid, frame, cause, unfinished))
    values["accuracy"] = observed
    if treatment == "as-wrong":
        wrong = failed & np.isin(cause, FAILED_RUNS)
        losing &= ~wrong
        values["accuracy"] = np.where(wrong & is_judged, 0.0, observed)
    population = eligible & ~losing.any(axis=(1, 2))[:, None]
    steps = (
        *_steps_before_failures(grid, present, stopped, availability, rule),
        _step("no failed cell", grid, losing, cause, eligible, population),
    )
    if not population.any():
        raise UnpairedCells(_nothing_left(steps))
    return PairedOutcomes(
        arms=grid.arms,
        baselines=baselines_of(frame),
        executions=grid.executions,
        question_ids=grid.questions,
        video_ids=grid.videos,
        values=values,
        observed=observed,
        present=present,
        failed=failed,
        eligible=eligible,
        population=population,
        steps=steps,
        missing=treatment,
        is_judged=is_judged,
        not_run=not_run,
    )


def _eligible(present: NDArray[np.bool_], rule: Rule) -> NDArray[np.bool_]:
    """Return Q x K: questions whose video was there for all arms, in all executions if matched."""
    by_execution: NDArray[np.bool_] = np.logical_and.reduce(present, axis=1)
    if rule.population == "per-execution":
        return by_execution
    everywhere: NDArray[np.bool_] = np.logical_and.reduce(by_execution, axis=1)
    return np.repeat(everywhere[:, None], present.shape[2], axis=1)


def _steps_before_failures(
    grid: Grid,
    present: NDArray[np.bool_],
    stopped: NDArray[np.bool_],
    availability: NDArray[np.str_],
    rule: Rule,
) -> tuple[LossStep, ...]:
    """Return what gone videos cost, then, where an execution was stopped, what that cost."""
    there, eligible = _eligible(present | stopped, rule), _eligible(present, rule)
    gone = _step("video there in every cell", grid, ~(present | stopped), availability, None, there)
    if not stopped.any():
        return (gone,)
    return (gone, _step("not stopped early", grid, stopped, availability, there, eligible))


def _step(
    step: str,
    grid: Grid,
    costing: NDArray[np.bool_],
    what: NDArray[np.str_],
    before: NDArray[np.bool_] | None,
    after: NDArray[np.bool_],
) -> LossStep:
    there = np.ones(len(grid.questions), np.bool_) if before is None else before.all(axis=1)
    left = after.all(axis=1)
    lost = tuple(
        Loss(
            question_id=grid.questions[q],
            video_id=grid.videos[q],
            cells=tuple(
                f"{grid.name(a, k)}: {what[q, a, k]}" for a, k in np.argwhere(costing[q]).tolist()
            ),
        )
        for q in np.flatnonzero(there & ~left).tolist()
    )
    return LossStep(step=step, n_before=int(there.sum()), n_after=int(left.sum()), lost=lost)


def _refusal(
    grid: Grid, frame: pl.DataFrame, cause: NDArray[np.str_], losing: NDArray[np.bool_]
) -> str:
    """Return what to tell of failed cells: how many, of what, the first one, and what to do."""
    counts = Counter(str(name) for name in cause[losing])
    causes = ", ".join(f"{count} {name}" for name, count in counts.most_common())
    q, a, k = min(np.argwhere(losing).tolist(), key=lambda cell: (cell[2], cell[0], cell[1]))
    row = frame.row(int(grid.rows[q, a, k]), named=True)
    told = f" ({row['failure']})" if row["failure"] else ""
    attempts = f" after {row['attempts']} attempts" if row["attempts"] else ""
    where = ", ".join(f"K{grid.executions[k]}" for k in np.flatnonzero(losing.any(axis=(0, 1))))
    remedies = {
        "finish them": "taketwo run STUDY   (errors of agents and media: --retry-errors)",
        "judge them": "taketwo score STUDY",
    }
    wanted = [
        name
        for name, statuses in (("finish them", FAILED_RUNS), ("judge them", FAILED_SCORES))
        if set(counts) & set(statuses)
    ]
    lines = [f"  either {name}:  {remedies[name]}" for name in wanted]
    return "\n".join([
        f"cannot pair {', '.join(map(repr, grid.arms))} in {where}: {int(losing.sum())} of "
        f"{frame.height} planned cells have no score ({causes}).",
        f"  first: question {grid.questions[q]!r}, arm {grid.arms[a]!r}, execution "
        f"K{grid.executions[k]}: {cause[q, a, k]}{attempts}{told}",
        *lines,
        "  or see the bounds:  taketwo compare STUDY --exploratory-missing as-wrong",
        "                      (marked 'not as planned' on every page)",
    ])


def _nothing_left(steps: tuple[LossStep, ...]) -> str:
    chain = "; ".join(f"{step.step}: {step.n_after} of {step.n_before}" for step in steps)
    first = next(loss for step in steps for loss in step.lost)
    return (
        f"no question is left to compare ({chain}), first lost {first.question_id!r}: "
        f"{', '.join(first.cells[:3])}; finish the failed cells, or leave the execution out"
    )
