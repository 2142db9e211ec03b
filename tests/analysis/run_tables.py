"""Tables of runs that were not made together, for tests."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from tests.analysis.outcome_tables import table

from taketwo.outcomes.table import Outcomes


def runs(
    arms: Mapping[str, NDArray[np.float64]], *, per_video: int = 1, baseline: str | None = "static"
) -> Outcomes:
    """Return a table from questions x runs of accuracy by arm; runs are numbered from 1."""
    return table([
        {
            "arm": arm,
            "baseline": None if arm == baseline else baseline,
            "execution": k + 1,
            "question_id": f"q{q:03d}",
            "video_id": f"v{q // per_video:03d}",
            "accuracy": float(value),
        }
        for arm, cells in arms.items()
        for (q, k), value in np.ndenumerate(cells)
    ])


def drawn(
    seed: int, rates: Mapping[str, tuple[float, int]], n: int = 60
) -> dict[str, NDArray[np.float64]]:
    """Return random outcomes by arm from (rate, number of runs)."""
    rng = np.random.default_rng(seed)
    return {arm: (rng.random((n, k)) < rate).astype(np.float64) for arm, (rate, k) in rates.items()}
