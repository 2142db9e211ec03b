"""Where the report of a study is written."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner
from tests.scored_study import choice, finished

from taketwo.cli.report import command
from taketwo.scoring import score


def test_a_report_may_be_written_into_another_folder_than_the_studys(tmp_path: Path) -> None:
    study, elsewhere = tmp_path / "study", tmp_path / "pages" / "march"
    finished(study, [choice(1), choice(2)], {})
    score(study, judge=False)
    before = sorted(path.name for path in study.iterdir())

    result = CliRunner().invoke(command, [str(study), "-o", str(elsewhere)])

    assert result.exit_code == 0, result.output
    assert str(elsewhere / "report.html") in result.output
    assert {path.name for path in elsewhere.iterdir()} == {"figures", "report.html", "tables"}
    assert {path.name for path in study.iterdir()} - set(before) <= {"comparison.json"}
