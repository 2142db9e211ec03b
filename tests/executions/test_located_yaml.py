"""YAML with the line of every place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from taketwo.errors import RequestError
from taketwo.executions.located_yaml import Problems, read_located_yaml


def _written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "study.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_values_are_read_and_every_place_has_its_line(tmp_path: Path) -> None:
    source = read_located_yaml(_written(tmp_path, "a: 1\nb:\n  c: [x,\n    y]\n  d: {e: true}\n"))

    assert source.data == {"a": 1, "b": {"c": ["x", "y"], "d": {"e": True}}}
    assert [
        source.line(place) for place in [("a",), ("b", "c"), ("b", "c", 1), ("b", "d", "e")]
    ] == [
        1,
        3,
        4,
        5,
    ]


def test_a_place_that_the_file_lacks_has_the_line_of_the_nearest_around_it(tmp_path: Path) -> None:
    source = read_located_yaml(_written(tmp_path, "a: 1\nb:\n  c: 2\n"))

    assert source.line(("b", "missing", "deeper")) == 2
    assert source.line(("nothing",)) == 1


def test_a_syntax_error_has_file_line_and_column(tmp_path: Path) -> None:
    path = _written(tmp_path, "study: a\narms: {static: {agent: sage}\nmodels: {}\n")

    with pytest.raises(
        RequestError, match=re.escape(f"{path}: not readable YAML: line 3, column 1: expected ")
    ):
        read_located_yaml(path)


def test_tags_that_would_run_code_are_refused(tmp_path: Path) -> None:
    path = _written(tmp_path, "study: !!python/object/apply:os.system ['true']\n")

    with pytest.raises(RequestError, match=r"line 1, column 8: could not determine a constructor"):
        read_located_yaml(path)


def test_repeated_keys_are_found_at_every_depth(tmp_path: Path) -> None:
    source = read_located_yaml(_written(tmp_path, "a: 1\nb: {c: 1, c: 2}\na: 2\n"))

    assert set(source.duplicates) == {("a",), ("b", "c")}
    assert source.line(("a",)) == 3


def test_aliases_that_expand_without_end_are_refused(tmp_path: Path) -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]

    with pytest.raises(RequestError, match="expanded by aliases beyond 100000 values"):
        read_located_yaml(_written(tmp_path, "\n".join(rows)))


def test_a_file_that_contains_itself_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="nested too deeply"):
        read_located_yaml(_written(tmp_path, "a: &a\n  b: *a\n"))


@pytest.mark.parametrize(
    ("text", "found"), [("", "nothing"), ("- a\n- b\n", "list"), ("just text", "str")]
)
def test_what_is_no_mapping_is_refused(tmp_path: Path, text: str, found: str) -> None:
    with pytest.raises(RequestError, match=f"a mapping of settings, found {found}"):
        read_located_yaml(_written(tmp_path, text))


def test_a_missing_file_and_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="no such file"):
        read_located_yaml(tmp_path / "none.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"study: \xff\xfe")
    with pytest.raises(RequestError, match="cannot be read as UTF-8 text"):
        read_located_yaml(tmp_path / "bytes.yaml")


def test_problems_are_told_together_in_the_order_of_lines(tmp_path: Path) -> None:
    path = _written(tmp_path, "a: 1\nb:\n  c: 2\n")
    problems = Problems(read_located_yaml(path))
    problems.add(("b", "c"), "too small")
    problems.add(("a",), "too large")
    problems.add(("a",), "too large")

    with pytest.raises(RequestError) as error:
        problems.raise_if_any()

    assert str(error.value) == (
        f"{path}: 2 problems, nothing was frozen\n"
        "  study.yaml:1 a: too large\n"
        "  study.yaml:3 b.c: too small"
    )


def test_without_problems_nothing_is_raised(tmp_path: Path) -> None:
    Problems(read_located_yaml(_written(tmp_path, "a: 1\n"))).raise_if_any()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nday: 2026-99-99\n", "line 2, column 6: '2026-99-99' reads as timestamp but is not"),
        ("seed: 0b_\n", "line 1, column 7: '0b_' reads as int but is not a valid one"),
        ("on: !!bool maybe\n", "line 1, column 5: 'maybe' reads as bool but is not a valid one"),
        ("a: 1\nb: " + "[" * 5000, "line 2: nested too deeply; write it out plainly"),
    ],
)
def test_what_the_parser_itself_stumbles_over_has_file_line_and_remedy(
    text: str, message: str, tmp_path: Path
) -> None:
    path = _written(tmp_path, text)

    with pytest.raises(RequestError, match=re.escape(f"{path}: not readable YAML: {message}")):
        read_located_yaml(path)


def test_a_key_that_is_no_text_has_its_line_by_what_it_is_read_as(tmp_path: Path) -> None:
    source = read_located_yaml(_written(tmp_path, "a:\n  1: x\n  on: y\n  2026-01-02: z\n"))

    assert [source.line(("a", name)) for name in ("1", "True", "2026-01-02")] == [2, 3, 4]
