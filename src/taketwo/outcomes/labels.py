"""What grading made of an answer, as the table of outcomes takes it."""

from __future__ import annotations

from taketwo.executions.trajectory import Trajectory
from taketwo.outcomes.build import Label, LabelOf
from taketwo.scores.grading import Grader

__all__ = ["labels_by"]


def labels_by(grader: Grader) -> LabelOf:
    """Return the function that says what became of a cell's answer under `grader`."""

    def label(question_id: str, cell: Trajectory) -> Label:
        graded = grader.graded(question_id, cell)
        return Label(
            graded.status,
            graded.accuracy,
            graded.option_accuracy,
            graded.answer_source,
            graded.option_index,
        )

    return label
