"""Files of others as they are on disk: compressed, damaged, or saying one thing twice."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from tests.outcomes.imports.files import write_lines

from taketwo.errors import InvalidResults
from taketwo.outcomes.imports.sources import open_source, text_of


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (3.0, "3"),
        (2.5, "2.5"),
        (7, "7"),
        (" a ", "a"),
        (True, "true"),
        (False, "false"),
        (float("nan"), None),
        (float("inf"), None),
        ("", None),
        (None, None),
        (["a"], None),
    ],
)
def test_an_id_or_level_is_text_as_json_writes_it_and_not_a_number_is_none(
    value: object, written: str | None
) -> None:
    assert text_of(value) == written


def test_a_compressed_file_that_becomes_more_than_a_record_can_be_is_refused(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.jsonl.gz"
    path.write_bytes(gzip.compress(b"[" + b" " * (65 * 2**20), compresslevel=9))

    with pytest.raises(InvalidResults, match="compressed bytes become more than 67108864") as told:
        _ = open_source(path).text

    assert "unpack it (gunzip)" in str(told.value)


def test_compressed_files_of_several_parts_are_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": 1}\n') + gzip.compress(b'{"a": 2}\n'))

    assert [line.record["a"] for line in open_source(path).lines()] == [1, 2]


def test_a_compressed_file_that_was_cut_off_is_told(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "run.jsonl", [{"a": 1}])
    path.write_bytes(gzip.compress(path.read_bytes())[:-4])

    with pytest.raises(InvalidResults, match="damaged or cut off"):
        _ = open_source(path).text


@pytest.mark.parametrize("form", ['{"x": %s}\n', "[%s]", '{"x": [{"y": %s}]}'])
def test_a_key_that_stands_twice_is_a_fault_wherever_it_stands(tmp_path: Path, form: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(form % '{"is_correct": true, "is_correct": false}')

    with pytest.raises(InvalidResults, match="the key 'is_correct' stands 2 times in one object"):
        list(open_source(path).lines())
    with pytest.raises(InvalidResults, match="the key 'is_correct' stands 2 times in one object"):
        open_source(path).json()
