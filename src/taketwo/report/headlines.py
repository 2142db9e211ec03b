"""What the comparison comes to in plain English: a sentence per comparison, and what verdicts mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from taketwo.analysis.comparison import Comparison, MetricComparison, PairComparison
from taketwo.analysis.verdict import VERDICT_TEXTS, Flag, Verdict
from taketwo.report.numbers import change, scale_of

__all__ = [
    "FLAG_TEXTS",
    "VERDICT_MEANINGS",
    "Headline",
    "Point",
    "headline_of",
    "pair_name",
    "verdicts_in",
]

VERDICT_MEANINGS: Mapping[Verdict, str] = MappingProxyType({
    "directional_reversal": (
        "the method is supported as better in one execution and as worse in another"
    ),
    "opposite_signs_not_confirmed": (
        "opposite signs turned up, but no more often than chance produces among this many "
        "executions"
    ),
    "magnitude_shift": (
        "every execution supports the same direction, and the size of the effect changed "
        "by more than chance explains"
    ),
    "no_shift_detected": (
        "every execution supports the same direction and no change of size was detected; "
        "that is not evidence that the effects are equal"
    ),
    "equivalent": (
        "every execution supports the same direction, and all changes of size lie inside the "
        "margin that was declared before the run"
    ),
    "attenuation": ("supported first, not supported later, and the change itself is established"),
    "emergence": "not supported first, supported later, and the change itself is established",
    "intermittent": "supported in some executions only, and the change itself is established",
    "not_reproduced": (
        "supported in some executions only, but no change between them was established: "
        "inconclusive, more questions or executions are needed"
    ),
    "shift_without_effect": (
        "no execution supports an effect, yet the effect changed by more than chance explains"
    ),
    "unsupported": "no execution supports an effect, and no change was detected",
    "not_testable": "an interval or test that the verdict needs does not exist",
    "single_execution": (
        "the effect was measured once; whether a second run would show it is not known"
    ),
})

FLAG_TEXTS: Mapping[Flag, str] = MappingProxyType({
    "BORDERLINE": "borderline",
    "MATCHING_SENSITIVE": "depends on matching",
    "FEW_CLUSTERS": "few clusters",
    "ZERO_VARIANCE": "zero variance",
    "SHIFT_NOT_CONFIRMED": "shift not confirmed",
    "DIFFERENTIAL_MISSINGNESS": "failures differ between arms",
    "CEILING": "near the ceiling",
})


@dataclass(frozen=True, kw_only=True)
class Point:
    """A metric's verdict in few words."""

    metric: str
    verdict: str
    is_primary: bool


@dataclass(frozen=True, kw_only=True)
class Headline:
    """What a comparison comes to, in one sentence, with the verdict on every metric below."""

    pair: str
    sentence: str
    counts: str
    points: tuple[Point, ...]


def pair_name(pair: PairComparison) -> str:
    """Return how a comparison is called."""
    return f"{pair.method} against {pair.baseline}"


def headline_of(pair: PairComparison) -> Headline:
    """Return the sentence on accuracy, or on the first metric that has a verdict."""
    chosen = pair.metrics.get("accuracy") or next(iter(pair.metrics.values()), None)
    return Headline(
        pair=pair_name(pair),
        sentence=(
            f"No metric of {pair_name(pair)} could be measured."
            if chosen is None
            else _sentence(pair, chosen)
        ),
        counts=_counts_sentence(pair),
        points=tuple(
            Point(
                metric=scale_of(item.metric).label,
                verdict=item.verdict_text.partition(" (")[0],
                is_primary=item.primary,
            )
            for item in pair.metrics.values()
        ),
    )


_SENTENCES: Mapping[Verdict, str] = MappingProxyType({
    "directional_reversal": (
        "The {metric} result reversed on re‑execution: {method} minus {baseline} is {effects}."
    ),
    "opposite_signs_not_confirmed": (
        "{Metric} of {method} minus {baseline} took both signs, no more often than chance "
        "would: {effects}."
    ),
    "magnitude_shift": (
        "{method} had {direction} {metric} than {baseline} in every execution, but the size "
        "changed: {effects}."
    ),
    "no_shift_detected": (
        "{method} had {direction} {metric} than {baseline} in every execution, and no change "
        "of size was detected: {effects}."
    ),
    "equivalent": (
        "{method} had {direction} {metric} than {baseline} in every execution, by the same "
        "amount within the declared margin: {effects}."
    ),
    "attenuation": (
        "The {metric} result did not survive re‑execution: {method} minus {baseline} is "
        "{effects}, the last no longer distinguishable from zero."
    ),
    "emergence": (
        "The {metric} result appeared on re‑execution only: {method} minus {baseline} is "
        "{effects}, the first not distinguishable from zero."
    ),
    "intermittent": ("The {metric} result came and went: {method} minus {baseline} is {effects}."),
    "not_reproduced": (
        "Inconclusive: {method} minus {baseline} differs in {metric} in some executions only "
        "({effects}), and the executions do not differ detectably from one another."
    ),
    "shift_without_effect": (
        "No execution shows {method} and {baseline} to differ in {metric}, yet the executions "
        "differ from one another: {effects}."
    ),
    "unsupported": ("No execution shows {method} and {baseline} to differ in {metric}: {effects}."),
    "not_testable": (
        "Whether {method} and {baseline} differ in {metric} cannot be tested: {effects}."
    ),
    "single_execution": (
        "In the one execution, {method} minus {baseline} in {metric} is {effects}{support}. "
        "Whether a second execution would agree is not known."
    ),
})


def _sentence(pair: PairComparison, item: MetricComparison) -> str:
    if not item.executions:
        return item.sentence
    effects = [
        f"{change(item.metric, effect.effect)} in K{effect.execution}" for effect in item.executions
    ]
    label = scale_of(item.metric).label
    first = item.executions[0]
    return _SENTENCES[item.verdict].format(
        metric=label.lower(),
        Metric=label,
        method=pair.method,
        baseline=pair.baseline,
        direction="higher" if first.sign > 0 else "lower",
        effects=" and ".join(
            [", ".join(effects[:-1]), effects[-1]] if len(effects) > 1 else effects
        ),
        support="" if first.supported else ", not distinguishable from zero",
    )


def _counts_sentence(pair: PairComparison) -> str:
    counts = pair.counts
    if counts is None:
        return ""
    missing = counts.declared - counts.of
    without = f" {missing} declared primary metrics have no verdict." if missing else ""
    return (
        f"Of {counts.of} primary metrics, {counts.sign_preserved} kept the sign of the effect "
        f"({counts.supported_sign_preserved} with support in every execution) and "
        f"{counts.shifted} shifted.{without}"
    )


def verdicts_in(comparison: Comparison) -> tuple[tuple[str, str], ...]:
    """Return the verdicts that occur, each with what it means, in the order of the decision table."""
    present = {item.verdict for pair in comparison.comparisons for item in pair.metrics.values()}
    return tuple(
        (VERDICT_TEXTS[verdict], meaning)
        for verdict, meaning in VERDICT_MEANINGS.items()
        if verdict in present
    )
