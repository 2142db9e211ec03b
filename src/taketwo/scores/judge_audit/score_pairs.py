"""Two scores of the same runs: their difference, their order of the arms, and intervals that draw questions.

Runs of one question share its difficulty, so every interval draws questions with all their runs: 600
runs on 100 questions are 100 independent things.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taketwo.scores.judge_audit.audit_findings import AuditCheck, AuditFinding
from taketwo.stats.agreement import Estimate
from taketwo.stats.cluster import cluster_sums
from taketwo.stats.resampling import bootstrap_means

__all__ = [
    "LEVEL",
    "ArmOrder",
    "ScorePair",
    "absolute_difference",
    "arm_order",
    "ceiling_note",
    "clustered_estimate",
    "finding_of",
    "question_codes",
    "ratio",
    "undefined",
]

LEVEL = 0.95
NEARLY_ALL = 0.8
MANY = 0.05
SAME_MEAN = 1e-9


@dataclass(frozen=True, kw_only=True)
class ScorePair:
    """Two scores of one run, by two judges or by humans and a judge."""

    question_id: str
    arm: str
    first: float
    second: float


@dataclass(frozen=True, kw_only=True)
class ArmOrder:
    """Do two sides rank the arms alike? Arms best first by each side, arms of one mean in one group.

    `tau` is Kendall's tau-b of the arms' means; its `n` counts runs. `same_order` and `same_first`
    are None where nothing could be ranked, as where all arms are tied on one side.
    """

    tau: Estimate
    first: tuple[tuple[str, ...], ...] = ()
    second: tuple[tuple[str, ...], ...] = ()
    same_order: bool | None = None
    same_first: bool | None = None

    def note(self, first: str, second: str) -> str:
        """Return both orders in words."""
        if not self.first:
            return ""
        orders = f"{first}: {_order_words(self.first)}; {second}: {_order_words(self.second)}"
        if self.same_order is None:
            return orders
        return (
            f"{orders}; same order: {'yes' if self.same_order else 'no'}; same first: "
            f"{'yes' if self.same_first else 'no'}"
        )


def arm_order(
    pairs: Sequence[ScorePair], *, rng: np.random.Generator, draws: int = 2_000
) -> ArmOrder:
    """Return whether two sides rank the arms alike, on the questions that have a run of every arm.

    An arm's score is the mean over questions of the mean over its runs; means that differ by less
    than 1e-9 are tied. Kendall's (1945) tau-b, its interval over draws of the questions.
    """
    runs: dict[tuple[str, str], list[ScorePair]] = {}
    for pair in pairs:
        runs.setdefault((pair.question_id, pair.arm), []).append(pair)
    arms = sorted({arm for _, arm in runs})
    asked = sorted({question for question, _ in runs})
    questions = [name for name in asked if all((name, arm) in runs for arm in arms)]
    ranked = sum(len(runs[name, arm]) for name in questions for arm in arms)
    if len(arms) < 2 or not questions:
        reason = (
            f"{len(arms)} arm cannot be ranked" if len(arms) == 1
            else "no question has a run of every arm that both sides scored"
        )  # fmt: skip
        return ArmOrder(tau=undefined(reason))
    table = np.array([
        [_mean([pair.first for pair in runs[name, arm]]) for arm in arms]
        + [_mean([pair.second for pair in runs[name, arm]]) for arm in arms]
        for name in questions
    ])
    size = len(arms)
    tau = clustered_estimate(
        table,
        lambda means: _tau_b(means[:, :size], means[:, size:]),
        np.arange(len(questions), dtype=np.int64),
        rng=rng,
        draws=draws,
        reason="all arms have one mean on one side",
        n=ranked,
    )
    means = table.mean(axis=0)
    first, second = _grouped(arms, means[:size]), _grouped(arms, means[size:])
    is_ranked = len(first) > 1 and len(second) > 1
    return ArmOrder(
        tau=tau,
        first=first,
        second=second,
        same_order=first == second if is_ranked else None,
        same_first=first[:1] == second[:1] if is_ranked else None,
    )


def clustered_estimate(
    columns: NDArray[np.float64],
    statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    question: NDArray[np.int64],
    *,
    rng: np.random.Generator,
    draws: int,
    reason: str,
    n: int | None = None,
) -> Estimate:
    """Return a statistic of column means with its 95 % percentile interval over draws of questions.

    Parameters
    ----------
    columns
        N runs x C numbers.
    statistic
        From rows of C means to one number each, NaN where it does not exist.
    question
        N codes.
    reason
        Why there is no number, where there is none.
    n
        What is counted, where it is not the rows.
    """
    n = len(columns) if n is None else n
    if not len(columns):
        return undefined(reason)
    sums = cluster_sums(columns, question)
    clusters = len(sums.sizes)
    value = float(statistic(columns.mean(axis=0, keepdims=True))[0])
    if not np.isfinite(value):
        return undefined(reason, n=n, clusters=clusters, draws=draws)
    replicates = statistic(bootstrap_means(sums, draws=draws, rng=rng))
    known = replicates[np.isfinite(replicates)]
    lost = draws - len(known)
    if clusters < 2 or lost > draws / 2:
        return Estimate(
            n=n, clusters=clusters, draws=draws, level=LEVEL, value=value, undefined_draws=lost,
            reason="no interval: undefined in most draws" if clusters > 1
            else "no interval: 1 question has no variance",
        )  # fmt: skip
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(
        n=n, clusters=clusters, draws=draws, level=LEVEL, value=value, se=float(known.std(ddof=1)),
        low=float(low), high=float(high), undefined_draws=lost,
    )  # fmt: skip


def absolute_difference(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    question: NDArray[np.int64],
    *,
    rng: np.random.Generator,
    draws: int,
) -> Estimate:
    """Return the mean of |x - y| over N runs."""
    return clustered_estimate(
        np.abs(x - y)[:, None], lambda means: means[:, 0], question, rng=rng, draws=draws,
        reason="no run was scored by both",
    )  # fmt: skip


def finding_of(
    check: AuditCheck,
    subject: str,
    measure: str,
    estimate: Estimate,
    *,
    published: float | None = None,
    note: str = "",
) -> AuditFinding:
    """Return an estimate as a finding; why it has no interval is a remark, why it is none its reason.

    Where all draws give one number there is no interval: it would claim a certainty that nothing
    supports, as of an AUC of 1.
    """
    is_known = estimate.value is not None
    is_point = (
        estimate.low is not None
        and estimate.high is not None
        and estimate.high - estimate.low < SAME_MEAN
    )
    remarks = (
        note,
        (estimate.reason or "") if is_known else "",
        "no interval: all draws give the same number" if is_point else "",
        "" if is_point else _of_undefined_draws(estimate),
    )
    return AuditFinding(
        check=check,
        subject=subject,
        measure=measure,
        value=estimate.value,
        low=None if is_point else estimate.low,
        high=None if is_point else estimate.high,
        n=estimate.n,
        clusters=estimate.clusters,
        published=published,
        reason=None if is_known else estimate.reason,
        note="; ".join(remark for remark in remarks if remark),
    )


def _of_undefined_draws(estimate: Estimate) -> str:
    if estimate.low is None or estimate.undefined_draws < MANY * estimate.draws:
        return ""
    share = 100 * estimate.undefined_draws / estimate.draws
    return f"{share:.0f} % of the draws give no number; the interval is over the others"


def question_codes(question_ids: Sequence[str]) -> NDArray[np.int64]:
    """Return one code per run, the same for runs of one question."""
    if not question_ids:
        return np.empty(0, dtype=np.int64)
    return np.unique(np.array(question_ids), return_inverse=True)[1].astype(np.int64)


def ceiling_note(values: NDArray[np.float64], who: str) -> str:
    """Return a warning where at least 80 % of the values are one and the same, else nothing.

    A correlation then hangs on the few others.
    """
    if not len(values):
        return ""
    found, counts = np.unique(values, return_counts=True)
    at = int(counts.argmax())
    share = float(counts[at]) / len(values)
    if share < NEARLY_ALL:
        return ""
    if len(found) == 1:
        return f"all of {who} are {found[0]:g}"
    return (
        f"{100 * share:.0f} % of {who} are {found[at]:g}: the correlation hangs on the few others"
    )


def undefined(reason: str, *, n: int = 0, clusters: int = 0, draws: int = 0) -> Estimate:
    """Return the estimate of what does not exist."""
    return Estimate(n=n, clusters=clusters, draws=draws, level=LEVEL, value=None, reason=reason)


def ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return above / below element by element, NaN where below is 0."""
    is_zero = np.abs(below) < 1e-12
    return np.where(is_zero, np.nan, above / np.where(is_zero, 1.0, below))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _tau_b(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return tau-b of each row's M means on two sides, NaN where one side is all ties."""
    upper = np.triu_indices(first.shape[1], 1)

    def signs(means: NDArray[np.float64]) -> NDArray[np.float64]:
        apart = means[:, upper[0]] - means[:, upper[1]]
        return np.where(np.abs(apart) < SAME_MEAN, 0.0, np.sign(apart))

    one, two = signs(first), signs(second)
    lengths = np.sqrt((one**2).sum(axis=1) * (two**2).sum(axis=1))
    return ratio((one * two).sum(axis=1), lengths)


def _grouped(arms: Sequence[str], means: NDArray[np.float64]) -> tuple[tuple[str, ...], ...]:
    """Return the arms from the best on, those with the same mean together."""
    groups: list[list[str]] = []
    last = np.inf
    for at in sorted(range(len(arms)), key=lambda at: (-means[at], arms[at])):
        if last - means[at] < SAME_MEAN:
            groups[-1].append(arms[at])
        else:
            groups.append([arms[at]])
        last = float(means[at])
    return tuple(tuple(sorted(group)) for group in groups)


def _order_words(groups: Sequence[Sequence[str]]) -> str:
    return " > ".join(" = ".join(group) for group in groups)
