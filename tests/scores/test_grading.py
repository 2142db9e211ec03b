from __future__ import annotations

import pytest
from tests.plans import make_plan, make_trajectory

from taketwo.benchmarks.question import Question
from taketwo.executions.plan import ModelSpec
from taketwo.executions.trajectory import RunStatus
from taketwo.scores.grading import PROMPT_SHA256, Grader, JudgeRequest
from taketwo.scores.judgements import Judgement, Label

MCQ = Question(
    question_id="mcq",
    text="Which colour?",
    video_id="v1",
    video_path="v1.mp4",
    options=("red", "green"),
    answer_index=1,
)
OPEN = Question(
    question_id="open", text="What is it?", video_id="v1", video_path="v1.mp4", answer_text="a cat"
)
PLAN = make_plan(questions=[MCQ, OPEN], judge=ModelSpec(name="openai/judge"))


def labelled(answer: str, label: Label) -> dict[str, Judgement]:
    key = JudgeRequest(question=OPEN, answer=answer).key("openai/judge")
    return {
        key: Judgement(
            key=key,
            question_id="open",
            answer=answer,
            label=label,
            judge="openai/judge",
            prompt_sha256=PROMPT_SHA256,
            reason="",
            created="2026-01-01",
        )
    }


def test_a_choice_is_scored_by_the_option() -> None:
    grader = Grader(PLAN, {})

    assert grader.label_of("mcq", make_trajectory("mcq", answer_index=1)) == ("scored", 1.0)
    assert grader.label_of("mcq", make_trajectory("mcq", answer_index=0)) == ("scored", 0.0)


@pytest.mark.parametrize("status", ["abstained", "unparsed", "limit"])
def test_an_agent_that_had_its_chance_and_gave_no_answer_scores_zero(status: RunStatus) -> None:
    assert Grader(PLAN, {}).label_of("mcq", make_trajectory("mcq", run_status=status)) == (
        "scored",
        0.0,
    )


@pytest.mark.parametrize("status", ["agent_error", "provider_error", "media_error", "not_run"])
def test_a_failure_is_never_a_wrong_answer(status: RunStatus) -> None:
    assert Grader(PLAN, {}).label_of("mcq", make_trajectory("mcq", run_status=status)) == (
        "not_judged",
        None,
    )


def test_an_open_answer_waits_for_the_judge_unless_it_matches() -> None:
    grader = Grader(PLAN, {})

    assert grader.label_of("open", make_trajectory("open", answer_text="The cat.")) == (
        "scored",
        1.0,
    )
    assert grader.label_of("open", make_trajectory("open", answer_text="a kitten")) == (
        "not_judged",
        None,
    )


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("correct", ("scored", 1.0)),
        ("incorrect", ("scored", 0.0)),
        ("ungradable", ("ungradable", None)),
    ],
)
def test_a_judgement_decides_an_open_answer(
    label: Label, expected: tuple[str, float | None]
) -> None:
    grader = Grader(PLAN, labelled("a kitten", label))

    assert grader.label_of("open", make_trajectory("open", answer_text="A  kitten")) == expected


def test_an_answer_that_the_judge_failed_on_is_no_score() -> None:
    key = JudgeRequest(question=OPEN, answer="a kitten").key("openai/judge")

    grader = Grader(PLAN, {}, failed=[key])

    assert grader.label_of("open", make_trajectory("open", answer_text="a kitten")) == (
        "judge_error",
        None,
    )


def test_equal_answers_of_all_arms_and_executions_are_asked_once() -> None:
    trajectories = [
        make_trajectory("open", arm=arm, execution=execution, answer_text=answer)
        for arm, answer in (("base", "a kitten"), ("method", "A KITTEN"))
        for execution in (1, 2)
    ]
    trajectories.append(make_trajectory("open", answer_text="a cat"))
    trajectories.append(make_trajectory("open", run_status="provider_error"))
    trajectories.append(make_trajectory("mcq", answer_index=0))

    pending = Grader(PLAN, {}).pending(trajectories)

    assert [request.answer for request in pending] == ["a kitten"]
    assert Grader(PLAN, labelled("a kitten", "incorrect")).pending(trajectories) == ()


def test_without_a_judge_nothing_is_pending() -> None:
    plan = make_plan(questions=[OPEN], judge=None)

    assert Grader(plan, {}).pending([make_trajectory("open", answer_text="a dog")]) == ()
