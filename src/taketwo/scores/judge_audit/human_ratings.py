"""What humans said of trajectories: the tables that raters filled in, read strictly, all faults at once."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import cast

from taketwo.errors import InvalidResults
from taketwo.scores.judge_audit.rating_form import RatingKey
from taketwo.scores.process_scores import AXES, trajectory_score

__all__ = ["HumanRating", "HumanRatings", "read_ratings"]

_COLUMNS = ("item", *AXES, "note")
_COMPLETENESS = "evidence_completeness"
_SCORES: Mapping[str, int] = MappingProxyType({"0": 0, "1": 1, "2": 2})
_MOST_PROBLEMS = 100


@dataclass(frozen=True, kw_only=True)
class HumanRating:
    """One line that a rater filled in; an axis is None where it does not apply."""

    item: str
    rater: str
    axes: Mapping[str, int | None]
    note: str = ""

    @property
    def trajectory_score(self) -> float:
        """Return half the mean of the axes that apply, 0 to 1, as for the judge."""
        return trajectory_score(self.axes)


@dataclass(frozen=True, kw_only=True)
class HumanRatings:
    """All ratings of a form. `missing` counts by rater the items without a rating: no number has them."""

    key: RatingKey
    raters: tuple[str, ...]
    ratings: tuple[HumanRating, ...]
    missing: Mapping[str, int]


def read_ratings(tables: Sequence[Path], key: RatingKey) -> HumanRatings:
    """Read the tables that raters filled in; a table's name without ending names its rater.

    Comma, semicolon or tab may separate the columns, as spreadsheets write them. A line without any
    score is missing, as is an item without a line.

    Raises
    ------
    InvalidResults
        Naming every problem of all tables with file, line, field and what is allowed.
    """
    problems: list[str] = []
    ratings: list[HumanRating] = []
    names = [path.stem for path in tables]
    problems += [
        f"two tables are named {name!r}; give each rater's table its own name"
        for name in sorted(set(names))
        if names.count(name) > 1
    ]
    for path in tables:
        found, faults = _read_table(path, key)
        ratings += found
        problems += faults
    if not tables:
        problems.append("no table of ratings was given")
    if problems:
        more = len(problems) - _MOST_PROBLEMS
        listed = "\n  ".join(problems[:_MOST_PROBLEMS])
        raise InvalidResults(
            f"ratings cannot be used, {len(problems)} problems:\n  {listed}"
            + (f"\n  and {more} more" if more > 0 else "")
        )
    counts = {name: sum(rating.rater == name for rating in ratings) for name in names}
    return HumanRatings(
        key=key,
        raters=tuple(names),
        ratings=tuple(ratings),
        missing={name: len(key.items) - count for name, count in counts.items()},
    )


def _read_table(path: Path, key: RatingKey) -> tuple[list[HumanRating], list[str]]:
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        return [], [f"{path}: cannot be read ({error}); save it as CSV in UTF-8"]
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text), delimiter=max(",;\t", key=first.count), strict=True)
    ratings: dict[str, HumanRating] = {}
    problems: list[str] = []
    lines: dict[str, int] = {}
    try:
        heading = [field.strip() for field in next(reader, cast("list[str]", []))]
        while heading and not heading[-1]:
            heading.pop()
        if sorted(heading) != sorted(_COLUMNS):
            return [], [
                f"{path}, line 1: the columns are {', '.join(heading) or 'none'}; needed are "
                f"{', '.join(_COLUMNS)}, each once"
            ]
        line = reader.line_num + 1
        for row in reader:
            if any(field.strip() for field in row):
                if any(field.strip() for field in row[len(heading) :]):
                    problems.append(
                        f"{path}, line {line}: {len(row)} fields for {len(heading)} columns; put a "
                        "note that holds the separator into double quotes"
                    )
                fields = dict(zip(heading, [*row, *[""] * len(heading)], strict=False))
                name = fields["item"].strip()
                place = f"{path}, line {line}"
                if name in lines:
                    problems.append(f"{place}: item {name!r} is in line {lines[name]} already")
                lines.setdefault(name, line)
                rating, faults = _read_row(place, fields, path.stem, key)
                problems += faults
                if rating is not None:
                    ratings.setdefault(name, rating)
            line = reader.line_num + 1
    except csv.Error as error:
        problems.append(f"{path}, line {reader.line_num}: not CSV ({error}); save it as CSV again")
    return list(ratings.values()), problems


def _read_row(
    place: str, fields: Mapping[str, str], rater: str, key: RatingKey
) -> tuple[HumanRating | None, list[str]]:
    """Return the rating of a row, None where there is none, and what is wrong with the row."""
    name = fields["item"].strip()
    entry = key.items.get(name)
    if entry is None:
        return None, [f"{place}, item: {name!r:.60} is not in this form's key"]
    written = {axis: fields[axis].strip().lower() for axis in AXES}
    if not any(written.values()):
        return None, []
    axes: dict[str, int | None] = {}
    problems: list[str] = []
    for axis, value in written.items():
        allowed = ["0", "1", "2"]
        if axis == _COMPLETENESS and entry.sweep != "yes":
            allowed = ["na"] if entry.sweep == "no" else [*allowed, "na"]
        if value not in allowed:
            shown = f"{value!r:.40}" if value else "empty"
            why = f" (the sweep is {entry.sweep!r})" if axis == _COMPLETENESS else ""
            problems.append(f"{place}, {axis}: {shown}; allowed: {', '.join(allowed)}{why}")
        axes[axis] = _SCORES.get(value)
    if problems:
        return None, problems
    return HumanRating(item=name, rater=rater, axes=axes, note=fields["note"].strip()), []
