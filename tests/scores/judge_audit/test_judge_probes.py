from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from tests.plans import make_trajectory
from tests.scores.test_process_scores import scores
from tests.scores.test_trajectory_judge import question

from taketwo.executions.trajectory import Event, ModelCall, ToolCall, Trajectory
from taketwo.scores.judge_audit.judge_probes import (
    Genuine,
    drawn_by_difficulty,
    genuine_trajectories,
    judged_probes,
    mean_finding,
)
from taketwo.scores.judge_audit.rubric_probes import rubric_probes
from taketwo.scores.judge_audit.score_pairs import finding_of
from taketwo.scores.process_scores import MilestoneLabel, ProcessScores
from taketwo.scores.trajectory_judgements import TrajectoryJudgement
from taketwo.scores.trajectory_request import TrajectoryRequest
from taketwo.stats.agreement import Estimate


def said(text: str) -> ModelCall:
    return ModelCall(role="orchestrator", model="m", text=text)


def called(number: int, result: str, **arguments: Any) -> ToolCall:
    return ToolCall(call_id=f"c{number}", name="look", arguments=arguments, result=result)


def course(question_id: str = "q1", *events: Event, answer: str = "C", **more: Any) -> Trajectory:
    given = events or (said("I look."), called(1, "five slices"))
    return make_trajectory(question_id, events=given, answer_text=answer, **more)


def genuine(question_id: str = "q1", **changes: Any) -> Genuine:
    fields: dict[str, Any] = {
        "question": question(question_id=question_id),
        "trajectory": course(question_id),
        "system": "Some System",
    }
    return Genuine(**(fields | changes))


def judged(
    request: TrajectoryRequest,
    axes: dict[str, Any],
    statuses: Iterable[str] = ("covered",) * 4,
    *,
    evidence: Iterable[str] = ("",) * 4,
) -> TrajectoryJudgement:
    """A judgement by `j`, as if it had been pooled."""
    names = [step.milestone_id for step in request.question.milestones]
    labels: list[Any] = [
        MilestoneLabel(milestone_id=name, status=status, evidence=cited)  # pyright: ignore[reportArgumentType] literals of the tests
        for name, status, cited in zip(names, statuses, evidence, strict=False)
    ]
    return TrajectoryJudgement(
        key=request.key("j"),
        question_id=request.question.question_id,
        judge="j",
        protocol=request.protocol,
        rubric=request.rubric,
        prompt_sha256="0" * 64,
        scores=ProcessScores(
            axes=axes,
            rationales={},
            milestones=tuple(labels),
            failure_tags=(),
            summary="",
        ),
        created="2026-01-01T00:00:00+00:00",
    )


def judgements_of(pairs: Iterable[tuple[Any, Any, Any, Any]]) -> dict[str, TrajectoryJudgement]:
    """A pool out of (request, axes, request, axes)."""
    found = [
        judged(request, axes)
        for one, axes_of_one, other, axes_of_other in pairs
        for request, axes in ((one, axes_of_one), (other, axes_of_other))
    ]
    return {item.key: item for item in found}


def of_difficulty(question_id: str, difficulty: str | None) -> Genuine:
    attributes = {} if difficulty is None else {"difficulty": difficulty}
    return genuine(question_id, question=question(question_id=question_id, attributes=attributes))


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_probes_are_made_of_questions_with_milestones_and_a_trajectory_in_order_of_ids() -> None:
    questions = [
        question(question_id="q3"),
        question(question_id="q1"),
        question(question_id="q2", milestones=()),
        question(question_id="q4"),
    ]
    courses = {name: course(name) for name in ("q3", "q2", "q1")}

    found = genuine_trajectories(questions, courses, system="S", protocol="published")

    assert [item.question.question_id for item in found] == ["q1", "q3"]
    assert {(item.system, item.protocol, item.rubric) for item in found} == {
        ("S", "published", "standard")
    }


def test_the_draw_keeps_the_shares_of_difficulty() -> None:
    pool = [
        of_difficulty(f"q{n:02d}", difficulty)
        for n, difficulty in enumerate(["easy"] * 12 + ["hard"] * 6 + [None] * 2)
    ]

    drawn = drawn_by_difficulty(pool, 10, rng=rng())

    names = [item.question.question_id for item in drawn]
    assert names == sorted(names)
    assert sum(name < "q12" for name in names) == 6
    assert sum("q12" <= name < "q18" for name in names) == 3
    assert sum(name >= "q18" for name in names) == 1
    assert drawn == drawn_by_difficulty(pool, 10, rng=rng())
    assert drawn != drawn_by_difficulty(pool, 10, rng=np.random.default_rng(8))


def test_all_are_drawn_where_there_are_fewer() -> None:
    pool = [of_difficulty("q1", "easy"), of_difficulty("q2", None)]

    assert drawn_by_difficulty(pool, 50, rng=rng()) == tuple(pool)


def test_a_probe_without_both_judgements_is_in_no_number() -> None:
    probes = rubric_probes([
        genuine("q1", question=question(text=f"{n}?")) for n in range(4)
    ]).probes
    whole, half, other_half, _ = probes
    pool = judgements_of([
        (whole.request, scores(2, 2, 2, 2, 2), whole.partner, scores(1, 1, 1, 1, 1)),
        (half.request, scores(2, 2, 2, 2, 2), half.request, scores(2, 2, 2, 2, 2)),
        (other_half.partner, scores(1, 1, 1, 1, 1), other_half.partner, scores(1, 1, 1, 1, 1)),
    ])

    pairs, remark = judged_probes(probes, pool, "j")

    assert [pair.probe for pair in pairs] == [whole]
    assert pairs[0].change == 0.5
    assert remark == "3 of 4 probes lack a judgement and are in no number"


def test_the_judgements_of_another_judge_do_not_count() -> None:
    (probe,) = rubric_probes([genuine()]).probes
    pool = judgements_of([
        (probe.request, scores(2, 2, 2, 2, 2), probe.partner, scores(2, 2, 2, 2, 2))
    ])

    assert judged_probes([probe], pool, "k")[0] == ()


def test_a_mean_has_an_interval_over_draws_of_questions() -> None:
    found = mean_finding(
        "rubrics", "j", "m", [0.0, 0.0, 1.0, 1.0], ["a", "a", "b", "b"], rng=rng(), published=0.3
    )

    assert (found.value, found.n, found.clusters, found.published) == (0.5, 4, 2, 0.3)
    assert (found.low, found.high) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("values", "names", "note"),
    [
        ([0.2, 0.4], ["a", "a"], "no interval: 1 question has no variance"),
        ([1.0, 1.0], ["a", "b"], "no interval: all values are the same"),
    ],
)
def test_what_has_no_interval_says_why(values: list[float], names: list[str], note: str) -> None:
    found = mean_finding("rubrics", "j", "m", values, names, rng=rng())

    assert (found.low, found.high, found.note) == (None, None, note)


def test_a_mean_of_nothing_does_not_exist() -> None:
    found = mean_finding("rubrics", "j", "m", [], [], rng=rng())

    assert found.value is None
    assert found.reason == "no probe of this kind has been judged"


def test_a_statistic_without_an_interval_keeps_its_value_and_says_why() -> None:
    estimate = Estimate(
        n=2, clusters=1, draws=9, level=0.95, value=0.5, reason="no interval: 1 question"
    )

    found = finding_of("rubrics", "j", "r", estimate)

    assert (found.value, found.reason, found.note) == (0.5, None, "no interval: 1 question")


def test_draws_without_a_number_are_told_where_there_are_many() -> None:
    estimate = Estimate(
        n=9, clusters=3, draws=100, level=0.95, value=0.5, low=0.1, high=0.8, undefined_draws=30
    )

    found = finding_of("separation", "j", "r", estimate)

    assert found.note == "30 % of the draws give no number; the interval is over the others"
    assert (found.low, found.high) == (0.1, 0.8)
