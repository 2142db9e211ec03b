"""The study files of both papers, on data sets of the published shape: they freeze, and say what was published."""

from __future__ import annotations

import json
from pathlib import Path

from tests.benchmarks import synthetic_agentvidbench, synthetic_sage_bench
from tests.executions.probing import probe

from taketwo.executions.freeze import freeze
from taketwo.executions.plan import Plan

_STUDIES = Path(__file__).parents[2] / "studies" / "published"


def _frozen(name: str, folder: Path) -> Plan:
    study = folder / f"{name}.yaml"
    study.write_text((_STUDIES / f"{name}.yaml").read_text("utf-8"), encoding="utf-8")
    return freeze(study, now="2026-03-01T12:00:00Z", probe=probe)


def test_the_repair_papers_study_freezes_on_a_data_set_of_its_shape(tmp_path: Path) -> None:
    (tmp_path / "data" / "sage_bench").mkdir(parents=True)
    rows = synthetic_sage_bench.rows()[:40]
    synthetic_sage_bench.write(tmp_path / "data" / "sage_bench" / "copy", rows)
    (tmp_path / "data" / "sage_bench" / "copy" / "data").rename(
        tmp_path / "data" / "sage_bench" / "data"
    )
    study = tmp_path / "all.yaml"
    text = (_STUDIES / "repair-paper.yaml").read_text("utf-8")
    study.write_text(text.replace(", exclude: data/holdout.json", ""), encoding="utf-8")
    everything = freeze(study, now="2026-03-01T12:00:00Z", probe=probe)
    held_out = [item.question.question_id for item in everything.questions[:4]]
    (tmp_path / "data" / "holdout.json").write_text(json.dumps(held_out), encoding="utf-8")

    plan = _frozen("repair-paper", tmp_path)

    assert len(plan.questions) == 40 - 4
    assert plan.scoring.answers == "published"
    assert plan.judge is not None
    assert plan.judge.name == "openai/gpt-4o"
    assert {arm.name: arm.baseline for arm in plan.arms} == {"static": None, "dynamic": "static"}
    # the audited pair differs in the five composite tools and in nothing else
    static, dynamic = plan.arms
    assert len(dynamic.tools) - len(static.tools) == 5
    assert static.limits == dynamic.limits
    assert {model.name for arm in plan.arms for model in arm.models.values()} == {
        "openai/gpt-4o",
        "taketwo/offline-transcriber",
    }


def test_agentvidbenchs_study_is_the_published_grid_with_the_published_judge(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "data" / "agentvidbench"
    folder.mkdir(parents=True)
    synthetic_agentvidbench.write(folder)

    plan = _frozen("agentvidbench", tmp_path)

    assert len(plan.questions) == 100
    assert len(plan.arms) == 5 * 4
    assert sum(arm.baseline is None for arm in plan.arms) == 4
    assert {arm.factors["orchestrator"] for arm in plan.arms} == {
        "openai/gpt-5",
        "anthropic/claude-opus-4-7",
        "google/gemini-2.5-flash",
        "google/gemini-2.5-pro",
    }
    scoring = plan.scoring.trajectories
    assert scoring is not None
    assert (scoring.judge.name, scoring.max_tokens) == ("anthropic/claude-opus-4-7", 4096)
    assert plan.rule.primary == ("accuracy", "trajectory_score")
