from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.outcomes.imports.files import write_text

from taketwo.cli.audit import command
from taketwo.errors import InvalidResults

DATA = Path(__file__).parents[1] / "data"
ISSUE = [
    str(DATA / "repair_paper_accuracy.csv"),
    "--question", "question_id",
    "--wide", "{execution}_{system}",
    "--baseline", "static",
    "--method", "dynamic",
    "--cluster", "video_id_synthetic",
    "--by", "format",
    "--by", "modality",
]  # fmt: skip


def test_what_was_understood_stands_before_any_number() -> None:
    shown = CliRunner().invoke(command, ISSUE, catch_exceptions=False)

    assert shown.exit_code == 0
    account, effect = shown.stdout.index("Read as wide table"), shown.stdout.index("+7.3")
    assert account < effect
    assert "Alignment of executions: blocked" in shown.stdout[:effect]
    assert "the primary family is 1 metric" in shown.stdout[:effect]
    assert "directional reversal" in shown.stdout


def test_json_is_one_object_and_the_account_goes_to_stderr() -> None:
    shown = CliRunner().invoke(command, [*ISSUE, "--json"], catch_exceptions=False)

    record = json.loads(shown.stdout)
    assert record["format"] == "taketwo.comparison/1"
    assert record["comparisons"][0]["metrics"]["accuracy"]["verdict"] == "directional_reversal"
    assert "Read as wide table" in shown.stderr


def test_the_account_is_shown_even_where_the_comparison_is_refused(tmp_path: Path) -> None:
    table = write_text(tmp_path / "t.csv", "system,execution,item_id,score", "a,1,q,1")

    shown = CliRunner().invoke(command, [str(table)])

    assert "Systems: 1" in shown.stdout
    assert isinstance(shown.exception, InvalidResults)
    with pytest.raises(InvalidResults, match="only one system"):
        raise shown.exception


def test_the_report_is_written_where_asked(tmp_path: Path) -> None:
    out = tmp_path / "out.html"
    shown = CliRunner().invoke(command, [*ISSUE, "--report", str(out)], catch_exceptions=False)
    assert shown.exit_code == 0
    assert out.stat().st_size > 10_000
