"""The judge beside one fixed path: asked for what is lacking only, kept at once, and one model."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inspect_ai.model import ModelOutput
from tests.plans import make_plan
from tests.scores.judge_audit.test_fixed_path_judge import STEPS, reply
from tests.scores.judge_audit.test_judge_probes import called, course, genuine
from tests.scores.test_trajectory_judge import question
from tests.scripted_model import Request, requests_of, says, script

from taketwo.audit_input import AuditInput
from taketwo.errors import InvalidResults, RequestError
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.scoring_spec import TrajectoryScoring
from taketwo.fixed_path_judging import judged_by_fixed_path
from taketwo.scores.judge_audit.audit_presets import audit_design
from taketwo.scores.judge_audit.fixed_path_judge import (
    fixed_path_requests,
    read_fixed_path_judgements,
    write_fixed_path_judgements,
)
from taketwo.scores.judge_audit.format_probes import format_probes
from taketwo.scores.judge_audit.judge_probes import Probe
from taketwo.scores.judgement_pool import JudgementPool

QUESTIONS = [
    question(question_id=f"q{number}", text=f"How many slices in {number}?", reference=STEPS)
    for number in (1, 2)
]
"""Two questions of one course each: three notations of each course, two of them to be asked about at a time."""


def probes() -> tuple[Probe, ...]:
    cells = [
        genuine(one.question_id, question=one, trajectory=course(one.question_id, called(1, "at 62 s")))
        for one in QUESTIONS
    ]  # fmt: skip
    return format_probes(cells, rng=np.random.default_rng(1)).probes


def audit(folder: Path, judge: str) -> AuditInput:
    plan = replace(make_plan(questions=QUESTIONS), connections=1)
    return AuditInput(
        plan=plan,
        scoring=TrajectoryScoring(judge=ModelSpec(name=judge)),
        design=audit_design("quick"),
        judges=(ModelSpec(name=judge),),
        cells=(),
        pool=JudgementPool(folder),
        folder=folder,
        ratings=None,
    )


def by_model(served: Callable[[int], str]) -> str:
    """Return a judge whose reply of each number, from 1, is of the served model of that number."""
    seen: list[Request] = []

    def answer(asked: Request) -> ModelOutput:
        seen.append(asked)
        return says(json.dumps(reply())).model_copy(update={"model": served(len(seen))})

    return script([answer], repeat_last=True)


def test_each_notation_is_judged_once_and_what_is_there_is_not_asked_again(tmp_path: Path) -> None:
    judge = script([json.dumps(reply())], repeat_last=True)
    found = audit(tmp_path, judge)

    first, causes = judged_by_fixed_path(found, probes(), may_ask=True)
    again, _ = judged_by_fixed_path(found, probes(), may_ask=True)

    assert len(requests_of(judge)) == len(first) == 6
    assert causes.total() == 0
    assert again == first == read_fixed_path_judgements(tmp_path)


def test_nobody_is_asked_where_nobody_may_be(tmp_path: Path) -> None:
    judge = script([json.dumps(reply())])

    assert judged_by_fixed_path(audit(tmp_path, judge), probes(), may_ask=False) == ({}, {})
    assert requests_of(judge) == []
    assert list(tmp_path.iterdir()) == []


def test_failures_are_counted_by_cause_under_the_name_of_this_judge(tmp_path: Path) -> None:
    judge = script(["no"], repeat_last=True)

    found, causes = judged_by_fixed_path(audit(tmp_path, judge), probes(), may_ask=True)

    cause = "ReplyFault: there is no JSON object in the reply"
    assert (found, causes) == ({}, {f"{judge}, by one fixed path: {cause}": 6})


def test_what_a_second_served_model_says_is_a_failure_and_its_batch_the_last(
    tmp_path: Path,
) -> None:
    judge = by_model(lambda number: "usual" if number <= 2 else "another")

    found, causes = judged_by_fixed_path(audit(tmp_path, judge), probes(), may_ask=True)

    assert {item.served_model for item in found.values()} == {"usual"}
    assert read_fixed_path_judgements(tmp_path) == found
    assert len(requests_of(judge)) == 4  # the third batch of two would be left out as well
    assert (len(found), causes.total()) == (2, 4)
    assert sum(n for cause, n in causes.items() if "served by another, while the" in cause) == 4
    assert sum(n for cause, n in causes.items() if "not asked: the last batch was" in cause) == 2


def test_the_model_that_served_earlier_judgements_of_the_study_counts(tmp_path: Path) -> None:
    judge = by_model(lambda _: "newer")
    found = audit(tmp_path, judge)
    half = [probe for probe in probes() if probe.question_id == "q1"]
    older, _ = judged_by_fixed_path(found, half, may_ask=True)
    _as_served(tmp_path, "older")

    kept, causes = judged_by_fixed_path(found, probes(), may_ask=True)

    assert {item.served_model for item in kept.values()} == {"older"}
    assert kept.keys() == older.keys()
    assert causes.total() == 3


def test_judgements_of_another_study_in_a_shared_folder_do_not_bind_this_one(
    tmp_path: Path,
) -> None:
    judge = by_model(lambda _: "newer")
    found = audit(tmp_path, judge)
    (asked, *_) = fixed_path_requests(probes())
    judged_by_fixed_path(found, probes()[:1], may_ask=True)
    _as_served(tmp_path, "older", key="of-another-text", question_id="of another study")

    kept, causes = judged_by_fixed_path(found, probes(), may_ask=True)

    assert asked.key(judge) in kept
    assert (len(kept), causes.total()) == (6, 0)


def test_judgements_of_two_served_models_that_are_there_are_refused_with_their_files(
    tmp_path: Path,
) -> None:
    judge = by_model(lambda _: "newer")
    found = audit(tmp_path, judge)
    judged_by_fixed_path(found, probes(), may_ask=True)
    first = min(tmp_path.glob("fixed-path-*"))
    kept = [one for one in read_fixed_path_judgements(tmp_path).values() if one.part == str(first)]
    first.unlink()
    write_fixed_path_judgements(tmp_path, [replace(one, served_model="older") for one in kept])

    with pytest.raises(InvalidResults, match="come from 2 served models") as caught:
        judged_by_fixed_path(found, probes(), may_ask=True)

    assert all(str(path) in str(caught.value) for path in tmp_path.glob("fixed-path-*"))


def test_a_judge_that_cannot_be_asked_at_all_is_said(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="the judge 'nobody/none' cannot be asked"):
        judged_by_fixed_path(audit(tmp_path, "nobody/none"), probes(), may_ask=True)


def _as_served(folder: Path, model: str, **changes: Any) -> None:
    """Write what is in the folder anew, as served by that model, with other changes."""
    there = list(read_fixed_path_judgements(folder).values())
    for path in folder.glob("fixed-path-*"):
        path.unlink()
    write_fixed_path_judgements(
        folder, [replace(one, served_model=model, **changes) for one in there]
    )
