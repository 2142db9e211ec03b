from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from taketwo.agents.sage_options import SageOptions
from taketwo.errors import RequestError
from taketwo.executions.arms import ArmDraft, resolve_arms
from taketwo.executions.resolved_study import prompt_hashes
from taketwo.executions.study_file import read_study_file
from taketwo.tools.library import load_library

STUDY = """\
study: arms
benchmark: {{name: rendered, seed: 7}}
arms:
  static: {{agent: sage, preset: repair-paper, role: baseline}}
  dynamic: {{agent: sage, preset: repair-paper, options: {{library: {library}}}}}
"""


def arms(folder: Path, library: str) -> dict[str, ArmDraft]:
    path = folder / "study.yaml"
    path.write_text(STUDY.format(library=library), encoding="utf-8")
    study = read_study_file(path)
    found = resolve_arms(study)
    study.problems.raise_if_any()
    return {arm.name: arm for arm in found}


def own_library(folder: Path, count: int = 10) -> None:
    record: Any = load_library("composites").to_json()
    record["compositions"][0]["steps"][1]["with"]["count"] = count
    (folder / "libs").mkdir(exist_ok=True)
    (folder / "libs" / "mine.json").write_text(json.dumps(record), encoding="utf-8")


def test_the_arms_differ_in_their_library_alone(tmp_path: Path) -> None:
    found = arms(tmp_path, "composites")
    static, dynamic = found["static"], found["dynamic"]
    options = [arm.options.model_dump(exclude={"library"}) for arm in (static, dynamic)]

    assert options[0] == options[1]
    assert (static.models, static.sampling, static.limits) == (
        dynamic.models,
        dynamic.sampling,
        dynamic.limits,
    )
    assert static.limits.turns == 11
    assert {model.name for model in static.models.values()} == {
        "openai/gpt-4o",
        "taketwo/offline-transcriber",
    }
    assert {policy.temperature for policy in static.sampling.values()} == {0.0}
    hashes = [prompt_hashes(arm.spec, arm.options) for arm in (static, dynamic)]
    assert hashes[0]["observer"] == hashes[1]["observer"]
    assert set(hashes[1]) - set(hashes[0]) == {"composition"}


def test_a_path_starts_at_the_study_file_and_its_content_is_planned(tmp_path: Path) -> None:
    own_library(tmp_path)
    before = arms(tmp_path, "libs/mine.json")["dynamic"]
    own_library(tmp_path, count=9)
    after = arms(tmp_path, "libs/mine.json")["dynamic"]

    assert isinstance(before.options, SageOptions)
    assert before.options.composites == load_library("composites")
    assert before.options != after.options
    hashes = [prompt_hashes(arm.spec, arm.options) for arm in (before, after)]
    assert hashes[0]["composition"] != hashes[1]["composition"]
    assert hashes[0]["orchestrator"] == hashes[1]["orchestrator"]


def test_a_library_that_cannot_be_used_is_told_by_the_line_of_the_arm(tmp_path: Path) -> None:
    with pytest.raises(
        RequestError, match=r"study\.yaml:5 arms\.dynamic\.options\.library: .*'comp"
    ):
        arms(tmp_path, "composite")
