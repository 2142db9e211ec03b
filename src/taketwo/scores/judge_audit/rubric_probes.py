"""Does the wording of the instructions matter? The same trajectories under another one.

After AgentVidBench (2026, arXiv 2609.21386, Appendix D.4): the paraphrase leaves axes, criteria,
examples, tags and schema as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from taketwo.executions.scoring_spec import RUBRICS
from taketwo.scores.judge_audit.audit_findings import AuditCase, AuditCheck, AuditFinding
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
    mean_finding,
    moved_cases,
)
from taketwo.scores.process_scores import AXES
from taketwo.scores.trajectory_judgements import TrajectoryJudgement

__all__ = ["read_rubrics", "rubric_probes"]

_PUBLISHED_R = 0.96
_PUBLISHED_CHANGE = 0.036


def rubric_probes(genuine: Sequence[Genuine]) -> ProbeSet:
    """Return each trajectory under each other wording of the instructions, beside its own."""
    return ProbeSet(
        probes=tuple(
            Probe(
                check="rubrics",
                question_id=item.question.question_id,
                subject=other,
                what=f"judged by the wording {other!r} instead of {item.rubric!r}",
                request=replace(item, rubric=other).request(),
                partner=item.request(),
            )
            for item in genuine
            for other in RUBRICS
            if other != item.rubric
        )
    )


def read_rubrics(
    probes: Sequence[Probe],
    judgements: Mapping[str, TrajectoryJudgement],
    judge: str,
    *,
    rng: np.random.Generator,
) -> tuple[tuple[AuditFinding, ...], tuple[AuditCase, ...]]:
    """Say how far another wording of the instructions moves the scores of the same trajectories.

    Of the trajectory score (0 to 1) and of each axis (0 to 2, where both wordings give one): the mean
    absolute change and Pearson's r. The publication found r of 0.96 to 0.98 and a change of 0.036 at
    most. Cases are trajectories whose score moved by a quarter or more.
    """
    pairs, remark = judged_probes(probes, judgements, judge)
    findings = _change_and_r(
        "rubrics",
        judge,
        [
            (p.partner.trajectory_score, p.judged.trajectory_score, p.probe.question_id)
            for p in pairs
        ],
        rng=rng,
        r=_PUBLISHED_R,
        change=_PUBLISHED_CHANGE,
        note=joined(remark, "published over three sets: r 0.96 to 0.98, change at most 0.036"),
    )
    for axis in AXES:
        findings += _change_and_r(
            "rubrics",
            axis,
            axis_pairs(pairs, axis),
            rng=rng,
            note=joined(remark, axis_remark(pairs, axis)),
            reason=UNSCORED_AXIS if pairs else None,
        )
    return tuple(findings), moved_cases(pairs)


def _change_and_r(
    check: AuditCheck,
    subject: str,
    values: Sequence[tuple[float, float, str]],
    *,
    rng: np.random.Generator,
    r: float | None = None,
    change: float | None = None,
    note: str = "",
    reason: str | None = None,
) -> list[AuditFinding]:
    return [
        mean_finding(
            check,
            subject,
            "mean absolute change",
            [abs(after - before) for before, after, _ in values],
            [name for *_, name in values],
            rng=rng,
            published=change,
            note=note,
            reason=reason,
        ),
        correlation_finding(check, subject, values, rng=rng, published=r, note=note, reason=reason),
    ]
