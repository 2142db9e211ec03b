from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.plans import make_plan, make_trajectory

from taketwo.benchmarks.question import Question
from taketwo.errors import InvalidResults
from taketwo.executions.plan import ModelSpec, Plan
from taketwo.executions.scoring_spec import ScoringSpec
from taketwo.executions.trajectory import RunStatus, Trajectory
from taketwo.scores.extractions import EXTRACTOR_SHA256, Extraction, ExtractRequest
from taketwo.scores.grading import (
    PROMPT_SHA256,
    Graded,
    Grader,
    JudgeRequest,
)
from taketwo.scores.judgements import Judgement, Label, ScoreStatus

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


VAGUE = "The red one or the green one."


def labelled(
    answer: str, *labels: Label, question: Question = OPEN, judge: str = "openai/judge"
) -> dict[str, Judgement]:
    """Return one judgement for each label, as the repeats of one answer."""
    found: dict[str, Judgement] = {}
    for repeat, label in enumerate(labels):
        key = JudgeRequest(question=question, answer=answer, repeat=repeat).key(judge)
        found[key] = Judgement(
            key=key,
            question_id=question.question_id,
            answer=answer,
            label=label,
            judge=judge,
            prompt_sha256=PROMPT_SHA256,
            reason="",
            created="2026-01-01",
            repeat=repeat,
        )
    return found


def extracted(text: str, option_index: int | None) -> dict[str, Extraction]:
    key = ExtractRequest(question=MCQ, text=text).key("openai/extractor")
    return {
        key: Extraction(
            key=key,
            question_id="mcq",
            text_sha256="0" * 64,
            option_index=option_index,
            extractor="openai/extractor",
            prompt_sha256=EXTRACTOR_SHA256,
            reason="",
            created="2026-01-01",
        )
    }


def scored_by(**changes: Any) -> Plan:
    return replace(PLAN, scoring=ScoringSpec(**changes))


def graded_open(labels: Sequence[Label], **changes: Any) -> Graded:
    grader = Grader(scored_by(**changes), labelled("a kitten", *labels))
    return grader.graded("open", make_trajectory("open", answer_text="a kitten"))


def graded_vague(
    extractions: Mapping[str, Extraction], failed: Sequence[str] = (), text: str = VAGUE
) -> Graded:
    plan = scored_by(extractor=ModelSpec(name="openai/extractor"))
    trajectory = make_trajectory("mcq", run_status="unparsed", answer_text=text)
    return Grader(plan, {}, extractions, failed=failed).graded("mcq", trajectory)


def scored_as(
    grader: Grader, question_id: str, trajectory: Trajectory
) -> tuple[ScoreStatus, float | None]:
    found = grader.graded(question_id, trajectory)
    return found.status, found.accuracy


def test_a_choice_is_scored_by_the_option() -> None:
    grader = Grader(PLAN, {})

    assert scored_as(grader, "mcq", make_trajectory("mcq", answer_index=1)) == ("scored", 1.0)
    assert scored_as(grader, "mcq", make_trajectory("mcq", answer_index=0)) == ("scored", 0.0)


@pytest.mark.parametrize("status", ["abstained", "unparsed", "limit"])
def test_an_agent_that_had_its_chance_and_gave_no_answer_scores_zero(status: RunStatus) -> None:
    assert scored_as(Grader(PLAN, {}), "mcq", make_trajectory("mcq", run_status=status)) == (
        "scored",
        0.0,
    )


@pytest.mark.parametrize("status", ["agent_error", "provider_error", "media_error", "not_run"])
def test_a_failure_is_never_a_wrong_answer(status: RunStatus) -> None:
    assert scored_as(Grader(PLAN, {}), "mcq", make_trajectory("mcq", run_status=status)) == (
        "not_judged",
        None,
    )


def test_an_open_answer_waits_for_the_judge_unless_it_matches() -> None:
    grader = Grader(PLAN, {})

    assert scored_as(grader, "open", make_trajectory("open", answer_text="The cat.")) == (
        "scored",
        1.0,
    )
    assert scored_as(grader, "open", make_trajectory("open", answer_text="a kitten")) == (
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

    assert scored_as(grader, "open", make_trajectory("open", answer_text=" a kitten\n")) == expected


def test_an_answer_that_the_judge_failed_on_is_no_score() -> None:
    key = JudgeRequest(question=OPEN, answer="a kitten").key("openai/judge")

    grader = Grader(PLAN, {}, failed=[key])

    assert scored_as(grader, "open", make_trajectory("open", answer_text="a kitten")) == (
        "judge_error",
        None,
    )


def test_equal_answers_of_all_arms_and_executions_are_asked_once() -> None:
    trajectories = [
        make_trajectory("open", arm=arm, execution=execution, answer_text=answer)
        for arm, answer in (("base", "a kitten"), ("method", " a kitten\n"))
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


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["correct", "correct", "incorrect"], ("scored", 1.0)),
        (["incorrect", "ungradable", "incorrect"], ("scored", 0.0)),
        (["correct", "incorrect", "ungradable"], ("ungradable", None)),
        (["ungradable", "ungradable", "correct"], ("ungradable", None)),
        (["correct", "correct"], ("not_judged", None)),
        ([], ("not_judged", None)),
    ],
)
def test_of_repeated_judgements_the_strict_majority_of_all_counts(
    labels: list[Label], expected: tuple[str, float | None]
) -> None:
    graded = graded_open(labels, repeats=3)

    assert (graded.status, graded.accuracy) == expected


def test_two_of_five_are_no_majority_even_where_no_other_label_has_more() -> None:
    labels: list[Label] = ["correct", "correct", "incorrect", "incorrect", "ungradable"]

    assert graded_open(labels, repeats=5) == Graded(
        status="ungradable", accuracy=None, answer_source="agent"
    )


def test_what_an_ungradable_answer_counts_is_for_the_plan_to_say() -> None:
    as_undefined, as_wrong = (
        graded_open(["ungradable"], ungradable=how) for how in ("undefined", "wrong")
    )

    assert (as_undefined.status, as_undefined.accuracy) == ("ungradable", None)
    assert (as_wrong.status, as_wrong.accuracy) == ("ungradable", 0.0)


def test_a_repeat_that_failed_leaves_the_answer_without_a_score() -> None:
    plan = scored_by(repeats=3)
    missing = JudgeRequest(question=OPEN, answer="a kitten", repeat=2).key("openai/judge")
    given = labelled("a kitten", "correct", "correct")

    grader = Grader(plan, given, failed=[missing])

    cell = make_trajectory("open", answer_text="a kitten")
    assert grader.graded("open", cell).status == "judge_error"
    assert [request.repeat for request in grader.pending([cell])] == [2]
    assert sorted(one.repeat for one in grader.judgements_in_use([cell])) == [0, 1]


def test_only_the_repeats_that_are_missing_are_pending() -> None:
    cell = make_trajectory("open", answer_text="a kitten")

    pending = Grader(scored_by(repeats=3), labelled("a kitten", "correct")).pending([cell, cell])

    assert sorted(request.repeat for request in pending) == [1, 2]


def test_a_choice_has_no_need_of_a_judge_and_says_what_the_option_says() -> None:
    cell = make_trajectory("mcq", answer_index=1, answer_text="B")
    grader = Grader(PLAN, {})

    assert grader.graded("mcq", cell) == Graded(
        status="scored", accuracy=1.0, option_accuracy=1.0, answer_source="agent", option_index=1
    )
    assert grader.pending([cell]) == grader.judgements_in_use([cell]) == ()


def test_the_published_rule_has_choices_and_exact_matches_judged_too() -> None:
    cells = [
        make_trajectory("mcq", answer_index=1, answer_text="  green, I think "),
        make_trajectory("mcq", answer_index=0),
        make_trajectory("open", answer_text="a cat"),
        make_trajectory("mcq", run_status="unparsed", answer_text="red or green"),
        make_trajectory("mcq", run_status="provider_error"),
    ]

    pending = Grader(scored_by(answers="published"), {}).pending(cells)

    assert {(request.question.question_id, request.answer) for request in pending} == {
        ("mcq", "  green, I think "),
        ("mcq", "A. red"),
        ("open", "a cat"),
        ("mcq", "red or green"),
    }


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("I looked twice.\nFINAL ANSWER: B", "B"),
        ('PLAN: answer\n```json\n{"answer": "B. green", "reasoning": "seen"}\n```', "B. green"),
        ("<think>FINAL ANSWER: A</think>FINAL ANSWER:  B ", "B"),
        ("green, I think", "green, I think"),
        ('{"answer": "A", "answer": "B"}', '{"answer": "A", "answer": "B"}'),
    ],
)
def test_of_a_choice_the_judge_sees_the_words_it_commits_itself_to(text: str, shown: str) -> None:
    cell = make_trajectory("mcq", answer_index=1, answer_text=text)

    (request,) = Grader(scored_by(answers="published"), {}).pending([cell])

    assert request.answer == shown


def test_the_published_rule_has_replies_judged_in_which_the_agents_reader_found_nothing() -> None:
    cell = make_trajectory("mcq", run_status="unparsed", answer_text="Green, as seen at 0:12.")
    judgements = labelled("Green, as seen at 0:12.", "correct", question=MCQ)
    waiting = Grader(scored_by(answers="published"), {})

    assert waiting.graded("mcq", cell) == Graded(
        status="not_judged", accuracy=None, answer_source="judged"
    )
    assert Grader(scored_by(answers="published"), judgements).graded("mcq", cell) == Graded(
        status="scored", accuracy=1.0, answer_source="judged"
    )
    silent = make_trajectory("mcq", run_status="unparsed", answer_text=" ")
    assert waiting.graded("mcq", silent) == Graded(status="scored", accuracy=0.0)


def test_an_open_answer_without_text_is_for_the_judge_too() -> None:
    cell = make_trajectory("open", answer_text=" ")

    assert [request.answer for request in Grader(PLAN, {}).pending([cell])] == [" "]


def test_under_the_published_rule_the_judge_overrules_the_option() -> None:
    judgements = labelled("red, no, green", "correct", question=MCQ)
    grader = Grader(scored_by(answers="published"), judgements)

    cell = make_trajectory("mcq", answer_index=0, answer_text="red, no, green")

    assert grader.graded("mcq", cell) == Graded(
        status="scored", accuracy=1.0, option_accuracy=0.0, answer_source="agent", option_index=0
    )


@pytest.mark.parametrize("status", ["abstained", "unparsed", "limit"])
def test_the_published_rule_gives_no_answer_zero_without_a_judge(status: RunStatus) -> None:
    grader = Grader(scored_by(answers="published"), {})

    assert grader.graded("mcq", make_trajectory("mcq", run_status=status)) == Graded(
        status="scored", accuracy=0.0
    )


def test_another_judge_is_asked_and_counted_apart() -> None:
    cell = make_trajectory("open", answer_text="a kitten")
    both = labelled("a kitten", "correct") | labelled("a kitten", "incorrect", judge="other/judge")

    assert Grader(PLAN, both).graded("open", cell).accuracy == 1.0
    assert Grader(PLAN, both, judge="other/judge").graded("open", cell).accuracy == 0.0
    assert Grader(PLAN, labelled("a kitten", "correct")).pending([cell]) == ()
    assert len(Grader(PLAN, labelled("a kitten", "correct")).pending([cell], "other/judge")) == 1


def test_an_ambiguous_reply_counts_by_the_option_that_was_extracted() -> None:
    assert graded_vague(extracted(VAGUE, 1)) == Graded(
        status="scored",
        accuracy=1.0,
        option_accuracy=1.0,
        answer_source="extracted",
        option_index=1,
    )
    assert graded_vague(extracted(VAGUE, 0)).accuracy == 0.0


def test_a_reply_in_which_the_extractor_found_no_choice_is_wrong_and_has_no_option() -> None:
    assert graded_vague(extracted(VAGUE, None)) == Graded(status="scored", accuracy=0.0)


def test_until_the_extractor_has_read_it_an_ambiguous_reply_has_no_score() -> None:
    key = ExtractRequest(question=MCQ, text=VAGUE).key("openai/extractor")

    assert graded_vague({}) == Graded(status="not_judged", accuracy=None, answer_source="extracted")
    assert graded_vague({}, failed=[key]) == Graded(
        status="judge_error", accuracy=None, answer_source="extracted"
    )


def test_an_unparsed_reply_that_a_rule_reads_needs_no_extractor() -> None:
    by_rule = graded_vague({}, text="It looked red at first.\n**B**")

    assert (by_rule.accuracy, by_rule.answer_source, by_rule.option_index) == (1.0, "extracted", 1)
    assert graded_vague({}, text="I cannot say.") == Graded(status="scored", accuracy=0.0)


def test_without_an_extractor_an_unparsed_reply_is_wrong_as_ever() -> None:
    cell = make_trajectory("mcq", run_status="unparsed", answer_text="Seen.\n**B**")

    assert Grader(PLAN, {}).graded("mcq", cell) == Graded(status="scored", accuracy=0.0)
    assert Grader(PLAN, {}).pending_extractions([cell]) == ()


def test_an_option_that_the_question_does_not_have_is_refused() -> None:
    with pytest.raises(InvalidResults, match="'mcq' says option 7, the question has 0 to 1"):
        graded_vague(extracted(VAGUE, 7))


def test_each_ambiguous_reply_is_pending_once_and_nothing_else_is() -> None:
    plan = scored_by(extractor=ModelSpec(name="openai/extractor"))
    cells = [
        make_trajectory("mcq", arm=arm, run_status="unparsed", answer_text=text)
        for arm, text in (("base", VAGUE), ("method", f" {VAGUE}\n"), ("base", "(B)"), ("base", ""))
    ]
    cells.append(make_trajectory("mcq", run_status="limit", answer_text=VAGUE))
    cells.append(make_trajectory("mcq", answer_index=0, answer_text=VAGUE))
    cells.append(make_trajectory("open", run_status="unparsed", answer_text=VAGUE))

    assert [request.text for request in Grader(plan, {}).pending_extractions(cells)] == [VAGUE]
    assert Grader(plan, {}, extracted(VAGUE, None)).pending_extractions(cells) == ()


IN_WORDS = replace(
    MCQ, question_id="words", options=("red", "green"), answer_index=None, answer_text="Neither."
)


def words_grader(*labels: tuple[str, Label], extractor: bool = False) -> Grader:
    """Return the grader of a choice whose truth is no option, with judgements at hand."""
    plan = make_plan(questions=[IN_WORDS], judge=ModelSpec(name="openai/judge"))
    if extractor:
        scoring = ScoringSpec(extractor=ModelSpec(name="openai/extractor"))
        plan = replace(plan, scoring=scoring)
    pool: dict[str, Judgement] = {}
    for answer, label in labels:
        pool |= labelled(answer, label, question=IN_WORDS)
    return Grader(plan, pool)


def test_a_choice_whose_truth_is_no_option_is_judged_by_the_words_of_its_option() -> None:
    cells = [
        make_trajectory("words", answer_index=1, answer_text="B"),
        make_trajectory("words", arm="method", answer_index=1, answer_text="It is green, so (B)."),
    ]

    (asked,) = words_grader().pending(cells)
    assert (asked.question, asked.answer) == (IN_WORDS, "B. green")
    assert words_grader().graded("words", cells[0]) == Graded(
        status="not_judged", accuracy=None, answer_source="agent", option_index=1
    )
    for cell in cells:
        assert words_grader(("B. green", "correct")).graded("words", cell) == Graded(
            status="scored", accuracy=1.0, answer_source="agent", option_index=1
        )


def test_an_unparsed_reply_to_such_a_choice_is_judged_once_its_option_is_read() -> None:
    cell = make_trajectory("words", run_status="unparsed", answer_text="Looked red.\n**B**")
    silent = make_trajectory("words", run_status="unparsed", answer_text="I cannot say.")

    grader = words_grader(("B. green", "incorrect"), extractor=True)

    assert [r.answer for r in words_grader(extractor=True).pending([cell, silent])] == ["B. green"]
    assert grader.graded("words", cell) == Graded(
        status="scored", accuracy=0.0, answer_source="extracted", option_index=1
    )
    assert grader.graded("words", silent) == Graded(status="scored", accuracy=0.0)
    assert words_grader().graded("words", cell) == Graded(status="scored", accuracy=0.0)
    assert words_grader().pending([cell]) == ()


def test_the_published_rule_judges_such_a_choice_by_what_the_reply_says() -> None:
    plan = make_plan(questions=[IN_WORDS], judge=ModelSpec(name="openai/judge"))
    plan = replace(plan, scoring=ScoringSpec(answers="published"))
    cell = make_trajectory("words", answer_index=1, answer_text="Final answer: green (B)")

    (asked,) = Grader(plan, {}).pending([cell])
    assert asked.answer == "green (B)"
    pool = labelled("green (B)", "correct", question=IN_WORDS)
    assert Grader(plan, pool).graded("words", cell) == Graded(
        status="scored", accuracy=1.0, answer_source="agent", option_index=1
    )
