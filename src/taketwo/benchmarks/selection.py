"""Holding questions out of a benchmark: a stratified draw whose shares are those of the whole.

Each stratum gets its share by largest remainders (Hamilton's method), so that no stratum is off by
a whole question and none is lifted to a floor of one, which over-draws rare ones.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.exclusion import HOLDOUT_FORMAT
from taketwo.benchmarks.question import Question
from taketwo.errors import RequestError

__all__ = ["Holdout", "Unit", "allocate", "draw_holdout"]

Unit = Literal["question", "video"]
_Stratum = tuple[str, ...]
_Groups = dict[_Stratum, list[tuple[str, ...]]]
_LISTED = 20
_TRIED = 500


@dataclass(frozen=True, kw_only=True)
class Holdout:
    """The questions held out, in the benchmark's order, and how they were drawn.

    `asked` is how many were asked for, of which whole videos may give a few more or less.
    `allocation` counts the questions drawn by stratum, out of `sizes`. `shared_videos` are videos
    that lie on both sides; none where whole videos were drawn.
    """

    question_ids: tuple[str, ...]
    asked: int
    unit: Unit
    strata: tuple[str, ...]
    allocation: Mapping[tuple[str, ...], int]
    sizes: Mapping[tuple[str, ...], int]
    videos: int
    shared_videos: tuple[str, ...]

    def to_json(self, benchmark: Benchmark, *, seed: int) -> dict[str, JsonValue]:
        """Return the ids as a record that a benchmark's `exclude` takes, with how they were drawn."""
        return {
            "format": HOLDOUT_FORMAT,
            "benchmark": benchmark.name,
            "benchmark_version": benchmark.version,
            "seed": seed,
            "unit": self.unit,
            "asked": self.asked,
            "strata": list(self.strata),
            "question_ids": list(self.question_ids),
        }


def allocate(sizes: Sequence[int], n: int) -> list[int]:
    """Return how many of `n` fall to each stratum, in proportion to `sizes`, by largest remainders.

    Equal remainders go to the larger stratum, then to the earlier one. No stratum gets more than it
    has, and the numbers add up to `n`.

    Raises
    ------
    ValueError
        If `n` is negative or more than there is.

    Examples
    --------
    >>> allocate([6, 3, 1], 5)
    [3, 2, 0]
    """
    total = sum(sizes)
    if not 0 <= n <= total:
        raise ValueError(f"{n} cannot be drawn out of {total}")
    if total == 0:
        return [0 for _ in sizes]
    # Whole numbers throughout: a quota of 2.9999999 must not lose its question.
    found = [size * n // total for size in sizes]
    remainders = [size * n % total for size in sizes]
    order = sorted(range(len(sizes)), key=lambda at: (-remainders[at], -sizes[at], at))
    for at in order[: n - sum(found)]:
        found[at] += 1
    return found


def draw_holdout(
    benchmark: Benchmark,
    n: int,
    *,
    strata: Sequence[str],
    rng: np.random.Generator,
    unit: Unit = "question",
) -> Holdout:
    """Return a stratified random holdout of `n` questions.

    Parameters
    ----------
    n
        How many questions, at least 1 and fewer than there are. Where whole videos are drawn, the
        nearest number that whole videos give, stratum by stratum.
    strata
        Attributes of the questions whose combinations are the strata, such as `("duration",
        "question_type", "modality")`; add `"difficulty"` where its shares are to be kept too.
    unit
        `video` draws whole videos, so that no video lies on both sides; a video belongs to the
        stratum of its first question.

    Raises
    ------
    RequestError
        If `n` does not fit, the whole videos nearest to it are none or all, or a question lacks an
        attribute.
    """
    questions = benchmark.questions
    if not 1 <= n < len(questions):
        raise RequestError(
            f"a holdout of {n} questions cannot be drawn from the {len(questions)} of benchmark "
            f"{benchmark.name!r}; at least one must be on each side"
        )
    groups = _groups(questions, strata, unit)
    as_before = copy.deepcopy(rng)
    by_stratum = _by_stratum(groups, n, rng)
    drawn = {name for names in by_stratum.values() for name in names}
    if len(drawn) in {0, len(questions)}:
        share = "none" if not drawn else "all"
        raise RequestError(
            f"the whole videos nearest to {n} questions are {share} of the {len(questions)} of "
            f"benchmark {benchmark.name!r}; {_possible(groups, n, len(questions), as_before)}"
        )
    videos = {question.video_id for question in questions if question.question_id in drawn}
    others = {question.video_id for question in questions if question.question_id not in drawn}
    return Holdout(
        question_ids=tuple(item.question_id for item in questions if item.question_id in drawn),
        asked=n,
        unit=unit,
        strata=tuple(strata),
        allocation={key: len(names) for key, names in by_stratum.items()},
        sizes={key: sum(map(len, groups[key])) for key in by_stratum},
        videos=len(videos),
        shared_videos=tuple(sorted(videos & others)),
    )


def _by_stratum(groups: _Groups, n: int, rng: np.random.Generator) -> dict[_Stratum, list[str]]:
    """Return the questions that are drawn of each stratum, in the order of the strata's names."""
    keys = sorted(groups)
    wanted = allocate([sum(map(len, groups[key])) for key in keys], n)
    return {key: _drawn(groups[key], count, rng) for key, count in zip(keys, wanted, strict=True)}


def _possible(groups: _Groups, wanted: int, total: int, rng: np.random.Generator) -> str:
    """Say which numbers near to `wanted` whole videos give, drawn as they were for another number."""
    asked_for: dict[int, int] = {}
    nearest = sorted(range(1, total), key=lambda n: (abs(n - wanted), n))
    for n in nearest[:_TRIED]:
        found = _by_stratum(groups, n, copy.deepcopy(rng))
        given = sum(map(len, found.values()))
        if 0 < given < total and abs(n - given) < abs(asked_for.get(given, -total) - given):
            asked_for[given] = n
    exact = [given for given in sorted(asked_for) if asked_for[given] == given]
    if exact:
        more = f" and {len(exact) - _LISTED} more" if len(exact) > _LISTED else ""
        return f"they give {', '.join(map(str, exact[:_LISTED]))}{more}; ask for one of these"
    if asked_for:
        pairs = [f"{given} where {asked_for[given]} are asked for" for given in sorted(asked_for)]
        return f"they give {', '.join(pairs[:_LISTED])}"
    return (
        "they give no number near it by these factors; take fewer factors, or draw single questions"
    )


def _groups(questions: Sequence[Question], strata: Sequence[str], unit: Unit) -> _Groups:
    """Return, by stratum, what is drawn as a whole: one question, or the questions of one video."""
    units: dict[str, list[Question]] = {}
    for question in questions:
        name = question.question_id if unit == "question" else question.video_id
        units.setdefault(name, []).append(question)
    groups: _Groups = {}
    for members in units.values():
        first = members[0]
        lacking = [name for name in strata if name not in first.attributes]
        if lacking:
            known = ", ".join(sorted(first.attributes)) or "none"
            raise RequestError(
                f"question {first.question_id!r} has no attribute {lacking[0]!r} to draw by; it has "
                f"{known}"
            )
        key = tuple(first.attributes[name] for name in strata)
        groups.setdefault(key, []).append(tuple(item.question_id for item in members))
    return groups


def _drawn(units: Sequence[tuple[str, ...]], count: int, rng: np.random.Generator) -> list[str]:
    """Draw units in random order for as long as they bring the number of questions nearer to `count`."""
    taken: list[str] = []
    order: list[int] = rng.permutation(len(units)).tolist()
    for at in order:
        unit = units[at]
        if abs(len(taken) + len(unit) - count) < abs(len(taken) - count):
            taken += unit
    return taken
