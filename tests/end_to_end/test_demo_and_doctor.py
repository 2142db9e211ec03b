"""The demo with a smaller study in its place, and the doctor, as a user calls them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from taketwo.cli.main import main
from taketwo.diagnosis import Check, Diagnosis

SMALL = """\
study: demo
benchmark: {name: rendered, folder: videos, seed: 5, videos: 1, questions: 3, open_questions: 0}
arms:
  single: {agent: single_turn, role: baseline, options: {frames: 4}}
  react: {agent: video_react}
models:
  orchestrator: taketwo/offline-orchestrator
  observer: taketwo/offline-observer
  transcriber: taketwo/offline-transcriber
generate: {temperature: 0.7}
executions: 2
seed: 5
limits: {turns: 4, visible_calls: 2, frames: 24}
"""


def status_of(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert isinstance(stop.value.code, int)
    return stop.value.code


@pytest.fixture
def small_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("taketwo.demonstration.demo_study", lambda: SMALL)


@pytest.mark.usefixtures("small_demo")
def test_the_demo_ends_with_verdicts_bounds_and_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "demo"

    assert status_of("demo", str(folder)) == 0

    shown = capsys.readouterr()
    assert "react against single" in shown.out
    assert re.search(r"chance is \d+\.\d%; what the perception alone allows is at most", shown.out)
    assert shown.out.rstrip().endswith(f"Report: {folder / 'report.html'}")
    assert "K2 of 2: single 3/3, react 3/3; 0 failed" in shown.err
    page = (folder / "report.html").read_text("utf-8")
    assert "Perception-only bound" in page
    assert json.loads((folder / "comparison.json").read_bytes())["format"] == "taketwo.comparison/1"


@pytest.mark.usefixtures("small_demo")
def test_the_demo_does_not_run_in_the_folder_of_another_study(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "study.yaml").write_text("study: mine\n", "utf-8")

    assert status_of("demo", str(tmp_path)) == 2
    assert "another study, or a demo of another version, lies here" in capsys.readouterr().err


def test_the_demo_does_not_run_in_a_folder_with_other_things(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.txt").write_text("years of work", "utf-8")

    assert status_of("demo", str(tmp_path)) == 2
    assert "not an empty folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_the_doctor_answers_one_question_end_to_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of("doctor", "--json") == 0

    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)}
    assert re.fullmatch(r"2 cells in \d+ s", checks["one question end to end"]["detail"])
    assert {check["state"] for check in checks.values()} <= {"ok", "attention"}


def test_the_doctor_names_keys_and_never_shows_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")

    assert status_of("doctor", "--quick") == 0

    shown = capsys.readouterr().out
    assert "OPENAI_API_KEY" in shown
    assert "sk-secret" not in shown


def test_the_doctor_fails_where_something_installed_is_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = Diagnosis(checks=(Check(name="decoders", state="broken", detail="no h264"),))
    monkeypatch.setattr("taketwo.cli.doctor.doctor", lambda **_: broken)

    assert status_of("doctor") == 4
    assert "broken     decoders  no h264" in capsys.readouterr().out
