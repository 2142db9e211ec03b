from __future__ import annotations

from pathlib import Path

import pytest

from taketwo.cli.main import COMMANDS, main


def status_of(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert isinstance(stop.value.code, int)
    return stop.value.code


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of("--help") == 0

    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in COMMANDS)


def test_an_unknown_command_is_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of("evaluate") == 2
    assert "No such command 'evaluate'" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["plan", "run", "score", "compare", "report"])
def test_a_study_that_is_not_there_is_named_without_a_traceback(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "march.yaml"

    assert status_of(command, str(missing)) == 2

    shown = capsys.readouterr().err
    assert f"RequestError: {missing}: no such study" in shown
    assert "Traceback" not in shown


def test_a_folder_without_a_study_says_what_to_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of("run", str(tmp_path)) == 2
    assert "neither study.yaml nor plan.json here" in capsys.readouterr().err


def test_a_broken_yaml_file_is_told_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = tmp_path / "study.yaml"
    study.write_text("study: x\narms:\n  a: {agent: [}\n", "utf-8")

    assert status_of("plan", str(study)) == 2
    assert "study.yaml: not readable YAML: line 3, column 15" in capsys.readouterr().err


def test_an_edited_plan_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "plan.json").write_text('{"format": "taketwo.plan/99"}', "utf-8")

    assert status_of("score", str(tmp_path)) == 3
    assert "written by a newer version (taketwo.plan/99)" in capsys.readouterr().err


def test_two_names_that_are_no_logs_are_bad_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of("compare", str(tmp_path / "a"), str(tmp_path / "b")) == 2
    assert "one study, one outcomes table or logs (.eval), found 2 names" in capsys.readouterr().err


def test_a_missing_optional_package_is_told_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def absent(_: object) -> object:
        raise ModuleNotFoundError("No module named 'inspect_ai'", name="inspect_ai")

    monkeypatch.setattr("taketwo.cli.plan.plan", absent)

    assert status_of("plan", str(tmp_path)) == 2
    assert "pip install 'taketwo[offline]'" in capsys.readouterr().err
