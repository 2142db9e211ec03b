"""The trajectory of a question of a run folder: out of its steps, else out of a reply that stands alone."""

from __future__ import annotations

from taketwo.benchmarks.question import option_labels
from taketwo.executions.log_json import Json, items, number
from taketwo.executions.trajectory import ModelCall, RunStatus, Trajectory
from taketwo.scores.formats.run_folder_steps import SCHEMA_VERSION
from taketwo.scores.formats.run_folder_trajectory import record_problems, trajectory_of

__all__ = ["trajectory_in"]

_LETTERS = option_labels(26)


def trajectory_in(
    normalized: Json | None,
    written: str | None,
    status: RunStatus,
    letter: str | None,
    *,
    question_id: int,
    method: str,
    progress: Json | None,
    own: Json,
) -> Trajectory | None:
    """Return what a run recorded of a question as a trajectory; None where it recorded nothing.

    `written` is the text of the trajectory. Of a single turn it is the reply; what we kept beside it
    (thoughts, frames that were looked at, remarks) stands as long as it is of that very reply.
    """
    if normalized is not None:
        return trajectory_of(
            normalized, arm=method, question_id=str(question_id), run_status=status
        )
    if written is None:
        return None
    kept = _kept(
        written, status, question_id=question_id, method=method, progress=progress, own=own
    )
    if kept is not None:
        return kept
    index = _LETTERS.index(letter) if status == "answered" and letter in _LETTERS else None
    said = ModelCall(role="orchestrator", model="unknown", text=written)
    return Trajectory(
        arm=method,
        question_id=str(question_id),
        execution=1,
        run_status=status,
        answer_index=index,
        answer_text=written,
        latency_s=number(progress, "elapsed_seconds"),
        events=(said,) if written.strip() else (),
    )


def _kept(
    written: str,
    status: RunStatus,
    *,
    question_id: int,
    method: str,
    progress: Json | None,
    own: Json,
) -> Trajectory | None:
    """Return the steps that we wrote beside a single turn; None where there are none, or of another reply."""
    record: Json = {
        "schema_version": SCHEMA_VERSION,
        "question_id": question_id,
        "method": method,
        "model": "unknown",
        "elapsed_seconds": number(progress, "elapsed_seconds"),
        "steps": items(own, "steps"),
    }
    if not record["steps"] or record_problems(record):
        return None
    found = trajectory_of(record, arm=method, question_id=str(question_id), run_status=status)
    return found if found.answer_text == written else None
