"""What each arm did by itself between two executions."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from taketwo.analysis.effects import Movement
from taketwo.analysis.estimates import clustered_interval, mcnemar_record, test_record
from taketwo.analysis.headline import bootstrap_interval, t_interval, unit_test
from taketwo.analysis.intervals import Bootstrap, resample
from taketwo.analysis.pair_values import Column, PairValues
from taketwo.stats.paired import discordant

__all__ = ["Movements", "movements_of"]

MOST_RESAMPLED = 3


@dataclass(frozen=True, kw_only=True)
class Movements:
    """How movements are computed; `known` keeps those of an arm that stands in several comparisons."""

    level: float
    bootstrap: Bootstrap
    draws: int
    seed: int
    known: dict[tuple[str, str, tuple[int, int], bytes], Movement] = field(
        default_factory=dict[tuple[str, str, tuple[int, int], bytes], Movement]
    )


def movements_of(values: PairValues, how: Movements, *, is_binary: bool) -> tuple[Movement, ...]:
    """Return what each arm did between each pair of executions, baseline first.

    Percentile intervals are given for up to three pairs of executions.
    """
    arms = ((values.baseline_name, values.baseline), (values.method_name, values.method))
    found: list[Movement] = []
    for pair in values.pairs:
        used = np.logical_and.reduce(np.isfinite(values.differences[:, list(pair)]), axis=1)
        if not used.any():
            continue
        for name, cells in arms:
            key = (values.metric, name, pair, used.tobytes())
            if key not in how.known:
                how.known[key] = _movement(
                    values, name, cells, pair, used, how, is_binary=is_binary
                )
            found.append(how.known[key])
    return tuple(found)


def _movement(
    values: PairValues,
    name: str,
    cells: NDArray[np.float64],
    pair: tuple[int, int],
    used: NDArray[np.bool_],
    how: Movements,
    *,
    is_binary: bool,
) -> Movement:
    before, after = cells[used, pair[0]], cells[used, pair[1]]
    cluster = None if values.cluster is None else values.cluster[used]
    column = Column(values=after - before, questions=np.flatnonzero(used), cluster=cluster)
    test = unit_test(column, level=how.level)
    boot = None
    if len(values.pairs) <= MOST_RESAMPLED:
        boot = resample(
            [column], level=how.level, bootstrap=how.bootstrap, draws=how.draws, seed=how.seed
        )[0]
    changed = discordant(after, before) if is_binary else None
    n, flips = len(before), 0 if changed is None else changed.gained + changed.lost
    by_question = None if boot is None else boot.by_question
    return Movement(
        arm=name,
        earlier=values.executions[pair[0]],
        later=values.executions[pair[1]],
        n=n,
        re=float(column.values.mean()),
        changed=float((column.values != 0).mean()),
        mean_absolute_change=float(np.abs(column.values).mean()),
        interval=t_interval(test, level=how.level),
        test=test_record(test),
        percentile=None
        if by_question is None
        else bootstrap_interval(by_question, level=how.level, by_video=False),
        clustered=None if boot is None else clustered_interval(boot.by_video, level=how.level),
        gained=None if changed is None else changed.gained,
        lost=None if changed is None else changed.lost,
        churn=None if changed is None else flips / n,
        net=None if changed is None else (changed.gained - changed.lost) / n,
        net_share=abs(changed.gained - changed.lost) / flips if changed and flips else None,
        mcnemar=None if changed is None else mcnemar_record(changed),
    )
