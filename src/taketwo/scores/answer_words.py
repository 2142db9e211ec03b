"""The words of an option and of an answer, as judges are shown them."""

from __future__ import annotations

from taketwo.agents.answer import as_matched
from taketwo.agents.commitments import commitments, without_thoughts
from taketwo.benchmarks.question import Question
from taketwo.executions.trajectory import Trajectory

__all__ = ["judged_answer", "option_text", "options_text"]


def option_text(question: Question, index: int) -> str:
    """Return an option with its label, on one line: `C. twelve`."""
    return f"{question.labels[index]}. {' '.join(question.options[index].split())}"


def options_text(question: Question) -> str:
    """Return the options with their labels, a line each; empty for an open question."""
    return "\n".join(option_text(question, index) for index in range(len(question.options)))


def judged_answer(question: Question, trajectory: Trajectory) -> str | None:
    """Return the answer as a judge is shown it; None where nothing was said.

    For a choice it is the words that the reply commits itself to in the end ("B", "a red car"), so
    that equal choices share their label however the reply argues; a reply without such words goes
    as it stands, and where there is no text, the option that was chosen.
    """
    text = trajectory.answer_text
    if not question.options:
        return text
    said = commitments(without_thoughts(as_matched(text)))
    committed = (said[-1].value or "").strip() if said and said[-1].is_readable else ""
    if committed or text.strip():
        return committed or text
    index = trajectory.answer_index
    return None if index is None else option_text(question, index)
