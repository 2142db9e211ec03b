"""A whole study with the offline models on rendered videos, through the commands, as a user runs it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from taketwo.cli.main import main

STUDY = """\
study: tiny
benchmark: {name: rendered, folder: videos, seed: 3, videos: 1, questions: 4, open_questions: 1}
arms:
  single: {agent: single_turn, role: baseline, options: {frames: 6}}
  react: {agent: video_react}
models:
  orchestrator: taketwo/offline-orchestrator
  observer: taketwo/offline-observer
  transcriber: taketwo/offline-transcriber
generate: {temperature: 0.7, observer: {temperature: 0.0}, transcriber: {temperature: 0.0}}
executions: 2
seed: 11
limits: {turns: 5, visible_calls: 3, frames: 40}
"""
COMMAND = [sys.executable, "-m", "taketwo.cli.main"]


def told(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("offline") / "tiny"
    folder.mkdir()
    (folder / "study.yaml").write_text(STUDY, "utf-8")
    ran = told("run", folder)
    assert ran.returncode == 0, ran.stderr
    assert "K2 of 2: single 4/4, react 4/4; 0 failed" in ran.stderr
    scored = told("score", folder)
    assert scored.returncode == 0, scored.stderr
    return folder


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "tiny"))


def test_every_planned_cell_has_a_row_with_a_status(finished: Path) -> None:
    frame = pl.read_parquet(finished / "outcomes.parquet")

    assert frame.height == 2 * 2 * 4
    assert frame.unique(["arm", "execution", "question_id"]).height == frame.height
    assert frame["run_status"].null_count() == frame["score_status"].null_count() == 0


def test_what_was_not_reported_is_null_and_what_was_counted_adds_up(finished: Path) -> None:
    frame = pl.read_parquet(finished / "outcomes.parquet")
    single, react = (frame.filter(pl.col("arm") == arm) for arm in ("single", "react"))

    assert frame["cost_usd"].null_count() == frame.height
    assert frame["trajectory_score"].null_count() == frame.height
    assert set(single["turns"]) == {1.0}
    assert set(single["visible_calls"]) == {0.0}
    assert set(single["primitive_ops"]) == {1.0}
    assert (react["primitive_ops"] >= react["visible_calls"]).all()
    assert (react["turns"] <= 5).all()
    assert (frame["latency_s"] > 0).all()
    assert (frame["tokens"] == frame["input_tokens"] + frame["output_tokens"]).all()


def test_comparing_gives_a_verdict_for_each_measured_metric(finished: Path) -> None:
    shown = told("compare", finished, "--json")

    assert shown.returncode == 0, shown.stderr
    (pair,) = json.loads(shown.stdout)["comparisons"]
    assert (pair["baseline"], pair["method"]) == ("single", "react")
    assert {"accuracy", "turns", "visible_calls", "primitive_ops", "latency_s", "tokens"} <= set(
        pair["metrics"]
    )
    assert all(metric["verdict"] for metric in pair["metrics"].values())
    assert {item["metric"] for item in pair["not_measured"]} == {
        "cost_usd",
        "evidence_completeness",
        "evidence_grounding",
        "gt_evidence_coverage",
        "mc_rate",
        "reasoning_faithfulness",
        "task_understanding",
        "trajectory_score",
    }


def test_the_logs_alone_give_the_same_comparison(finished: Path) -> None:
    logs = [finished / f"K{execution}" / "attempt-01.eval" for execution in (1, 2)]

    by_logs, by_study = told("compare", *logs, "--json"), told("compare", finished, "--json")

    assert by_logs.returncode == 0, by_logs.stderr
    assert json.loads(by_logs.stdout) == json.loads(by_study.stdout)


def test_one_log_gives_the_single_run_table_and_what_is_not_known(finished: Path) -> None:
    shown = told("compare", finished / "K1" / "attempt-01.eval")

    assert shown.returncode == 0, shown.stderr
    assert "effect K1" in shown.stdout
    assert "shift" not in shown.stdout.split("effect K1")[1].splitlines()[0]


def test_the_report_is_one_file_without_a_script_or_a_load_from_elsewhere(finished: Path) -> None:
    shown = told("report", finished)

    assert shown.returncode == 0, shown.stderr
    page = (finished / "report.html").read_text("utf-8")
    assert shown.stdout.strip() == str(finished / "report.html")
    assert "<script" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert list((finished / "figures").glob("*.png"))
    assert list((finished / "tables").glob("*.tex"))


def test_running_a_finished_study_again_runs_nothing(finished: Path) -> None:
    before = sorted(path.name for path in (finished / "K1").iterdir())

    assert told("run", finished, "--quiet").returncode == 0
    assert sorted(path.name for path in (finished / "K1").iterdir()) == before


def test_a_damaged_painted_video_is_painted_again_before_the_next_execution(copy: Path) -> None:
    shutil.rmtree(copy / "K2")
    video = next((copy / "videos").rglob("*.mp4"))
    original = video.read_bytes()
    video.write_bytes(original[:-1] + bytes([original[-1] ^ 1]))

    shown = told("run", copy)

    assert shown.returncode == 0, shown.stderr
    assert video.read_bytes() == original
    assert told("compare", copy).returncode == 0


def test_a_changed_option_is_refused_on_resume_and_says_what_changed(copy: Path) -> None:
    changed = STUDY.replace("visible_calls: 3", "visible_calls: 2")
    (copy / "study.yaml").write_text(changed, "utf-8")

    shown = told("run", copy)

    assert shown.returncode == 2
    assert "arm 'react'" in shown.stderr
    assert "visible_calls" in shown.stderr


def test_logs_of_two_different_configurations_are_refused_with_arm_role_and_hashes(
    copy: Path, finished: Path
) -> None:
    for made in ("K1", "K2", "plan.json", "outcomes.parquet"):
        target = copy / made
        shutil.rmtree(target) if target.is_dir() else target.unlink()
    (copy / "study.yaml").write_text(STUDY.replace("frames: 6", "frames: 7"), "utf-8")
    assert told("run", copy, "--quiet").returncode == 0
    logs = [finished / "K1" / "attempt-01.eval", copy / "K2" / "attempt-01.eval"]

    refused, allowed = told("compare", *logs), told("compare", *logs, "--allow-drift")

    assert refused.returncode == 2
    assert "arm 'single', role orchestrator: the first request" in refused.stderr
    assert allowed.returncode == 0, allowed.stderr


def test_the_engine_runs_a_study_by_name_and_its_logs_can_be_compared(
    copy: Path, tmp_path: Path
) -> None:
    environment = {**os.environ, "INSPECT_LOG_MODEL_API": "true"}
    for execution in (1, 2):
        subprocess.run(
            [
                str(Path(sys.executable).parent / "inspect"),
                "eval",
                "taketwo/study",
                *("-T", f"plan={copy / 'plan.json'}", "-T", f"execution={execution}"),
                *("--log-dir", str(tmp_path / f"logs{execution}"), "--display", "none"),
                "--log-model-api",
            ],
            check=True,
            capture_output=True,
            env=environment,
        )
    logs = [next((tmp_path / f"logs{execution}").glob("*.eval")) for execution in (1, 2)]

    shown = told("compare", *logs)

    assert shown.returncode == 0, shown.stderr
    assert "react against single" in shown.stdout


def test_a_study_that_was_not_run_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "study.yaml").write_text(STUDY, "utf-8")
    assert told("plan", tmp_path).returncode == 0

    with pytest.raises(SystemExit) as stop:
        main(["compare", str(tmp_path)])

    assert stop.value.code == 3
    assert f"taketwo run {tmp_path}" in capsys.readouterr().err
