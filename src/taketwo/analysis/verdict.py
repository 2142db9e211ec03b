"""The verdict on a metric: a pure, total and exclusive function of support and shift.

The table is the decision table of the design for any number of executions. It is stricter than the
wording of the REPAIR paper: an effect that is supported in one execution and not in another is an
attenuation only where the shift between them is itself established, since "significant here, not
significant there" happens in up to half of all re-executions in which nothing moved (Gelman and
Stern 2006). `paper_label` says what the paper's wording would have called it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

__all__ = [
    "VERDICT_TEXTS",
    "Flag",
    "PaperLabel",
    "Verdict",
    "paper_label",
    "verdict_of",
    "verdict_of_runs",
]

Flag = Literal[
    "BORDERLINE",
    "MATCHING_SENSITIVE",
    "FEW_CLUSTERS",
    "ZERO_VARIANCE",
    "SHIFT_NOT_CONFIRMED",
    "DIFFERENTIAL_MISSINGNESS",
    "CEILING",
]
Verdict = Literal[
    "directional_reversal",
    "opposite_signs_not_confirmed",
    "magnitude_shift",
    "no_shift_detected",
    "equivalent",
    "attenuation",
    "emergence",
    "intermittent",
    "not_reproduced",
    "shift_without_effect",
    "unsupported",
    "not_testable",
    "single_execution",
]
PaperLabel = Literal["Direction reversal", "Sign stable, magnitude shifts", "Attenuates to null"]

VERDICT_TEXTS: Mapping[Verdict, str] = {
    "directional_reversal": "directional reversal",
    "opposite_signs_not_confirmed": "opposite signs, not confirmed",
    "magnitude_shift": "direction reproduced, magnitude shift",
    "no_shift_detected": "direction reproduced, no shift detected (not evidence of equivalence)",
    "equivalent": "direction reproduced, equivalent within the declared margin",
    "attenuation": "attenuation to null",
    "emergence": "emergence",
    "intermittent": "intermittent support",
    "not_reproduced": "support not reproduced, no shift detected (inconclusive)",
    "shift_without_effect": "shift without a supported effect",
    "unsupported": "unsupported",
    "not_testable": "not testable",
    "single_execution": "one execution only, reproducibility not known",
}


def verdict_of(
    supports: Sequence[int | None],
    shift: bool | None,
    *,
    reversal_confirmed: bool = True,
    is_equivalent: bool = False,
) -> Verdict:
    """Return what the rule says of a metric.

    Parameters
    ----------
    supports
        For each execution in order of time the sign of the effect (-1 or 1) where its headline
        interval excludes zero, 0 where it does not, None where there is no interval.
    shift
        Whether the adjusted test of the shift (two executions) or the omnibus test (more) rejects;
        None where it cannot be computed.
    reversal_confirmed
        For three executions and more, whether opposite supported signs are more than chance: they
        turn up in 1 % of flat nulls with 5 executions and in 15 % with 20.
    is_equivalent
        Whether all shifts lie inside a margin that was declared beforehand.

    Raises
    ------
    ValueError
        If there is no execution, or a support is not -1, 0, 1 or None.
    """
    if not supports or any(support not in {-1, 0, 1, None} for support in supports):
        raise ValueError(f"supports must be -1, 0, 1 or None, one per execution: {supports!r}")
    if len(supports) == 1:
        return "single_execution"
    if None in supports:
        return "not_testable"
    if 1 in supports and -1 in supports:
        return "directional_reversal" if reversal_confirmed else "opposite_signs_not_confirmed"
    if shift is None:
        return "not_testable"
    if 0 not in supports:
        return _reproduced(shift=shift, is_equivalent=is_equivalent)
    if any(supports):
        return _mixed(supports, shift=shift)
    return "shift_without_effect" if shift else "unsupported"


def _reproduced(*, shift: bool, is_equivalent: bool) -> Verdict:
    if shift:
        return "magnitude_shift"
    return "equivalent" if is_equivalent else "no_shift_detected"


def _mixed(supports: Sequence[int | None], *, shift: bool) -> Verdict:
    if not shift:
        return "not_reproduced"
    if supports[0] and not supports[-1]:
        return "attenuation"
    if supports[-1] and not supports[0]:
        return "emergence"
    return "intermittent"


REPRODUCED_SHARE = 0.95
REVERSED_SHARE = 0.05


def verdict_of_runs(
    positive: int, negative: int, pairs: int, shift: bool | None, *, has_one_run: bool = False
) -> Verdict:
    """Return what the rule says of a metric where runs of the arms were not made together.

    Nothing depends on which run is called which, so there is no first and no last one: no attenuation,
    emergence or intermittent support.

    Parameters
    ----------
    positive, negative
        Pairs of runs in which the effect is supported with that sign.
    pairs
        All pairs of runs.
    shift
        Whether either arm's own runs differ, adjusted over the two; None where it cannot be computed.
    has_one_run
        Whether each arm has one run only.

    Raises
    ------
    ValueError
        If the counts do not fit.
    """
    if positive < 0 or negative < 0 or pairs < 1 or positive + negative > pairs:
        raise ValueError(f"{positive} and {negative} of {pairs} pairs of runs are impossible")
    if has_one_run:
        return "single_execution"
    if shift is None:
        return "not_testable"
    if shift and min(positive, negative) >= REVERSED_SHARE * pairs:
        return "directional_reversal"
    if max(positive, negative) >= REPRODUCED_SHARE * pairs:
        return "magnitude_shift" if shift else "no_shift_detected"
    if positive or negative:
        return "not_reproduced"
    return "shift_without_effect" if shift else "unsupported"


def paper_label(supports: Sequence[int | None], shift: bool | None) -> PaperLabel | None:
    """Return what the REPAIR paper (its section 4.3 and Table 5) would call it, or None.

    The paper defines attenuation without asking for a shift, and has no word for a reproduced
    direction without a shift or for no support at all.
    """
    if len(supports) < 2 or None in supports:
        return None
    if 1 in supports and -1 in supports:
        return "Direction reversal"
    if 0 not in supports:
        return "Sign stable, magnitude shifts" if shift else None
    return "Attenuates to null" if any(supports) else None
