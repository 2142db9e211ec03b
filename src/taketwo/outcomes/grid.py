"""The rows of an outcomes table laid out as questions x arms x executions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from taketwo.errors import InvalidResults, UnpairedCells

__all__ = ["Grid", "baselines_of", "grid_of", "without_unstarted"]


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Where each cell's row is: `rows` is Q x A x K, one past the last row where there is none.

    Arms and questions are sorted by name, so that nothing depends on the order of the rows.
    """

    arms: tuple[str, ...]
    executions: tuple[int, ...]
    questions: tuple[str, ...]
    videos: tuple[str, ...]
    rows: NDArray[np.int64]

    def numbers(self, column: pl.Series) -> NDArray[np.float64]:
        """Return a column as a Q x A x K array; NaN where it is null or there is no row."""
        listed = column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
        return np.append(listed, np.nan)[self.rows]

    def texts(self, column: pl.Series, absent: str = "") -> NDArray[np.str_]:
        """Return a column as a Q x A x K array; "" where null, `absent` where there is no row."""
        listed = column.cast(pl.String).fill_null("").to_list()
        return np.array([*listed, absent], dtype=np.str_)[self.rows]

    def name(self, arm: int, execution: int) -> str:
        """Return a cell's name for people: `static in K1`."""
        return f"{self.arms[arm]} in K{self.executions[execution]}"


def grid_of(frame: pl.DataFrame) -> Grid:
    """Return the layout of the rows.

    Raises
    ------
    UnpairedCells
        If an execution has no cell of some arm.
    InvalidResults
        If the table is empty, or a question has no video or several.
    """
    if not frame.height:
        raise InvalidResults("the outcomes table has no rows; make it with: taketwo score STUDY")
    arms = tuple(frame["arm"].unique().sort().to_list())
    executions = tuple(frame["execution"].unique().sort().to_list())
    videos = _videos(frame)
    questions = tuple(videos)
    rows = np.full((len(questions), len(arms), len(executions)), frame.height, dtype=np.int64)
    question_at = {name: index for index, name in enumerate(questions)}
    arm_at = {name: index for index, name in enumerate(arms)}
    execution_at = {number: index for index, number in enumerate(executions)}
    keys = frame.select("question_id", "arm", "execution").iter_rows()
    for row, (question, arm, execution) in enumerate(keys):
        rows[question_at[question], arm_at[arm], execution_at[execution]] = row
    grid = Grid(
        arms=arms,
        executions=executions,
        questions=questions,
        videos=tuple(videos.values()),
        rows=rows,
    )
    without = np.argwhere((rows == frame.height).all(axis=0))
    if len(without):
        arm, execution = without[0].tolist()
        raise UnpairedCells(
            f"execution K{executions[execution]} has no cell of arm {arms[arm]!r}, of which "
            f"{len(questions)} questions were asked elsewhere; run or import it, or leave it out"
        )
    return grid


def _videos(frame: pl.DataFrame) -> dict[str, str]:
    unknown = frame.filter(pl.col("video_id").is_null() | pl.col("question_id").is_null())
    if unknown.height:
        raise InvalidResults(
            f"{unknown.height} rows lack a question_id or a video_id, "
            f"first question {unknown['question_id'][0]!r}"
        )
    pairs = frame.select("question_id", "video_id").unique().sort("question_id", "video_id")
    several = pairs.filter(pl.col("question_id").is_duplicated())
    if several.height:
        first = several.filter(pl.col("question_id") == several["question_id"][0])
        raise InvalidResults(
            f"{several['question_id'].n_unique()} questions stand on more than one video, first "
            f"{first['question_id'][0]!r}: {', '.join(first['video_id'].to_list())}"
        )
    return dict(pairs.iter_rows())


def without_unstarted(frame: pl.DataFrame) -> tuple[pl.DataFrame, tuple[int, ...]]:
    """Return the rows of executions that have started, and the numbers of those that have not.

    Raises
    ------
    UnpairedCells
        If no cell has run.
    """
    started = (
        frame
        .filter(pl.col("run_status").fill_null("not_run") != "not_run")["execution"]
        .unique()
        .sort()
    )
    unstarted = tuple(sorted(set(frame["execution"].to_list()) - set(started.to_list())))
    if frame.height and not started.len():
        raise UnpairedCells(
            f"none of the {frame.height} planned cells has run; start them: taketwo run STUDY"
        )
    return frame.filter(pl.col("execution").is_in(started.implode())), unstarted


def baselines_of(frame: pl.DataFrame) -> Mapping[str, str]:
    """Return the baseline of each method, by name of the method.

    Raises
    ------
    InvalidResults
        If an arm has two baselines, or one that is no arm of the table.
    """
    pairs = frame.select("arm", "baseline").unique().sort("arm", "baseline")
    several = pairs.filter(pl.col("arm").is_duplicated())
    if several.height:
        raise InvalidResults(
            f"arm {several['arm'][0]!r} has more than one baseline: "
            f"{', '.join(map(repr, several['baseline'].to_list()))}"
        )
    named = pairs.filter(pl.col("baseline").is_not_null())
    for arm, baseline in named.iter_rows():
        if baseline == arm or baseline not in pairs["arm"]:
            raise InvalidResults(
                f"arm {arm!r} has the baseline {baseline!r}, which is no other arm"
            )
    return dict(named.iter_rows())
