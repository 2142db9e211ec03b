"""What N questions and K executions can see, and what to buy for a budget."""

from __future__ import annotations

import math
from dataclasses import dataclass

from taketwo.stats.distributions import (
    f_quantile,
    f_tail,
    noncentral_t_tail,
    root_between,
    t_quantile,
)

__all__ = [
    "Purchase",
    "executions_for",
    "omnibus_power",
    "purchase",
    "questions_for",
    "se_of_mean_effect",
    "smallest_effect",
    "smallest_tau",
    "t_power",
]

MOST_UNITS = 10_000_000


@dataclass(frozen=True, kw_only=True)
class Purchase:
    """Executions and questions that give the smallest standard error of the mean effect for a budget.

    `se` is that error at these whole numbers, `cost` what they cost. `best_n` is the number of
    questions per execution before rounding, infinite at tau = 0.
    """

    executions: int
    questions: int
    se: float
    cost: float
    best_n: float


def omnibus_power(n: int, executions: int, tau_over_se: float, *, alpha: float = 0.05) -> float:
    """Return the power of the test that executions differ.

    Parameters
    ----------
    n, executions
        Questions and executions, at least 2 each.
    tau_over_se
        Standard deviation of the effect between executions over the noise that its questions give
        one execution's effect (residual / sqrt(N)).

    Raises
    ------
    ValueError
        If there are fewer than 2 questions or executions.

    Notes
    -----
    ``F / (1 + lambda)`` has an F(K - 1, (K - 1)(N - 1)) distribution, ``lambda = (tau / se)^2``, for
    normal effects; simulated power is .607, .732, .796 where this says .600, .731, .800.
    """
    if n < 2 or executions < 2:
        raise ValueError(f"a shift needs 2 questions and 2 executions, got {n} and {executions}")
    df = executions - 1, (executions - 1) * (n - 1)
    return f_tail(f_quantile(1 - alpha, *df) / (1 + tau_over_se**2), *df)


def smallest_tau(n: int, executions: int, *, power: float = 0.8, alpha: float = 0.05) -> float:
    """Return the smallest tau, in units of residual / sqrt(N), that is found with `power`.

    At N = 1,283 and 80 %: 7.7 at K = 2, 2.2 at 5, 1.5 at 10. See `omnibus_power`.
    """
    _check_power(power, alpha)
    if n < 2 or executions < 2:
        raise ValueError(f"a shift needs 2 questions and 2 executions, got {n} and {executions}")
    df = executions - 1, (executions - 1) * (n - 1)
    return math.sqrt(f_quantile(1 - alpha, *df) / f_quantile(1 - power, *df) - 1)


def t_power(effect_over_se: float, df: float, *, alpha: float = 0.05) -> float:
    """Return the power of a two-sided t test: P(|t| > critical) of the non-central t."""
    critical = t_quantile(1 - alpha / 2, df)
    upper = noncentral_t_tail(critical, df, effect_over_se)
    return upper + noncentral_t_tail(critical, df, -effect_over_se)


def smallest_effect(se: float, df: float, *, power: float = 0.8, alpha: float = 0.05) -> float:
    """Return the smallest effect, in the unit of `se`, that a t test with `df` finds with `power`.

    One execution has the standard error of its interval and N - 1 degrees of freedom; the mean over
    K executions has `se_of_mean_effect` (or s_K / sqrt(K)) and K - 1.

    Raises
    ------
    ValueError
        If `se` or `df` is not above 0.
    """
    _check_power(power, alpha)
    if not se > 0 or not df > 0:
        raise ValueError(f"a standard error and degrees of freedom above 0 are needed, got {se!r} and {df!r}")  # fmt: skip

    def missing(ratio: float) -> float:
        return t_power(ratio, df, alpha=alpha) - power

    high = 4.0
    while missing(high) < 0:
        high *= 2
    return se * root_between(missing, 0.0, high)


def executions_for(
    effect: float, between_sd: float, *, power: float = 0.8, alpha: float = 0.05
) -> int:
    """Return how many executions show an execution-averaged `effect`.

    Parameters
    ----------
    effect
        The effect to be found, not 0.
    between_sd
        Standard deviation of the effect between executions (s_K), in the same unit, not negative.

    Raises
    ------
    ValueError
        If the effect is 0, the deviation negative, or more than 10,000,000 would be needed.
    """
    return _units_for(effect, between_sd, power=power, alpha=alpha)


def questions_for(
    effect: float, question_sd: float, *, power: float = 0.8, alpha: float = 0.05
) -> int:
    """Return how many questions show `effect` inside one execution.

    `question_sd` is the standard deviation of a question's difference (0.45 in the REPAIR paper).
    Raises `ValueError` as `executions_for` does.
    """
    return _units_for(effect, question_sd, power=power, alpha=alpha)


def se_of_mean_effect(
    *, tau: float, question: float, residual: float, n: int, executions: int
) -> float:
    """Return the standard error of the effect averaged over K executions of N questions.

    ``sqrt(tau^2 / K + question^2 / N + residual^2 / (K N))`` with the components of
    `components.variance_components`.
    """
    return math.sqrt(tau**2 / executions + question**2 / n + residual**2 / (executions * n))


def purchase(
    budget: float,
    *,
    tau: float,
    question: float,
    residual: float,
    cost_of_execution: float = 0.0,
    cost_of_question: float = 1.0,
    most_questions: int | None = None,
) -> Purchase:
    """Return the executions and questions that a budget buys best.

    An execution of N questions costs ``cost_of_execution + N cost_of_question``. At least two
    executions are bought, since one says nothing about tau.

    Parameters
    ----------
    budget, cost_of_execution, cost_of_question
        In one currency; the costs of a question are of both arms together and above 0.
    tau, question, residual
        Components of the effect, see `components.variance_components`.
    most_questions
        Questions that exist, None for no bound.

    Raises
    ------
    ValueError
        If the budget does not pay two executions of two questions.

    Notes
    -----
    Every number of executions is tried with the questions that the rest pays. The error is smallest
    at ``N = sqrt((c0 residual^2 + budget question^2) / (c1 tau^2))``: where an execution costs nothing
    by itself that is ``K = tau sqrt(M) / question`` for M cells, where questions do not differ
    ``N = sqrt(c0 residual^2 / (c1 tau^2))``.
    """
    if not cost_of_question > 0 or cost_of_execution < 0:
        raise ValueError("a question costs more than 0 and an execution at least 0")
    most_k = int(budget / (cost_of_execution + 2 * cost_of_question))
    if most_k < 2:
        raise ValueError(
            f"a budget of {budget:g} does not pay two executions of two questions "
            f"({2 * (cost_of_execution + 2 * cost_of_question):g})"
        )
    best: Purchase | None = None
    numerator = cost_of_execution * residual**2 + budget * question**2
    ideal = math.sqrt(numerator / cost_of_question) / tau if tau > 0 else math.inf
    for k in _candidates(most_k):
        n = int((budget / k - cost_of_execution) / cost_of_question)
        n = n if most_questions is None else min(n, most_questions)
        if n < 2:
            continue
        se = se_of_mean_effect(tau=tau, question=question, residual=residual, n=n, executions=k)
        if best is None or se < best.se:
            cost = k * (cost_of_execution + n * cost_of_question)
            best = Purchase(executions=k, questions=n, se=se, cost=cost, best_n=ideal)
    if best is None:
        raise ValueError(f"at most {most_questions} questions are too few")
    return best


def _candidates(most: int) -> list[int]:
    """Return all numbers up to 10,000 and from there steps of 0.1 %."""
    found = list(range(2, min(most, 10_000) + 1))
    while found[-1] < most:
        found.append(min(most, max(found[-1] + 1, int(found[-1] * 1.001))))
    return found


def _units_for(effect: float, sd: float, *, power: float, alpha: float) -> int:
    _check_power(power, alpha)
    if effect == 0 or sd < 0:
        raise ValueError(f"an effect other than 0 and a deviation of at least 0 are needed, got {effect!r} and {sd!r}")  # fmt: skip
    if sd == 0:
        return 2

    def reaches(units: int) -> bool:
        return t_power(math.sqrt(units) * abs(effect) / sd, units - 1, alpha=alpha) >= power

    low, high = 1, 2
    while not reaches(high):
        low, high = high, 2 * high
        if high > MOST_UNITS:
            raise ValueError(f"an effect of {effect:g} at a deviation of {sd:g} needs more than {MOST_UNITS:,}")  # fmt: skip
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def _check_power(power: float, alpha: float) -> None:
    if not 0 < alpha < power < 1:
        raise ValueError(f"0 < alpha < power < 1 is needed, got {alpha!r} and {power!r}")
