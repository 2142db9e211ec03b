"""CPU seconds of bootstrap intervals: exact ones against drawn ones, in one run.

    python perf/intervals.py                  a few minutes
    python perf/intervals.py --draws 500      fewer draws of the peers, scaled up

The task is that of a paper's main table: 5 metrics x (2 effects + 1 shift) = 15 percentile intervals
of N questions, as if with B = 10,000 draws. Four metrics are whole numbers, latency is not. Peers
draw fewer times where N is large, and their seconds are scaled linearly to 10,000 ("draws measured").
Every method runs in a process of its own on one thread; seconds are user + system time, the best of
several rounds for the fast ones; importing is not counted, except in memory. Ratios are CPU seconds
of 15 calls of scipy.stats.bootstrap over the method's; numbers of different runs are not comparable.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# SciPy ships without type information.

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from taketwo.stats.cluster import ClusterSums
from taketwo.stats.exact import exact_percentile
from taketwo.stats.resampling import (
    bootstrap_means,
    bootstrap_means_of_patterns,
    percentile_intervals,
)
from taketwo.stats.streaming import accumulate

DRAWS = 10_000
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
CHUNK = 200_000
STREAMED = 10_000_000
MEMORY_GOAL_MB = 500
ROUNDS = 5

Table = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One method on one table; `ends` are the interval of the third column."""

    name: str
    draws: int
    cpu_s: float
    peak_mb: float
    ends: tuple[float, float]


def questions(n: int, rng: np.random.Generator) -> Table:
    """Return effects of two executions and the shift of five metrics, n x 15."""
    columns: list[Table] = []
    gained = rng.choice([1.0, 0.0, -1.0], p=[0.143, 0.788, 0.069], size=n)
    lost = rng.choice([1.0, 0.0, -1.0], p=[0.071, 0.818, 0.111], size=n)
    columns += [gained, lost, gained - lost]
    for scale in (3.0, 2.5, 4.0):
        first, second = (np.rint(rng.normal(-0.9, scale, n)) for _ in range(2))
        columns += [first, second, first - second]
    first, second = (
        rng.lognormal(4, 0.9, n) - rng.lognormal(3.95 - 0.2 * k, 0.9, n) for k in range(2)
    )
    columns += [first, second, first - second]
    return np.column_stack(columns)


def latencies(n: int, rng: np.random.Generator) -> Table:
    """Return 15 columns that lie on no grid, n x 15."""
    return rng.lognormal(4, 0.9, (n, 15)) - rng.lognormal(3.9, 0.9, (n, 15))


def exact(table: Table, draws: int) -> tuple[float, float]:
    """taketwo, exact (B = infinity)."""
    del draws
    found = exact_percentile(table)[2]
    return found.low or 0.0, found.high or 0.0


def drawn(table: Table, draws: int) -> tuple[float, float]:
    """taketwo, seeded draws shared by all columns."""
    units = ClusterSums(sums=table, sizes=np.ones(len(table)))
    replicates = bootstrap_means(units, draws=draws, rng=np.random.default_rng(1))
    found = percentile_intervals(replicates)[2]
    return found.low, found.high


def patterns(table: Table, draws: int) -> tuple[float, float]:
    """taketwo, seeded draws of patterns (accuracy only)."""
    units = ClusterSums(sums=table[:, :3], sizes=np.ones(len(table)))
    replicates = bootstrap_means_of_patterns(units, draws=draws, rng=np.random.default_rng(1))
    found = percentile_intervals(replicates)[2]
    return found.low, found.high


def loop(table: Table, draws: int) -> tuple[float, float]:
    """Python loop over draws, numpy index, 15 times."""
    rng, n = np.random.default_rng(1), len(table)
    ends = [
        np.quantile([column[rng.integers(n, size=n)].mean() for _ in range(draws)], [0.025, 0.975])
        for column in np.ascontiguousarray(table.T)
    ]
    return float(ends[2][0]), float(ends[2][1])


def scipy_each(table: Table, draws: int) -> tuple[float, float]:
    """scipy.stats.bootstrap, 15 calls."""
    ends: list[tuple[float, float]] = []
    for column in np.ascontiguousarray(table.T):
        found = stats.bootstrap(
            (column,),
            np.mean,
            n_resamples=draws,
            batch=max(1, 2_000_000 // len(column)),
            method="percentile",
            vectorized=True,
            rng=np.random.default_rng(1),
        ).confidence_interval
        ends.append((float(found.low), float(found.high)))
    return ends[2]


def scipy_once(table: Table, draws: int) -> tuple[float, float]:
    """scipy.stats.bootstrap, one call on all columns."""
    found = stats.bootstrap(
        (np.ascontiguousarray(table.T),),
        np.mean,
        n_resamples=draws,
        batch=max(1, 2_000_000 // table.size),
        method="percentile",
        vectorized=True,
        axis=1,
        rng=np.random.default_rng(1),
    ).confidence_interval
    return float(found.low[2]), float(found.high[2])


METHODS: tuple[Callable[[Table, int], tuple[float, float]], ...] = (
    scipy_each,
    scipy_once,
    loop,
    drawn,
    patterns,
    exact,
)
TABLES: dict[str, Callable[[int, np.random.Generator], Table]] = {
    "4 whole-number metrics and latency": questions,
    "no column on a grid": latencies,
}


def measure(index: int, kind: str, n: int, draws: int) -> str:
    """Run one method and return `Measured` as JSON; runs in a process of its own."""
    method = METHODS[index]
    table = TABLES[kind](n, np.random.default_rng(0))
    method(table[:100], 10)
    rounds = ROUNDS if method is exact else 1
    taken: list[float] = []
    ends = (0.0, 0.0)
    for _ in range(rounds):
        before = time.process_time()
        ends = method(table, draws)
        taken.append(time.process_time() - before)
    scale = 1.0 if method is exact else DRAWS / draws
    return json.dumps({
        "name": (method.__doc__ or "").rstrip("."),
        "draws": 0 if method is exact else draws,
        "cpu_s": min(taken) * scale,
        "peak_mb": peak_mb(),
        "ends": ends,
    })


def stream(n: int) -> str:
    """Stream n rows of 15 columns through an accumulator; runs in a process of its own."""

    def chunks() -> Iterator[Table]:
        rng = np.random.default_rng(0)
        for start in range(0, n, CHUNK):
            yield questions(min(CHUNK, n - start), rng)

    before = time.process_time()
    for _ in chunks():
        pass
    making = time.process_time() - before
    before = time.process_time()
    total = accumulate(chunks())
    adding = time.process_time() - before - making
    before = time.process_time()
    found = total.intervals()[2]
    return json.dumps({
        "n": total.n,
        "making_s": making,
        "adding_s": adding,
        "intervals_s": time.process_time() - before,
        "peak_mb": peak_mb(),
        "ends": (found.low, found.high),
    })


def peak_mb() -> float:
    """Return the peak resident memory of this process since it was started, in MB (Linux)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def lines_of(title: str, rows: Sequence[Measured], goal: float) -> list[str]:
    """Return a Markdown table and what it says about the goal."""
    base = rows[0].cpu_s
    lines = [
        f"**{title}**",
        "",
        "| method | draws measured | CPU s | times faster | peak MB | interval of the third column |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
    ]
    lines += [
        f"| {row.name} | {row.draws or 'none'} | {row.cpu_s:.4g} | {base / row.cpu_s:,.1f} "
        f"| {row.peak_mb:.0f} | {row.ends[0]:.5g} to {row.ends[1]:.5g} |"
        for row in rows
    ]
    ratio = base / rows[-1].cpu_s
    verdict = "reached" if ratio >= goal else "NOT reached"
    return [
        *lines,
        "",
        f"Exact intervals are {ratio:,.0f} times faster than 15 calls of scipy.stats.bootstrap; "
        f"goal {goal:,.0f}: {verdict}.",
        "",
    ]


def in_own_process(function: Callable[..., str], *arguments: object) -> str:
    """Return what `function` returns in a fresh interpreter."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def main() -> None:
    """Run every method on both sizes, then the stream; print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--draws", type=int, default=DRAWS, help="of the peers at N = 1,283")
    parser.add_argument("--large-draws", type=int, default=60, help="of the peers at N = 100,000")
    arguments = parser.parse_args()
    for name in THREADS:
        os.environ[name] = "1"
    for kind in TABLES:
        for n, draws, goal in (
            (1_283, int(arguments.draws), 100.0),
            (100_000, int(arguments.large_draws), 1_000.0),
        ):
            rows = [
                Measured(
                    **json.loads(
                        in_own_process(
                            measure, index, kind, n, DRAWS if method is patterns else draws
                        )
                    )
                )
                for index, method in enumerate(METHODS)
                if method is not patterns or TABLES[kind] is questions
            ]
            print("\n".join(lines_of(f"N = {n:,}, {kind}", rows, goal)), flush=True)
    found = json.loads(in_own_process(stream, STREAMED))
    verdict = "reached" if found["peak_mb"] < MEMORY_GOAL_MB else "NOT reached"
    print(
        f"Streaming {found['n']:,} rows x 15 columns in chunks of {CHUNK:,}: "
        f"{found['adding_s']:.1f} s CPU to sum up ({found['making_s']:.1f} s more to make the rows), "
        f"{found['intervals_s']:.2f} s for 15 exact intervals, peak {found['peak_mb']:.0f} MB; "
        f"goal under {MEMORY_GOAL_MB} MB: {verdict}. Accuracy shift "
        f"{found['ends'][0]:.5g} to {found['ends'][1]:.5g}."
    )


if __name__ == "__main__":
    main()
