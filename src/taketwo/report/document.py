"""The report as a document: marks, headlines and sections, before any file format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

from taketwo.analysis.comparison import Comparison, PairComparison
from taketwo.analysis.verdict import Flag
from taketwo.executions.manifest_comparison import ManifestComparison, compare_manifests
from taketwo.executions.manifest_record import Manifest
from taketwo.executions.plan import Plan
from taketwo.executions.trajectory import Trajectory
from taketwo.outcomes.table import Outcomes
from taketwo.report.accounts import (
    ContextNumber,
    clusters_sentence,
    context_table,
    denominators_table,
    failures_table,
    losses_table,
)
from taketwo.report.cells import Case, cases_of, choose_cases
from taketwo.report.drawing import Figure
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
from taketwo.report.headlines import FLAG_TEXTS, Headline, headline_of, pair_name, verdicts_in
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
from taketwo.report.tables import Table
from taketwo.report.variation_tables import statements_table, subgroups_tables, variation_table

__all__ = [
    "Block",
    "Cases",
    "Definitions",
    "Document",
    "Folded",
    "Heading",
    "Mark",
    "MarkLabel",
    "Prose",
    "Section",
    "Sources",
    "build_document",
]

MarkLabel = Literal[
    "not as planned", "drift allowed", "single execution", "incomplete", "reconstruction"
]

_OFFLINE = (
    "offline ones: rules over text recognition, speech recognition, colours and counts. A weak "
    "baseline that exercises everything; not language models, so no finding about agents in general"
)
_MOST_DRAWN_PAIRS = 6


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A reservation that stands on every page: its label, and why it is there."""

    label: MarkLabel
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Prose:
    """A paragraph."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Heading:
    """A heading inside a section (one comparison out of several)."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Definitions:
    """Terms and what they mean."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Folded:
    """A table that most readers need not see; opened by a click, always open in print."""

    summary: str
    table: Table


@dataclass(frozen=True, kw_only=True)
class Cases:
    """Questions in full."""

    cases: tuple[Case, ...]


Block = Prose | Heading | Definitions | Table | Figure | Folded | Cases


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the report under one heading."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, kw_only=True)
class Document:
    """The whole report; `facts` are the few things that identify the study, shown under its title."""

    study: str
    facts: tuple[tuple[str, str], ...]
    marks: tuple[Mark, ...]
    headlines: tuple[Headline, ...]
    verdicts: tuple[tuple[str, str], ...]
    not_known: str
    sections: tuple[Section, ...]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return every table, folded ones included, in order."""
        found: list[Table] = []
        for block in self._blocks():
            if isinstance(block, Table):
                found.append(block)
            elif isinstance(block, Folded):
                found.append(block.table)
        return tuple(found)

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Return every figure, in order."""
        return tuple(block for block in self._blocks() if isinstance(block, Figure))

    def _blocks(self) -> Iterable[Block]:
        for section in self.sections:
            yield from section.blocks


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Everything that a report is made of; all but the comparison may be missing.

    `manifests` are those of the executions, in their order. `context` are numbers to read a metric
    by (chance, an upper bound). `marks` are reservations beyond those that the comparison and the
    manifests state by themselves.
    """

    comparison: Comparison
    plan: Plan | None = None
    outcomes: Outcomes | None = None
    trajectories: Sequence[Trajectory] = ()
    manifests: Sequence[Manifest] = ()
    context: tuple[ContextNumber, ...] = ()
    marks: tuple[Mark, ...] = field(default=())


def build_document(sources: Sources) -> Document:
    """Assemble the report of a comparison.

    Examples
    --------
    >>> document = build_document(Sources(comparison=comparison))  # doctest: +SKIP
    """
    comparison = sources.comparison
    drift = compare_manifests(sources.manifests) if sources.manifests else None
    sections = [
        _findings(comparison, sources.context),
        _transitions(comparison),
        _decomposition(comparison),
        _variation(comparison),
        _denominators(comparison, sources.outcomes),
        _resources(sources.plan, sources.outcomes),
        _cases(sources),
        _provenance(sources.plan, sources.manifests, drift),
    ]
    return Document(
        study=comparison.study if sources.plan is None else sources.plan.study,
        facts=_facts(comparison, sources.plan),
        marks=_marks(comparison, drift, sources.marks),
        headlines=tuple(headline_of(pair) for pair in comparison.comparisons),
        verdicts=verdicts_in(comparison),
        not_known=comparison.not_known or "",
        sections=tuple(section for section in sections if section.blocks),
    )


def _facts(comparison: Comparison, plan: Plan | None) -> tuple[tuple[str, str], ...]:
    rule = comparison.rule
    facts = [
        ("Questions compared", f"{comparison.population.n_matched:,}"),
        ("Arms", _arms(comparison, plan)),
        _executions(comparison),
        ("Level", f"{rule.level:g}"),
    ]
    if plan is not None:
        facts.insert(0, ("Benchmark", f"{plan.benchmark} {plan.benchmark_version}"))
        facts += [
            ("Frozen", f"{plan.created[:16].replace('T', ' ')} UTC"),
            ("Plan", plan.sha256[:12]),
        ]
        if any(_is_offline(model.name) for arm in plan.arms for model in arm.models.values()):
            facts.append(("Models", _OFFLINE))
    return tuple(facts)


def _arms(comparison: Comparison, plan: Plan | None) -> str:
    if plan is None:
        return ", ".join(comparison.arms)
    shown = [arm for arm in plan.arms if arm.name in comparison.arms]
    return ", ".join(f"{arm.name} ({arm.agent}, {arm.role})" for arm in shown)


def _is_offline(model: str) -> bool:
    return model in {"taketwo/offline-orchestrator", "taketwo/offline-observer"}


def _executions(comparison: Comparison) -> tuple[str, str]:
    if any(pair.alignment == "arbitrary" for pair in comparison.comparisons):
        counts = sorted({len(runs) for runs in comparison.runs.values()})
        each = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        return ("Runs of each arm", f"{each}, not made together")
    return ("Executions", ", ".join(f"K{k}" for k in comparison.executions))


def _draws(comparison: Comparison) -> bool:
    """Return whether figures are drawn: of many comparisons nobody looks at each."""
    return len(comparison.comparisons) <= _MOST_DRAWN_PAIRS


def _marks(
    comparison: Comparison, drift: ManifestComparison | None, given: Sequence[Mark]
) -> tuple[Mark, ...]:
    marks: list[Mark] = []
    if comparison.not_as_planned:
        marks.append(Mark(label="not as planned", reasons=comparison.not_as_planned))
    if len(comparison.executions) == 1:
        marks.append(Mark(label="single execution"))
    if drift is not None and drift.refusals:
        reasons = tuple(finding.message for finding in drift.refusals)
        marks.append(Mark(label="drift allowed", reasons=reasons))
    return (*marks, *given)


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


def _findings(comparison: Comparison, context: Sequence[ContextNumber]) -> Section:
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


def _transitions(comparison: Comparison) -> Section:
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


def _decomposition(comparison: Comparison) -> Section:
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


def _variation(comparison: Comparison) -> Section:
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


def _denominators(comparison: Comparison, outcomes: Outcomes | None) -> Section:
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


def _resources(plan: Plan | None, outcomes: Outcomes | None) -> Section:
    blocks: list[Block] = []
    if plan is not None:
        blocks += [models_table(plan), limits_table(plan)]
    if outcomes is not None:
        blocks.append(costs_table(outcomes))
    return Section(anchor="limits", title="Models, limits and costs", blocks=tuple(blocks))


def _provenance(
    plan: Plan | None, manifests: Sequence[Manifest], drift: ManifestComparison | None
) -> Section:
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


def _cases(sources: Sources) -> Section:
    blocks: tuple[Block, ...] = ()
    if sources.plan is not None and sources.outcomes is not None:
        choice = choose_cases(sources.outcomes)
        cases = cases_of(choice, sources.plan, sources.outcomes, sources.trajectories)
        blocks = (Prose(text=choice.how), Cases(cases=cases))
    return Section(anchor="cells", title="A few questions in full", blocks=blocks)
