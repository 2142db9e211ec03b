"""Does a declared claim hold? One answer for a script: yes, no, or it cannot be said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from taketwo.analysis.comparison import Comparison, MetricComparison, PairComparison
from taketwo.analysis.verdict import VERDICT_TEXTS, Verdict
from taketwo.benchmarks.canonical import JsonValue
from taketwo.errors import RequestError, UnknownName

__all__ = ["Claim", "GateResult", "Holding", "gate"]

Holding = Literal["holds", "does_not_hold", "cannot_be_evaluated"]
REPRODUCED: tuple[Verdict, ...] = ("magnitude_shift", "no_shift_detected", "equivalent")
UNDECIDED: tuple[Verdict, ...] = ("not_testable", "single_execution")
EXIT_STATUS: Mapping[Holding, int] = MappingProxyType({
    "holds": 0,
    "does_not_hold": 1,
    "cannot_be_evaluated": 3,
})


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What is claimed of one metric of one comparison.

    `direction`: the effect is supported with one and the same sign in every execution; `sign` says
    which (`higher`, `lower`), None accepts either. `equivalent`: every shift lies inside the margin that
    the rule declared. `method` and `baseline` may be left out where there is one comparison.
    """

    metric: str = "accuracy"
    kind: Literal["direction", "equivalent"] = "direction"
    sign: Literal["higher", "lower"] | None = None
    method: str | None = None
    baseline: str | None = None


@dataclass(frozen=True, kw_only=True)
class GateResult:
    """Whether the claim holds, and why."""

    claim: Claim
    comparison: str
    holding: Holding
    verdict: Verdict | None
    reason: str

    @property
    def exit_status(self) -> int:
        """Return 0 where the claim holds, 1 where it does not, 3 where that cannot be said."""
        return EXIT_STATUS[self.holding]

    def to_json(self) -> dict[str, JsonValue]:
        """Return the result for scripts."""
        return {
            "format": "taketwo.gate/1",
            "comparison": self.comparison,
            "metric": self.claim.metric,
            "claim": self.claim.kind,
            "sign": self.claim.sign,
            "holding": self.holding,
            "verdict": self.verdict,
            "reason": self.reason,
            "exit_status": self.exit_status,
        }


def gate(comparison: Comparison, claim: Claim) -> GateResult:
    """Return whether a claim survived complete re-execution.

    Raises
    ------
    UnknownName
        If there is no such arm or metric in the comparison.
    RequestError
        If several comparisons fit.
    """
    pair = _pair(comparison, claim)
    name = f"{pair.method} against {pair.baseline}"

    def result(holding: Holding, reason: str, verdict: Verdict | None = None) -> GateResult:
        return GateResult(
            claim=claim, comparison=name, holding=holding, verdict=verdict, reason=reason
        )

    without = next((item for item in pair.not_measured if item.metric == claim.metric), None)
    if without is not None:
        return result("cannot_be_evaluated", f"{claim.metric} is not measured: {without.reason}")
    if claim.metric not in pair.metrics:
        raise UnknownName.among("metric", claim.metric, pair.metrics)
    item = pair.metrics[claim.metric]
    if item.verdict in UNDECIDED:
        return result("cannot_be_evaluated", VERDICT_TEXTS[item.verdict], item.verdict)
    if claim.kind == "equivalent":
        holding, reason = _equivalent(item)
    else:
        holding, reason = _direction(item, claim)
    return result(holding, reason, item.verdict)


def _pair(comparison: Comparison, claim: Claim) -> PairComparison:
    for role, wanted in (("method", claim.method), ("baseline", claim.baseline)):
        names = {getattr(pair, role) for pair in comparison.comparisons}
        if wanted is not None and wanted not in names:
            raise UnknownName.among(role, wanted, names)
    fitting = [
        pair
        for pair in comparison.comparisons
        if claim.method in {None, pair.method} and claim.baseline in {None, pair.baseline}
    ]
    if len(fitting) != 1:
        listed = ", ".join(f"{pair.method} against {pair.baseline}" for pair in fitting)
        raise RequestError(
            f"the claim fits {len(fitting)} comparisons ({listed or 'none'}); name --method and "
            "--baseline of one"
        )
    return fitting[0]


def _direction(item: MetricComparison, claim: Claim) -> tuple[Holding, str]:
    if item.verdict not in REPRODUCED:
        return "does_not_hold", VERDICT_TEXTS[item.verdict]
    effect = item.average.effect if item.average is not None else item.executions[0].effect
    found = "higher" if effect > 0 else "lower"
    if claim.sign not in {None, found}:
        return "does_not_hold", f"the direction is reproduced, and it is {found}"
    return "holds", f"{VERDICT_TEXTS[item.verdict]}: {found}"


def _equivalent(item: MetricComparison) -> tuple[Holding, str]:
    found = item.equivalence
    if found is None:
        reason = item.undefined.get("equivalence", "the rule declares no margin for this metric")
        return "cannot_be_evaluated", reason
    if found.low is None or found.high is None:
        return "cannot_be_evaluated", found.reason or "some shift has no interval"
    told = f"shifts from {found.low:.4g} to {found.high:.4g} ({found.level:.0%}), margin {found.margin:g}"
    return ("holds" if found.passed else "does_not_hold"), told
