"""Does the verdict depend on the judge? The same comparison under each judge's labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taketwo.analysis.effects import Interval
from taketwo.analysis.headline import decide, unit_test
from taketwo.analysis.intervals import resample
from taketwo.analysis.pair_values import PairValues
from taketwo.analysis.verdict import Verdict, verdict_of
from taketwo.errors import InvalidResults
from taketwo.executions.rule import Rule
from taketwo.stats.agreement import Estimate, cohen_kappa, fleiss_kappa
from taketwo.stats.paired import MeanTest

__all__ = ["JudgeRow", "JudgeTable", "judge_robustness", "refuse_contradictions"]

JUDGE_STREAM = 6


@dataclass(frozen=True, kw_only=True)
class JudgeRow:
    """One judge: effects and first minus last on the questions that all judges labelled.

    `n_own` counts the questions that this judge labelled in every cell. `agreement` is the share of
    cells that it labels as the primary judge does, `kappa` Cohen's; None for the primary judge.
    """

    judge: str
    n_own: int
    effects: tuple[float, ...]
    headlines: tuple[Interval, ...]
    supports: tuple[int | None, ...]
    shift: float | None
    shift_p: float | None
    verdict: Verdict
    agreement: float | None
    kappa: Estimate | None


@dataclass(frozen=True, kw_only=True)
class JudgeTable:
    """All judges on their common `n` questions; how many share the primary judge's verdict, or reverse.

    `fleiss` is Fleiss' kappa over all judges, its interval by question; None for one judge.
    """

    primary: str
    n: int
    rows: tuple[JudgeRow, ...]
    same_verdict: int
    reversing: int
    fleiss: Estimate | None


def judge_robustness(
    labels: Mapping[str, NDArray[np.float64]],
    rule: Rule,
    *,
    primary: str,
    seed: int,
    cluster: NDArray[np.int64] | None = None,
) -> JudgeTable:
    """Return the comparison under the labels of each judge.

    Parameters
    ----------
    labels
        For each judge Q x 2 x K labels of 0 and 1 (baseline, then method), NaN where it gave none.
    primary
        The judge that the others are measured by.
    cluster
        Q integer codes of videos, None to resample questions.

    Raises
    ------
    InvalidResults
        If there is no such primary judge, shapes differ, or no question has a label of every judge in
        every cell.
    """
    shapes = {array.shape for array in labels.values()}
    if primary not in labels or len(shapes) != 1:
        raise InvalidResults(
            f"judges {', '.join(map(repr, labels))} need labels of one shape and the primary judge "
            f"{primary!r} among them, found {len(shapes)} shapes"
        )
    complete: dict[str, NDArray[np.bool_]] = {
        judge: np.logical_and.reduce(np.isfinite(array), axis=(1, 2))
        for judge, array in labels.items()
    }
    common: NDArray[np.bool_] = np.logical_and.reduce(list(complete.values()), axis=0)
    if not common.any():
        raise InvalidResults(f"no question has a label of all {len(labels)} judges in every cell")
    codes = None if cluster is None else cluster[common]
    rows = tuple(
        _row(judge, labels, complete[judge], common, codes, rule, primary, seed) for judge in labels
    )
    first = next(row for row in rows if row.judge == primary)
    flat = np.stack([array[common].ravel() for array in labels.values()], axis=1).astype(np.int64)
    per_question = int(np.prod(next(iter(shapes))[1:]))
    question = np.repeat(np.arange(int(common.sum()), dtype=np.int64), per_question)
    rng = np.random.default_rng((seed, JUDGE_STREAM))
    return JudgeTable(
        primary=primary,
        n=int(common.sum()),
        rows=rows,
        same_verdict=sum(row.verdict == first.verdict for row in rows),
        reversing=sum({1.0, -1.0} <= {float(np.sign(e)) for e in row.effects} for row in rows),
        fleiss=fleiss_kappa(flat, rng=rng, cluster=question) if len(labels) > 1 else None,
    )


def _row(
    judge: str,
    labels: Mapping[str, NDArray[np.float64]],
    own: NDArray[np.bool_],
    common: NDArray[np.bool_],
    cluster: NDArray[np.int64] | None,
    rule: Rule,
    primary: str,
    seed: int,
) -> JudgeRow:
    cells = labels[judge][common]
    values = PairValues(
        metric="accuracy",
        baseline_name="baseline",
        method_name="method",
        executions=tuple(range(1, cells.shape[2] + 1)),
        baseline=cells[:, 0, :],
        method=cells[:, 1, :],
        cluster=cluster,
    )
    columns = values.effect_columns()
    boots = resample(columns, level=rule.level, bootstrap="exact", draws=10_000, seed=seed)
    decided = [
        decide(column, boot, values.clusters, level=rule.level)
        for column, boot in zip(columns, boots, strict=True)
    ]
    d = values.differences
    shift = (
        unit_test(values.column(d[:, 0] - d[:, -1]), level=rule.level) if d.shape[1] > 1 else None
    )
    p = shift.p if isinstance(shift, MeanTest) else None
    supports = tuple(item.support for item in decided)
    return JudgeRow(
        judge=judge,
        n_own=int(own.sum()),
        effects=tuple(float(effect) for effect in d.mean(axis=0)),
        headlines=tuple(item.interval for item in decided),
        supports=supports,
        shift=float((d[:, 0] - d[:, -1]).mean()) if d.shape[1] > 1 else None,
        shift_p=p,
        verdict=verdict_of(supports, None if p is None else p <= 1 - rule.level),
        agreement=None if judge == primary else float((cells == labels[primary][common]).mean()),
        kappa=None if judge == primary else _kappa(cells, labels[primary][common], seed),
    )


def _kappa(cells: NDArray[np.float64], primary: NDArray[np.float64], seed: int) -> Estimate:
    per_question = cells.shape[1] * cells.shape[2]
    return cohen_kappa(
        cells.ravel().astype(np.int64),
        primary.ravel().astype(np.int64),
        rng=np.random.default_rng((seed, JUDGE_STREAM)),
        cluster=np.repeat(np.arange(len(cells), dtype=np.int64), per_question),
    )


def refuse_contradictions(
    judgements: Sequence[tuple[str, str, float]],
) -> None:
    """Refuse labels of one judge that differ for the same question and answer.

    An unchanged answer must not change its label between executions. `judgements` are (question id,
    answer, label).

    Raises
    ------
    InvalidResults
        If some question and answer have two labels, with their number and the first.
    """
    found: dict[tuple[str, str], float] = {}
    wrong: dict[tuple[str, str], None] = {}
    for question, answer, label in judgements:
        if found.setdefault((question, answer), label) != label:
            wrong[question, answer] = None
    if wrong:
        question, answer = next(iter(wrong))
        raise InvalidResults(
            f"{len(wrong)} answers have two labels by one judge, first {answer!r} to question "
            f"{question!r}; judge each answer once and use the label for all its occurrences"
        )
