"""A YAML loader whose every fault is a YAML error with a place, also where PyYAML lets others out."""

from __future__ import annotations

from typing import cast

import yaml

__all__ = ["CarefulLoader", "PlainTextLoader", "yaml_fault"]

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
        return f"line {line}: {what}{' '.join(str(error).split())}"
    mark = error.problem_mark
    context = f" ({error.context})" if error.context else ""
    return (
        f"line {mark.line + 1}: {what}{error.problem}{context}"
        if what
        else (f"line {mark.line + 1}, column {mark.column + 1}: {error.problem}{context}")
    )
