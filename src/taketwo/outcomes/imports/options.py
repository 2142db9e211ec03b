"""What the user says of a table whose columns mean nothing to us by themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Literal

from taketwo.errors import RequestError, UnknownName
from taketwo.executions.rule import METRICS

__all__ = ["Alignment", "ColumnSpec", "ReadOptions"]

Alignment = Literal["blocked", "arbitrary"]


@dataclass(frozen=True, kw_only=True)
class ColumnSpec:
    """A column, and optionally the part of its values that is meant.

    Written `COLUMN` or `COLUMN:REGEX`: the first group of the expression is the value, or all that
    it matches where it has no group.
    """

    column: str
    pattern: re.Pattern[str] | None = None

    @classmethod
    def resolve(cls, written: str, columns: Sequence[str], role: str) -> ColumnSpec:
        """Return what `written` means among `columns`; a column of that very name comes first.

        Raises
        ------
        UnknownName
            If there is no such column.
        RequestError
            If the part after the colon is no regular expression.
        """
        if written in columns:
            return cls(column=written)
        for at in (index for index, letter in enumerate(written) if letter == ":"):
            if written[:at] in columns:
                try:
                    pattern = re.compile(written[at + 1 :])
                except re.error as error:
                    raise RequestError(
                        f"--{role} {written!r}: {written[at + 1 :]!r} is no regular expression "
                        f"({error})"
                    ) from error
                if not pattern.groups:
                    raise RequestError(
                        f"--{role} {written!r}: the expression has no group; put what is meant in "
                        "parentheses, for example 'item_id:^(.*?)__'"
                    )
                return cls(column=written[:at], pattern=pattern)
        raise UnknownName.among(f"column for --{role}", written, columns)

    def value_of(self, text: str) -> str | None:
        """Return the meant part of a value; None where the expression does not match."""
        if self.pattern is None:
            return text
        found = self.pattern.search(text)
        if found is None:
            return None
        return found.group(1) if self.pattern.groups else found.group(0)


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Which column is what, and what is to be read. Texts are `COLUMN` or `COLUMN:REGEX`.

    `wide` is the pattern of the value columns of a wide table, made of `{metric}`, `{execution}`
    and `{system}`. `by` are columns of subgroups, `factors` columns of factors of systems (or
    `system:REGEX` with named groups). `metrics` are the metrics asked for: beside them only metrics
    by our own names (accuracy, turns, ...) are read; empty means all.
    `alignment` says whether executions of equal name were run together; None leaves it to the
    format.
    """

    system: str | None = None
    execution: str | None = None
    question: str | None = None
    score: str | None = None
    metric: str | None = None
    status: str | None = None
    cluster: str | None = None
    by: tuple[str, ...] = ()
    factors: tuple[str, ...] = ()
    wide: str | None = None
    metrics: tuple[str, ...] = ()
    alignment: Alignment | None = None

    def wants(self, metric: str) -> bool:
        """Return whether a metric is to be read."""
        return not self.metrics or metric in self.metrics or metric in METRICS

    def refuse(self, names: Iterable[str], kind: str) -> None:
        """Refuse options that mean nothing for a format, instead of ignoring them.

        Raises
        ------
        RequestError
            If one of `names` was given.
        """
        known = {field.name for field in fields(self)}
        given = [name for name in names if name in known and getattr(self, name)]
        if given:
            listed = ", ".join(f"--{name}" for name in given)
            raise RequestError(
                f"{listed}: names a column of a table, but these are {kind}, which say "
                "themselves what that is; leave it out"
            )
