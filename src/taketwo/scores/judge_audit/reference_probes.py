"""Do milestones keep what a human's explanation says? Trajectories judged against either.

AgentVidBench (2026, arXiv 2609.21386), Appendix C.3 and Table 10.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from taketwo.scores.judge_audit.audit_findings import AuditCase, AuditFinding
from taketwo.scores.judge_audit.judge_probes import (
    UNSCORED_AXIS,
    Genuine,
    Probe,
    ProbeSet,
    axis_pairs,
    axis_remark,
    correlation_finding,
    joined,
    judged_probes,
    moved_cases,
    unprobed,
)
from taketwo.scores.process_scores import AXES
from taketwo.scores.reference_trajectory import ExplanationRequest
from taketwo.scores.trajectory_judgements import TrajectoryJudgement

__all__ = ["read_references", "reference_probes"]

_PUBLISHED_REFERENCES: Mapping[str, float] = {
    "task_understanding": 0.656,
    "gt_evidence_coverage": 0.756,
    "evidence_grounding": 0.814,
    "evidence_completeness": 0.746,
    "reasoning_faithfulness": 0.837,
}
_PUBLISHED_REFERENCES_MEAN = 0.762


def reference_probes(genuine: Sequence[Genuine]) -> ProbeSet:
    """Return each trajectory judged against the human explanation, beside its own against milestones.

    Questions without an explanation are skipped. The wording is always the standard one on both
    sides, since there is one of the other kind only.
    """
    probes: list[Probe] = []
    skipped: list[AuditCase] = []
    for item in genuine:
        name = item.question.question_id
        if not (item.question.explanation or "").strip():
            skipped.append(
                unprobed("references", name, "explanation", "the question has no explanation")
            )
            continue
        standard = replace(item, rubric="standard")
        partner = standard.request()
        probes.append(
            Probe(
                check="references",
                question_id=name,
                subject="explanation",
                what="judged against the human explanation instead of the milestones",
                request=ExplanationRequest(
                    question=item.question,
                    trajectory=partner.trajectory,
                    protocol=item.protocol,
                ),
                partner=partner,
            )
        )
    return ProbeSet(probes=tuple(probes), skipped=tuple(skipped))


def read_references(
    probes: Sequence[Probe],
    judgements: Mapping[str, TrajectoryJudgement],
    judge: str,
    *,
    rng: np.random.Generator,
) -> tuple[tuple[AuditFinding, ...], tuple[AuditCase, ...]]:
    """Say whether milestones keep what an explanation says: Pearson's r of the scores by either.

    By axis, where both judgements score it, and the mean over the axes that have an r. AgentVidBench
    (Table 10) is the published value; of the mean only where all five axes are in it.
    """
    pairs, remark = judged_probes(probes, judgements, judge)
    found = [
        correlation_finding(
            "references",
            axis,
            axis_pairs(pairs, axis),
            rng=rng,
            published=_PUBLISHED_REFERENCES[axis],
            note=joined(remark, axis_remark(pairs, axis)),
            reason=UNSCORED_AXIS if pairs else None,
        )
        for axis in AXES
    ]
    known = [item.value for item in found if item.value is not None]
    lacking = [item.subject for item in found if item.value is None]
    found.append(
        AuditFinding(
            check="references",
            subject=judge,
            measure=f"mean Pearson r over {len(known)} of {len(AXES)} axes",
            value=float(np.mean(known)) if known else None,
            n=len(pairs),
            clusters=len({pair.probe.question_id for pair in pairs}),
            published=None if lacking else _PUBLISHED_REFERENCES_MEAN,
            reason=None if known else "no axis has a correlation",
            note=joined(remark, f"without {', '.join(lacking)}" if lacking and known else ""),
        )
    )
    return tuple(found), moved_cases(pairs)
