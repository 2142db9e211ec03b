"""The sections of a report that the numbers fill: what each shows, in which order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from taketwo.analysis.comparison import Comparison, PairComparison
from taketwo.analysis.verdict import Flag
from taketwo.executions.manifest_comparison import ManifestComparison
from taketwo.executions.manifest_record import Manifest
from taketwo.executions.plan import Plan
from taketwo.outcomes.table import Outcomes
from taketwo.report.accounts import (
    ContextNumber,
    clusters_sentence,
    context_table,
    denominators_table,
    failures_table,
    losses_table,
)
from taketwo.report.blocks import Block, Definitions, Folded, Heading, Prose, Section
from taketwo.report.efficiency_tables import efficiency_table, index_table
from taketwo.report.factor_tables import (
    factors_sentence,
    levels_table,
    ranking_table,
    settings_table,
)
from taketwo.report.figures import (
    decomposition_figure,
    effects_figure,
    statuses_figure,
    transitions_figure,
)
from taketwo.report.findings import (
    inference_table,
    metrics_table,
    movements_table,
    not_measured_table,
    transitions_table,
)
from taketwo.report.headlines import FLAG_TEXTS, pair_name
from taketwo.report.numbers import scale_of
from taketwo.report.provenance import (
    attempts_table,
    findings_table,
    fixed_table,
    frozen_table,
    observed_table,
)
from taketwo.report.resources import costs_table, limits_table, models_table
from taketwo.report.run_tables import runs_table
from taketwo.report.variation_tables import statements_table, subgroups_tables, variation_table

__all__ = [
    "decomposition_section",
    "denominators_section",
    "factors_section",
    "findings_section",
    "provenance_section",
    "resources_section",
    "transitions_section",
    "variation_section",
]

_MOST_DRAWN_PAIRS = 6


def _draws(comparison: Comparison) -> bool:
    """Return whether figures are drawn: of many comparisons nobody looks at each."""
    return len(comparison.comparisons) <= _MOST_DRAWN_PAIRS


def _per_pair(
    comparison: Comparison, blocks_of: Callable[[PairComparison], Sequence[Block | None]]
) -> tuple[Block, ...]:
    blocks: list[Block] = []
    for pair in comparison.comparisons:
        found = [block for block in blocks_of(pair) if block is not None]
        if found and len(comparison.comparisons) > 1:
            blocks.append(Heading(text=pair_name(pair)))
        blocks += found
    return tuple(blocks)


def findings_section(comparison: Comparison, context: Sequence[ContextNumber]) -> Section:
    """Return effects, shifts and verdicts of every comparison."""
    reference = context_table(context)

    def blocks_of(pair: PairComparison) -> Sequence[Block | None]:
        if pair.alignment == "arbitrary":
            return [
                runs_table(pair) if pair.metrics else None,
                _flags(pair),
                not_measured_table(pair),
            ]
        return [
            effects_figure(pair) if _draws(comparison) else None,
            metrics_table(pair, comparison.executions) if pair.metrics else None,
            _flags(pair),
            not_measured_table(pair),
            Folded(summary="The same effects by other methods", table=inference_table(pair))
            if pair.metrics
            else None,
        ]

    blocks = _per_pair(comparison, blocks_of)
    return Section(
        anchor="effects",
        title="Effects and shifts"
        if len(comparison.executions) > 1
        else "Effects of one execution",
        blocks=blocks if reference is None else (*blocks, reference),
    )


def _flags(pair: PairComparison) -> Definitions | None:
    """Return each flag with its reason once, and the metrics that it applies to."""
    metrics: dict[tuple[Flag, str], list[str]] = {}
    for item in pair.metrics.values():
        for flag, reason in item.flag_reasons.items():
            key = (cast("Flag", flag), reason)
            metrics.setdefault(key, []).append(scale_of(item.metric).label.lower())
    items = tuple(
        (
            FLAG_TEXTS[flag].capitalize(),
            f"{reason} ({'all metrics' if len(names) == len(pair.metrics) else ', '.join(names)})",
        )
        for (flag, reason), names in metrics.items()
    )
    return Definitions(items=items) if items else None


def factors_section(comparison: Comparison) -> Section:
    """Return the factors of many arms; without a block where no more than a pair of arms has any."""
    findings = comparison.factors
    blocks: list[Block] = []
    if findings is not None:
        blocks.append(Prose(text=factors_sentence(findings)))
        for finding in findings.factors:
            blocks.append(Heading(text=finding.factor))
            blocks.append(ranking_table(finding, findings))
            blocks += [Prose(text=f"Not compared: {reason}.") for reason in finding.not_compared]
            compared, settings = levels_table(finding, findings), settings_table(finding)
            blocks += [] if compared is None else [compared]
            if settings is not None:
                blocks.append(Folded(summary=settings.caption, table=settings))
    return Section(anchor="factors", title="Factors", blocks=tuple(blocks))


def transitions_section(comparison: Comparison) -> Section:
    """Return which questions changed, inside executions and between them."""
    return Section(
        anchor="transitions",
        title="Which questions changed",
        blocks=_per_pair(
            comparison,
            lambda pair: [
                transitions_figure(pair) if _draws(comparison) else None,
                transitions_table(pair),
            ],
        ),
    )


def decomposition_section(comparison: Comparison) -> Section:
    """Return what each arm did by itself between executions."""
    return Section(
        anchor="arms",
        title="Which arm moved",
        blocks=_per_pair(
            comparison,
            lambda pair: [
                decomposition_figure(pair) if _draws(comparison) else None,
                movements_table(pair),
            ],
        ),
    )


def variation_section(comparison: Comparison) -> Section:
    """Return what executions vary by, the three statements, and the subgroups."""

    def blocks_of(pair: PairComparison) -> Sequence[Block | None]:
        subgroups = [Folded(summary=table.caption, table=table) for table in subgroups_tables(pair)]
        if len(comparison.executions) < 2:
            return subgroups
        return [variation_table(pair), statements_table(pair), *subgroups]

    return Section(
        anchor="variation",
        title="What executions vary by",
        blocks=_per_pair(comparison, blocks_of),
    )


def denominators_section(comparison: Comparison, outcomes: Outcomes | None) -> Section:
    """Return who was compared, out of how many, and what failed."""
    figure = statuses_figure(comparison) if _draws(comparison) else None
    failures = None if outcomes is None else failures_table(outcomes)
    return Section(
        anchor="denominators",
        title="What the numbers rest on",
        blocks=(
            Prose(text=clusters_sentence(comparison)),
            *(() if figure is None else (figure,)),
            denominators_table(comparison),
            *(() if failures is None else (failures,)),
            losses_table(comparison),
        ),
    )


def resources_section(plan: Plan | None, outcomes: Outcomes | None) -> Section:
    """Return models, limits and costs."""
    blocks: list[Block] = []
    if plan is not None:
        blocks += [models_table(plan), limits_table(plan)]
    if outcomes is not None:
        blocks.append(costs_table(outcomes))
        more = (efficiency_table(outcomes), index_table(outcomes))
        blocks += [table for table in more if table is not None]
    return Section(anchor="limits", title="Models, limits and costs", blocks=tuple(blocks))


def provenance_section(
    plan: Plan | None, manifests: Sequence[Manifest], drift: ManifestComparison | None
) -> Section:
    """Return what was held fixed, what was observed, what could not be had."""
    blocks: list[Block] = []
    findings = None if drift is None else findings_table(drift)
    if manifests:
        blocks += [fixed_table(manifests), *(() if findings is None else (findings,))]
        blocks += [observed_table(manifests), attempts_table(manifests)]
    if plan is not None:
        blocks.append(frozen_table(plan))
    return Section(
        anchor="manifest", title="Held fixed, observed, unavailable", blocks=tuple(blocks)
    )
