"""What qualifies a number: flags with their reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from taketwo.analysis.denominators import effect_bounds
from taketwo.analysis.effects import Effect, HypothesisTest, Interval, Sensitivity, Shift
from taketwo.analysis.number_text import p_value, scale_of
from taketwo.analysis.pair_values import Clusters
from taketwo.analysis.verdict import Flag, Verdict
from taketwo.executions.rule import MOST, Metric
from taketwo.outcomes.pairing import PairedOutcomes
from taketwo.stats.paired import discordant

__all__ = [
    "CEILING",
    "ceiling",
    "differential_missingness",
    "few_clusters",
    "flags_of",
    "nobody_reports",
    "not_known",
    "runs_not_known",
    "stopped_early",
]

CEILING = 0.9


def flags_of(
    *,
    metric: Metric,
    verdict: Verdict,
    shift: bool | None,
    level: float,
    effects: Sequence[Effect],
    shifts: Sequence[Shift],
    omnibus: HypothesisTest | None,
    headline_omnibus: HypothesisTest | None,
    sensitivity: Sensitivity | None,
    clusters: Clusters | None,
    missingness: str | None,
) -> dict[Flag, str]:
    """Return the flags of a metric, each with its reason.

    `clusters` are the units that are resampled; `missingness` is the reason of differential
    missingness, if any.
    """
    found: dict[Flag, str] = {}
    borderline = _borderline(effects, omnibus, headline_omnibus, level=level)
    if borderline:
        found["BORDERLINE"] = borderline
    if sensitivity is not None and _differs(sensitivity, effects, verdict):
        found["MATCHING_SENSITIVE"] = (
            "on all questions that each execution has by itself the sign, the support or the "
            f"verdict differs ({sensitivity.verdict})"
        )
    few = few_clusters(clusters)
    if few:
        found["FEW_CLUSTERS"] = few
    constant = [
        f"K{effect.execution}"
        for effect in effects
        if effect.headline.se == 0 or effect.t_interval.se == 0
    ]
    constant += [
        f"K{shift.earlier}-K{shift.later}"
        for shift in shifts
        if shift.headline.se == 0 or shift.t_interval.se == 0
    ]
    if constant:
        found["ZERO_VARIANCE"] = (
            f"every question has the same difference in {', '.join(constant)}: the interval is "
            "a point and p is that of the exact sign-flip"
        )
    if verdict == "directional_reversal" and shift is not True:
        found["SHIFT_NOT_CONFIRMED"] = (
            "the signs differ, but the adjusted test of the shift does not reject"
        )
    if missingness:
        found["DIFFERENTIAL_MISSINGNESS"] = missingness
    near = ceiling(
        metric,
        {f"K{effect.execution}": (effect.baseline_mean, effect.method_mean) for effect in effects},
    )
    if near:
        found["CEILING"] = near
    return found


def ceiling(metric: Metric, means: Mapping[str, tuple[float, float]]) -> str:
    """Return where both arms have most questions right, "" where they do not.

    `means` are those of baseline and method, by the name of what they are means of. Only accuracy
    has a ceiling here.
    """
    if metric != "accuracy":
        return ""
    near = {name: pair for name, pair in means.items() if min(pair) >= CEILING}
    if not near:
        return ""
    told = ", ".join(f"{pair[0]:.1%} and {pair[1]:.1%} in {name}" for name, pair in near.items())
    return (
        f"baseline and method have {told} right: little is left to gain, so a small effect or none "
        "says little about the agents; harder questions tell more"
    )


def few_clusters(clusters: Clusters | None) -> str:
    """Return why the videos are too few for the percentile bootstrap, "" where they are not."""
    if clusters is None or not clusters.hold_several or not clusters.are_few:
        return ""
    return (
        f"{clusters.n} videos, the largest with {clusters.largest_share:.0%} of the questions: the "
        "percentile bootstrap over videos is too short here, CR2 decides"
    )


def _differs(sensitivity: Sensitivity, effects: Sequence[Effect], verdict: Verdict) -> bool:
    signs = [None if value is None else int(np.sign(value)) for value in sensitivity.effects]
    return sensitivity.verdict != verdict or signs != [effect.sign for effect in effects]


def _borderline(
    effects: Sequence[Effect],
    omnibus: HypothesisTest | None,
    headline: HypothesisTest | None,
    *,
    level: float,
) -> str:
    """Return where another test of the same number decides otherwise than the headline."""
    told: list[str] = []
    for effect in effects:
        if effect.headline.low is None or effect.headline.se == 0:
            continue
        others = {
            "percentile bootstrap": _excludes_zero(effect.low, effect.high),
            "cluster percentile bootstrap": _interval_excludes(effect.clustered),
            "CR2": _interval_excludes(effect.cr2),
            "paired t": None if effect.cr2 else _interval_excludes(effect.t_interval),
            "Tango interval": _interval_excludes(effect.tango),
            "exact McNemar": effect.mcnemar and effect.mcnemar.exact_p <= 1 - level,
        }
        against = [name for name, other in others.items() if other not in {None, effect.supported}]
        if against:
            told.append(f"K{effect.execution}: {', '.join(against)}")
    if omnibus is not None and headline is not None:
        p = [test.p if test.p_holm is None else test.p_holm for test in (omnibus, headline)]
        if None not in p and len({value is not None and value <= 1 - level for value in p}) == 2:
            told.append("shift: the test by question")
    return f"decided otherwise than the headline by {'; '.join(told)}" if told else ""


def _excludes_zero(low: float | None, high: float | None) -> bool | None:
    return None if low is None or high is None else low > 0 or high < 0


def _interval_excludes(interval: Interval | None) -> bool | None:
    return None if interval is None else _excludes_zero(interval.low, interval.high)


def differential_missingness(
    paired: PairedOutcomes, metric: Metric, method: str, *, level: float
) -> str | None:
    """Return why cells that failed, or have no value, may favour one arm in this metric, or None.

    They differ where an exact mid-p McNemar test on "the cell failed" rejects in an execution. Of
    the accuracy also where the arms fail unequally often and the worst case changes the sign of the
    effect; other metrics have no worst case.
    """
    arms = [paired.arms.index(paired.baselines[method]), paired.arms.index(method)]
    lost = paired.failed
    if metric != "accuracy":
        lost = (lost | np.isnan(paired.values[metric])) & paired.present
    for k, execution in enumerate(paired.executions):
        counted = paired.eligible[:, k]
        base, other = (lost[counted, arm, k].astype(np.float64) for arm in arms)
        if base.sum() == other.sum():
            continue
        test = discordant(other, base)
        told = (
            f"K{execution}: {_lost_cells(metric, int(other.sum()))} of {method!r} against "
            f"{base.sum():.0f} of {paired.baselines[method]!r}"
        )
        if test.mid_p <= 1 - level:
            return f"{told} (p = {p_value(test.mid_p)}, McNemar mid-p)"
        bounds = effect_bounds(paired, method, k) if metric == "accuracy" else None
        if bounds is not None and bounds.low <= 0 <= bounds.high:
            return f"{told}; at their worst they could undo or turn the accuracy effect"
    return None


def _lost_cells(metric: Metric, number: int) -> str:
    cells = "cell" if number == 1 else "cells"
    if metric == "accuracy":
        return f"{number} failed {cells}"
    return f"{number} {cells} that failed or without a value of {scale_of(metric).label.lower()}"


def not_known(executions: int) -> str | None:
    """Return what a study of this many executions cannot tell, None from four on."""
    if executions == 1:
        return (
            "One execution shows what happened once. Its intervals cover which questions were "
            "drawn, not what another run of the same agents would give: whether direction or size "
            "of an effect would reproduce is not known. Run a second execution to find out."
        )
    if executions < 4:
        return (
            f"{executions} executions can show that an effect moved, not how much it usually "
            "moves: the spread between executions is descriptive here, and nothing is said of "
            "the next one."
        )
    return None


def runs_not_known(runs: Mapping[str, int]) -> str | None:
    """Return what runs that were not made together cannot tell, by number of runs of each arm."""
    single = [arm for arm, number in runs.items() if number == 1]
    told = (
        "Runs of the arms were not made together, so no run of one belongs to a run of another: "
        "nothing is said of an effect in an execution, and what changed on the day of a run cannot be "
        "told from what the arm varies by."
    )
    if not single:
        return told
    return (
        f"{told} {', '.join(map(repr, single))} {'has' if len(single) == 1 else 'have'} one run: "
        "whether another would give the same is not known."
    )


def stopped_early(frame: pl.DataFrame) -> str | None:
    """Return what is to be known of executions that the rule stopped early, None without one.

    `frame` are all rows of an outcomes table; the reason of a stop stands in its cells' `failure`.
    """
    told: list[str] = []
    total = frame["question_id"].n_unique()
    cells = frame.filter(pl.col("availability") == "stopped")
    for execution in cells["execution"].unique().sort().to_list():
        own = cells.filter(pl.col("execution") == execution)
        reason = str(own["failure"].drop_nulls().min() or "not recorded").removeprefix("Stopped: ")
        ran = total - own["question_id"].n_unique()
        told.append(
            f"K{execution} was stopped early, as the rule allows, after {ran} of {total} questions. "
            "Fixed-sample p-values and intervals of its shift are optimistic, since it was looked at "
            f"while it ran; the sequential statement is: {reason}."
        )
    return " ".join(told) or None


def nobody_reports(metric: Metric) -> str:
    """Return why a metric has no value anywhere: scores of trajectories need somebody to judge them."""
    if metric in MOST and metric != "accuracy":
        return "no judge has scored a trajectory"
    return "no cell reports it"
