"""What belongs together in a study: the family of primary metrics, and the pairs of arms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Literal

from taketwo.errors import InvalidResults
from taketwo.executions.rule import Metric, Missing, Rule
from taketwo.stats.multiplicity import holm

__all__ = ["arm_pairs", "departures", "family"]


def family(rule: Rule, p_values: Mapping[Metric, float | None]) -> Mapping[Metric, float | None]:
    """Return p adjusted over the declared family, its metrics without a value included."""
    adjusted = holm([p_values.get(metric) for metric in rule.primary])
    return dict(zip(rule.primary, adjusted, strict=True))


def arm_pairs(
    arms: Sequence[str], baselines: Mapping[str, str], pairs: Literal["baseline", "all"]
) -> tuple[tuple[str, str], ...]:
    """Return the pairs (baseline, method) that are compared.

    Of `all` pairs, an arm that is a baseline of some other, then the alphabet, decides which stands
    first; a declared pair keeps its direction.

    Raises
    ------
    InvalidResults
        If no arm names a baseline, or there is one arm only.
    """
    if pairs == "baseline":
        if not baselines:
            raise InvalidResults(
                f"none of the arms {', '.join(map(repr, arms))} names a baseline; "
                "nothing can be compared"
            )
        return tuple(sorted((baseline, method) for method, baseline in baselines.items()))
    if len(arms) < 2:
        raise InvalidResults(f"there is one arm only, {arms[0]!r}; a comparison needs two")
    ordered = sorted(arms, key=lambda arm: (arm not in baselines.values(), arm))
    return tuple(
        (later, first) if baselines.get(first) == later else (first, later)
        for first, later in combinations(ordered, 2)
    )


def departures(rule: Rule, missing: Missing | None) -> tuple[str, ...]:
    """Return what is not as the rule fixed it."""
    if missing is None or missing == rule.missing:
        return ()
    return (f"failed cells are treated as {missing!r}; the rule fixed {rule.missing!r} beforehand",)
