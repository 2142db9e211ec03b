from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.outcomes.imports.files import read, write_json, write_text

from taketwo.errors import InvalidResults, RequestError
from taketwo.outcomes.imports.detect import recognise


def test_what_is_none_of_the_known_formats_is_told(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(
        InvalidResults, match="not results of a known format; known are our outcomes"
    ):
        read(tmp_path / "notes.txt")
    with pytest.raises(InvalidResults, match="no results of a known format"):
        read(tmp_path)
    with pytest.raises(InvalidResults, match="no such file or folder"):
        read(tmp_path / "absent")
    with pytest.raises(RequestError, match="name at least one file or folder"):
        read()


def test_a_json_file_is_recognised_by_what_is_in_it(tmp_path: Path) -> None:
    assert recognise(write_json(tmp_path / "a.json", {"config": {"x": 1}})) is None
    assert recognise(write_json(tmp_path / "b.json", [])) is None
    assert recognise(write_json(tmp_path / "c.json", [{"item_id": 1, "score": 1}])) == "table"
    write_text(tmp_path / "d.json", "{")
    with pytest.raises(InvalidResults, match=r"d\.json: not readable JSON"):
        recognise(tmp_path / "d.json")


def test_an_unreadable_file_in_a_folder_is_in_the_account(tmp_path: Path) -> None:
    write_text(tmp_path / "t.csv", "system,execution,item_id,score", "a,1,q,1")
    write_text(tmp_path / "broken.json", "{")

    (aside,) = read(tmp_path).reading.asides

    assert aside.what == "unreadable file"
    assert "broken.json: not readable JSON" in aside.first


def test_a_folder_with_nothing_but_unreadable_files_says_what_is_wrong_with_them(
    tmp_path: Path,
) -> None:
    (tmp_path / "run.jsonl").write_bytes('{"answer": "caf\u00e9"}'.encode("latin-1"))

    with pytest.raises(InvalidResults, match=r"(?s)known format.*run\.jsonl: not UTF-8 text"):
        read(tmp_path)


def test_a_folder_named_twice_is_read_once(tmp_path: Path) -> None:
    table = write_text(tmp_path / "t.csv", "system,execution,item_id,score", "a,1,q,1")

    found = read(tmp_path, table)

    assert len(found.reading.files) == 1
    assert found.reading.asides == ()


def test_reading_results_loads_neither_engine_nor_decoder() -> None:
    heavy = ("inspect_ai", "av", "pandas")
    program = (
        "import sys, taketwo.outcomes.imports.detect, taketwo.outcomes.imports.to_outcomes; "
        f"print(sorted(set({heavy!r}) & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"
