"""Effects and shifts by subgroup, with one test per factor instead of eleven readings of intervals."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from taketwo.analysis.headline import unit_test
from taketwo.analysis.intervals import percentile_of
from taketwo.analysis.pair_values import PairValues
from taketwo.errors import InvalidResults, UnknownName
from taketwo.stats.paired import MeanTest
from taketwo.stats.resampling import PercentileInterval
from taketwo.stats.subgroups import SubgroupTest, overlapping_subgroup_test, subgroup_test

__all__ = [
    "Factor",
    "Factors",
    "Subgroup",
    "SubgroupShare",
    "SubgroupTable",
    "factors_of",
    "shares_of",
    "subgroup_tables",
]


@dataclass(frozen=True, kw_only=True)
class Factor:
    """The levels of every question, in their order: one each, or any number where they `overlap`."""

    levels: tuple[tuple[str, ...], ...]
    overlap: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Return the levels that occur, in the order of their names."""
        return tuple(sorted({level for levels in self.levels for level in levels}))

    def has(self, level: str) -> NDArray[np.bool_]:
        """Return which questions have a level."""
        return np.array([level in levels for levels in self.levels], dtype=np.bool_)

    def those(self, wanted: NDArray[np.bool_]) -> Factor:
        """Return the factor of some of the questions."""
        pairs = zip(self.levels, wanted.tolist(), strict=True)
        return replace(self, levels=tuple(levels for levels, kept in pairs if kept))


Factors = Mapping[str, Factor]

PERMUTATIONS = 1_999
PERMUTATION_STREAM = 3
LARGEST_TABLE = 200


@dataclass(frozen=True, kw_only=True)
class Subgroup:
    """One level of a factor: effects per execution, and the first minus the last.

    For runs that were not made together `effects` holds the effect averaged over runs, and `shift` is
    None. `low` and `high` are percentile intervals by question inside the subgroup, of the shift (of
    the effect where there is none); `by_unit_low` and `by_unit_high` by CR2 or the paired t.
    `changes_sign` goes by point estimates.
    """

    level: str
    n: int
    effects: tuple[float, ...]
    shift: float | None
    low: float | None
    high: float | None
    by_unit_low: float | None
    by_unit_high: float | None
    changes_sign: bool


@dataclass(frozen=True, kw_only=True)
class SubgroupTable:
    """A factor of the questions, with the effects of its levels.

    Levels divide the questions, or `overlap`: a question then counts under each of its own.
    `interaction` tests whether the shift (the effect, where there is one execution, or runs were not
    made together) differs between levels. `changing_sign` of `of` levels change sign; they are parts of one data set, no independent findings.
    """

    factor: str
    of: int
    changing_sign: int
    tested: str
    interaction: SubgroupTest
    levels: tuple[Subgroup, ...]
    overlap: bool = False


@dataclass(frozen=True, kw_only=True)
class SubgroupShare:
    """How much of the planned and of the compared questions a level holds (the paper's Table A5)."""

    factor: str
    level: str
    n_union: int
    n_matched: int
    share_union: float
    share_matched: float


def factors_of(frame: pl.DataFrame, question_ids: Sequence[str], by: Sequence[str]) -> Factors:
    """Return the levels of every question for each factor named in `by`, from the column `attributes`.

    A factor whose levels stand in lists (such as `skill`) may have any number a question.

    Raises
    ------
    UnknownName
        If no question has such a factor.
    InvalidResults
        If a question lacks a factor of single levels, or has two different entries of one.
    """
    if not by:
        return {}
    written: dict[str, dict[str, object]] = {name: {} for name in by}
    known: set[str] = set()
    pairs = frame.select("question_id", "attributes").drop_nulls().unique().sort("question_id")
    for question, text in pairs.iter_rows():
        attributes = cast("dict[str, object]", json.loads(text))
        known |= set(attributes)
        for name in by:
            value = attributes.get(name)
            if value is None:
                continue
            before = written[name].setdefault(question, value)
            if before != value:
                raise InvalidResults(
                    f"question {question!r} is {before!r} and {value!r} by {name!r}; a question "
                    "has one level of a subgroup factor"
                )
    found: dict[str, Factor] = {}
    for name in by:
        if name not in known:
            raise UnknownName.among("subgroup factor", name, known)
        found[name] = _factor(name, written[name], question_ids)
    return found


def _factor(name: str, written: Mapping[str, object], question_ids: Sequence[str]) -> Factor:
    lists = {question for question, value in written.items() if isinstance(value, list)}
    if lists:
        single = sorted(set(written) - lists)
        if single:
            raise InvalidResults(
                f"{name!r} is a list of levels for {min(lists)!r} and a single one for "
                f"{single[0]!r}; write lists for all, or for none"
            )
        several = cast("Mapping[str, list[object]]", written)
        return Factor(
            levels=tuple(
                tuple(dict.fromkeys(map(str, several.get(question, ()))))
                for question in question_ids
            ),
            overlap=True,
        )
    without = [question for question in question_ids if question not in written]
    if without:
        raise InvalidResults(
            f"{len(without)} of {len(question_ids)} questions have no level of {name!r}, first "
            f"{without[0]!r}; subgroups must partition the questions: give them a level, or leave "
            "the factor out"
        )
    return Factor(levels=tuple((str(written[question]),) for question in question_ids))


def shares_of(factors: Factors, matched: NDArray[np.bool_]) -> tuple[SubgroupShare, ...]:
    """Return the share of every level among all and among the matched questions."""
    found: list[SubgroupShare] = []
    total, kept = len(matched), int(matched.sum())
    for name, factor in factors.items():
        for level in factor.names:
            is_level = factor.has(level)
            n_union, n_matched = int(is_level.sum()), int((is_level & matched).sum())
            found.append(
                SubgroupShare(
                    factor=name,
                    level=level,
                    n_union=n_union,
                    n_matched=n_matched,
                    share_union=n_union / total,
                    share_matched=n_matched / kept if kept else 0.0,
                )
            )
    return tuple(found)


def subgroup_tables(
    values: PairValues, factors: Factors, *, level: float, seed: int, average: bool = False
) -> tuple[SubgroupTable, ...]:
    """Return a table per factor over the questions that are complete in all executions.

    `average` takes the mean over executions as the one effect (runs that were not made together).
    """
    complete = values.is_complete
    if not complete.any():
        return ()
    d = np.where(complete[:, None], values.differences, np.nan)
    if average:
        d = d.mean(axis=1, keepdims=True)
    tested = d[:, 0] - d[:, -1] if d.shape[1] > 1 else d[:, 0]
    tables: list[SubgroupTable] = []
    for name, factor in factors.items():
        names = factor.those(complete).names
        if len(names) > LARGEST_TABLE:
            raise InvalidResults(
                f"{name!r} has {len(names)} levels; a subgroup factor has at most {LARGEST_TABLE}"
            )
        levels = tuple(
            _subgroup(values, text, d, np.where(factor.has(text), tested, np.nan), level)
            for text in names
        )
        tables.append(
            SubgroupTable(
                factor=name,
                of=len(levels),
                changing_sign=sum(item.changes_sign for item in levels),
                tested="shift" if d.shape[1] > 1 else "effect",
                interaction=_interaction(tested[complete], factor.those(complete), seed),
                levels=levels,
                overlap=factor.overlap,
            )
        )
    return tuple(tables)


def _interaction(tested: NDArray[np.float64], factor: Factor, seed: int) -> SubgroupTest:
    rng = np.random.default_rng((seed, PERMUTATION_STREAM))
    names = factor.names
    if factor.overlap:
        inside = np.array([factor.has(name) for name in names], dtype=np.bool_).reshape(
            len(names), len(tested)
        )
        return overlapping_subgroup_test(tested, inside.T, rng=rng, draws=PERMUTATIONS)
    codes = np.array([names.index(level) for (level,) in factor.levels], dtype=np.int64)
    return subgroup_test(tested, codes, rng=rng, draws=PERMUTATIONS)


def _subgroup(
    values: PairValues,
    name: str,
    d: NDArray[np.float64],
    tested: NDArray[np.float64],
    level: float,
) -> Subgroup:
    column = values.column(tested)
    inside = d[column.questions]
    effects = tuple(float(effect) for effect in inside.mean(axis=0))
    test = unit_test(column, level=level)
    percentile: PercentileInterval | None = percentile_of(column.values, level)
    signs = {float(np.sign(effect)) for effect in effects}
    return Subgroup(
        level=name,
        n=len(inside),
        effects=effects,
        shift=float(column.values.mean()) if d.shape[1] > 1 else None,
        low=None if percentile is None else percentile.low,
        high=None if percentile is None else percentile.high,
        by_unit_low=test.low if isinstance(test, MeanTest) else None,
        by_unit_high=test.high if isinstance(test, MeanTest) else None,
        changes_sign={1.0, -1.0} <= signs,
    )
