"""How a study is scored: the record of the plan, what a study file may say of it, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.executions.probing import probe
from tests.plans import make_plan

from taketwo.benchmarks.question import Milestone, Question, ReferenceStep
from taketwo.errors import PlanChanged, RequestError, RuleMismatch
from taketwo.executions import resolved_study
from taketwo.executions.expected_cost import expected_cost
from taketwo.executions.freeze import check_unchanged, freeze, write_plan
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.plan import Plan, read_plan
from taketwo.executions.scoring_spec import ScoringSpec, TrajectoryScoring

_STUDY = """\
study: march
benchmark: {name: local, path: questions.jsonl}
arms:
  single: {agent: single_turn, role: baseline}
  react: {agent: video_react}
models:
  orchestrator: taketwo/offline-orchestrator
  observer: taketwo/offline-observer
  transcriber: taketwo/offline-transcriber
seed: 5
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "march"
    home.mkdir()
    (home / "a.mp4").write_bytes(b"video a")
    rows = [
        {
            "question_id": f"q{number}",
            "text": f"What is shown in scene {number}?",
            "video_path": "a.mp4",
            "options": ["a dog", "a cat"],
            "answer": "A",
            "milestones": [{"text": "the scene is found"}] if number < 3 else [],
        }
        for number in (1, 2, 3)
    ]
    (home / "questions.jsonl").write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return home


def _frozen(folder: Path, scoring: str, models: str = "") -> Plan:
    text = _STUDY.replace("seed: 5", f"seed: 5\n{scoring}")
    if models:
        text = text.replace("models:\n", f"models:\n{models}")
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    return freeze(folder / "study.yaml", now="2026-03-01T12:00:00Z", probe=probe)


def _refused(folder: Path, scoring: str) -> str:
    with pytest.raises(RequestError) as error:
        _frozen(folder, scoring)
    return str(error.value)


def test_without_a_section_choices_are_matched_and_the_plan_keeps_its_hash(folder: Path) -> None:
    plan = _frozen(folder, "")

    assert plan.scoring == ScoringSpec()
    assert "scoring" not in plan.to_json()


def test_published_scoring_asks_gpt_4o_unless_a_judge_is_named(folder: Path) -> None:
    plan = _frozen(folder, "scoring: published")
    named = _frozen(folder, "scoring: published", "  judge: mockllm/model\n")

    assert plan.scoring.answers == "published"
    assert plan.judge == ModelSpec(name="openai/gpt-4o")
    assert named.judge == ModelSpec(name="mockllm/model")


def test_a_whole_section_is_kept_through_the_file(folder: Path) -> None:
    plan = _frozen(
        folder,
        "scoring:\n"
        "  repeats: 3\n"
        "  ungradable: wrong\n"
        "  judges: [mockllm/second, {name: openai/third, base_url: 'http://localhost:1/v1'}]\n"
        "  extractor: mockllm/reader\n"
        "  trajectories: {preset: repository, protocol: published, rubric: paraphrased, "
        "judges: [mockllm/other], references: false}\n",
        "  judge: mockllm/first\n",
    )
    write_plan(plan, folder)

    assert read_plan(folder / "plan.json") == plan
    assert plan.scoring == ScoringSpec(
        repeats=3,
        ungradable="wrong",
        judges=(
            ModelSpec(name="mockllm/second"),
            ModelSpec(name="openai/third", base_url="http://localhost:1/v1"),
        ),
        extractor=ModelSpec(name="mockllm/reader"),
        trajectories=TrajectoryScoring(
            judge=ModelSpec(name="anthropic/claude-opus-4-7"),
            protocol="published",
            rubric="paraphrased",
            max_tokens=8000,
            judges=(ModelSpec(name="mockllm/other"),),
            references=False,
        ),
    )


def test_the_published_preset_has_the_judge_and_the_tokens_of_the_paper(folder: Path) -> None:
    scoring = _frozen(folder, "scoring: {trajectories: published}").scoring.trajectories

    assert scoring == TrajectoryScoring(
        judge=ModelSpec(name="anthropic/claude-opus-4-7"), max_tokens=4096
    )


@pytest.mark.parametrize(
    ("scoring", "expected"),
    [
        ("scoring: {repeats: 2}", "an odd number, so that there can be a majority; found 2"),
        ("scoring: {repeats: 3}", "stand beside a primary judge"),
        ("scoring: {judges: [mockllm/a]}", "stand beside a primary judge of answers"),
        (
            "scoring: {trajectories: {protocol: blind}}",
            "missing judge; write judge: provider/model",
        ),
        ("scoring: {trajectories: {judge: nobody/x}}", "no model provider is called 'nobody'"),
        (
            "scoring: {trajectories: {judge: mockllm/a, judges: [mockllm/a]}}",
            "'mockllm/a' is named twice; keep one",
        ),
        ("scoring: {answers: best}", "'option-match' or 'published'"),
        (
            "scoring: {trajectories: {judge: mockllm/a, rubric: kind}}",
            "'standard' or 'paraphrased'",
        ),
    ],
)
def test_what_cannot_be_scored_is_told_before_anything_runs(
    folder: Path, scoring: str, expected: str
) -> None:
    assert expected in _refused(folder, scoring)


def test_a_judge_of_trajectories_needs_milestones(folder: Path) -> None:
    path = folder / "questions.jsonl"
    path.write_text(path.read_text("utf-8").replace("the scene is found", ""), "utf-8")
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    path.write_text(
        "\n".join(json.dumps({**row, "milestones": []}) for row in rows), encoding="utf-8"
    )

    assert "none of the 3 questions of 'local' has any" in _refused(
        folder, "scoring: {trajectories: {judge: mockllm/a}}"
    )


def test_another_judge_is_another_study(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_plan(_frozen(folder, "scoring: {trajectories: {judge: mockllm/a}}"), folder)
    plan = read_plan(folder / "plan.json")
    study = folder / "study.yaml"
    study.write_text(study.read_text("utf-8").replace("mockllm/a", "mockllm/b"), "utf-8")
    monkeypatch.setattr(resolved_study, "code_sha256", lambda: plan.code_sha256)

    with pytest.raises(PlanChanged, match="scoring: planned"):
        check_unchanged(plan, folder)


def test_an_even_number_of_repeats_is_no_scoring() -> None:
    with pytest.raises(RuleMismatch, match="found repeats: 4"):
        ScoringSpec(repeats=4)


def test_the_most_that_judges_are_asked_counts_repeats_judges_and_curated_trajectories() -> None:
    question = Question(
        question_id="q",
        text="Which?",
        video_id="v",
        video_path="v.mp4",
        options=("a", "b"),
        answer_index=0,
        milestones=(Milestone(milestone_id="M1", text="found"),),
        reference=(ReferenceStep(tool="look", arguments="", thought="", observation="seen"),),
    )
    judge = ModelSpec(name="mockllm/model")
    plan = make_plan(questions=[question], judge=judge)
    scoring = ScoringSpec(
        answers="published",
        repeats=3,
        judges=(ModelSpec(name="mockllm/b"),),
        trajectories=TrajectoryScoring(judge=judge, judges=(ModelSpec(name="mockllm/b"),)),
    )

    cost = expected_cost(replace(plan, scoring=scoring))

    assert cost.judged_most == 1 * 2 * 2 * 3 * 2
    assert cost.trajectories_most == 1 * 2 * 2 * 2 + 1
    told = cost.to_text()
    assert "judge of trajectories mockllm/model: at most 5 requests" in told
    assert "judge of trajectories mockllm/b: at most 4 requests" in told
