"""Equal answers have equal labels: whatever the judge says, whoever gave them, in whichever study."""

from __future__ import annotations

import asyncio
import random
import tempfile
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.plans import make_plan, make_trajectory
from tests.scripted_model import Request, requests_of, script

from taketwo.benchmarks.question import Milestone, Question
from taketwo.executions.plan import ModelSpec, Plan
from taketwo.executions.scoring_spec import AnswerRule, ScoringSpec
from taketwo.executions.trajectory import Trajectory
from taketwo.scores.answer_judge import judge_answers
from taketwo.scores.grading import Graded, Grader
from taketwo.scores.judgements import read_judgements, write_judgements

OPEN = Question(
    question_id="open",
    text="What is it?",
    video_id="v1",
    video_path="v1.mp4",
    answer_text="a place to drink coffee",
)
CHOICE = Question(
    question_id="mcq",
    text="Which one?",
    video_id="v1",
    video_path="v1.mp4",
    options=("the caf\u00e9", "the \u1e9b\u0323"),
    answer_index=1,
)

# One string each after composition and stripping; the second of a pair is written otherwise.
WORDS = (
    "caf\u00e9",
    "cafe\u0301",
    "Caf\u00e9",
    "\u1e69",
    "s\u0323\u0307",
    "s\u0307\u0323",
    "a  bar",
    "a bar",
)
AROUND = ("", " ", "\n", "\t ", "\u3000", "\u00a0")

Cell = tuple[str, str, int, str, str, str]
CELLS: st.SearchStrategy[list[Cell]] = st.lists(
    st.tuples(
        st.sampled_from(["open", "mcq"]),
        st.sampled_from(["base", "method"]),
        st.integers(1, 3),
        st.sampled_from(AROUND),
        st.sampled_from(WORDS),
        st.sampled_from(AROUND),
    ),
    min_size=1,
    max_size=12,
)


def trajectories(cells: Sequence[Cell]) -> list[Trajectory]:
    return [
        make_trajectory(
            question_id,
            arm=arm,
            execution=execution,
            answer_text=f"{before}{word}{after}",
            answer_index=0 if question_id == "mcq" else None,
        )
        for question_id, arm, execution, before, word, after in cells
    ]


def a_plan(judge: str, answers: AnswerRule, repeats: int, *questions: Question) -> Plan:
    plan = make_plan(questions=questions, judge=ModelSpec(name=judge), executions=3)
    return replace(plan, scoring=ScoringSpec(answers=answers, repeats=repeats))


def whimsical_judge(seed: int) -> str:
    """Return the name of a judge that draws a label for every request, the same request or not."""
    draws = random.Random(seed)

    def answers(_: Request) -> str:
        label = draws.choice(["correct", "incorrect", "ungradable"])
        return f'{{"label": "{label}", "reason": "a whim"}}'

    return script([answers], repeat_last=True)


def scored(plan: Plan, cells: Sequence[Trajectory], folder: Path) -> list[Graded]:
    """Score the cells as a study does: judge what is pending, write it, read it back."""
    pending = Grader(plan, read_judgements(folder)).pending(cells)
    assert plan.judge is not None
    spec = plan.judge
    judgements, failures = asyncio.run(
        judge_answers(pending, spec, connections=4, retries=0, timeout_s=30)
    )
    assert failures == ()
    write_judgements(folder, judgements)
    grader = Grader(plan, read_judgements(folder))
    assert grader.pending(cells) == ()
    return [grader.graded(cell.question_id, cell) for cell in cells]


def answer_of(cell: Trajectory) -> str:
    return unicodedata.normalize("NFC", cell.answer_text).strip()


def labels_by_answer(
    cells: Sequence[Trajectory], graded: Sequence[Graded]
) -> dict[tuple[str, str], set[tuple[str, float | None]]]:
    found: dict[tuple[str, str], set[tuple[str, float | None]]] = defaultdict(set)
    for cell, one in zip(cells, graded, strict=True):
        found[cell.question_id, answer_of(cell)].add((one.status, one.accuracy))
    return found


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("answers", ["option-match", "published"])
@given(pool=CELLS, seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_equal_answers_of_any_cells_never_have_different_labels(
    answers: AnswerRule, repeats: int, pool: list[Cell], seed: int
) -> None:
    cells = trajectories(pool)
    judge = whimsical_judge(seed)
    plan = a_plan(judge, answers, repeats, OPEN, CHOICE)

    with tempfile.TemporaryDirectory() as folder:
        graded = scored(plan, cells, Path(folder))

    for answer, labels in labels_by_answer(cells, graded).items():
        assert len(labels) == 1, answer
    judged = {
        (cell.question_id, answer_of(cell))
        for cell in cells
        if answers == "published" or cell.question_id == "open"
    }
    assert len(requests_of(judge)) == repeats * len(judged)


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("answers", ["option-match", "published"])
@given(first=CELLS, second=CELLS, seed=st.integers(0, 2**32 - 1))
@settings(max_examples=10, deadline=None)
def test_two_studies_that_share_a_folder_never_differ_in_a_label(
    answers: AnswerRule, repeats: int, first: list[Cell], second: list[Cell], seed: int
) -> None:
    judge = whimsical_judge(seed)
    here = a_plan(judge, answers, repeats, OPEN, CHOICE)
    there = a_plan(judge, answers, repeats, *(elsewhere(question) for question in (OPEN, CHOICE)))
    ours = trajectories(first)
    theirs = [replace(cell, question_id=f"{cell.question_id}-2") for cell in trajectories(second)]

    with tempfile.TemporaryDirectory() as folder:
        graded = scored(here, ours, Path(folder))
        graded += scored(there, theirs, Path(folder))
        again = scored(here, ours, Path(folder))

    same = [replace(cell, question_id=cell.question_id.removesuffix("-2")) for cell in theirs]
    for answer, labels in labels_by_answer([*ours, *same], graded).items():
        assert len(labels) == 1, answer
    assert again == graded[: len(ours)]


def elsewhere(question: Question) -> Question:
    """Return the question as another study has it: asked and answered alike, all else different."""
    return replace(
        question,
        question_id=f"{question.question_id}-2",
        video_id="w",
        video_path="w.mp4",
        attributes={"difficulty": "hard"},
        milestones=(Milestone(milestone_id="M1", text="Find it."),),
        explanation="Because.",
    )


def test_different_questions_with_one_answer_are_judged_apart() -> None:
    other = replace(OPEN, question_id="other", answer_text="a tea house")
    judge = whimsical_judge(0)
    cells = [make_trajectory(name, answer_text="caf\u00e9") for name in ("open", "other")]

    pending = Grader(a_plan(judge, "option-match", 1, OPEN, other), {}).pending(cells)

    assert {request.question.question_id for request in pending} == {"open", "other"}
