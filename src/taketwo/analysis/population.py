"""Who is compared: planned questions, those in every cell, and every loss between, with its cause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from taketwo.analysis.effects import Bounds
from taketwo.analysis.subgroups import SubgroupShare
from taketwo.outcomes.pairing import Loss, LossStep

__all__ = [
    "CellCount",
    "ClusterAccount",
    "Loss",
    "LossPattern",
    "LossStep",
    "Population",
]


@dataclass(frozen=True, kw_only=True)
class CellCount:
    """Denominators of one arm in one execution, over all planned questions.

    `n_present` counts questions whose video was there and that an early stop left, `n_scored` cells with an accuracy.
    `worst_case` bounds the accuracy over the present questions of the population.
    """

    arm: str
    execution: int
    n_planned: int
    n_present: int
    n_scored: int
    n_failed: int
    run_statuses: Mapping[str, int]
    score_statuses: Mapping[str, int]
    forced: int
    worst_case: Bounds | None


@dataclass(frozen=True, kw_only=True)
class ClusterAccount:
    """Clusters of the population: how many, how large, and the share of the largest."""

    by: Literal["video", "question"]
    n: int
    smallest: int
    mean_size: float
    largest: int
    largest_share: float


@dataclass(frozen=True, kw_only=True)
class LossPattern:
    """The same cells missing for the same reasons, and the questions that it cost."""

    cells: tuple[str, ...]
    n: int
    question_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Population:
    """Who is compared: all planned questions, those in every cell, and every loss between.

    `patterns` groups the losses by the cells that cost them, the most frequent first; `subgroups`
    compares all with the matched questions by level of each subgroup factor.
    """

    rule: str
    missing: str
    n_union: int
    n_matched: int
    matched_share: float
    losses: tuple[LossStep, ...]
    cells: tuple[CellCount, ...]
    clusters: ClusterAccount
    patterns: tuple[LossPattern, ...] = ()
    subgroups: tuple[SubgroupShare, ...] = ()
