"""How far humans agree with each other about trajectories, and the judge with them.

The publication (AgentVidBench 2026, arXiv 2609.21386, Appendix D.4) had two authors rate 100
trajectories; its correlations stand beside ours as `published`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from taketwo.scores.judge_audit.audit_findings import AuditFinding
from taketwo.scores.judge_audit.human_ratings import HumanRating, HumanRatings
from taketwo.scores.judge_audit.judge_agreement import AXIS_WORDS, SCORE, JudgedCell
from taketwo.scores.judge_audit.rating_form import RatingKey
from taketwo.scores.judge_audit.score_pairs import (
    LEVEL,
    ScorePair,
    absolute_difference,
    arm_order,
    ceiling_note,
    clustered_estimate,
    finding_of,
    question_codes,
    ratio,
    undefined,
)
from taketwo.stats.agreement import Estimate, cohen_kappa, pearson

__all__ = ["human_findings"]

_COPIED = "both tables say the same line by line, though forms are shuffled apart: is one a copy?"
_OVERALL = 0.77
_PUBLISHED: Mapping[str, float] = MappingProxyType({
    "task_understanding": 0.39,
    "gt_evidence_coverage": 0.71,
    "evidence_grounding": 0.75,
    "evidence_completeness": 0.60,
    "reasoning_faithfulness": 0.58,
})


def human_findings(
    ratings: HumanRatings,
    cells: Sequence[JudgedCell],
    judge: str,
    *,
    rng: np.random.Generator,
    draws: int = 2_000,
) -> tuple[AuditFinding, ...]:
    """Return how far raters agree with each other, and the judge with them.

    Between every two raters, for each axis: plain and quadratically weighted Cohen's kappa,
    Pearson's r and mean absolute difference. Between humans (the mean over the raters of an item)
    and the judge: Pearson's r and mean absolute difference for each axis and the trajectory score,
    then the arms ranked by both. Evidence completeness is compared where both sides scored it. An
    item whose trajectory is no longer the one that was rated is left out and counted.
    """
    shared = [
        AuditFinding(
            check="humans",
            subject=rater,
            measure="share of the items rated",
            value=1 - ratings.missing[rater] / len(ratings.key.items)
            if ratings.key.items
            else None,
            n=len(ratings.key.items),
            reason=None if ratings.key.items else "the form has no items",
            note=f"{ratings.missing[rater]} missing" if ratings.missing[rater] else "",
        )
        for rater in ratings.raters
    ]
    found = [*shared]
    for first, second in combinations(ratings.raters, 2):
        found += _between_raters(ratings, first, second, rng, draws)
    if len(ratings.raters) < 2:
        found.append(
            finding_of("humans", "raters", f"Pearson r, {SCORE}", undefined("1 rater only"))
        )
    return (*found, *_against_judge(ratings, cells, judge, rng, draws))


def _between_raters(
    ratings: HumanRatings, first: str, second: str, rng: np.random.Generator, draws: int
) -> list[AuditFinding]:
    subject = f"{first} and {second}"
    one = {rating.item: rating for rating in ratings.ratings if rating.rater == first}
    two = {rating.item: rating for rating in ratings.ratings if rating.rater == second}
    both = sorted(one.keys() & two.keys())
    found: list[AuditFinding] = []
    for axis, words in AXIS_WORDS.items():
        applies = [
            item for item in both if None not in {one[item].axes[axis], two[item].axes[axis]}
        ]
        apart = sum((one[i].axes[axis] is None) != (two[i].axes[axis] is None) for i in both)
        x = np.array([one[item].axes[axis] for item in applies], dtype=np.float64)
        y = np.array([two[item].axes[axis] for item in applies], dtype=np.float64)
        question = _questions(ratings.key, applies)
        note = f"{apart} more items, to which only one found that it applies" if apart else ""
        found += [
            finding_of("humans", subject, f"Cohen's kappa, plain, {words}",
                       _plain_kappa(x, y, question, rng, draws), note=note),
            finding_of("humans", subject, f"Cohen's kappa, quadratic weights, {words}",
                       _weighted_kappa(x, y, question, rng, draws), note=note),
        ]  # fmt: skip
        found += _correlated(
            subject, words, x, y, question, (f"{first}'s", f"{second}'s"), rng, draws, note=note
        )
    x = np.array([one[item].trajectory_score for item in both], dtype=np.float64)
    y = np.array([two[item].trajectory_score for item in both], dtype=np.float64)
    names = (f"{first}'s", f"{second}'s")
    question = _questions(ratings.key, both)
    note = _COPIED if len(both) > 1 and _lines(ratings, first) == _lines(ratings, second) else ""
    return [*found, *_correlated(subject, SCORE, x, y, question, names, rng, draws, note=note)]


def _lines(ratings: HumanRatings, rater: str) -> list[tuple[str, dict[str, int | None]]]:
    """Return what a rater's table says, in its own order."""
    return [(item.item, dict(item.axes)) for item in ratings.ratings if item.rater == rater]


def _against_judge(
    ratings: HumanRatings,
    cells: Sequence[JudgedCell],
    judge: str,
    rng: np.random.Generator,
    draws: int,
) -> list[AuditFinding]:
    subject = f"humans and {judge}"
    by_place = {(cell.question_id, cell.arm, cell.execution): cell for cell in cells}
    rated: dict[str, list[HumanRating]] = {}
    for rating in ratings.ratings:
        rated.setdefault(rating.item, []).append(rating)
    usable: list[tuple[str, JudgedCell]] = []
    unjudged = changed = 0
    for item in sorted(rated):
        entry = ratings.key.items[item]
        cell = by_place.get((entry.question_id, entry.arm, entry.execution))
        if cell is None or judge not in cell.scores:
            unjudged += 1
        elif cell.text_sha256 not in {None, entry.text_sha256}:
            changed += 1
        else:
            usable.append((item, cell))
    lost = [
        f"{count} rated items {words}"
        for count, words in (
            (unjudged, "have no judgement"),
            (changed, "have another trajectory by now"),
        )
        if count
    ]
    names = ("the humans'", "the judge's")
    found: list[AuditFinding] = []
    for axis, words in AXIS_WORDS.items():
        x, y, items = _on_axis(usable, rated, judge, axis)
        one_only = sum(
            (cell.scores[judge].scores.axes[axis] is None)
            != all(rating.axes[axis] is None for rating in rated[item])
            for item, cell in usable
        )
        note = f"{one_only} more items, to which only one side found that it applies"
        found += _correlated(
            subject, words, x, y, _questions(ratings.key, items), names, rng, draws,
            published=_PUBLISHED[axis], note=note if one_only else "",
        )  # fmt: skip
    pairs = [
        ScorePair(
            question_id=cell.question_id,
            arm=cell.arm,
            first=_mean([rating.trajectory_score for rating in rated[item]]),
            second=cell.scores[judge].trajectory_score,
        )
        for item, cell in usable
    ]
    x = np.array([pair.first for pair in pairs], dtype=np.float64)
    y = np.array([pair.second for pair in pairs], dtype=np.float64)
    question = question_codes([pair.question_id for pair in pairs])
    found += _correlated(
        subject, SCORE, x, y, question, names, rng, draws, published=_OVERALL, note="; ".join(lost)
    )
    order = arm_order(pairs, rng=rng, draws=draws)
    note = order.note("humans", "judge")
    measure = "Kendall's tau-b of the arms' means"
    return [*found, finding_of("humans", subject, measure, order.tau, note=note)]


def _on_axis(
    usable: Sequence[tuple[str, JudgedCell]],
    rated: Mapping[str, Sequence[HumanRating]],
    judge: str,
    axis: str,
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[str]]:
    """Return the humans' mean and the judge's score of the items that both scored, and the items."""
    x: list[float] = []
    y: list[float] = []
    items: list[str] = []
    for item, cell in usable:
        theirs = [score for rating in rated[item] if (score := rating.axes[axis]) is not None]
        score = cell.scores[judge].scores.axes[axis]
        if theirs and score is not None:
            x.append(_mean(theirs))
            y.append(float(score))
            items.append(item)
    return np.array(x, dtype=np.float64), np.array(y, dtype=np.float64), items


def _correlated(
    subject: str,
    what: str,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    question: NDArray[np.int64],
    names: tuple[str, str],
    rng: np.random.Generator,
    draws: int,
    *,
    published: float | None = None,
    note: str = "",
) -> list[AuditFinding]:
    correlation = (
        pearson(x, y, rng=rng, cluster=question, draws=draws, level=LEVEL)
        if len(x)
        else undefined("nothing was scored by both")
    )
    ceilings = [ceiling_note(x, f"{names[0]} scores"), ceiling_note(y, f"{names[1]} scores")]
    difference = absolute_difference(x, y, question, rng=rng, draws=draws)
    return [
        finding_of("humans", subject, f"Pearson r, {what}", correlation, published=published,
                   note="; ".join(part for part in (note, *ceilings) if part)),
        finding_of("humans", subject, f"mean absolute difference, {what}", difference),
    ]  # fmt: skip


def _plain_kappa(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    question: NDArray[np.int64],
    rng: np.random.Generator,
    draws: int,
) -> Estimate:
    if not len(x):
        return undefined("nothing was scored by both")
    first, second = x.astype(np.int64), y.astype(np.int64)
    return cohen_kappa(first, second, rng=rng, cluster=question, draws=draws, level=LEVEL)


def _weighted_kappa(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    question: NDArray[np.int64],
    rng: np.random.Generator,
    draws: int,
) -> Estimate:
    """Return Cohen's (1968, doi 10.1037/h0026256) weighted kappa with squared distances as weights.

    The expected squared distance of independent raters is E x^2 + E y^2 - 2 E x E y.
    """

    def kappa(means: NDArray[np.float64]) -> NDArray[np.float64]:
        by_chance = means[:, 3] + means[:, 4] - 2 * means[:, 1] * means[:, 2]
        return 1 - ratio(means[:, 0], by_chance)

    return clustered_estimate(
        np.column_stack([(x - y) ** 2, x, y, x**2, y**2]), kappa, question, rng=rng, draws=draws,
        reason="all labels are the same" if len(x) else "nothing was scored by both",
    )  # fmt: skip


def _questions(key: RatingKey, items: Sequence[str]) -> NDArray[np.int64]:
    return question_codes([key.items[item].question_id for item in items])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
