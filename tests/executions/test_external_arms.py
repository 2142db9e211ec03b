"""Arms whose agents run outside, in a study file: no models, no levels of models, all prices."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from taketwo.errors import RequestError
from taketwo.executions.freeze import freeze
from taketwo.executions.plan import Plan

_STUDY = f"""\
study: march
benchmark: {{name: local, path: questions.jsonl}}
arms:
  single: {{agent: single_turn, role: baseline}}
  mine: {{agent: command, options: {{command: [{sys.executable}, -V]}}, limits: {{cost_usd: 0.1}}}}
  theirs: {{agent: http, options: {{url: "http://127.0.0.1:9/"}}}}
models: {{orchestrator: openai/planner}}
generate: {{reasoning_effort: low}}
prices: {{date: 2026-03-01, models: {{openai/planner: {{input: 1, output: 1}}, a/b: {{input: 2, output: 2}}}}}}
seed: 5
"""


def _frozen(folder: Path, study: str) -> Plan:
    (folder / "questions.jsonl").write_text(
        '{"question_id": "q", "text": "?", "video_path": "v.mp4", "options": ["a", "b"], "answer": "A"}'
    )
    path = folder / "study.yaml"
    path.write_text(study)
    return freeze(path, now="2026-03-01T12:00:00Z", probe=lambda _: pytest.fail("no video"))


def test_they_have_no_models_and_not_the_levels_of_the_studys_ones(tmp_path: Path) -> None:
    plan = _frozen(tmp_path, _STUDY)

    assert [dict(arm.models) for arm in plan.arms[1:]] == [{}, {}]
    assert dict(plan.arm("single").factors) == {
        "agent": "single_turn",
        "orchestrator": "openai/planner",
        "reasoning": "low",
    }
    assert dict(plan.arm("mine").factors) == {"agent": "command"}
    assert plan.arm("theirs").work is None


def test_the_prices_of_models_that_the_study_does_not_name_are_kept_for_them(
    tmp_path: Path,
) -> None:
    assert set(_frozen(tmp_path, _STUDY).prices) == {"openai/planner", "a/b"}


def test_a_model_for_one_is_refused(tmp_path: Path) -> None:
    study = _STUDY.replace("limits: {cost_usd: 0.1}", "models: {orchestrator: openai/x}")

    with pytest.raises(RequestError, match=r"sets a model for the role 'orchestrator' .*are none"):
        _frozen(tmp_path, study)


def test_a_program_that_is_not_there_is_told_before_anything_is_frozen(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="cannot start 'no-such-program'"):
        _frozen(tmp_path, _STUDY.replace(sys.executable, "no-such-program"))
