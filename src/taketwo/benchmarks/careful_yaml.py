"""A YAML loader whose every fault is a YAML error with a place, and the limit of what aliases may make of a file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import cast

import yaml

__all__ = ["MOST_VALUES", "CarefulLoader", "PlainTextLoader", "beyond_limit", "yaml_fault"]

MOST_VALUES = 100_000
"""How many values a file may become by aliases, which can make a small file huge."""
_MOST_PER_WRITTEN = 10

_NO_TEXTS = ("tag:yaml.org,2002:null", "tag:yaml.org,2002:merge")


class CarefulLoader(yaml.SafeLoader):
    """PyYAML's safe loader; a value that looks like a date or a number and is none has its place.

    PyYAML itself raises ValueError and others without a line there (`2026-99-99`, `!!int x`).
    """

    def construct_object(self, node: yaml.Node, deep: bool = False) -> object:
        """Return the value of a node.

        Raises
        ------
        yaml.constructor.ConstructorError
            If it has none.
        """
        try:
            return cast("object", super().construct_object(node, deep=deep))  # pyright: ignore[reportUnknownMemberType] untyped in types-PyYAML
        except (ValueError, KeyError, AttributeError, OverflowError) as error:
            shown = str(node.value)[:40] if isinstance(node, yaml.ScalarNode) else "this"
            kind = str(node.tag).rsplit(":", 1)[-1]
            raise yaml.constructor.ConstructorError(
                None,
                None,
                f"{shown!r} reads as {kind} but is not a valid one; put it in quotes if it is text",
                node.start_mark,
            ) from error


class PlainTextLoader(CarefulLoader):
    """A loader that takes what stands without quotes for the text that it is, but for null.

    YAML itself reads `1:30` as 90, `010` as 8, `1_000` as 1000 and `no` as false; a field that is a
    number is read out of its text by whoever knows that it is one.
    """

    yaml_implicit_resolvers = {  # noqa: RUF012 as PyYAML declares it
        first: [(tag, pattern) for tag, pattern in resolvers if tag in _NO_TEXTS]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def yaml_fault(error: yaml.YAMLError | RecursionError, line: int, what: str = "") -> str:
    """Return what is wrong with a YAML text: line and column (from 1) where they are known, and what to do.

    `line` (from 1) is where the loader stood; `what` comes after the place.
    """
    if isinstance(error, RecursionError):
        return f"line {line}: {what}nested too deeply; write it out plainly"
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return f"line {line}: {what}{' '.join(str(error).split()):.200}"
    mark = error.problem_mark
    context = f" ({error.context})" if error.context else ""
    return (
        f"line {mark.line + 1}: {what}{error.problem!s:.200}{context}"
        if what
        else (f"line {mark.line + 1}, column {mark.column + 1}: {error.problem!s:.200}{context}")
    )


def beyond_limit(rows: Sequence[yaml.Node]) -> Iterator[bool]:
    """Yield for each row of a file whether aliases expand it beyond what the file may become.

    A file may become `MOST_VALUES` values or ten times as many as are written in it, whichever is
    more, so that a long file without aliases passes. A row that goes beyond is not counted, and one
    that contains itself always goes beyond.

    Raises
    ------
    RecursionError
        If a row is nested too deeply.
    """
    sizes = _Sizes()
    totals = [sizes.of(row) for row in rows]
    left = max(MOST_VALUES, _MOST_PER_WRITTEN * sizes.written)
    for total in totals:
        yield total > left
        if total <= left:
            left -= int(total)


class _Sizes:
    """Counts the values that nodes become, each node once; `written` is how many the text has."""

    def __init__(self) -> None:
        self._known: dict[yaml.Node, float] = {}
        self.written = 0

    def of(self, node: yaml.Node) -> float:
        """Return how many values a node becomes, infinitely many where it contains itself."""
        known = self._known.get(node)
        self.written += 1
        if known is not None:
            return known
        self._known[node] = math.inf
        total = self._known[node] = 1.0 + sum(map(self.of, _inside(node)))
        return total


def _inside(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        pairs = cast("list[tuple[yaml.Node, yaml.Node]]", node.value)
        return [part for pair in pairs for part in pair]
    return cast("list[yaml.Node]", node.value) if isinstance(node, yaml.SequenceNode) else []
