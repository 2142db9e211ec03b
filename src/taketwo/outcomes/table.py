"""The outcomes table: one row per planned cell, columns declared once, with type, unit and meaning."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from taketwo.errors import InvalidResults
from taketwo.executions.rule import METRICS, Metric
from taketwo.executions.written_table import write_table
from taketwo.outcomes.possible import require_numbers, require_possible
from taketwo.scores.judgements import ScoreStatus

__all__ = [
    "COLUMNS",
    "FORMAT",
    "AnswerSource",
    "Column",
    "Outcomes",
    "ScoreStatus",
    "metric_columns",
    "read_outcomes",
]

FORMAT = "taketwo.outcomes/1"

AnswerSource = Literal["agent", "extracted", "judged"]


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of the table: polars type, unit and meaning."""

    name: str
    dtype: pl.DataType
    unit: str
    meaning: str


def _column(name: str, dtype: pl.DataType, unit: str, meaning: str) -> Column:
    return Column(name=name, dtype=dtype, unit=unit, meaning=meaning)


COLUMNS: tuple[Column, ...] = (
    _column("arm", pl.String(), "", "name of the arm"),
    _column("baseline", pl.String(), "", "arm that it is compared with; null for a baseline"),
    _column("execution", pl.Int32(), "", "number of the execution, from 1"),
    _column("question_id", pl.String(), "", "id of the question, unique in the benchmark"),
    _column("video_id", pl.String(), "", "the data set's video id; the cluster"),
    _column(
        "availability", pl.String(), "", "available, missing, unreadable or stopped (not run) there"
    ),
    _column("run_status", pl.String(), "", "what the cell ended as"),
    _column("score_status", pl.String(), "", "what judging made of its answer"),
    _column("forced", pl.Boolean(), "", "the answer was given because a budget ran out"),
    _column("answer_index", pl.Int32(), "", "0-based option; null where none was read"),
    _column("answer_text", pl.String(), "", "the answer as given"),
    _column("failure", pl.String(), "", "cause and message of an error"),
    _column("attempts", pl.Int32(), "", "how often the cell was started"),
    _column("log", pl.String(), "", "file that holds the cell, from the study's folder"),
    _column("accuracy", pl.Float64(), "0 or 1", "the answer is right; null where nobody can say"),
    _column("trajectory_score", pl.Float64(), "0 to 1", "half the mean of the axes that apply"),
    _column("mc_rate", pl.Float64(), "0 to 1", "share of the milestones that were reached"),
    _column("task_understanding", pl.Float64(), "0 to 2", "axis TU of the trajectory judge"),
    _column("gt_evidence_coverage", pl.Float64(), "0 to 2", "axis ECov: evidence acquired"),
    _column("evidence_grounding", pl.Float64(), "0 to 2", "axis EG: claims that agree with it"),
    _column(
        "evidence_completeness", pl.Float64(), "0 to 2", "axis ECom; null where it does not apply"
    ),
    _column("reasoning_faithfulness", pl.Float64(), "0 to 2", "axis RF: the answer follows"),
    _column("turns", pl.Float64(), "generations", "generations of the orchestrator"),
    _column("visible_calls", pl.Float64(), "calls", "tool calls that the orchestrator issued"),
    _column("primitive_ops", pl.Float64(), "operations", "attempted, fresh and shared, failed too"),
    _column("latency_s", pl.Float64(), "s", "self-timed model and tool work, waiting excluded"),
    _column("tokens", pl.Float64(), "tokens", "input and output of all roles"),
    _column("cost_usd", pl.Float64(), "US dollars", "usage by the plan's prices"),
    _column("primitive_ops_succeeded", pl.Float64(), "operations", "of them without error"),
    _column("primitive_ops_shared", pl.Float64(), "operations", "of them served from shared media"),
    _column("frames", pl.Float64(), "images", "images that any model was handed"),
    _column("latency_wall_s", pl.Float64(), "s", "as observed, waiting included"),
    _column("input_tokens", pl.Float64(), "tokens", "input of all roles"),
    _column("output_tokens", pl.Float64(), "tokens", "output of all roles"),
    _column("tokens_by_role", pl.String(), "JSON", "input and output by role"),
    _column("index_tokens", pl.Float64(), "tokens", "the cell's share of making its video's index"),
    _column("index_cost_usd", pl.Float64(), "US dollars", "its share, by the plan's prices"),
    _column("index_latency_s", pl.Float64(), "s", "its share of the self-timed work on the index"),
    _column("index_model_calls", pl.Float64(), "generations", "its share of those for the index"),
    _column("index_frames", pl.Float64(), "images", "its share of those handed over for the index"),
    _column("option_accuracy", pl.Float64(), "0 or 1", "what the option alone says of the answer"),
    _column(
        "answer_source",
        pl.String(),
        "",
        "who read it: agent, extracted or judged (a model, where the agent's reader failed)",
    ),
    _column("trajectory_status", pl.String(), "", "what judging made of the trajectory"),
    _column("milestones", pl.String(), "JSON", "kind and status of each milestone, by its id"),
    _column("failure_tags", pl.String(), "JSON", "list of the judge's failure tags"),
    _column("factors", pl.String(), "JSON", "levels of the arm's factors"),
    _column("attributes", pl.String(), "JSON", "levels of the question's subgroup factors"),
)


_ADDED: tuple[str, ...] = (
    "task_understanding",
    "gt_evidence_coverage",
    "evidence_grounding",
    "evidence_completeness",
    "reasoning_faithfulness",
    "option_accuracy",
    "answer_source",
    "trajectory_status",
    "milestones",
    "failure_tags",
)
"""Columns that tables from before they existed do not have; there they are null."""

_FLOATS = tuple(column.name for column in COLUMNS if column.dtype == pl.Float64())


def metric_columns() -> tuple[Metric, ...]:
    """Return the columns that carry a metric."""
    return METRICS


@dataclass(frozen=True)
class Outcomes:
    """The table of outcomes, checked on entry.

    Raises
    ------
    InvalidResults
        If a declared column is missing, a cell occurs twice, or a value is impossible.
    """

    frame: pl.DataFrame

    def __post_init__(self) -> None:
        missing = [column.name for column in COLUMNS if column.name not in self.frame.columns]
        if missing:
            raise InvalidResults(f"the outcomes table lacks the columns {', '.join(missing)}")
        mistyped = [
            f"{column.name} is {self.frame.schema[column.name]}, not {column.dtype}"
            for column in COLUMNS
            if self.frame.schema[column.name] not in {column.dtype, pl.Null()}
        ]
        if mistyped:
            raise InvalidResults(f"the outcomes table has wrong types: {'; '.join(mistyped)}")
        key = ["arm", "execution", "question_id"]
        repeated = self.frame.group_by(key).len().filter(pl.col("len") > 1).sort(key)
        if repeated.height:
            first = repeated.row(0, named=True)
            raise InvalidResults(
                f"{repeated.height} cells occur more than once, first question "
                f"{first['question_id']!r}, arm {first['arm']!r}, execution K{first['execution']}"
            )
        require_numbers(self.frame, METRICS)

    def write(self, path: Path) -> None:
        """Write the table as Parquet; the file appears whole or not at all.

        Raises
        ------
        HarnessError
            If it cannot be written and does not hold just this table.
        """
        write_table(path, self.frame, form=FORMAT)

    def to_polars(self) -> pl.DataFrame:
        """Return the table."""
        return self.frame

    def to_pandas(self) -> object:
        """Return the table as a pandas data frame (pandas must be installed)."""
        return self.frame.to_pandas()


def read_outcomes(path: Path) -> Outcomes:
    """Read an `outcomes.parquet`.

    Raises
    ------
    InvalidResults
        If it is missing, not Parquet, violates the table's declaration, or has a row that no run
        can have (`outcomes.possible`).
    """
    if path.is_dir():
        raise InvalidResults(f"{path}: a folder, not an outcomes table; name the file in it")
    try:
        found = pl.read_parquet_metadata(path).get("format", FORMAT)
        frame = pl.read_parquet(path, glob=False)
    except FileNotFoundError as error:
        raise InvalidResults(
            f"{path}: no such outcomes table; make it with: taketwo score STUDY"
        ) from error
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InvalidResults(f"{path}: not a readable outcomes table ({error})") from error
    match = re.fullmatch(r"taketwo\.outcomes/(\d+)", found)
    if match is None:
        raise InvalidResults(f"{path}: format is {found!r}, expected {FORMAT!r}")
    if int(match[1]) > 1:
        raise InvalidResults(
            f"{path}: written by a newer version ({found}); this one reads {FORMAT}"
        )
    frame = frame.with_columns(
        pl.lit(None, dtype=column.dtype).alias(column.name)
        for column in COLUMNS
        if column.name in _ADDED and column.name not in frame.columns
    )
    try:
        outcomes = Outcomes(frame)
        require_possible(frame, _FLOATS)
        return outcomes
    except InvalidResults as error:
        raise InvalidResults(f"{path}: {error}") from error
