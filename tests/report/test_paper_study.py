"""The study of the reconstruction says on every page that it is one."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "studies" / "paper" / "tables.py"


def test_every_table_and_the_report_say_reconstruction(tmp_path: Path) -> None:
    study = runpy.run_path(str(SCRIPT))

    assert study["main"]([str(tmp_path)]) == 0

    pages = [path for path in tmp_path.iterdir() if path.suffix in {".md", ".tex", ".html"}]
    assert len(pages) == 15
    for page in pages:
        assert "reconstruction" in page.read_text(encoding="utf-8").lower()
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '@top-center { content: "reconstruction"' in report


def test_wrong_usage_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    study = runpy.run_path(str(SCRIPT))

    assert study["main"]([]) == 2
    assert capsys.readouterr().err == "usage: python studies/paper/tables.py FOLDER\n"
