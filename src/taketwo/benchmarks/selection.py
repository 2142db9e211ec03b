"""Holding questions out of a benchmark: a stratified draw whose shares are those of the whole.

Each stratum gets its share by largest remainders (Hamilton's method), so that no stratum is off by
a whole question and none is lifted to a floor of one, which over-draws rare ones.
"""

from __future__ import annotations

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


@dataclass(frozen=True, kw_only=True)
class Holdout:
    """The questions held out, in the benchmark's order, and how they were drawn.

    `allocation` counts the questions drawn by stratum, out of `sizes`. `shared_videos` are videos
    that lie on both sides; none where whole videos were drawn.
    """

    question_ids: tuple[str, ...]
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
        If `n` does not fit, or a question lacks an attribute.
    """
    questions = benchmark.questions
    if not 1 <= n < len(questions):
        raise RequestError(
            f"a holdout of {n} questions cannot be drawn from the {len(questions)} of benchmark "
            f"{benchmark.name!r}; at least one must be on each side"
        )
    groups = _groups(questions, strata, unit)
    keys = sorted(groups)
    sizes = {key: sum(map(len, groups[key])) for key in keys}
    wanted = allocate(list(sizes.values()), n)
    drawn: set[str] = set()
    allocation: dict[tuple[str, ...], int] = {}
    for key, count in zip(keys, wanted, strict=True):
        taken = _drawn(groups[key], count, rng)
        allocation[key] = len(taken)
        drawn.update(taken)
    videos = {question.video_id for question in questions if question.question_id in drawn}
    others = {question.video_id for question in questions if question.question_id not in drawn}
    return Holdout(
        question_ids=tuple(item.question_id for item in questions if item.question_id in drawn),
        unit=unit,
        strata=tuple(strata),
        allocation=allocation,
        sizes=sizes,
        videos=len(videos),
        shared_videos=tuple(sorted(videos & others)),
    )


def _groups(
    questions: Sequence[Question], strata: Sequence[str], unit: Unit
) -> dict[tuple[str, ...], list[tuple[str, ...]]]:
    """Return, by stratum, what is drawn as a whole: one question, or the questions of one video."""
    units: dict[str, list[Question]] = {}
    for question in questions:
        name = question.question_id if unit == "question" else question.video_id
        units.setdefault(name, []).append(question)
    groups: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
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
