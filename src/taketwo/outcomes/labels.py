"""What grading made of an answer, as the table of outcomes takes it."""

from __future__ import annotations

from taketwo.executions.trajectory import Trajectory
from taketwo.outcomes.build import Label, LabelOf
from taketwo.scores.grading import Grader

__all__ = ["labels_by"]


def labels_by(grader: Grader) -> LabelOf:
    """Return the function that says what became of a cell's answer under `grader`.

    Where the option of an ambiguous reply is still to be read, the source is the extractor already:
    it decides then, and not the status that the run ended with.
    """

    def label(question_id: str, cell: Trajectory) -> Label:
        graded = grader.graded(question_id, cell)
        waits = cell.run_status == "unparsed" and graded.status in {"not_judged", "judge_error"}
        return Label(
            graded.status,
            graded.accuracy,
            graded.option_accuracy,
            "extracted" if waits else graded.answer_source,
            graded.option_index,
        )

    return label
