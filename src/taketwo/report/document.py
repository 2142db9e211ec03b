"""The report as a document: what it is made of, the marks it bears, its sections in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from taketwo.analysis.comparison import Comparison
from taketwo.benchmarks.saturation import expected_saturation
from taketwo.benchmarks.verification import unverified
from taketwo.executions.manifest_comparison import ManifestComparison, compare_manifests
from taketwo.executions.manifest_record import Manifest
from taketwo.executions.plan import Plan
from taketwo.executions.trajectory import Trajectory
from taketwo.outcomes.table import Outcomes
from taketwo.report.accounts import ContextNumber
from taketwo.report.blocks import Block, Cases, Document, Mark, Prose, Section
from taketwo.report.cells import cases_of, choose_cases
from taketwo.report.headlines import headline_of, verdicts_in
from taketwo.report.judge_tables import AnswerJudges
from taketwo.report.judge_use_tables import JudgeCost
from taketwo.report.judges_section import judges_section
from taketwo.report.process_section import process_section
from taketwo.report.sections import (
    decomposition_section,
    denominators_section,
    factors_section,
    findings_section,
    provenance_section,
    resources_section,
    transitions_section,
    variation_section,
)
from taketwo.scores.judge_audit.audit_findings import JudgeAudit

__all__ = ["Sources", "build_document"]

_OFFLINE = (
    "offline ones: rules over text recognition, speech recognition, colours and counts. A weak "
    "baseline that exercises everything; not language models, so no finding about agents in general"
)


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Everything that a report is made of; all but the comparison may be missing.

    `manifests` are those of the executions, in their order. `context` are numbers to read a metric
    by (chance, an upper bound). `marks` are reservations beyond those that the comparison and the
    manifests state by themselves. `references` are the judged curated trajectories
    (`outcomes.references`), `audits` those of the judges of trajectories,
    `judge_costs` what their labels took.
    """

    comparison: Comparison
    plan: Plan | None = None
    outcomes: Outcomes | None = None
    trajectories: Sequence[Trajectory] = ()
    manifests: Sequence[Manifest] = ()
    context: tuple[ContextNumber, ...] = ()
    references: pl.DataFrame | None = None
    answer_judges: AnswerJudges | None = None
    audits: Sequence[JudgeAudit] = ()
    judge_costs: Sequence[JudgeCost] = ()
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
        findings_section(comparison, sources.context),
        factors_section(comparison),
        transitions_section(comparison),
        decomposition_section(comparison),
        variation_section(comparison),
        process_section(sources.outcomes, sources.plan, sources.references),
        judges_section(sources.audits, sources.answer_judges, sources.judge_costs),
        denominators_section(comparison, sources.outcomes),
        resources_section(sources.plan, sources.outcomes),
        _cases(sources),
        provenance_section(sources.plan, sources.manifests, drift),
    ]
    return Document(
        study=comparison.study if sources.plan is None else sources.plan.study,
        facts=_facts(comparison, sources.plan),
        marks=_marks(comparison, drift, (*_saturation(sources.plan), *sources.marks)),
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
        read = unverified(plan.benchmark)
        named = f"{plan.benchmark} {plan.benchmark_version}" + (f" ({read})" if read else "")
        facts.insert(0, ("Benchmark", named))
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


def _saturation(plan: Plan | None) -> tuple[Mark, ...]:
    """Return the mark of a study whose benchmark is known to be near its ceiling."""
    if plan is None:
        return ()
    reason = expected_saturation(plan.benchmark, [item.question for item in plan.questions])
    return () if reason is None else (Mark(label="saturation expected", reasons=(reason,)),)


def _cases(sources: Sources) -> Section:
    blocks: tuple[Block, ...] = ()
    if sources.plan is not None and sources.outcomes is not None:
        choice = choose_cases(sources.outcomes)
        cases = cases_of(choice, sources.plan, sources.outcomes, sources.trajectories)
        blocks = (Prose(text=choice.how), Cases(cases=cases))
    return Section(anchor="cells", title="A few questions in full", blocks=blocks)
