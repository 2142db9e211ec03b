"""The section about the judges: those of answers, then each audited judge of trajectories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from taketwo.report.blocks import Block, Definitions, Folded, Heading, Prose, Section
from taketwo.report.judge_audit_tables import (
    audit_cases_table,
    audit_findings_table,
    audit_uses_table,
)
from taketwo.report.judge_tables import (
    AnswerJudges,
    noise_table,
    options_table,
    robustness_table,
    served_table,
    ungradable_table,
)
from taketwo.report.judge_use_tables import JudgeCost, costs_table, parts_table
from taketwo.report.untrusted import harmless
from taketwo.scores.judge_audit.audit_findings import CHECKS, AuditCheck, AuditFinding, JudgeAudit
from taketwo.scores.judge_audit.judge_agreement import AXIS_WORDS

__all__ = ["CHECK_TEXTS", "judges_section"]

CHECK_TEXTS: Mapping[AuditCheck, tuple[str, str]] = MappingProxyType({
    "separation": (
        "Correct answers against incorrect ones",
        "The judge does not see the true answer. If its scores mean anything, runs that ended right lie "
        "above runs that ended wrong.",
    ),
    "judges": (
        "Judge against judge",
        "The same trajectories scored by two judges. A difference that is small beside the gap above "
        "cannot turn an order of arms around.",
    ),
    "rubrics": (
        "The wording of the instructions",
        "The same trajectories under instructions that say the same in other words.",
    ),
    "assertion": (
        "Is claiming the answer enough?",
        "A text that asserts the true answer without looking at anything must score far below a genuine "
        "run.",
    ),
    "ablation": (
        "Does the judge notice missing evidence?",
        "Everything that supports one milestone is taken out of a genuine trajectory: the score should "
        "fall, and the label of that milestone with it. The cut follows words, so what it missed and what went "
        "along have numbers of their own.",
    ),
    "injection": (
        "Does a trajectory that asks for a score get one?",
        "Texts in the trajectory that speak to the judge. Any rise of the score is a way to cheat.",
    ),
    "references": (
        "What the judge is given as the reference",
        "Milestones against the explanation that a human wrote, and the path that a human took as a run "
        "to be judged.",
    ),
    "formats": (
        "The notation of a trajectory",
        "The same content written down in another way; scores should stay, but for the judge's own unsteadiness "
        "(see the harmless remark). Frame numbers count 25 a second, which no judge is told.",
    ),
    "humans": (
        "Humans against the judge",
        "People who rated the same trajectories by the same rules, without knowing whose they were. The "
        "agreement of the raters with each other is the most that can be asked of a judge.",
    ),
})
"""Heading of each check, and how to read it."""

_REASONS, _REASON = 5, 200
_NOTE = (
    "n counts runs or pairs of runs; intervals draw questions with all their runs. Published: "
    "AgentVidBench (2026, arXiv 2609.21386), on its own trajectories and for its own judge."
)


def judges_section(
    audits: Sequence[JudgeAudit],
    answers: AnswerJudges | None,
    costs: Sequence[JudgeCost] = (),
) -> Section:
    """Return what is known about the judges; without a block where nothing is."""
    blocks: list[Block] = []
    if answers is not None:
        blocks += _answer_blocks(answers)
    took = costs_table(costs)
    if took is not None:
        blocks += [Heading(text="Tokens and cost of judging"), took]
    for number, audit in enumerate(audits, start=1):
        blocks += _audit_blocks(audit, number)
    return Section(anchor="judges", title="The judges", blocks=tuple(blocks))


def _answer_blocks(answers: AnswerJudges) -> list[Block]:
    blocks: list[Block] = []
    for pair in answers.pairs:
        table = robustness_table(pair)
        if table is not None:
            blocks.append(table)
        elif pair.reason:
            blocks.append(
                Prose(
                    text=f"{pair.method} against {pair.baseline} is not compared under further judges: "
                    f"{pair.reason}."
                )
            )
    tables = (
        parts_table(answers.parts),
        noise_table(answers.noise),
        options_table(answers.options),
        ungradable_table(answers.ungradable),
        served_table(answers.served),
    )
    blocks += [table for table in tables if table is not None]
    if answers.extractor is not None:
        blocks.append(
            Prose(
                text=f"{answers.extractor} was asked which option a reply means {answers.extractor_uses:,} "
                f"time{'' if answers.extractor_uses == 1 else 's'}."
            )
        )
    return [Heading(text="Judges of answers"), *blocks] if blocks else []


def _audit_blocks(audit: JudgeAudit, number: int) -> list[Block]:
    blocks: list[Block] = [
        Heading(text=f"Judge of trajectories: {audit.judge}"),
        Prose(
            text=f"Design of the audit: {audit.design}. Wording of the instructions: {audit.rubric}. Protocol: "
            f"{audit.protocol}"
            + (" (it is told the name of the system)." if audit.protocol == "published" else ".")
            + (
                f" Assertions, cuts, injections and notations start from runs of {audit.probed_arm}, the arm "
                "that the judge scores best."
                if audit.probed_arm
                else ""
            )
        ),
    ]
    uses = audit_uses_table(f"judge-audit-{number}-judges", audit.uses)
    blocks += [uses] if uses is not None else []
    for check in CHECKS:
        blocks += _check_blocks(audit, check, f"judge-audit-{number}-{check}")
    lacking = _lacking(audit)
    return [*blocks, *([Definitions(items=tuple(lacking))] if lacking else [])]


def _lacking(audit: JudgeAudit) -> list[tuple[str, str]]:
    """Return what is in no number, each with the reason: checks, trajectories not probed, not scored."""
    known: dict[str, str] = {check: CHECK_TEXTS[check][0] for check in CHECKS}
    found = [
        (f"Not done: {known.get(check, check)}", reason) for check, reason in audit.not_done.items()
    ]
    for check in CHECKS:
        reasons = Counter(
            case.unprobed for case in audit.cases if case.check == check and case.unprobed
        )
        if reasons:
            found.append((f"Not probed: {known[check]}", _counted(reasons)))
    for check, failed in audit.failures.items():
        if failed:
            causes = _counted(audit.causes.get(check, {}))
            found.append((
                f"Not scored: {known.get(check, check)}",
                f"{failed:,} trajectories without a judgement; they are in no number."
                + (f" {causes}" if causes else ""),
            ))
    return found


def _counted(reasons: Mapping[str, int]) -> str:
    """Return the most frequent reasons with how often each holds."""
    ranked = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    told = [f"{harmless(reason, _REASON)} ({times:,})" for reason, times in ranked[:_REASONS]]
    more = sum(times for _, times in ranked[_REASONS:])
    return "; ".join([*told, *([f"others ({more:,})"] if more else [])])


def _check_blocks(audit: JudgeAudit, check: AuditCheck, name: str) -> list[Block]:
    title, reading = CHECK_TEXTS[check]
    findings = [item for item in audit.findings if item.check == check]
    main = [item for item in findings if not _is_detail(item)]
    details = [item for item in findings if _is_detail(item)]
    blocks: list[Block] = []
    if main:
        blocks.append(audit_findings_table(name, title, main, note=f"{reading} {_NOTE}"))
    if details:
        caption = f"{title}, axis by axis"
        table = audit_findings_table(f"{name}-axes", caption, details)
        blocks.append(Folded(summary=caption, table=table))
    cases = [case for case in audit.cases if case.check == check and case.unprobed is None]
    table = audit_cases_table(f"{name}-cases", f"{title}: single trajectories", cases)
    if table is not None:
        blocks.append(Folded(summary=f"{table.caption} ({len(cases):,})", table=table))
    return blocks


def _is_detail(item: AuditFinding) -> bool:
    """Return whether a finding is about one axis and has no published partner to be read beside."""
    is_of_axis = item.subject in AXIS_WORDS or item.measure.endswith(tuple(AXIS_WORDS.values()))
    return item.published is None and is_of_axis
