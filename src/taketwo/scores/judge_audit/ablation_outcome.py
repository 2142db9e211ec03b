"""What a judge makes of a trajectory without one piece of its evidence: which labels fall, and which should.

After AgentVidBench (2026, arXiv 2609.21386, Appendix D.4). The cut itself is imperfect
(`milestone_ablation`), so what it missed and what went along are counted apart, and neither is held
against the judge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from taketwo.scores.judge_audit.audit_findings import AuditCase, AuditFinding
from taketwo.scores.judge_audit.judge_probes import (
    JudgedProbe,
    Probe,
    joined,
    judged_probes,
    mean_finding,
)
from taketwo.scores.judge_audit.milestone_evidence import is_still_there
from taketwo.scores.trajectory_judgements import TrajectoryJudgement

__all__ = ["read_ablation"]

_PUBLISHED_DROP, _PUBLISHED_FELL = 0.41, 0.73
_EXACTLY = "published: 0.73 for 'exactly the removed milestone', which we read as this one alone"
_STILL_THERE = (
    "words that the cut missed, or that are no evidence: the single trajectories show them"
)
_TOUCHED = "a call that supports several milestones went as a whole; those are excused"
_RANK: Mapping[str, int] = {"covered": 2, "partial": 1, "incorrect": 0, "missing": 0}


def read_ablation(
    probes: Sequence[Probe],
    judgements: Mapping[str, TrajectoryJudgement],
    judge: str,
    *,
    rng: np.random.Generator,
) -> tuple[tuple[AuditFinding, ...], tuple[AuditCase, ...]]:
    """Say whether the judge notices which piece of evidence is gone, and whether it minds the rest.

    The mean drop of the trajectory score (positive is lower) and four shares of the probes: the label
    of the removed milestone fell, and stayed on words that are still there, and stayed on nothing
    that is there (together 1); it fell alone; it fell and no other did that kept all its words. Of the
    other milestones that kept theirs, the share that fell all the same. Cases are labels that stayed,
    with what the judge then cited, and others that fell without a reason.
    """
    pairs, remark = judged_probes(probes, judgements, judge)
    results = [_result(pair) for pair in pairs]
    names = [pair.probe.question_id for pair in pairs]
    measures: tuple[tuple[str, list[float], float | None, str], ...] = (
        ("mean drop of the trajectory score", [-p.change for p in pairs], _PUBLISHED_DROP, ""),
        ("share whose removed milestone fell", [float(r.fell) for r in results], None, _EXACTLY),
        ("share whose removed milestone stayed on words that are still there",
         [float(r.stayed_on_words) for r in results], None, _STILL_THERE),
        ("share whose removed milestone stayed on nothing that is there",
         [float(not r.fell and not r.stayed_on_words) for r in results], None, ""),
        ("share whose removed milestone alone fell",
         [float(r.fell and not r.others) for r in results], _PUBLISHED_FELL, _EXACTLY),
        ("share whose removed milestone fell and no other that kept its words",
         [float(r.fell and not r.unfounded) for r in results], None, _TOUCHED),
    )  # fmt: skip
    findings = [
        mean_finding(
            "ablation", judge, measure, values, names, rng=rng, published=published,
            note=joined(remark, note),
        )
        for measure, values, published, note in measures
    ]  # fmt: skip
    kept = [
        (name, float(other in result.unfounded))
        for name, result in zip(names, results, strict=True)
        for other in result.kept
    ]
    findings.append(
        mean_finding(
            "ablation", judge, "share of other milestones that kept their words and fell",
            [value for _, value in kept], [name for name, _ in kept], rng=rng,
            note=joined(remark, "n counts milestones that were covered or partial before"),
            reason="no other milestone kept all its words" if pairs else None,
        )
    )  # fmt: skip
    cases = [
        case for pair, result in zip(pairs, results, strict=True) for case in _cases(pair, result)
    ]
    return tuple(findings), tuple(cases)


@dataclass(frozen=True, kw_only=True)
class _Result:
    """What became of the labels of one probe.

    `others` fell beside the removed milestone; `kept` are those others that had a label to lose and
    kept all their words, `unfounded` those of them that fell.
    """

    fell: bool
    stayed_on_words: bool
    others: frozenset[str]
    kept: tuple[str, ...]
    unfounded: frozenset[str]


def _result(pair: JudgedProbe) -> _Result:
    own = pair.probe.subject
    before = {label.milestone_id: label.status for label in pair.partner.scores.milestones}
    after = {label.milestone_id: label for label in pair.judged.scores.milestones}
    fallen = {name for name, label in after.items() if _RANK[label.status] < _RANK[before[name]]}
    kept = tuple(
        name
        for name, status in before.items()
        if name != own and name not in pair.probe.touched and _RANK[status]
    )
    text = pair.probe.request.trajectory.text
    return _Result(
        fell=own in fallen,
        stayed_on_words=own not in fallen and is_still_there(after[own].evidence, text),
        others=frozenset(fallen - {own}),
        kept=kept,
        unfounded=frozenset(fallen.intersection(kept)),
    )


def _cases(pair: JudgedProbe, result: _Result) -> list[AuditCase]:
    own = pair.probe.subject
    remarks = dict.fromkeys(sorted(result.unfounded), "kept its words")
    if not result.fell:
        (cited,) = (
            label.evidence for label in pair.judged.scores.milestones if label.milestone_id == own
        )
        where = "still there" if result.stayed_on_words else "not there"
        remarks[own] = f"cites {cited!r}, which is {where}" if cited.strip() else "cites nothing"
    return [
        AuditCase(
            check="ablation",
            question_id=pair.probe.question_id,
            subject=name,
            what=pair.probe.what,
            before=_label(pair.partner, name),
            after=f"{_label(pair.judged, name)}; {remark}",
        )
        for name, remark in remarks.items()
    ]


def _label(judgement: TrajectoryJudgement, milestone_id: str) -> str:
    (status,) = (
        label.status for label in judgement.scores.milestones if label.milestone_id == milestone_id
    )
    return f"{status}, {judgement.trajectory_score:.3f}"
