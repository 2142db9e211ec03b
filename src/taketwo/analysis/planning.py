"""What N questions and K executions can see, what a budget buys, and when one may stop early."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taketwo.errors import RuleMismatch
from taketwo.stats.components import Components, single_run_coverage
from taketwo.stats.power import (
    Purchase,
    executions_for,
    purchase,
    questions_for,
    se_of_mean_effect,
    smallest_effect,
    smallest_tau,
)
from taketwo.stats.sequential import Monitored, QuestionOrder, betting_sequence, mcnemar_e_process

__all__ = [
    "Design",
    "Needs",
    "Stopping",
    "decide_block",
    "design_of",
    "needs_for",
    "planning_text",
    "purchase_for",
]

TYPICAL_RESIDUAL = 0.437
TYPICAL_QUESTION = 0.0545
K_SHOWN = (2, 3, 4, 5, 7, 10, 20)


@dataclass(frozen=True, kw_only=True)
class Design:
    """What a design sees with `power`, in the unit of the metric.

    `question_se` is what its questions alone give one execution's effect. `smallest_tau` is the smallest
    standard deviation between executions that the test of the shift finds (None for one execution),
    `smallest_effect` the smallest effect inside one execution, `smallest_average_effect` the smallest
    average over executions at the given tau (None where tau is not known). `coverage` is how often the
    interval of one execution covers the average over executions at that tau.
    """

    questions: int
    executions: int
    power: float
    level: float
    question_se: float
    smallest_tau: float | None
    smallest_effect: float
    smallest_average_effect: float | None
    coverage: float | None


def design_of(
    questions: int,
    executions: int,
    *,
    residual: float = TYPICAL_RESIDUAL,
    question: float = TYPICAL_QUESTION,
    tau: float | None = None,
    power: float = 0.8,
    level: float = 0.95,
) -> Design:
    """Return what N questions and K executions can see.

    Parameters
    ----------
    residual, question, tau
        Standard deviations of a question's effect inside an execution, of questions, and of executions
        (see `stats.components`), as observed in an earlier study. The defaults of the first two are
        those of accuracy in the REPAIR paper's reconstruction; tau has no default, since nobody
        else's tau is yours.

    Raises
    ------
    ValueError
        If there are fewer than two questions.
    """
    if questions < 2:
        raise ValueError(f"a design needs at least 2 questions, got {questions}")
    alpha = 1 - level
    question_se = residual / questions**0.5
    effect_se = (residual**2 + question**2) ** 0.5 / questions**0.5
    average = None
    if tau is not None and executions > 1:
        se = se_of_mean_effect(
            tau=tau, question=question, residual=residual, n=questions, executions=executions
        )
        average = smallest_effect(se, executions - 1, power=power, alpha=alpha)
    return Design(
        questions=questions,
        executions=executions,
        power=power,
        level=level,
        question_se=question_se,
        smallest_tau=smallest_tau(questions, executions, power=power, alpha=alpha) * question_se
        if executions > 1
        else None,
        smallest_effect=smallest_effect(effect_se, questions - 1, power=power, alpha=alpha),
        smallest_average_effect=average,
        coverage=None if tau is None else single_run_coverage(effect_se, tau, level=level),
    )


@dataclass(frozen=True, kw_only=True)
class Needs:
    """How many executions show an average effect, and how many questions show it inside one execution."""

    effect: float
    executions: int
    questions: int
    power: float


def needs_for(
    effect: float,
    *,
    between_sd: float,
    question_sd: float,
    power: float = 0.8,
    level: float = 0.95,
) -> Needs:
    """Return what an effect needs: `between_sd` is s_K, `question_sd` that of a question's difference."""
    return Needs(
        effect=effect,
        executions=executions_for(effect, between_sd, power=power, alpha=1 - level),
        questions=questions_for(effect, question_sd, power=power, alpha=1 - level),
        power=power,
    )


def purchase_for(
    components: Components,
    budget: float,
    *,
    cost_of_execution: float = 0.0,
    cost_of_question: float = 1.0,
    most_questions: int | None = None,
) -> Purchase:
    """Return the executions and questions that a budget buys best, by the components of a study.

    Raises
    ------
    ValueError
        If the study has no components (one execution), or the budget is too small.
    """
    if components.tau is None or components.question is None or components.residual is None:
        raise ValueError(f"no components to plan by: {components.reason}")
    return purchase(
        budget,
        tau=components.tau,
        question=components.question,
        residual=components.residual,
        cost_of_execution=cost_of_execution,
        cost_of_question=cost_of_question,
        most_questions=most_questions,
    )


def planning_text(
    questions: int,
    executions: int,
    *,
    residual: float = TYPICAL_RESIDUAL,
    question: float = TYPICAL_QUESTION,
    tau: float | None = None,
    level: float = 0.95,
) -> str:
    """Return a block for the terminal: what this design sees in accuracy, and what others would."""
    found = design_of(questions, executions, residual=residual, question=question, tau=tau, level=level)  # fmt: skip
    lines = [
        f"What {questions} questions and {executions} executions can see (accuracy, 80 % power):",
        f"  {_seen(found.smallest_effect, 'an effect of', 'effect')} inside one execution",
    ]
    if found.smallest_tau is None:
        lines.append("  no shift: one execution has nothing to be compared with")
    else:
        lines.append(
            f"  {_seen(found.smallest_tau, 'a spread between executions (tau) of', 'spread between executions (tau)')}"
        )
    if found.smallest_average_effect is not None and tau is not None:
        lines.append(
            f"  an effect of {100 * found.smallest_average_effect:.1f} points on average over "
            f"executions, at a tau of {100 * tau:.1f}"
        )
    if found.coverage is not None and tau is not None:
        lines.append(
            f"  at that tau the interval of one execution covers the average over executions in "
            f"{found.coverage:.0%} of cases, not {level:.0%}"
        )
    taus = {k: smallest_tau(questions, k, alpha=1 - level) * found.question_se for k in K_SHOWN}
    shown = [f"{k}: {100 * tau:.1f}" if tau <= 1 else f"{k}: none" for k, tau in taus.items()]
    lines.append(f"  smallest tau by number of executions, points: {', '.join(shown)}")
    lines.append(
        "  (residual and question spread as in the reconstruction of the REPAIR paper, unless given)"
    )
    return "\n".join(lines)


def _seen(smallest: float, what: str, name: str) -> str:
    """Return what is seen; no effect or spread of an accuracy can be larger than 100 points."""
    if smallest <= 1:
        return f"{what} {100 * smallest:.1f} points"
    return f"no {name} (it would have to be above 100 points)"


@dataclass(frozen=True, kw_only=True)
class Stopping:
    """What is known after some blocks of pre-drawn questions, and whether one may stop.

    `blocks` are complete blocks, `should_stop` is whether the claim of no shift (of no effect, in one
    execution) is rejected at some time so far, which the error allows to be asked after every block.
    """

    blocks: int
    questions: int
    should_stop: bool
    monitored: Monitored
    reason: str


def decide_block(
    effects: NDArray[np.float64],
    blocks: Sequence[int],
    *,
    order: QuestionOrder,
    baseline: NDArray[np.float64] | None = None,
    method: NDArray[np.float64] | None = None,
    alpha: float = 0.05,
) -> Stopping:
    """Return whether a run may stop after its complete blocks.

    Parameters
    ----------
    effects
        N x K differences of a binary metric in the numbering of the questions, NaN where a question is
        not finished in both arms. With two columns and more the shift between the first and the last is
        monitored (a betting confidence sequence), with one the effect (a sequential McNemar test, which
        needs `baseline` and `method`, N values each).
    blocks
        Sizes of the blocks, in the order in which they run. A block counts when all its questions are
        finished in all columns; what is finished of a later one is not looked at.
    order
        The order that was drawn before the run.

    Raises
    ------
    RuleMismatch
        If the order was not drawn before the run, or blocks do not add up to the questions.
    """
    n = len(effects)
    if sum(blocks) != n or min(blocks, default=0) < 1:
        raise RuleMismatch(
            f"blocks of {', '.join(map(str, blocks)) or 'no'} questions do not add up to the {n} "
            "questions of the plan; the stopping rule is fixed before the run"
        )
    rows: NDArray[np.bool_] = np.logical_and.reduce(np.isfinite(effects), axis=1)
    finished = rows[list(order.indices)]
    complete, seen = 0, 0
    for size in blocks:
        if not finished[seen : seen + size].all():
            break
        complete, seen = complete + 1, seen + size
    usable = np.zeros(n, np.bool_)
    usable[list(order.indices[:seen])] = True
    if effects.shape[1] > 1:
        shift = np.where(usable, effects[:, 0] - effects[:, -1], np.nan)
        found = betting_sequence(shift, order=order, tuned_to=max(1, n // 2), alpha=alpha)
    elif baseline is None or method is None:
        raise RuleMismatch("one execution is monitored by McNemar, which needs both arms' outcomes")
    else:
        found = mcnemar_e_process(
            np.where(usable, method, np.nan),
            np.where(usable, baseline, np.nan),
            order=order,
            alpha=alpha,
        )
    stops = found.stopped_at is not None
    told = f"rejected after {found.stopped_at} questions" if stops else "not rejected so far"
    return Stopping(
        blocks=complete,
        questions=seen,
        should_stop=stops,
        monitored=found,
        reason=f"{found.method}: {told}, {complete} of {len(blocks)} blocks complete",
    )
