"""The reconstructed tables of the REPAIR paper as arrays."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

DATA = Path(__file__).parents[1] / "data"
METRICS = ("accuracy", "turns", "visible_calls", "primitive_ops", "latency_s")


@cache
def _rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def accuracy_effects() -> NDArray[np.float64]:
    """Return dynamic minus static of both executions, 1,283 x 2."""
    rows = _rows("repair_paper_accuracy.csv")
    return np.array([
        [int(row[f"K{k}_dynamic"]) - int(row[f"K{k}_static"]) for k in (1, 2)] for row in rows
    ]).astype(np.float64)


def accuracy_factor(name: str) -> NDArray[np.int64]:
    """Return the level of each question of one factor as a number."""
    labels = np.array([row[name] for row in _rows("repair_paper_accuracy.csv")])
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def five_metrics() -> NDArray[np.float64]:
    """Return effects and shift of five metrics, 1,283 x 15."""
    rows = _rows("repair_paper_five_metrics_synthetic.csv")
    columns: list[NDArray[np.float64]] = []
    for metric in METRICS:
        first, second = (
            np.array([
                float(row[f"{metric}_K{k}_dynamic"]) - float(row[f"{metric}_K{k}_static"])
                for row in rows
            ])
            for k in (1, 2)
        )
        columns += [first, second, first - second]
    return np.column_stack(columns)
