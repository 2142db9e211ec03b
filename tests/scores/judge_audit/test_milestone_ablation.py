from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from tests.scores.judge_audit.test_judge_probes import called, course, genuine, judged, said
from tests.scores.test_process_scores import scores
from tests.scores.test_trajectory_judge import question

from taketwo.benchmarks.question import Milestone, Question
from taketwo.executions.trajectory import ModelCall, ToolCall, Trajectory
from taketwo.scores.judge_audit.judge_probes import Genuine
from taketwo.scores.judge_audit.milestone_ablation import (
    Ablation,
    ablation_probes,
    without_milestone,
)
from taketwo.scores.trajectory_judgements import TrajectoryJudgement

TEXTS = {
    "M1": "Locate the moment when the on-screen timer first reads 0:45.",
    "M2": "Tell the yellow lemon apart from the green lime on the board.",
    "M3": "Count the slices cut before the cutoff; the count is five.",
    "M4": 'Read the label "Sicilian Gold" on the crate from Palermo.',
}
EVIDENCE = {
    "M1": "overlay first reads 0:45 at 62s",
    "M2": "cuts at 40s are on a green fruit",
    "M3": "5 slices before the cutoff",
    "M4": "",
}
ANSWER = '{"answer": "C", "reasoning": "The overlay reads 0:45 at 62s. Five slices before it."}'


def asked(question_id: str = "q1", **changes: Any) -> Question:
    return question(
        question_id=question_id,
        milestones=tuple(
            Milestone(milestone_id=name, text=text, kind="counting") for name, text in TEXTS.items()
        ),
        **changes,
    )


def cell(question_id: str = "q1", trajectory: Trajectory | None = None) -> Genuine:
    found = trajectory or course(
        question_id,
        said("First I look for the timer and where it reads 0:45."),
        called(1, "The overlay first reads 0:45 at 62s.\nA knife lies there.", focus="the timer"),
        said("The timer reads 0:45 at 62s. Now the fruits."),
        called(2, "Cuts at 40s are on a green fruit.", focus="fruits before 62s. Which colour?"),
        called(3, "5 slices before the cutoff.", fps=3),
        said("Done."),
        answer=ANSWER,
        answer_index=2,
    )
    text = f"How many slices in {question_id}?"
    return genuine(question_id, question=asked(question_id, text=text), trajectory=found)


def judgement_of(
    item: Genuine,
    statuses: tuple[str, ...] = ("covered",) * 4,
    evidence: Mapping[str, str] = EVIDENCE,
) -> TrajectoryJudgement:
    cited = EVIDENCE | dict(evidence)
    return judged(item.request(), scores(2, 2, 2, 2, 2), statuses, evidence=cited.values())


def without(
    name: str, item: Genuine | None = None, evidence: Mapping[str, str] = EVIDENCE
) -> Ablation | str:
    item = item or cell()
    milestone = next(step for step in item.question.milestones if step.milestone_id == name)
    return without_milestone(item, milestone, judgement_of(item, evidence=evidence))


def text_without(name: str, item: Genuine | None = None, **evidence: str) -> str:
    found = without(name, item, evidence)
    assert isinstance(found, Ablation), found
    return genuine(trajectory=found.trajectory).request().trajectory.text


def rng(seed: int = 3) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_the_call_that_acquired_it_and_every_later_mention_go_and_the_rest_stays() -> None:
    assert text_without("M1") == (
        "[step 1] said:\nFirst I look for the timer and where it reads 0:45.\n\n"
        "[step 2] said:\nNow the fruits.\n\n"
        '[step 3] called look with {"focus": "Which colour?"}\n'
        "returned:\nCuts at 40s are on a green fruit.\n\n"
        '[step 4] called look with {"fps": 3}\nreturned:\n5 slices before the cutoff.\n\n'
        "[step 5] said:\nDone.\n\n"
        '[final answer]\n{"answer": "C", "reasoning": "Five slices before it."}'
    )
    found = without("M1")
    assert isinstance(found, Ablation)
    assert (found.calls, found.sentences) == (1, 3)


def test_only_what_belongs_to_that_milestone_goes() -> None:
    text = text_without("M3")

    assert "5 slices before the cutoff" not in text
    assert '"reasoning": "The overlay reads 0:45 at 62s."' in text
    assert text.count("called look") == 2


def test_a_sentence_is_cited_by_most_of_its_words_and_one_of_the_numbers() -> None:
    calls = (called(1, "5 slices before the cutoff."), called(2, "A lime."))
    said_later = said("Five slices fall. Six slices fall. Slices before the cutoff fall.")
    item = cell(trajectory=course("q1", *calls, said_later))

    text = text_without("M3", item, M2="slices before the cutoff", M3="5 slices fall")

    assert "said:\nSix slices fall. Slices before the cutoff fall." in text


def test_a_numeral_counts_as_its_number() -> None:
    assert "Five slices" not in text_without("M3")


def test_a_phrase_in_quotation_marks_and_a_name_decide_alone() -> None:
    for result in ("It says sicilian  GOLD.", "The crate came from Palermo."):
        item = cell(trajectory=course("q1", called(1, result), called(2, "A green lime.")))
        assert text_without("M4", item) == (
            "[step 1] called look with {}\nreturned:\nA green lime.\n\n[final answer]\nC"
        )


def test_one_common_word_is_no_mention() -> None:
    item = cell(
        trajectory=course("q1", called(1, "A crate."), called(2, "The crate from Palermo."))
    )

    assert "A crate." in text_without("M4", item)


def test_a_word_that_another_milestone_has_too_is_no_mark() -> None:
    calls = (called(1, "62 people."), called(2, "0:45 it is."), called(3, "A lime."))
    item = cell(trajectory=course("q1", *calls))

    assert "62 people." not in text_without("M1", item)
    assert "62 people." in text_without("M1", item, M2="cuts from 40s to 62s")


def test_the_answer_stays_where_its_sentence_goes() -> None:
    item = cell(
        trajectory=course(
            "q1",
            called(1, "The overlay first reads 0:45 at 62s."),
            called(2, "A lime."),
            answer="As the timer reads 0:45, it is C.",
            answer_index=2,
        )
    )

    assert text_without("M1", item).endswith("[final answer]\nC")


def test_a_course_without_calls_loses_sentences_wherever_they_stand() -> None:
    item = cell(
        trajectory=course(
            "q1", said("The timer reads 0:45 at 62s. The lime is green."), answer="It is C."
        )
    )

    assert text_without("M1", item) == (
        "[step 1] said:\nThe lime is green.\n\n[final answer]\nIt is C."
    )


@pytest.mark.parametrize(
    ("events", "answer", "reason"),
    [
        (
            [called(1, "A knife."), called(2, "A board.")],
            "C",
            "nothing in the trajectory could be tied to it",
        ),
        (
            [called(1, "Palermo."), said("And Palermo.")],
            "C",
            "every call supports it, so no evidence would be left",
        ),
        ([said("Palermo.")], "Palermo.", "every sentence supports it, so no evidence"),
    ],
)
def test_where_nothing_or_everything_would_go_there_is_no_probe(
    events: list[Any], answer: str, reason: str
) -> None:
    item = cell(trajectory=course("q1", *events, answer=answer))

    found = without("M4", item)

    assert isinstance(found, str)
    assert found.startswith(reason)


def test_only_covered_milestones_are_tried_and_what_is_passed_over_is_listed() -> None:
    items = [cell("q1"), cell("q2"), cell("q3")]
    pool = [
        judgement_of(items[0], ("covered", "partial", "missing", "covered")),
        judgement_of(items[1], ("partial", "missing", "incorrect", "missing")),
    ]

    for seed in range(8):
        found = ablation_probes(items, {j.key: j for j in pool}, "j", rng=rng(seed))

        (probe,) = found.probes
        assert (probe.question_id, probe.subject) == ("q1", "M1")
        assert probe.what == "M1 taken out: 1 of 3 calls, 3 sentences"
        assert probe.partner == items[0].request()
        skipped = {(case.question_id, case.subject, case.what) for case in found.skipped}
        assert skipped - {
            ("q1", "M4", "not probed: nothing in the trajectory could be tied to it")
        } == {
            ("q2", "", "not probed: none of its milestones is covered"),
            ("q3", "", "not probed: its trajectory has no judgement"),
        }


def test_the_milestone_is_drawn_and_the_draw_can_be_repeated() -> None:
    items = [cell(f"q{n}") for n in range(6)]
    pool = {j.key: j for j in map(judgement_of, items)}

    found = ablation_probes(items, pool, "j", rng=rng())

    assert len({probe.subject for probe in found.probes}) > 1
    assert found == ablation_probes(items, pool, "j", rng=rng())
    assert len(ablation_probes(items, pool, "j", rng=rng(), k=2).probes) == 2
    several = ablation_probes(items[:1], pool, "j", rng=rng(), per_question=4)
    assert sorted(probe.subject for probe in several.probes) == ["M1", "M2", "M3"]
    assert [case.subject for case in several.skipped] == ["M4"]


def test_hostile_text_does_not_take_long_or_break() -> None:
    deep: Any = "0:45"
    for _ in range(400):
        deep = [deep]
    hostile = "{" * 20_000 + '{"a": ' * 20_000 + "." * 20_000 + "\n{" * 20_000
    item = cell(
        trajectory=course(
            "q1",
            called(1, "The overlay first reads 0:45 at 62s."),
            called(2, hostile, deep=deep),
            said(hostile),
            answer=hostile,
        )
    )

    found = without("M1", item)

    assert isinstance(found, Ablation)
    assert found.calls == 1


def test_what_others_say_below_a_call_is_left_out_of_the_search() -> None:
    trajectory = course(
        "q1",
        called(1, "The overlay first reads 0:45 at 62s."),
        ModelCall(role="observer", model="m", text="The overlay first reads 0:45 at 62s."),
        called(2, "A lime."),
    )

    found = without("M1", cell(trajectory=trajectory))

    assert isinstance(found, Ablation)
    assert found.sentences == 0
    assert [type(event) for event in found.trajectory.events] == [ToolCall]
    # The call that is gone leaves nothing of itself, and its observer did not talk to the agent.
    assert "0:45" not in genuine(trajectory=found.trajectory).request().trajectory.text


def test_what_an_observer_said_inside_a_call_goes_with_it_and_comes_up_nowhere() -> None:
    words = "The overlay first reads 0:45 at 62s."
    item = cell(
        trajectory=course(
            "q1",
            called(1, "A lime."),
            said("Now the timer."),
            ModelCall(role="observer", model="m", text=words),
            called(2, words),
            said("Done."),
        )
    )

    assert text_without("M1", item) == (
        "[step 1] called look with {}\nreturned:\nA lime.\n\n"
        "[step 2] said:\nNow the timer.\n\n[step 3] said:\nDone.\n\n[final answer]\nC"
    )


def test_what_an_observer_told_the_agent_itself_goes_as_well() -> None:
    trajectory = course(
        "q1",
        ModelCall(role="observer", model="m", text="The overlay reads 0:45 at 62s. A knife."),
        said("The lime is green."),
        answer="It is C.",
    )

    assert text_without("M1", cell(trajectory=trajectory)) == (
        "[step 1] the observer said:\nA knife.\n\n[step 2] said:\nThe lime is green.\n\n"
        "[final answer]\nIt is C."
    )
