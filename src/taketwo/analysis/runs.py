"""Runs of arms that were not made together: each arm by itself, on the questions that all share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from taketwo.analysis.denominators import cell_counts, clusters_of, patterns_of
from taketwo.analysis.effects import Bounds
from taketwo.analysis.population import Population
from taketwo.analysis.subgroups import Factors, shares_of
from taketwo.errors import InvalidResults, UnpairedCells
from taketwo.executions.rule import Metric, Missing, Rule
from taketwo.outcomes.grid import baselines_of
from taketwo.outcomes.pairing import Loss, LossStep, PairedOutcomes, pair
from taketwo.outcomes.table import Outcomes

__all__ = ["RunTable", "run_bounds", "run_failures", "run_population", "run_table"]


@dataclass(frozen=True, kw_only=True)
class RunTable:
    """Each arm's outcomes as arrays over its own questions and runs, and the questions of all.

    `rows` has for each arm the row of every matched question in the arm's arrays. `question_ids`,
    `video_ids` and `matched` are over the union of the questions, sorted by id.
    """

    arms: tuple[str, ...]
    baselines: Mapping[str, str]
    by_arm: Mapping[str, PairedOutcomes]
    rows: Mapping[str, NDArray[np.int64]]
    question_ids: tuple[str, ...]
    video_ids: tuple[str, ...]
    matched: NDArray[np.bool_]
    steps: tuple[LossStep, ...]

    def values(self, metric: Metric, arm: str) -> NDArray[np.float64]:
        """Return a metric of an arm, matched questions x its runs, NaN where a cell has none."""
        return self.by_arm[arm].values[metric][self.rows[arm], 0, :]

    @property
    def matched_ids(self) -> tuple[str, ...]:
        """Return the ids of the matched questions."""
        return tuple(self.question_ids[q] for q in np.flatnonzero(self.matched).tolist())

    def cluster(self, rule: Rule) -> NDArray[np.int64] | None:
        """Return the video of every matched question as a number, None if the rule has no clusters."""
        if rule.cluster == "question":
            return None
        names = np.array(self.video_ids)[self.matched]
        return np.unique(names, return_inverse=True)[1].astype(np.int64)


def run_table(outcomes: Outcomes, rule: Rule, *, missing: Missing | None = None) -> RunTable:
    """Return the arms' runs on the questions that every run of every arm has.

    Raises
    ------
    UnpairedCells
        If failed cells are refused, or no question is left.
    InvalidResults
        If rows contradict one another.
    """
    frame = outcomes.frame
    if not frame.height:
        raise InvalidResults("the outcomes table has no rows; there is nothing to compare")
    matching = replace(rule, population="matched")
    arms = tuple(frame["arm"].unique().sort().to_list())
    alone = frame.with_columns(baseline=pl.lit(None, pl.String))
    by_arm = {
        arm: pair(Outcomes(alone.filter(pl.col("arm") == arm)), matching, missing=missing)
        for arm in arms
    }
    videos = _videos(by_arm)
    ids = tuple(sorted(videos))
    at = {question: index for index, question in enumerate(ids)}
    matched = np.ones(len(ids), np.bool_)
    place: dict[str, NDArray[np.int64]] = {}
    for arm, paired in by_arm.items():
        where = np.full(len(ids), -1, np.int64)
        where[[at[question] for question in paired.question_ids]] = np.arange(
            len(paired.question_ids)
        )
        place[arm] = where
        matched &= np.where(where >= 0, paired.population[where, 0], False)
    steps = _steps(by_arm, ids, videos)
    if not matched.any():
        chain = "; ".join(f"{step.step}: {step.n_after} of {step.n_before}" for step in steps)
        raise UnpairedCells(f"no question is in every run of every arm ({chain})")
    return RunTable(
        arms=arms,
        baselines=baselines_of(frame),
        by_arm=by_arm,
        rows={arm: where[matched] for arm, where in place.items()},
        question_ids=ids,
        video_ids=tuple(videos[question] for question in ids),
        matched=matched,
        steps=steps,
    )


def _videos(by_arm: Mapping[str, PairedOutcomes]) -> dict[str, str]:
    found: dict[str, str] = {}
    for arm, paired in by_arm.items():
        for question, video in zip(paired.question_ids, paired.video_ids, strict=True):
            if found.setdefault(question, video) != video:
                raise InvalidResults(
                    f"question {question!r} stands on video {found[question]!r} and, in arm {arm!r}, "
                    f"on {video!r}; a question has one"
                )
    return found


def _steps(
    by_arm: Mapping[str, PairedOutcomes], ids: Sequence[str], videos: Mapping[str, str]
) -> tuple[LossStep, ...]:
    """Return the arms' steps merged: a question is lost at the first step that costs it anywhere."""
    left = list(ids)
    found: list[LossStep] = []
    names = [step.step for step in next(iter(by_arm.values())).steps]
    for index, name in enumerate(names):
        cells: dict[str, list[str]] = {}
        for arm, paired in by_arm.items():
            if index == 0:
                for question in set(left) - set(paired.question_ids):
                    cells.setdefault(question, []).append(f"{arm}: no row")
            for loss in paired.steps[index].lost:
                cells.setdefault(loss.question_id, []).extend(loss.cells)
        lost = tuple(
            Loss(question_id=question, video_id=videos[question], cells=tuple(cells[question]))
            for question in left
            if question in cells
        )
        kept = [question for question in left if question not in cells]
        found.append(LossStep(step=name, n_before=len(left), n_after=len(kept), lost=lost))
        left = kept
    return tuple(found)


def run_population(
    table: RunTable, frame: pl.DataFrame, rule: Rule, factors: Factors
) -> Population:
    """Return the account of the population over all arms and runs."""
    n, kept = len(table.question_ids), int(table.matched.sum())
    return Population(
        rule="matched",
        missing=next(iter(table.by_arm.values())).missing,
        n_union=n,
        n_matched=kept,
        matched_share=kept / n,
        losses=table.steps,
        cells=tuple(cell for arm in table.arms for cell in cell_counts(table.by_arm[arm], frame)),
        clusters=clusters_of(table.question_ids, table.video_ids, table.matched, rule),
        patterns=patterns_of(table.steps),
        subgroups=shares_of(factors, table.matched),
    )


def run_failures(table: RunTable, arm: str) -> tuple[int, int]:
    """Return how many present cells of an arm failed, of how many."""
    paired = table.by_arm[arm]
    return int(paired.failed.sum()), int(paired.present.sum())


def run_bounds(table: RunTable, baseline: str, method: str) -> Bounds | None:
    """Return what the average accuracy effect could be with every failed cell at its worst and best.

    Over the questions present in every run of both arms, None where no cell failed.
    """
    ends: list[tuple[float, float]] = []
    failed = 0
    counted = _present_in_both(table, baseline, method)
    for arm in (baseline, method):
        paired = table.by_arm[arm]
        at = {question: row for row, question in enumerate(paired.question_ids)}
        rows = [at[question] for question in counted]
        cells, lost = paired.observed[rows, 0, :], paired.failed[rows, 0, :]
        failed += int(lost.sum())
        worst, best = np.where(lost, 0.0, cells), np.where(lost, 1.0, cells)
        ends.append((float(worst.mean()), float(best.mean())))
    if not failed:
        return None
    return Bounds(
        low=ends[1][0] - ends[0][1], high=ends[1][1] - ends[0][0], n=len(counted), n_failed=failed
    )


def _present_in_both(table: RunTable, baseline: str, method: str) -> tuple[str, ...]:
    kept = [
        {q for q, there in zip(paired.question_ids, paired.eligible[:, 0], strict=True) if there}
        for paired in (table.by_arm[baseline], table.by_arm[method])
    ]
    return tuple(sorted(kept[0] & kept[1]))
