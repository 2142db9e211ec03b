"""Rows of a question file, whatever its format, each with the line it begins on."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import yaml

from taketwo.benchmarks.careful_yaml import (
    MOST_VALUES,
    PlainTextLoader,
    beyond_limit,
    yaml_fault,
)
from taketwo.errors import InvalidQuestion, UnknownName

__all__ = ["LocalRow", "WrittenFloat", "no_numbers", "read_rows"]

_OPTION_COLUMN = re.compile(r"option_([1-9][0-9]{0,3})")
_TOO_LARGE = f"expanded by aliases beyond {MOST_VALUES} values; write it out plainly"
_LISTS = ("skills", "capabilities", "accepted_answers")


@dataclass(frozen=True)
class LocalRow:
    """A row as it was read; `problem` says why it could not be, and `values` is then empty.

    `number` is its place among the rows, from 1, where another one begins on the same line.
    """

    line: int
    values: dict[str, object]
    problem: str | None = None
    number: int | None = None

    @property
    def place(self) -> str:
        """Return where the row stands in its file, in words that fit no other row."""
        return f"line {self.line}" + ("" if self.number is None else f", row {self.number}")


def read_rows(path: Path) -> list[LocalRow]:
    """Return the rows of a `.jsonl`, `.json`, `.csv`, `.yaml` or `.yml` file.

    Raises
    ------
    InvalidQuestion
        If the file is missing, is not UTF-8, or its format is broken as a whole.
    UnknownName
        If the ending of the name is none of these.
    """
    readers = {
        ".jsonl": _jsonl,
        ".json": _json,
        ".csv": _csv,
        ".yaml": _yaml,
        ".yml": _yaml,
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise UnknownName.among("ending of a question file", path.suffix, readers)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise InvalidQuestion(f"question file {str(path)!r} does not exist") from error
    except (OSError, ValueError) as error:
        raise InvalidQuestion(f"question file {str(path)!r} cannot be read: {error}") from error
    try:
        return _told_apart(list(reader(text)))
    except _BrokenFile as error:
        raise InvalidQuestion(f"question file {str(path)!r}, {error}") from error


class _BrokenFile(Exception):
    """The file as a whole cannot be read; the text begins with the line."""


def _told_apart(rows: Sequence[LocalRow]) -> list[LocalRow]:
    """Return the rows, numbered where they share a line, as all of a list on one line do."""
    on_line = Counter(row.line for row in rows)
    return [
        replace(row, number=number) if on_line[row.line] > 1 else row
        for number, row in enumerate(rows, start=1)
    ]


def _row(line: int, value: object) -> LocalRow:
    if not isinstance(value, dict):
        return LocalRow(line, {}, f"expected an object with fields, found {type(value).__name__}")
    values = cast("dict[object, object]", value)
    return LocalRow(line, {str(name): item for name, item in values.items()})


def _jsonl(text: str) -> Iterator[LocalRow]:
    for line, content in enumerate(text.split("\n"), start=1):
        if not content.strip():
            continue
        try:
            yield _json_row(line, _DECODER.decode(content))
        except (ValueError, RecursionError) as error:
            yield LocalRow(line, {}, f"not a JSON object: {_json_fault(error)}")


def _json(text: str) -> Iterator[LocalRow]:
    """Yield the elements of the only list in the file: the whole of it, or under `questions`."""
    blank = re.compile(r"\s*")
    opening = re.match(r'\s*(?:\{\s*"questions"\s*:\s*)?\[', text)
    if opening is None:
        raise _BrokenFile('line 1: expected a list of questions or {"questions": [...]}')
    at, counted, line = opening.end(), 0, 1
    for number in itertools.count(1):
        at = cast("re.Match[str]", blank.match(text, at)).end()
        line += text.count("\n", counted, at)
        counted = at
        if text[at : at + 1] == "]":
            _require_end(text, at + 1, is_inside="{" in opening[0])
            return
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise _BrokenFile(f"line {line}: not JSON: {_json_fault(error)}") from error
        yield _json_row(line, value)
        at = cast("re.Match[str]", blank.match(text, at)).end()
        if text[at : at + 1] == ",":
            at += 1
        elif text[at : at + 1] != "]":
            line = text.count("\n", 0, at) + 1
            raise _BrokenFile(
                f"line {line}: expected ',' or ']' after a question, row {number} of the list"
            )


def _require_end(text: str, at: int, *, is_inside: bool) -> None:
    """Require that nothing follows the list but the brace around it, where there is one."""
    rest = text[at:]
    if re.fullmatch(r"\s*\}\s*" if is_inside else r"\s*", rest):
        return
    line = text.count("\n", 0, len(text) - len(rest.lstrip())) + 1
    wanted = "only '}' may follow" if is_inside else "nothing may follow"
    raise _BrokenFile(
        f"line {line}: text after the list of questions, where {wanted}; found "
        f"{rest.strip()[:40]!r}; remove it, or put one question a line into a .jsonl file"
    )


class _Object(dict[str, object]):
    """A JSON object that knows which of its fields were given twice."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        self.repeated = _repeated([name for name, _ in pairs])


class WrittenFloat(float):
    """A number of a JSON text that knows how it was written, such as 1.50."""

    written: str


def _written_float(text: str) -> WrittenFloat:
    number = WrittenFloat(text)
    number.written = text
    return number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_Object, parse_float=_written_float, parse_constant=float
)


def no_numbers(value: object) -> list[str]:
    """Return where in a value, by path (`options.1`), NaN or an infinity stands, which JSON does not have.

    Programs write NaN for what is not there. A number that is only too large for a float, such as
    1e400, is none of them: it was written as a number.
    """
    found: list[str] = []
    waiting: list[tuple[str, object]] = [("", value)]
    while waiting:
        place, item = waiting.pop()
        if isinstance(item, float) and not isinstance(item, WrittenFloat):
            found += [] if math.isfinite(item) else [place]
        elif isinstance(item, dict):
            named = cast("dict[object, object]", item).items()
            waiting += ((f"{place}.{name}".lstrip("."), inner) for name, inner in named)
        elif isinstance(item, list):
            numbered = enumerate(cast("list[object]", item))
            waiting += ((f"{place}.{at}".lstrip("."), inner) for at, inner in numbered)
    return found[::-1]


def _json_row(line: int, value: object) -> LocalRow:
    repeated = _repeated_fields(value)
    if repeated:
        return LocalRow(line, {}, f"field {', '.join(repeated):.80} is given twice; keep one")
    return _row(line, value)


def _repeated_fields(value: object) -> list[str]:
    found: list[str] = []
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, _Object):
            found += map(repr, item.repeated)
            waiting += item.values()
        elif isinstance(item, list):
            waiting += cast("list[object]", item)
    return found


def _json_fault(error: ValueError | RecursionError) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _repeated(names: Sequence[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


def _yaml(text: str) -> Iterator[LocalRow]:
    loader = PlainTextLoader("")
    try:
        loader = PlainTextLoader(text)
        node = loader.get_single_node()
        if isinstance(node, yaml.MappingNode):
            pairs = cast("list[tuple[yaml.Node, yaml.Node]]", node.value)
            named = [value for key, value in pairs if key.value == "questions"]
            node = named[-1] if named else None
        if not isinstance(node, yaml.SequenceNode):
            raise _BrokenFile("line 1: expected a list of questions, or one under 'questions'")
        children = cast("list[yaml.Node]", node.value)
        for child, is_too_large in zip(children, beyond_limit(children), strict=True):
            if is_too_large:
                yield LocalRow(child.start_mark.line + 1, {}, _TOO_LARGE)
            else:
                yield _yaml_row(loader, child)
    except (yaml.YAMLError, RecursionError) as error:
        raise _BrokenFile(yaml_fault(error, loader.line + 1, "not YAML: ")) from error
    finally:
        loader.dispose()


def _yaml_row(loader: PlainTextLoader, node: yaml.Node) -> LocalRow:
    line = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        keys = cast("list[tuple[yaml.Node, yaml.Node]]", node.value)
        repeated = _repeated([
            str(key.value) for key, _ in keys if isinstance(key, yaml.ScalarNode)
        ])
        if repeated:
            named = ", ".join(map(repr, repeated))
            return LocalRow(line, {}, f"field {named:.80} is given twice; keep one")
    try:
        value = cast("object", loader.construct_document(node))  # pyright: ignore[reportUnknownMemberType] untyped stub
    except yaml.constructor.ConstructorError as error:
        return LocalRow(line, {}, f"{error.problem!s:.200}")
    return _row(line, value)


def _csv(text: str) -> Iterator[LocalRow]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    line = 1
    try:
        repeated = _repeated(list(reader.fieldnames or ()))
        if repeated:
            named = ", ".join(map(repr, repeated))
            raise _BrokenFile(f"line 1: column {named:.80} is there twice; rename or remove one")
        line = reader.line_num + 1
        for record in reader:
            yield _csv_row(line, cast("dict[str | None, str | list[str] | None]", record))
            line = reader.line_num + 1
    except csv.Error as error:
        raise _BrokenFile(f"line {line}: not CSV: {error}{_csv_remedy(error)}") from error


def _csv_remedy(error: csv.Error) -> str:
    is_long = "field larger" in str(error)
    return "; shorten the text, or write the file as .jsonl" if is_long else ""


def _csv_row(line: int, record: dict[str | None, str | list[str] | None]) -> LocalRow:
    """Return a record with `option_1`, `attributes.NAME` and `a|b` columns put together."""
    if None in record:
        return LocalRow(line, {}, "more cells than the header has columns")
    values: dict[str, object] = {}
    options: dict[int, str] = {}
    attributes: dict[str, str] = {}
    for name, cell in record.items():
        if name is None or not isinstance(cell, str) or not cell.strip():
            continue
        option = _OPTION_COLUMN.fullmatch(name)
        if option:
            options[int(option[1])] = cell
        elif name.startswith("attributes."):
            attributes[name.removeprefix("attributes.")] = cell
        elif name in _LISTS:
            values[name] = [part.strip() for part in cell.split("|")]
        else:
            values[name] = cell
    if options:
        hole = next((number for number in range(1, max(options)) if number not in options), None)
        if hole is not None:
            return LocalRow(line, {}, _hole(hole, options, record))
        values["options"] = [options[number] for number in sorted(options)]
    if attributes:
        values["attributes"] = attributes
    return LocalRow(line, values)


def _hole(hole: int, options: Mapping[int, str], columns: Collection[str | None]) -> str:
    """Say that an option is left out before another one, whose label would be moved by it."""
    later = min(number for number in options if number > hole)
    what = "is empty" if f"option_{hole}" in columns else "is not there"
    return (
        f"column 'option_{hole}' {what}, but 'option_{later}' is {options[later]!r:.60}; only the last "
        "options may be left out, so that labels stay what they are: fill it, or move the later ones up"
    )
