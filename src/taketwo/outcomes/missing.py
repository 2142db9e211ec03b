"""What a cell without an answer is worth: 0 where the agent did not answer, nothing where it could not.

An agent that abstains, writes what nobody can parse or runs out of its limits has not answered: 0.
A crash, a provider's failure, an unreadable video, a judge that failed or a question that nobody can
grade says nothing about the agent: null, never wrong. What a null cell of a present question then
means is the rule's `missing`.
"""

from __future__ import annotations

import polars as pl

from taketwo.errors import InvalidResults
from taketwo.executions.rule import METRICS
from taketwo.executions.trajectory import RunStatus
from taketwo.outcomes.table import COLUMNS, ScoreStatus

__all__ = ["FAILED_RUNS", "FAILED_SCORES", "NOT_ANSWERED", "accuracy_of", "with_causes"]

NOT_ANSWERED: tuple[RunStatus, ...] = ("abstained", "unparsed", "limit")
FAILED_RUNS: tuple[RunStatus, ...] = ("agent_error", "provider_error", "media_error", "not_run")
FAILED_SCORES: tuple[ScoreStatus, ...] = ("ungradable", "judge_error", "not_judged")


def accuracy_of(
    run_status: RunStatus, score_status: ScoreStatus, is_correct: bool | None
) -> float | None:
    """Return the accuracy of a cell: 1, 0, or None where nobody can say.

    Examples
    --------
    >>> accuracy_of("answered", "scored", True)
    1.0
    >>> accuracy_of("limit", "not_judged", None)
    0.0
    >>> accuracy_of("provider_error", "not_judged", None) is None
    True
    """
    if run_status in NOT_ANSWERED:
        return 0.0
    if run_status in FAILED_RUNS or score_status != "scored" or is_correct is None:
        return None
    return float(is_correct)


def with_causes(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the outcomes with `cause`: why a cell of a present question has no accuracy, or null.

    Accuracy is set by the rule above, the other metrics of a failed run to null; a cell whose video
    was not there has neither values nor cause.

    Raises
    ------
    InvalidResults
        If a cell that failed, or that has no answer, is recorded as right.
    """
    frame = frame.with_columns(pl.col(c.name).cast(c.dtype) for c in COLUMNS)
    run, score = pl.col("run_status"), pl.col("score_status")
    present = (pl.col("availability") == "available").fill_null(value=False)
    failed = run.fill_null("not_run").is_in(FAILED_RUNS)
    # What a model read, or is still to read, is not for the run's status to decide.
    is_extracted = pl.col("answer_source").is_in(["extracted", "judged"]).fill_null(value=False)
    unanswered = run.is_in(NOT_ANSWERED).fill_null(value=False) & ~is_extracted
    # An answer that nobody can grade is wrong where the rule of the study says so.
    is_scored = (
        (score == "scored") | ((score == "ungradable") & (pl.col("accuracy") == 0.0))
    ).fill_null(value=False)
    _refuse_contradictions(frame.filter((failed | unanswered) & (pl.col("accuracy") == 1.0)))
    accuracy = (
        pl
        .when(unanswered)
        .then(0.0)
        .when(failed | ~is_scored)
        .then(None)
        .otherwise(pl.col("accuracy"))
    )
    cause = (
        pl
        .when(~present | unanswered)
        .then(None)
        .when(failed)
        .then(run.fill_null("not_run"))
        .when(~is_scored)
        .then(score.fill_null("not_judged"))
        .when(pl.col("accuracy").is_null())
        .then(pl.lit("no accuracy"))
    )
    others = [
        pl.when(present & ~failed).then(pl.col(metric)).alias(metric)
        for metric in METRICS
        if metric != "accuracy"
    ]
    return frame.with_columns(
        pl.when(present).then(accuracy).alias("accuracy"),
        *others,
        cause.alias("cause"),
    )


def _refuse_contradictions(rows: pl.DataFrame) -> None:
    if not rows.height:
        return
    first = rows.sort("execution", "arm", "question_id").row(0, named=True)
    raise InvalidResults(
        f"{rows.height} cells are recorded as right although they ended without an answer, first "
        f"question {first['question_id']!r}, arm {first['arm']!r}, execution "
        f"K{first['execution']}: {first['run_status']}"
    )
