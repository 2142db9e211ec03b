"""What `taketwo plan` says of a study whose file was edited after its plan was frozen."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.executions.probing import probe

from taketwo.cli.main import main
from taketwo.cli.plan import differences_text
from taketwo.executions import unchanged
from taketwo.executions.freeze import freeze, write_plan
from taketwo.executions.plan import Plan
from taketwo.executions.study_file import study_file_of
from taketwo.study import plan

_STUDY = """\
study: march
benchmark: {name: local, path: questions.jsonl}
arms:
  single: {agent: single_turn, role: baseline, options: {frames: 16}}
  react: {agent: video_react}
models:
  orchestrator: taketwo/offline-orchestrator
  observer: taketwo/offline-observer
  transcriber: taketwo/offline-transcriber
seed: 5
limits: {turns: 10}
rule: {primary: [accuracy, turns], margins: {accuracy: 0.02}}
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Return the file of a study whose plan is frozen, in the folder `march` beside it."""
    (tmp_path / "a.mp4").write_bytes(b"video a")
    question = {
        "question_id": "q0",
        "text": "What is shown?",
        "video_path": "a.mp4",
        "options": ["a dog", "a cat"],
        "answer": "A",
    }
    (tmp_path / "questions.jsonl").write_text(json.dumps(question))
    path = tmp_path / "march.yaml"
    path.write_text(_STUDY)
    (tmp_path / "march").mkdir()
    _freeze(path, tmp_path / "march")
    return path


def _freeze(path: Path, folder: Path) -> Plan:
    frozen = freeze(path, now="2026-03-01T12:00:00Z", probe=probe)
    write_plan(frozen, folder)
    return frozen


def _edit(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def test_a_study_that_nobody_edited_has_nothing_to_tell(study: Path) -> None:
    planned = plan(study)

    assert (planned.is_new, planned.edited, planned.installed) == (False, (), ())
    assert differences_text(planned) == ""


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("seed: 5", "seed: 5\nexecutions: 3", "executions: planned "),
        (
            "margins: {accuracy: 0.02}",
            "margins: {accuracy: 0.05}",
            "margins.accuracy: 0.02 -> 0.05",
        ),
        ("frames: 16", "frames: 17", "arm 'single', options: planned "),
        ("turns: 10", "turns: 9", "arm 'react', limits: planned "),
        ("seed: 5", "seed: 5\nscoring: published", '(answers: "option-match" -> "published")'),
    ],
)
def test_an_edit_after_freezing_is_told_by_its_field(
    study: Path, before: str, after: str, told: str
) -> None:
    _edit(study, before, after)

    planned = plan(study)

    text = differences_text(planned)
    assert told in text
    assert planned.installed == ()
    assert text.startswith(f"THE STUDY FILE DIFFERS FROM THE FROZEN PLAN: {study}, ")
    assert planned.plan.executions == 2  # the plan stands as it was frozen


def test_edited_questions_are_told_too(study: Path) -> None:
    _edit(study.parent / "questions.jsonl", "What is shown?", "What is seen?")

    assert "question 'q0': planned " in differences_text(plan(study))


def test_a_study_file_that_became_wrong_is_told_with_its_faults(study: Path) -> None:
    _edit(study, "video_react", "video_reakt")

    planned = plan(study)

    text = differences_text(planned)
    assert text.startswith("THE STUDY FILE CANNOT BE USED AS IT STANDS, so whether it differs ")
    assert "march.yaml:5 arms.react.agent: unknown agent 'video_reakt'" in text
    assert planned.edited == ()


def test_questions_that_are_not_on_this_machine_are_no_edit(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (study.parent / "questions.jsonl").unlink()

    text = differences_text(plan(study))
    assert _status("score", str(study)) == 0

    told = capsys.readouterr().err
    assert "CANNOT BE USED AS IT STANDS" in text
    assert "edited" not in text
    assert "Note: the study file cannot be used as it stands; the frozen plan counts" in told
    assert "edited" not in told


def test_what_to_do_depends_on_whether_cells_have_run(study: Path) -> None:
    _edit(study, "turns: 10", "turns: 9")
    before = differences_text(plan(study))
    (study.parent / "march" / "K1").mkdir()
    (study.parent / "march" / "K1" / "attempt-01.eval").write_bytes(b"")
    after = differences_text(plan(study))

    keep = (
        "save the file as march-2.yaml, put the old text back, and call: taketwo plan march-2.yaml"
    )
    assert keep in before
    assert keep in after
    assert f"remove {study.parent / 'march' / 'plan.json'}" in before
    assert "remove" not in after


def test_other_code_is_no_edit_of_the_study(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def other_code() -> str:
        return "0" * 64

    monkeypatch.setattr("taketwo.executions.resolved_study.code_sha256", other_code)

    planned = plan(study)

    assert planned.edited == ()
    text = differences_text(planned)
    assert text.startswith("WHAT IS INSTALLED DIFFERS FROM THE FROZEN PLAN")
    assert "code of Take Two: planned " in text


def test_no_video_is_read_for_it(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def media(*_: object) -> object:
        raise AssertionError("the videos were read")

    monkeypatch.setattr(unchanged, "media_now", media)
    (study.parent / "a.mp4").unlink()

    assert differences_text(plan(study)) == ""


def test_the_command_says_it_above_the_plan_and_in_json(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _edit(study, "turns: 10", "turns: 9")

    assert _status("plan", str(study)) == 0
    shown = capsys.readouterr().out
    assert _status("plan", str(study), "--json") == 0
    record = json.loads(capsys.readouterr().out)

    assert shown.index("THE STUDY FILE DIFFERS") < shown.index("Study march: plan ")
    assert [told.split(":")[0] for told in record["differences"]["study_file"]] == [
        "arm 'react', limits"
    ]
    assert record["differences"]["installed"] == []


def test_a_rule_that_was_edited_after_the_scores_is_told_before_they_are_compared(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _edit(study, "margins: {accuracy: 0.02}", "margins: {accuracy: 0.05}, level: 0.9")

    assert _status("compare", str(study)) == 3  # nothing ran

    told = capsys.readouterr().err
    assert (
        "the rule in the study file was edited after the plan was frozen; the plan counts" in told
    )
    assert "  level: 0.95 -> 0.9\n  margins: " in told
    assert f"what to do about it: taketwo plan {study}" in told


def test_an_edited_judge_is_told_before_anybody_is_asked(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _edit(study, "seed: 5", "seed: 5\nscoring: published")

    assert _status("score", str(study)) == 0

    told = capsys.readouterr().err
    assert "the study file was edited after the plan was frozen; the plan counts" in told
    assert "scoring: planned " in told


@pytest.mark.parametrize("command", ["score", "compare"])
def test_nothing_is_told_of_a_study_that_nobody_edited(
    command: str, study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _status(command, str(study))

    assert "edited" not in capsys.readouterr().err


def _status(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert isinstance(stop.value.code, int)
    return stop.value.code


def test_the_file_of_a_folder_with_a_dot_is_not_that_of_the_name_before_it(
    study: Path,
) -> None:
    other = study.with_name("march-1.5.yaml")
    shutil.copy(study, other)
    _edit(other, "turns: 10", "turns: 4")
    (study.parent / "march-1.5").mkdir()
    shutil.copy(study, study.with_name("march-1.yaml"))  # another study, of version 1
    frozen = _freeze(other, study.parent / "march-1.5")

    assert study_file_of(frozen, study.parent / "march-1.5") == other
    assert plan(other).edited == ()
