"""A form for humans who rate trajectories as the judge does: blinded, shuffled for each rater.

A rater reads what the judge reads under the blind protocol (question, options, sweep flag, milestones,
trajectory) and never the true answer, the arm, the execution or the accuracy. Which item is which
stands in a key that raters do not get.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from pydantic import TypeAdapter

from taketwo.benchmarks.canonical import JsonValue, sha256_of_text
from taketwo.benchmarks.question import Question, Sweep
from taketwo.benchmarks.selection import allocate
from taketwo.errors import InvalidResults, RequestError
from taketwo.media.store import write_atomically
from taketwo.scores.judge_audit.rating_page import PageItem, rating_page
from taketwo.scores.process_scores import AXES

__all__ = [
    "KEY_NAME",
    "FormCell",
    "KeyEntry",
    "RatingForm",
    "RatingKey",
    "key_beside",
    "make_form",
    "read_key",
    "write_form",
]

KEY_NAME = "key.json"
FORMAT = "taketwo.rating-key/1"
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"  # no digits: a spreadsheet would make 2E345 a number
_ID_LENGTH = 5


@dataclass(frozen=True, kw_only=True)
class FormCell:
    """A cell that may be rated: `text` is its trajectory as the blind protocol renders it."""

    question: Question
    arm: str
    execution: int
    text: str


@dataclass(frozen=True, kw_only=True)
class KeyEntry:
    """What an item of the form is; `sweep` says which ratings of evidence completeness are allowed."""

    question_id: str
    arm: str
    execution: int
    text_sha256: str
    sweep: Sweep


@dataclass(frozen=True, kw_only=True)
class RatingKey:
    """Which item is which, and the names of the raters."""

    items: Mapping[str, KeyEntry]
    raters: tuple[str, ...]

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as it stands in `key.json`."""
        return {
            "format": FORMAT,
            "raters": list(self.raters),
            "items": {
                name: {
                    "question_id": entry.question_id,
                    "arm": entry.arm,
                    "execution": entry.execution,
                    "text_sha256": entry.text_sha256,
                    "sweep": entry.sweep,
                }
                for name, entry in self.items.items()
            },
        }


@dataclass(frozen=True, kw_only=True)
class RatingForm:
    """A form: the key, the cells by item, and for each rater the items in the order to read them.

    `left_out` counts by reason the questions that could not be drawn.
    """

    key: RatingKey
    cells: Mapping[str, FormCell]
    orders: Mapping[str, tuple[str, ...]]
    rubric: str
    left_out: Mapping[str, int]


def make_form(
    cells: Sequence[FormCell],
    *,
    per_question_arms: int | None = None,
    questions: int = 20,
    raters: int = 2,
    stratum: str = "difficulty",
    rubric: str = "standard",
    rng: np.random.Generator,
) -> RatingForm:
    """Return a form of `questions` questions with one run of each of `per_question_arms` arms.

    Parameters
    ----------
    cells
        What may be rated. Questions without milestones, and those that too few arms ran on, are
        counted in `left_out`.
    per_question_arms
        How many arms a question is rated with, drawn for each question; None takes all arms, which
        is what a ranking of arms needs.
    questions
        How many questions; all where there are fewer. Each level of the attribute `stratum` gets
        its share by largest remainders.
    raters
        At least 2, since one rater agrees with nobody.

    Raises
    ------
    RequestError
        If a number is too small or no question can be drawn.
    """
    arms = sorted({cell.arm for cell in cells})
    wanted = len(arms) if per_question_arms is None else per_question_arms
    if questions < 1 or raters < 2 or (arms and not 1 <= wanted <= len(arms)):
        raise RequestError(
            f"a form needs at least 1 question, 2 raters and 1 to {len(arms)} arms a question; asked "
            f"for {questions}, {raters} and {wanted}"
        )
    runs: dict[str, dict[str, list[FormCell]]] = {}
    for cell in sorted(cells, key=lambda cell: (cell.question.question_id, cell.execution)):
        runs.setdefault(cell.question.question_id, {}).setdefault(cell.arm, []).append(cell)
    left_out: dict[str, int] = {}
    strata: dict[str, list[str]] = {}
    for name, by_arm in runs.items():
        question = next(iter(by_arm.values()))[0].question
        reason = (
            "no milestones" if not question.milestones
            else f"trajectories of fewer than {wanted} arms" if len(by_arm) < wanted
            else None
        )  # fmt: skip
        if reason is None:
            strata.setdefault(question.attributes.get(stratum, ""), []).append(name)
        else:
            left_out[reason] = left_out.get(reason, 0) + 1
    if not strata:
        found = "; ".join(f"{n} with {reason}" for reason, n in left_out.items()) or "none at all"
        raise RequestError(
            f"no question can be rated: {found}; run the arms on the questions first"
        )
    drawn = _drawn(strata, questions, rng)
    chosen = [cell for name in drawn for cell in _runs_drawn(runs[name], wanted, rng)]
    return _blinded(chosen, raters, rubric, left_out, rng)


def _drawn(strata: Mapping[str, Sequence[str]], n: int, rng: np.random.Generator) -> list[str]:
    levels = sorted(strata)
    sizes = [len(strata[level]) for level in levels]
    shares = allocate(sizes, min(n, sum(sizes)))
    found: list[str] = []
    for level, share in zip(levels, shares, strict=True):
        order: list[int] = rng.permutation(len(strata[level])).tolist()
        found += [strata[level][at] for at in order[:share]]
    return found


def _runs_drawn(
    by_arm: Mapping[str, Sequence[FormCell]], n: int, rng: np.random.Generator
) -> list[FormCell]:
    """Return one run of each of `n` arms, execution and arms drawn."""
    arms = sorted(by_arm)
    picked: list[int] = rng.permutation(len(arms))[:n].tolist()
    return [by_arm[arms[at]][int(rng.integers(len(by_arm[arms[at]])))] for at in sorted(picked)]


def _blinded(
    cells: Sequence[FormCell],
    raters: int,
    rubric: str,
    left_out: Mapping[str, int],
    rng: np.random.Generator,
) -> RatingForm:
    named: dict[str, FormCell] = {}
    for cell in cells:
        name = _new_id(rng)
        while name in named:
            name = _new_id(rng)
        named[name] = cell
    names = sorted(named)
    people = tuple(f"rater-{number}" for number in range(1, raters + 1))
    entries = {
        name: KeyEntry(
            question_id=named[name].question.question_id,
            arm=named[name].arm,
            execution=named[name].execution,
            text_sha256=sha256_of_text(named[name].text),
            sweep=named[name].question.sweep or "unknown",
        )
        for name in names
    }
    return RatingForm(
        key=RatingKey(items=entries, raters=people),
        cells={name: named[name] for name in names},
        orders={person: _shuffled(names, rng) for person in people},
        rubric=rubric,
        left_out=left_out,
    )


def _shuffled(names: Sequence[str], rng: np.random.Generator) -> tuple[str, ...]:
    order: list[int] = rng.permutation(len(names)).tolist()
    return tuple(names[at] for at in order)


def _new_id(rng: np.random.Generator) -> str:
    return "".join(_LETTERS[at] for at in rng.integers(len(_LETTERS), size=_ID_LENGTH).tolist())


def write_form(form: RatingForm, folder: Path) -> tuple[Path, ...]:
    """Write the page and the table of each rater, and the key; return the files.

    `rater-1.html` is to be read, `rater-1.csv` to be filled in; `key.json` stays with you. Writing
    the same form again changes nothing.

    Raises
    ------
    RequestError
        If a table or a key is there that differs from what would be written: it is filled in, or
        belongs to another form. Nothing is written then.
    """
    key = json.dumps(form.key.to_json(), indent=1, ensure_ascii=False) + "\n"
    kept = {folder / KEY_NAME: key.encode("utf-8")}
    kept |= {folder / f"{name}.csv": _blank(order) for name, order in form.orders.items()}
    others = [path for path, data in kept.items() if path.exists() and path.read_bytes() != data]
    if others:
        named = ", ".join(map(str, others))
        raise RequestError(
            f"{named}: there already, filled in or of another form; nothing was written. Name another "
            "folder, or move these files away"
        )
    pages = {
        folder / f"{name}.html": rating_page(
            [
                PageItem(name=item, question=form.cells[item].question, text=form.cells[item].text)
                for item in order
            ],
            rater=name,
            rubric_name=form.rubric,
        ).encode("utf-8")
        for name, order in form.orders.items()
    }
    for path, data in (kept | pages).items():
        write_atomically(path, data)
    return tuple(kept | pages)


def _blank(order: Sequence[str]) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["item", *AXES, "note"])
    writer.writerows([item, *([""] * (len(AXES) + 1))] for item in order)
    return buffer.getvalue().encode("utf-8")


def key_beside(ratings: Sequence[Path]) -> Path:
    """Return the key that lies in the folder of the first table of ratings, or in the one above.

    Raises
    ------
    RequestError
        If neither has one.
    """
    places = [ratings[0].parent, ratings[0].resolve().parent.parent] if ratings else []
    for folder in places:
        if (folder / KEY_NAME).is_file():
            return folder / KEY_NAME
    raise RequestError(
        f"no {KEY_NAME} beside {', '.join(map(str, ratings)) or 'any table of ratings'}; put the tables "
        "into the folder that `taketwo rating-form` wrote"
    )


def read_key(path: Path) -> RatingKey:
    """Read the key of a form.

    Raises
    ------
    InvalidResults
        If it cannot be read or is no key, or the raters are not names that are all different.
    """
    try:
        record = cast("Mapping[str, JsonValue]", json.loads(path.read_text("utf-8")))
        if record["format"] != FORMAT:
            raise ValueError(f"format is {record['format']!r}, expected {FORMAT!r}")
        items = cast("Mapping[str, Mapping[str, str]]", record["items"])
        return RatingKey(
            items={
                name: TypeAdapter(KeyEntry).validate_json(json.dumps(entry), strict=True)
                for name, entry in items.items()
            },
            raters=_raters(record["raters"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidResults(
            f"{path}: not the key of a rating form ({error}); take the one that `taketwo rating-form` wrote"
        ) from error


def _raters(found: JsonValue) -> tuple[str, ...]:
    names = [name for name in found if isinstance(name, str)] if isinstance(found, list) else []
    given = found if isinstance(found, list) else [found]
    named = {name for name in names if name.strip()}
    if not given or len(named) < len(given):
        shown = f"{found!r:.60}"
        raise ValueError(f"raters is {shown}, expected a list of names that are all different")
    return tuple(names)
