"""Rows of the outcomes table that no run, or not this plan, can have: refused before anything is computed."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

import polars as pl

from taketwo.errors import InvalidResults
from taketwo.executions.plan import Plan
from taketwo.executions.rule import MOST
from taketwo.executions.trajectory import RunStatus
from taketwo.scores.judgements import ScoreStatus
from taketwo.scores.process_scores import TrajectoryStatus

__all__ = ["require_numbers", "require_planned", "require_possible"]

_AVAILABILITY = ("available", "missing", "unreadable", "stopped")
_FAILED = ("agent_error", "provider_error", "media_error", "not_run")
_UNANSWERED = ("abstained", "unparsed", "limit")
_SOURCES = ("agent", "extracted", "judged")
_KEY = ("arm", "execution", "question_id")


@dataclass(frozen=True, kw_only=True)
class _Fault:
    """`where` is true for rows that cannot be; `shown` is the column whose value is told."""

    where: pl.Expr
    shown: str
    message: str


def require_possible(frame: pl.DataFrame, measured: Sequence[str]) -> None:
    """Require that every row of an outcomes table is possible.

    `measured` are the columns with numbers; those are finite and not negative, or null.

    Raises
    ------
    InvalidResults
        With the first kind of impossible value, how many rows have it, and the first of them.
    """
    _refuse_first(frame, _faults(measured))
    _require_objects(frame)
    _require_one_truth(frame)


def require_numbers(frame: pl.DataFrame, measured: Sequence[str]) -> None:
    """Require that accuracy is 0, 1 or null and that no column of `measured` has infinities or NaN.

    Raises
    ------
    InvalidResults
        With the first such column, how many rows are wrong, and the first of them.
    """
    binary = _Fault(
        where=~pl.col("accuracy").is_in([0.0, 1.0]),
        shown="accuracy",
        message="has {n} values other than 0 and 1",
    )
    _refuse_first(frame, [binary, *(_not_finite(name) for name in measured)])


def _refuse_first(frame: pl.DataFrame, faults: Iterable[_Fault]) -> None:
    for fault in faults:
        wrong = frame.filter(fault.where.fill_null(value=False)).sort(_KEY)
        if wrong.height:
            raise InvalidResults(
                f"{fault.shown} {fault.message.format(n=wrong.height)}, first "
                f"{wrong[fault.shown][0]!r} in {_cell(wrong.row(0, named=True))}"
            )


def _not_finite(name: str) -> _Fault:
    return _Fault(
        where=~pl.col(name).cast(pl.Float64).is_finite(),
        shown=name,
        message="has {n} values that are not finite; leave them null",
    )


def require_planned(frame: pl.DataFrame, plan: Plan) -> None:
    """Require that a table is one of this plan: all its cells, no others, and right is what it calls right.

    Raises
    ------
    InvalidResults
        With the first cell of another plan, the first that is missing, or the first whose option is
        scored against the truth. Where the plan has every answer judged, accuracy is the judge's and
        may differ; what the option alone says may not.
    """
    arms = [arm.name for arm in plan.arms]
    truths = {item.question.question_id: item.question.answer_index for item in plan.questions}
    is_planned = (
        pl.col("arm").is_in(arms)
        & pl.col("question_id").is_in(list(truths))
        & pl.col("execution").is_between(1, plan.executions)
    )
    foreign = frame.filter(~is_planned).sort(_KEY)
    if foreign.height:
        raise InvalidResults(
            f"{foreign.height} cells are not of the plan of study {plan.study!r}, first "
            f"{_cell(foreign.row(0, named=True))}; keep the table beside its own plan.json"
        )
    _require_all(frame, arms, list(truths), plan.executions)
    truth = pl.col("question_id").replace_strict(truths, default=None, return_dtype=pl.Int32)
    is_right = (pl.col("answer_index") == truth).cast(pl.Float64)
    by_option = ("option_accuracy",)
    for name in by_option if plan.scoring.answers == "published" else ("accuracy", *by_option):
        wrong = frame.filter((is_right != pl.col(name)).fill_null(value=False)).sort(_KEY)
        if wrong.height:
            first = wrong.row(0, named=True)
            raise InvalidResults(
                f"{wrong.height} cells are scored against the plan, first {_cell(first)}: answer "
                f"{first['answer_index']}, truth {truths[first['question_id']]}, {name} "
                f"{first[name]:g}; score the study again with: taketwo score STUDY"
            )


def _require_all(
    frame: pl.DataFrame, arms: Sequence[str], questions: Sequence[str], executions: int
) -> None:
    given = set(frame.select(_KEY).iter_rows())
    planned = itertools.product(arms, range(1, executions + 1), questions)
    absent = [cell for cell in planned if cell not in given]
    if absent:
        first = _cell(dict(zip(_KEY, absent[0], strict=True)))
        raise InvalidResults(
            f"{len(absent)} planned cells have no row, first {first}; a cell that did not run has a "
            "row as well (run_status not_run): score the study again with: taketwo score STUDY"
        )


def _faults(measured: Sequence[str]) -> Iterator[_Fault]:
    for name in (*_KEY, "video_id", "availability", "run_status", "score_status", "forced"):
        yield _Fault(
            where=pl.col(name).is_null(), shown=name, message="is empty in {n} rows; fill it"
        )
    for name in measured:
        yield _not_finite(name)
        yield _Fault(where=pl.col(name) < 0, shown=name, message="has {n} values below 0")
    for name, most in MOST.items():
        yield _Fault(
            where=pl.col(name) > most, shown=name, message=f"has {{n}} values above {most:g}"
        )
    for name, least in (("execution", 1), ("attempts", 0), ("answer_index", 0)):
        yield _Fault(
            where=pl.col(name) < least, shown=name, message=f"has {{n}} values below {least}"
        )
    for name, known in (
        ("availability", _AVAILABILITY),
        ("run_status", get_args(RunStatus)),
        ("score_status", get_args(ScoreStatus)),
        ("answer_source", _SOURCES),
        ("trajectory_status", get_args(TrajectoryStatus)),
    ):
        yield _Fault(
            where=~pl.col(name).is_in(list(known)),
            shown=name,
            message=f"has {{n}} values other than {', '.join(known)}",
        )
    yield from _contradictions()


def _contradictions() -> Iterator[_Fault]:
    """Yield what a row cannot say of itself at once."""
    has_value = pl.col("accuracy").is_not_null()
    failed, unanswered = (pl.col("run_status").is_in(kind) for kind in (_FAILED, _UNANSWERED))
    is_extracted = pl.col("answer_source").is_in(["extracted", "judged"]).fill_null(value=False)
    yield _Fault(
        where=failed & has_value,
        shown="run_status",
        message="is an error in {n} rows that have an accuracy; leave the accuracy null",
    )
    yield _Fault(
        where=unanswered & ~is_extracted & (pl.col("accuracy") > 0),
        shown="run_status",
        message="says that there is no answer in {n} rows with accuracy 1",
    )
    yield _Fault(
        where=(failed | (unanswered & ~is_extracted)) & pl.col("answer_index").is_not_null(),
        shown="run_status",
        message="says that there is no answer in {n} rows with an answer_index",
    )
    yield _Fault(
        where=(pl.col("availability") == "stopped") & (pl.col("run_status") != "not_run"),
        shown="run_status",
        message="is not not_run in {n} rows whose execution was stopped before them",
    )
    yield _Fault(
        where=has_value
        & (pl.col("score_status") != "scored")
        & ~((pl.col("score_status") == "ungradable") & (pl.col("accuracy") == 0)),
        shown="score_status",
        message="is not scored in {n} rows that have an accuracy",
    )
    yield _Fault(
        where=is_extracted & (pl.col("run_status") != "unparsed"),
        shown="run_status",
        message="is not unparsed in {n} rows whose answer a model read out of the text",
    )
    yield _Fault(
        where=pl.col("trajectory_score").is_not_null()
        & (failed | (pl.col("trajectory_status") != "scored")),
        shown="trajectory_status",
        message="is not that of a judged trajectory in {n} rows that have a trajectory score",
    )


def _require_objects(frame: pl.DataFrame) -> None:
    """Require that the columns with JSON have an object (tags: a list) in every row, or null."""
    wanted: dict[str, tuple[type, str]] = dict.fromkeys(
        ("factors", "attributes", "tokens_by_role", "milestones"),
        (dict, 'object, write {"name": "level"}'),
    )
    wanted["failure_tags"] = (list, 'list, write ["counting_error"]')
    for name, (kind, told) in wanted.items():
        for text in frame[name].drop_nulls().unique().sort():
            try:
                is_right = isinstance(json.loads(text), kind)
            except (ValueError, RecursionError):
                is_right = False
            if not is_right:
                row = frame.filter(pl.col(name) == text).sort(_KEY).row(0, named=True)
                raise InvalidResults(
                    f"{name} is no JSON {told.split(', ')[0]}, first {text[:60]!r} in {_cell(row)}; "
                    f"{told.split(', ')[1]} or leave it null"
                )


def _require_one_truth(frame: pl.DataFrame) -> None:
    """Require that the same option of a question is always right or always wrong.

    By what the option alone says: a judge that is asked about every answer may find two wordings of
    one option different. Tables from before that was kept have accuracy only.
    """
    is_kept = frame["option_accuracy"].is_not_null().any()
    value = pl.col("option_accuracy" if is_kept else "accuracy")
    scored = frame.filter(pl.col("answer_index").is_not_null() & value.is_not_null())
    split = (
        scored
        .group_by("question_id", "answer_index")
        .agg(value.n_unique().alias("values"), pl.struct(_KEY).first().alias("cell"))
        .filter(pl.col("values") > 1)
        .sort("question_id", "answer_index")
    )
    if split.height:
        first = split.row(0, named=True)
        raise InvalidResults(
            f"answer {first['answer_index']} of question {first['question_id']!r} is right in one "
            f"cell and wrong in another ({split.height} such answers), first {_cell(first['cell'])}"
        )


def _cell(row: dict[str, object]) -> str:
    return f"question {row['question_id']!r}, arm {row['arm']!r}, execution K{row['execution']}"
