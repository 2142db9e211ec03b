"""What is known of the judges of a study's answers: their noise, their agreement, and what rests on them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from taketwo.analysis.judges import judge_robustness
from taketwo.errors import InvalidResults, TooFewClusters
from taketwo.executions.model_spec import ModelSpec
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
from taketwo.report.judge_use_tables import PartJudge
from taketwo.scores.grading import Grader
from taketwo.scores.judgement_pool import JudgementPool
from taketwo.scores.judgements import judge_noise

__all__ = ["answer_judges"]


def answer_judges(
    plan: Plan,
    pool: JudgementPool,
    trajectories: Sequence[Trajectory],
    *,
    judge: ModelSpec | None,
) -> AnswerJudges | None:
    """Return what is known of the judges of answers; None where no judge had any to label.

    `judge` is the one whose labels count, the plan's or one that stands in for it. It comes first,
    then all others that have a label of an answer of this study, whoever asked them. Where it has
    none itself, there is no comparison of the others with it.
    """
    primary = None if judge is None else judge.name
    names = _judges(plan, pool, trajectories, primary)
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
    served = {
        name: tuple(sorted({item.served_model for item in in_use[name] if item.served_model}))
        for name in names
    }
    mixed = {name: models for name, models in served.items() if len(models) > 1}
    asked = {item.question_id for item in in_use.get(primary or "", ())}
    pairs = _pairs(plan, frames, primary, asked, mixed)
    absent = {name for pair in pairs for name in pair.left_out}
    return AnswerJudges(
        pairs=pairs,
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
        ungradable=_ungradable(frames[primary]) if primary in frames else (),
        extractor=None if extractor is None else extractor.name,
        extractor_uses=0
        if extractor is None
        else len(Grader(plan, pool.answers, pool.extractions).extractions_in_use(trajectories)),
        served=served,
        parts=tuple(
            part
            for name in names
            if name in absent and name not in mixed
            for part in _part(name, frames[name], names[0], frames[names[0]], asked)
        ),
    )


def _grader(plan: Plan, pool: JudgementPool, judge: str) -> Grader:
    return Grader(plan, pool.answers, pool.extractions, judge=judge)


def _judges(
    plan: Plan, pool: JudgementPool, trajectories: Sequence[Trajectory], primary: str | None
) -> tuple[str, ...]:
    known = {item.judge for item in pool.answers.values()}
    first = [] if primary is None else [primary]
    return tuple(
        name
        for name in (*first, *sorted(known - set(first)))
        if _grader(plan, pool, name).judgements_in_use(trajectories, name)
    )


def _frame(
    plan: Plan, pool: JudgementPool, trajectories: Sequence[Trajectory], judge: str
) -> pl.DataFrame:
    return outcomes_of(plan, trajectories, labels_by(_grader(plan, pool, judge))).frame


def _pairs(
    plan: Plan,
    frames: Mapping[str, pl.DataFrame],
    primary: str | None,
    asked: Collection[str],
    mixed: Mapping[str, Sequence[str]],
) -> tuple[JudgedPair, ...]:
    """Return each method with its baseline under every judge; nothing without further judges.

    A judge whose labels come from several served models (`mixed`), or that labelled none of the
    questions that the primary one was `asked` about in every cell, is left out: it would leave
    nothing to compare the others on.
    """
    if primary is None or len(frames) < 2 or primary not in frames:
        return ()
    rows = np.array([item.question.question_id in asked for item in plan.questions])
    found: list[JudgedPair] = []
    for arm in plan.arms:
        if arm.baseline is None:
            continue
        labels = {name: _labels(plan, frame, arm) for name, frame in frames.items()}
        run = np.isfinite(labels[primary]).any(axis=(0, 1))
        labels = {name: array[:, :, run] for name, array in labels.items()}
        left_out = {
            name: why
            for name, array in labels.items()
            if name != primary
            and (why := _why_left_out(array[rows], mixed.get(name, ()))) is not None
        }
        pair = JudgedPair(
            method=arm.name, baseline=str(arm.baseline), table=None, left_out=left_out
        )
        kept = {name: array for name, array in labels.items() if name not in left_out}
        if len(kept) < 2:
            told = "; ".join(f"{name}: {why}" for name, why in left_out.items())
            found.append(replace(pair, reason=told))
            continue
        try:
            table = judge_robustness(
                kept,
                plan.rule,
                primary=primary,
                seed=plan.seed,
                cluster=_videos(plan) if plan.rule.cluster == "video" else None,
            )
            found.append(replace(pair, table=table))
        except (InvalidResults, TooFewClusters) as error:
            found.append(replace(pair, reason=str(error)))
    return tuple(found)


def _why_left_out(labels: NDArray[np.float64], served: Sequence[str]) -> str | None:
    if served:
        return f"its labels come from {len(served)} served models, which are not one judge"
    whole = np.isfinite(labels).all(axis=(1, 2))
    return None if whole.any() else "it labelled no question in every cell"


def _part(
    judge: str,
    frame: pl.DataFrame,
    primary: str,
    counts: pl.DataFrame,
    asked: Collection[str],
) -> tuple[PartJudge, ...]:
    """Return a judge beside the one that counts on the cells that both scored, by arm and execution.

    Only of questions that judges were `asked` about: all others are scored alike under any judge.
    """
    cell = ["arm", "execution", "question_id"]
    both = (
        counts
        .filter(pl.col("question_id").is_in(sorted(asked)))
        .select(*cell, pl.col("accuracy").alias("counted"))
        .join(frame.select(*cell, "accuracy"), on=cell, maintain_order="left")
        .drop_nulls(["accuracy", "counted"])
    )
    return tuple(
        PartJudge(
            judge=judge,
            primary=primary,
            arm=str(arm),
            execution=int(execution),
            cells=cells.height,
            right=int((cells["accuracy"] == 1.0).sum()),
            primary_right=int((cells["counted"] == 1.0).sum()),
            same=int((cells["accuracy"] == cells["counted"]).sum()),
        )
        for (arm, execution), cells in both.group_by("arm", "execution", maintain_order=True)
    )


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
    return labels


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
