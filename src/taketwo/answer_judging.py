"""What is known of the judges of a study's answers: their noise, their agreement, and what rests on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from taketwo.analysis.judges import judge_robustness
from taketwo.errors import InvalidResults, TooFewClusters
from taketwo.executions.plan import Arm, Plan
from taketwo.executions.trajectory import Trajectory
from taketwo.outcomes.build import outcomes_of
from taketwo.outcomes.labels import labels_by
from taketwo.report.judge_tables import (
    AnswerJudges,
    JudgedPair,
    JudgeNoise,
    OptionAgainstJudge,
    UngradableAnswers,
)
from taketwo.scores.grading import Grader
from taketwo.scores.judgement_pool import JudgementPool
from taketwo.scores.judgements import judge_noise

__all__ = ["answer_judges"]


def answer_judges(
    plan: Plan, pool: JudgementPool, trajectories: Sequence[Trajectory]
) -> AnswerJudges | None:
    """Return what is known of the judges of answers; None where no judge had any to label.

    The plan's judge comes first, then all others that have a label of an answer of this study,
    whoever asked them.
    """
    names = _judges(plan, pool, trajectories)
    if not names and not plan.scoring.extractor:
        return None
    frames = {name: _frame(plan, pool, trajectories, name) for name in names}
    in_use = {
        name: _grader(plan, pool, name).judgements_in_use(trajectories, name) for name in names
    }
    noise = (
        [(name, judge_noise(in_use[name])) for name in names] if plan.scoring.repeats > 1 else []
    )
    extractor = plan.scoring.extractor
    return AnswerJudges(
        pairs=_pairs(plan, frames),
        noise=tuple(
            JudgeNoise(judge=name, repeats=plan.scoring.repeats, answers=found.n, split=found.split)
            for name, found in noise
            if found.n
        ),
        options=tuple(
            found
            for name in names
            if plan.scoring.answers == "published"
            and (found := _options(name, frames[name])) is not None
        ),
        ungradable=_ungradable(frames[names[0]]) if names else (),
        extractor=None if extractor is None else extractor.name,
        extractor_uses=0
        if extractor is None
        else len(Grader(plan, pool.answers, pool.extractions).extractions_in_use(trajectories)),
        served={
            name: tuple(sorted({item.served_model for item in in_use[name] if item.served_model}))
            for name in names
        },
    )


def _question_ids(plan: Plan) -> frozenset[str]:
    return frozenset(item.question.question_id for item in plan.questions)


def _grader(plan: Plan, pool: JudgementPool, judge: str) -> Grader:
    return Grader(plan, pool.answers, pool.extractions, judge=judge)


def _judges(plan: Plan, pool: JudgementPool, trajectories: Sequence[Trajectory]) -> tuple[str, ...]:
    own = _question_ids(plan)
    known = {item.judge for item in pool.answers.values() if item.question_id in own}
    primary = [] if plan.judge is None else [plan.judge.name]
    return tuple(
        name
        for name in dict.fromkeys([*primary, *sorted(known)])
        if _grader(plan, pool, name).judgements_in_use(trajectories, name)
    )


def _frame(
    plan: Plan, pool: JudgementPool, trajectories: Sequence[Trajectory], judge: str
) -> pl.DataFrame:
    return outcomes_of(plan, trajectories, labels_by(_grader(plan, pool, judge))).frame


def _pairs(plan: Plan, frames: Mapping[str, pl.DataFrame]) -> tuple[JudgedPair, ...]:
    """Return each method with its baseline under every judge; nothing where there is one judge."""
    if len(frames) < 2:
        return ()
    found: list[JudgedPair] = []
    for arm in plan.arms:
        if arm.baseline is None:
            continue
        try:
            table = judge_robustness(
                {name: _labels(plan, frame, arm) for name, frame in frames.items()},
                plan.rule,
                primary=next(iter(frames)),
                seed=plan.seed,
                cluster=_videos(plan) if plan.rule.cluster == "video" else None,
            )
            found.append(JudgedPair(method=arm.name, baseline=arm.baseline, table=table))
        except (InvalidResults, TooFewClusters) as error:
            found.append(
                JudgedPair(method=arm.name, baseline=arm.baseline, table=None, reason=str(error))
            )
    return tuple(found)


def _labels(plan: Plan, frame: pl.DataFrame, arm: Arm) -> NDArray[np.float64]:
    """Return Q x 2 x K accuracies, baseline then method, in the order of the plan's questions."""
    at = {item.question.question_id: row for row, item in enumerate(plan.questions)}
    side = {arm.baseline: 0, arm.name: 1}
    labels = np.full((len(at), 2, plan.executions), np.nan)
    cells = frame.filter(
        pl.col("arm").is_in([arm.baseline, arm.name]) & pl.col("accuracy").is_not_null()
    )
    for name, question, execution, accuracy in cells.select(
        "arm", "question_id", "execution", "accuracy"
    ).iter_rows():
        labels[at[question], side[name], execution - 1] = accuracy
    run = [
        execution
        for execution in range(plan.executions)
        if np.isfinite(labels[:, :, execution]).any()
    ]
    return labels[:, :, run]


def _videos(plan: Plan) -> NDArray[np.int64]:
    codes = {
        name: code
        for code, name in enumerate(sorted({item.question.video_id for item in plan.questions}))
    }
    return np.array([codes[item.question.video_id] for item in plan.questions], dtype=np.int64)


def _options(judge: str, frame: pl.DataFrame) -> OptionAgainstJudge | None:
    both = frame.filter(
        (pl.col("score_status") == "scored")
        & (pl.col("answer_source") == "agent")
        & pl.col("option_accuracy").is_not_null()
    )
    if not both.height:
        return None
    counts = {
        (option, judged): both.filter(
            (pl.col("option_accuracy") == option) & (pl.col("accuracy") == judged)
        ).height
        for option in (0.0, 1.0)
        for judged in (0.0, 1.0)
    }
    return OptionAgainstJudge(
        judge=judge,
        both_right=counts[1.0, 1.0],
        option_only=counts[1.0, 0.0],
        judge_only=counts[0.0, 1.0],
        both_wrong=counts[0.0, 0.0],
    )


def _ungradable(frame: pl.DataFrame) -> tuple[UngradableAnswers, ...]:
    if not (frame["score_status"] == "ungradable").any():
        return ()
    return tuple(
        UngradableAnswers(
            arm=str(arm),
            execution=int(execution),
            right=int((cells["accuracy"] == 1.0).sum()),
            scored=cells.filter(pl.col("score_status") == "scored").height,
            ungradable=cells.filter(pl.col("score_status") == "ungradable").height,
        )
        for (arm, execution), cells in frame.group_by("arm", "execution", maintain_order=True)
    )
