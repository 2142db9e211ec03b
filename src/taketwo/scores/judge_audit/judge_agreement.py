"""How far a judge of trajectories can be believed: right answers against wrong ones, judge against judge.

Intervals draw questions with all their runs. What AgentVidBench (2026, arXiv 2609.21386, Appendix
D.4) found on its own trajectories stands beside our numbers as `published`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from taketwo.errors import InvalidResults
from taketwo.scores.judge_audit.audit_findings import AuditCheck, AuditFinding
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
from taketwo.scores.process_scores import AXES
from taketwo.scores.trajectory_judgements import TrajectoryJudgement
from taketwo.stats.agreement import auc, pearson

__all__ = [
    "AXIS_WORDS",
    "PUBLISHED_RANGES",
    "SCORE",
    "JudgedCell",
    "judge_pairs",
    "separation",
]

SCORE = "trajectory score"
AREA = "AUC of the trajectory score, correct above incorrect"

AXIS_WORDS: Mapping[str, str] = MappingProxyType({
    axis: axis.removeprefix("gt_").replace("_", " ") for axis in AXES
})
"""The axes in words, by the judge's keys."""

PUBLISHED_RANGES: Mapping[tuple[AuditCheck, str], tuple[float, float]] = MappingProxyType({
    ("separation", AREA): (0.93, 0.98),
    ("judges", f"mean absolute difference, {SCORE}"): (0.10, 0.11),
    ("judges", f"Pearson r, {SCORE}"): (0.83, 0.86),
})
"""What the publication gives as a range over judges, by check and measure: lowest and highest."""

_PUBLISHED_JUDGE = "claude-opus-4-7"
_GAP = 0.47
_PUBLISHED_MEANS: Mapping[str, tuple[float, float, float, float]] = MappingProxyType({
    "claude-opus-4-7": (0.922, 0.128, 0.456, 0.155),
    "gpt-5": (0.856, 0.155, 0.501, 0.186),
    "gemini-3.1-pro": (0.941, 0.117, 0.571, 0.164),
})
"""Mean and standard deviation of correct runs, then of incorrect ones, by judge."""


@dataclass(frozen=True, kw_only=True)
class JudgedCell:
    """One cell of a study as the audit needs it.

    `accuracy` is 0 or 1, None where the answer has none. `scores` are the judgements by judge; a
    judge that gave none is not in it. `text_sha256` is the hash of the trajectory's text, where the
    cell is compared with ratings of that text.
    """

    question_id: str
    arm: str
    execution: int
    accuracy: float | None
    scores: Mapping[str, TrajectoryJudgement]
    text_sha256: str | None = None


def separation(
    cells: Sequence[JudgedCell], judge: str, *, rng: np.random.Generator, draws: int = 2_000
) -> tuple[AuditFinding, ...]:
    """Return how far trajectory scores of correct answers lie above those of incorrect ones.

    The judge never sees the true answer, so that accuracy is a witness from outside. Means and
    standard deviations (ddof 1) of both classes, their gap, and the probability that a correct run
    scores above an incorrect one (ties 1/2). Cells without accuracy or judgement are in none of
    them; the last finding is their share. A class without a run makes a number undefined, never 0.

    Raises
    ------
    InvalidResults
        If an accuracy is neither 0 nor 1, or a cell is there twice.
    """
    ordered = _in_order(cells)
    used = [cell for cell in ordered if cell.accuracy is not None and judge in cell.scores]
    scores = np.array([cell.scores[judge].trajectory_score for cell in used], dtype=np.float64)
    is_right = np.array([cell.accuracy == 1 for cell in used], dtype=np.bool_)
    question = question_codes([cell.question_id for cell in used])
    right, wrong = is_right.astype(np.float64), (~is_right).astype(np.float64)
    means, whose = _published(judge)
    note = "" if _tail(judge).startswith(whose) else f"published for {whose}"
    found: list[AuditFinding] = []
    for name, weight, mean, deviation in (
        ("correct", right, means[0], means[1]),
        ("incorrect", wrong, means[2], means[3]),
    ):
        measure = f"{SCORE}, {name} answers"
        is_in = weight > 0
        own = clustered_estimate(
            scores[is_in, None],
            lambda columns: columns[:, 0],
            question[is_in],
            rng=rng,
            draws=draws,
            reason=f"no {name} answer has a judgement",
        )
        found += [
            finding_of("separation", judge, f"mean {measure}", own, published=mean, note=note),
            _deviation(judge, measure, scores[is_in], own.clusters, deviation, note),
        ]
    gap = clustered_estimate(
        np.column_stack([scores * right, right, scores * wrong, wrong]),
        lambda columns: ratio(columns[:, 0], columns[:, 1]) - ratio(columns[:, 2], columns[:, 3]),
        question,
        rng=rng,
        draws=draws,
        reason="one class is empty",
    )
    area = (
        auc(scores, is_right, rng=rng, cluster=question, draws=draws, level=LEVEL)
        if len(used)
        else undefined("one class is empty")
    )
    found += [
        finding_of("separation", judge, "gap, correct minus incorrect", gap,
                   published=_GAP if whose == _PUBLISHED_JUDGE else None, note=note),
        finding_of("separation", judge, AREA, area),
        _left_out(ordered, judge),
    ]  # fmt: skip
    return tuple(found)


def judge_pairs(
    cells: Sequence[JudgedCell],
    judges: Sequence[str],
    *,
    rng: np.random.Generator,
    draws: int = 2_000,
) -> tuple[AuditFinding, ...]:
    """Return how alike every two judges score the runs that both judged.

    For the trajectory score (0 to 1) and each axis (0 to 2): mean absolute difference and Pearson's
    r. Evidence completeness is compared where both scored it. Then whether both rank the arms alike.

    Raises
    ------
    InvalidResults
        If a cell is there twice.
    """
    ordered = _in_order(cells)
    found: list[AuditFinding] = []
    for first, second in combinations(judges, 2):
        subject = f"{first} and {second}"
        both = [cell for cell in ordered if first in cell.scores and second in cell.scores]
        pairs = [
            ScorePair(
                question_id=cell.question_id,
                arm=cell.arm,
                first=cell.scores[first].trajectory_score,
                second=cell.scores[second].trajectory_score,
            )
            for cell in both
        ]
        found += _alike(subject, SCORE, pairs, "", (first, second), rng=rng, draws=draws)
        for axis, words in AXIS_WORDS.items():
            on_axis, one_only = _axis_pairs(both, axis, first, second)
            note = f"{one_only} more runs, scored by one judge only" if one_only else ""
            found += _alike(subject, words, on_axis, note, (first, second), rng=rng, draws=draws)
        order = arm_order(pairs, rng=rng, draws=draws)
        found.append(
            finding_of(
                "judges", subject, "Kendall's tau-b of the arms' means", order.tau,
                note=order.note(first, second),
            )
        )  # fmt: skip
    return tuple(found)


def _alike(
    subject: str,
    what: str,
    pairs: Sequence[ScorePair],
    note: str,
    judges: tuple[str, str],
    *,
    rng: np.random.Generator,
    draws: int,
) -> list[AuditFinding]:
    x = np.array([pair.first for pair in pairs], dtype=np.float64)
    y = np.array([pair.second for pair in pairs], dtype=np.float64)
    question = question_codes([pair.question_id for pair in pairs])
    difference = absolute_difference(x, y, question, rng=rng, draws=draws)
    correlation = (
        pearson(x, y, rng=rng, cluster=question, draws=draws, level=LEVEL)
        if len(pairs)
        else undefined("no run was scored by both")
    )
    ceilings = [ceiling_note(x, f"{judges[0]}'s scores"), ceiling_note(y, f"{judges[1]}'s scores")]
    notes = "; ".join(part for part in (note, *ceilings) if part)
    return [
        finding_of("judges", subject, f"mean absolute difference, {what}", difference, note=note),
        finding_of("judges", subject, f"Pearson r, {what}", correlation, note=notes),
    ]


def _axis_pairs(
    cells: Sequence[JudgedCell], axis: str, first: str, second: str
) -> tuple[list[ScorePair], int]:
    """Return the runs in which both judges scored the axis, and how many only one of them did."""
    pairs: list[ScorePair] = []
    one_only = 0
    for cell in cells:
        x, y = (cell.scores[judge].scores.axes[axis] for judge in (first, second))
        if x is None or y is None:
            one_only += (x is None) != (y is None)
            continue
        pairs.append(
            ScorePair(question_id=cell.question_id, arm=cell.arm, first=float(x), second=float(y))
        )
    return pairs, one_only


def _in_order(cells: Sequence[JudgedCell]) -> list[JudgedCell]:
    """Return the cells in an order that does not depend on how they came, each checked."""
    ordered = sorted(cells, key=lambda cell: (cell.question_id, cell.arm, cell.execution))
    names = Counter((cell.question_id, cell.arm, cell.execution) for cell in ordered)
    twice = [name for name, count in names.items() if count > 1]
    broken = [cell for cell in ordered if cell.accuracy not in {None, 0, 1}]
    problems = [
        f"{len(broken)} cells have an accuracy that is neither 0 nor 1, first "
        f"{broken[0].accuracy!r} of question {broken[0].question_id!r}, arm {broken[0].arm!r}, "
        f"execution {broken[0].execution}" if broken else "",
        f"{len(twice)} cells are there twice, first question {twice[0][0]!r}, arm {twice[0][1]!r}, "
        f"execution {twice[0][2]}" if twice else "",
    ]  # fmt: skip
    if broken or twice:
        raise InvalidResults(
            f"judges cannot be audited: {'; '.join(filter(None, problems))}; score the study again"
        )
    return ordered


def _left_out(cells: Sequence[JudgedCell], judge: str) -> AuditFinding:
    unscored = sum(cell.accuracy is None for cell in cells)
    unjudged = sum(cell.accuracy is not None and judge not in cell.scores for cell in cells)
    return AuditFinding(
        check="separation",
        subject=judge,
        measure="share of cells in none of these numbers",
        value=(unscored + unjudged) / len(cells) if cells else None,
        n=len(cells),
        clusters=len({cell.question_id for cell in cells}),
        reason=None if cells else "there are no cells",
        note=f"{unscored} without accuracy, {unjudged} more without a judgement",
    )


def _deviation(
    judge: str,
    measure: str,
    scores: NDArray[np.float64],
    clusters: int,
    published: float,
    note: str,
) -> AuditFinding:
    is_defined = len(scores) > 1
    return AuditFinding(
        check="separation",
        subject=judge,
        measure=f"standard deviation, {measure}",
        value=float(scores.std(ddof=1)) if is_defined else None,
        n=len(scores),
        clusters=clusters,
        published=published,
        reason=None if is_defined else f"{len(scores)} runs have no spread",
        note=note,
    )


def _published(judge: str) -> tuple[tuple[float, float, float, float], str]:
    """Return the published means for this judge, or those of the publication's own, and whose they are."""
    tail = _tail(judge)
    for name, means in _PUBLISHED_MEANS.items():
        if re.fullmatch(rf"{re.escape(name)}(-\d{{4}}-?\d{{2}}-?\d{{2}})?", tail):
            return means, name
    return _PUBLISHED_MEANS[_PUBLISHED_JUDGE], _PUBLISHED_JUDGE


def _tail(judge: str) -> str:
    return judge.rsplit("/", 1)[-1]
