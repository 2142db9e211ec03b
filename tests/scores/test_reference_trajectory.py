from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.scores.judge_audit.test_judge_probes import judged
from tests.scores.test_process_scores import reply, scores
from tests.scores.test_trajectory_judge import SECRET, question, request
from tests.scripted_model import requests_of, script

from taketwo.benchmarks.question import ReferenceStep
from taketwo.executions.plan import ModelSpec
from taketwo.executions.scoring_spec import RUBRICS
from taketwo.scores.process_scores import AXES, FAILURE_TAGS
from taketwo.scores.reference_trajectory import (
    ExplanationRequest,
    explanation_rubric,
    rendered_reference,
)
from taketwo.scores.trajectory_judge import judge_trajectories
from taketwo.scores.trajectory_judgements import (
    read_trajectory_judgements,
    write_trajectory_judgements,
)
from taketwo.scores.trajectory_request import rubric
from taketwo.scores.trajectory_text import RenderedTrajectory


def by_explanation(**changes: Any) -> ExplanationRequest:
    fields: dict[str, Any] = {
        "question": question(),
        "trajectory": RenderedTrajectory(text="[step 1] said:\nfour", system="Some System"),
    }
    return ExplanationRequest(**(fields | changes))


def step(tool: str, arguments: str, thought: str, observation: str) -> ReferenceStep:
    return ReferenceStep(tool=tool, arguments=arguments, thought=thought, observation=observation)


def test_a_curated_path_reads_like_an_agents_trajectory_with_the_true_answer() -> None:
    curated = question(
        reference=(
            step("scan", '{"fps": 1}', "Find the timer.", "0:45 near 62 s."),
            step("", "", "Only lemons count.", "Two cuts are of the lime."),
            step("recount", "from 0 to 62", "", "5 slices."),
        )
    )

    found = rendered_reference(curated)

    assert found == RenderedTrajectory(
        text=(
            "[step 1] said:\nFind the timer.\n\n"
            '[step 2] called scan with {"fps": 1}\nreturned:\n0:45 near 62 s.\n\n'
            "[step 3] said:\nOnly lemons count.\nTwo cuts are of the lime.\n\n"
            '[step 4] called recount with {"arguments": "from 0 to 62"}\nreturned:\n5 slices.\n\n'
            "[final answer]\nC. five"
        ),
        system="curated by a human",
    )


def test_an_open_question_ends_with_its_true_text() -> None:
    curated = question(
        options=(),
        answer_index=None,
        answer_text="five slices",
        reference=(step("scan", "", "", "5."),),
    )

    found = rendered_reference(curated)

    assert found is not None
    assert (
        found.text == "[step 1] called scan with {}\nreturned:\n5.\n\n[final answer]\nfive slices"
    )


@pytest.mark.parametrize("steps", [(), (step(" ", "{}", "", " "),)])
def test_a_question_without_a_path_has_no_such_trajectory(steps: tuple[ReferenceStep, ...]) -> None:
    assert rendered_reference(question(reference=steps)) is None


async def test_the_explanation_is_shown_in_place_of_the_milestones() -> None:
    name = script([json.dumps(reply(milestone_coverage=[]))])
    (found,), failures = await judge_trajectories(
        [by_explanation()], ModelSpec(name=name), connections=1, retries=1, timeout_s=5
    )

    sent = requests_of(name)[0]
    assert failures == ()
    assert (found.reference, found.scores.milestones) == ("explanation", ())
    assert found.trajectory_score == 0.6
    assert sent.messages[0].text == explanation_rubric()
    assert f"<<<UNTRUSTED explanation\n{SECRET}\n>>>UNTRUSTED" in sent.messages[1].text
    assert "Find thing M2." not in sent.text
    assert "Some System" not in sent.text
    with pytest.raises(ValueError, match="cannot be counted against 0 milestones"):
        _ = found.mc_rate


async def test_labels_of_milestones_that_were_not_shown_are_sent_back() -> None:
    name = script([json.dumps(reply()), json.dumps(reply(milestone_coverage=[]))])
    found, _ = await judge_trajectories(
        [by_explanation()], ModelSpec(name=name), connections=1, retries=1, timeout_s=5
    )

    assert len(found) == 1
    assert "there is no milestone 'M1'" in requests_of(name)[1].messages[-1].text


async def test_judgements_by_either_reference_lie_in_one_pool(tmp_path: Path) -> None:
    name = script([json.dumps(reply(milestone_coverage=[])), json.dumps(reply())])
    kept: list[Any] = []
    for one in (by_explanation(), request()):
        found, _ = await judge_trajectories(
            [one], ModelSpec(name=name), connections=1, retries=1, timeout_s=5
        )
        kept += found
    write_trajectory_judgements(tmp_path, kept)

    pool = read_trajectory_judgements(tmp_path)

    assert pool == {item.key: item for item in kept}
    assert pool[by_explanation().key(name)].reference == "explanation"
    assert pool[request().key(name)].reference == "milestones"


def test_the_explanation_is_in_the_key_and_the_milestones_are_not() -> None:
    key = by_explanation().key("j")

    assert key != request().key("j")
    assert key != by_explanation(question=question(explanation="Another.")).key("j")
    assert key == by_explanation(question=question(milestones=())).key("j")


def test_there_is_nothing_to_judge_against_without_an_explanation() -> None:
    with pytest.raises(ValueError, match="question 'q1' has no explanation to judge against"):
        by_explanation(question=question(explanation=" "))
    with pytest.raises(ValueError, match="has one wording, 'standard', not 'paraphrased'"):
        by_explanation(rubric="paraphrased")


def test_all_instructions_have_the_same_axes_anchors_statuses_tags_and_schema() -> None:
    standard = rubric("standard")
    texts = [rubric(name) for name in RUBRICS]

    assert len(set(texts)) == 2
    for text in [*texts, explanation_rubric()]:
        for axis in AXES:
            assert text.count(f"\n- {axis}: ") == 1
        assert all(f"\n- {tag}\n" in text for tag in FAILURE_TAGS)
        assert text.count("\n- ") in {9 + len(FAILURE_TAGS), 5 + len(FAILURE_TAGS)}
        assert text.count("<<<UNTRUSTED") == text.count(">>>UNTRUSTED") == 1
        for words in ("SWEEP_REQUIRED", '"yes"', '"no"', '"unknown"', '"ANCHORED"', "SWEEP=YES"):
            assert words in text
    for text in texts:
        assert all(
            f"\n- {status}: " in text for status in ("covered", "partial", "incorrect", "missing")
        )
        schema = text[text.index('{"process_scores"') : text.index('"at most two sentences"}')]
        assert (
            schema
            == standard[
                standard.index('{"process_scores"') : standard.index('"at most two sentences"}')
            ]
        )
        for axis in AXES:
            criteria = text.split(f"- {axis}: ")[1].split("\n- ")[0]
            assert [criteria.count(f"{score} if") + criteria.count(f"{score} when")
                    + criteria.count(f"{score} for") for score in (2, 1, 0)] == [1, 1, 1]  # fmt: skip


def test_the_paraphrase_keeps_criteria_schema_and_tags_and_rewords_the_rest() -> None:
    standard, paraphrased = rubric("standard"), rubric("paraphrased")
    # what is scored and how: statuses, axes with their anchors and the sweep rule, tags, reply
    kept = [
        standard[standard.index(start) : standard.index(end)]
        for start, end in (
            ("- covered:", "Then score five axes"),
            ("- task_understanding:", "Do not reward or punish"),
            ("- misunderstood_condition", "Reply with one JSON object"),
            ('{"process_scores"', "Each rationale is one sentence"),
            ("Begin P4 with", "Label"),
        )
    ]

    for part in kept:
        assert part.strip() in paraphrased

    def explanations(text: str) -> set[str]:
        rest = text
        for part in kept:
            rest = rest.replace(part.strip(), " ")
        words = " ".join(rest.split())
        return {part.strip() for part in words.split(". ") if len(part.split()) > 4}

    assert explanations(standard) & explanations(paraphrased) == set()
    assert len(explanations(paraphrased)) >= 8


def test_a_judgement_made_for_a_test_has_the_key_of_its_request() -> None:
    assert judged(request(), scores(2, 1, 0, 1, 2)).key == request().key("j")
