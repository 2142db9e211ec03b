"""What happened to a metric, in one sentence for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from taketwo.analysis.effects import Effect, HypothesisTest
from taketwo.analysis.number_text import change_in_words, p_value
from taketwo.analysis.variation import Average, PairCounts
from taketwo.analysis.verdict import Verdict
from taketwo.executions.rule import Metric

__all__ = ["runs_sentence", "sentence_of"]

TEMPLATES: Mapping[Verdict, str] = {
    "directional_reversal": (
        "{values}: supported in opposite directions, so which arm is ahead depends on the execution"
    ),
    "opposite_signs_not_confirmed": (
        "{values}: both signs are supported somewhere, but no more than chance produces among "
        "this many executions"
    ),
    "magnitude_shift": (
        "{values}: the direction holds in every execution, the size does not (shift {shift})"
    ),
    "no_shift_detected": (
        "{values}: the direction holds in every execution and no shift was detected "
        "({shift}), which is not evidence that the size is the same"
    ),
    "equivalent": (
        "{values}: the direction holds in every execution and the size stays within the margin "
        "declared beforehand"
    ),
    "attenuation": (
        "{values}: supported at first, no longer supported in the last execution, and the "
        "change itself is established (shift {shift})"
    ),
    "emergence": (
        "{values}: not supported at first, supported in the last execution, and the change "
        "itself is established (shift {shift})"
    ),
    "intermittent": (
        "{values}: supported in some executions only, and the effect does differ between "
        "executions (shift {shift})"
    ),
    "not_reproduced": (
        "{values}: supported in some executions only, while the difference between executions is "
        "within question noise (shift {shift}); this decides nothing either way"
    ),
    "shift_without_effect": (
        "{values}: supported in no execution, yet the effect differs between executions "
        "(shift {shift})"
    ),
    "unsupported": "{values}: no effect is supported in any execution, and no shift was detected",
    "not_testable": "{values}: no test is possible, see the reasons beside the numbers",
    "single_execution": (
        "{values}: one execution says what happened once; whether it would happen again is not "
        "known"
    ),
}


def sentence_of(
    metric: Metric,
    method: str,
    baseline: str,
    effects: Sequence[Effect],
    test: HypothesisTest | None,
    verdict: Verdict,
) -> str:
    """Return what happened to a metric, in one sentence with its numbers."""
    values = ", ".join(
        f"{change_in_words(metric, effect.effect)} in K{effect.execution}{_unsupported(effect)}"
        for effect in effects
    )
    sentence = TEMPLATES[verdict].format(values=values, shift=_shift_text(test))
    return f"{method} minus {baseline}: {sentence}."


def _unsupported(effect: Effect) -> str:
    """Return why an effect is not supported; with no variance the interval says nothing."""
    if effect.supported:
        return ""
    low, high = effect.headline.low, effect.headline.high
    covers = low is None or high is None or low <= 0 <= high
    return " (interval covers zero)" if covers else " (too few questions to support it)"


def _shift_text(test: HypothesisTest | None) -> str:
    if test is None or test.p is None:
        return "not testable"
    if test.p_holm is None:
        return f"p = {p_value(test.p)}, not in the primary family"
    return f"Holm-adjusted p = {p_value(test.p_holm)}"


RUN_ENDINGS: Mapping[Verdict, str] = {
    "directional_reversal": "so which arm is ahead depends on the runs (shift {shift})",
    "magnitude_shift": "while the runs of an arm differ among themselves (shift {shift})",
    "no_shift_detected": (
        "and no arm's runs differ among themselves detectably ({shift}), which is not evidence that "
        "they are the same"
    ),
    "not_reproduced": "so a pair of runs may or may not show the effect (shift {shift})",
    "shift_without_effect": "yet the runs of an arm differ among themselves (shift {shift})",
    "unsupported": "so the arms are not told apart by a pair of runs (shift {shift})",
    "not_testable": "but no test is possible, see the reasons beside the numbers",
    "single_execution": (
        "with one run of each arm; whether another would show the same is not known"
    ),
}


def runs_sentence(
    metric: Metric,
    method: str,
    baseline: str,
    average: Average,
    pairs: PairCounts,
    test: HypothesisTest | None,
    verdict: Verdict,
) -> str:
    """Return what the runs of two arms say that were not made together."""
    against = (
        f", {pairs.supported_negative} the method as worse" if pairs.supported_negative else ""
    )
    counted = (
        f"{pairs.supported_positive} of {pairs.n} pairs of runs support the method as higher"
        if metric != "accuracy"
        else f"{pairs.supported_positive} of {pairs.n} pairs of runs support the method as better"
    )
    if metric != "accuracy" and pairs.supported_negative:
        against = f", {pairs.supported_negative} as lower"
    ending = RUN_ENDINGS[verdict].format(shift=_shift_text(test))
    return (
        f"{method} minus {baseline}: {change_in_words(metric, average.effect)} on average over all runs; "
        f"{counted}{against}, {ending}."
    )
