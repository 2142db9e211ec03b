"""One sample of a log as a cell, also where its record cannot be read.

A record that cannot be read is the cell's own misfortune: it becomes `agent_error` with the reason,
and the other cells of the log stay what they are.
"""

from __future__ import annotations

from collections.abc import Callable

from taketwo.errors import ForeignLog
from taketwo.executions.log_events import trajectory_of
from taketwo.executions.log_json import Json, encodable, text
from taketwo.executions.trajectory import Failure, Trajectory

__all__ = ["UNREADABLE_RECORD", "cell_of", "is_unreadable"]

UNREADABLE_RECORD = "UnreadableRecord"
"""Cause of the failure of a cell whose record is in the log and cannot be read."""

_LONGEST_REASON = 500


def cell_of(
    read: Callable[[], Json], *, sample_id: str, execution: int | None, log: str
) -> Trajectory | None:
    """Return the trajectory of the cell whose sample `read` returns.

    Parameters
    ----------
    read
        Returns the sample's JSON.
    sample_id
        What the log calls the sample; `arm:question` where it is ours.
    execution
        The execution that the log's header names; None where the log is none of ours.
    log
        How the log is called in the record.

    Returns
    -------
    The trajectory, `agent_error` where the record cannot be read; None where it cannot be read and
    its name says of no cell that it is that one.

    Raises
    ------
    ForeignLog
        If the log is none of ours and the sample no cell.
    """
    try:
        record = read()
        sample_id = text(record, "id") or sample_id
        return trajectory_of(record, log=log)
    except (
        ForeignLog,
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        IndexError,
        OverflowError,
        RecursionError,
    ) as error:
        reason = f"{type(error).__name__}: {error}"
        if execution is None:
            raise
    arm, _, question_id = sample_id.partition(":")
    if not arm or not question_id:
        return None
    return Trajectory(
        arm=arm,
        question_id=question_id,
        execution=execution,
        run_status="agent_error",
        log=log,
        attempts=1,
        failure=Failure(
            cause=UNREADABLE_RECORD, message=encodable(reason)[:_LONGEST_REASON], retryable=False
        ),
    )


def is_unreadable(cell: Trajectory) -> bool:
    """Return whether the cell's record is in the log and could not be read."""
    return cell.failure is not None and cell.failure.cause == UNREADABLE_RECORD
