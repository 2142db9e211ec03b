"""Does the notation of times move a judge's score? The same trajectory in three, by two kinds of judges.

A judge of evidence should not care how an agent's tools write a moment; one that compares with a
fixed path may (AgentVidBench 2026, arXiv 2609.21386, Appendix A, on frame indices instead of minutes
and seconds).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from taketwo.scores.judge_audit.audit_findings import AuditCase, AuditFinding
from taketwo.scores.judge_audit.judge_probes import (
    MOVED,
    Genuine,
    Probe,
    ProbeSet,
    drawn_by_difficulty,
    mean_finding,
    unprobed,
)
from taketwo.scores.judge_audit.time_notations import (
    STYLES,
    TimeStyle,
    times_of_question,
    trajectory_with_times,
)
from taketwo.scores.trajectory_judgements import TrajectoryJudgement

__all__ = [
    "FormatScores",
    "format_contrast",
    "format_findings",
    "format_probes",
    "format_scores",
    "read_formats",
]

FormatScores = Mapping[tuple[str, str], float]
"""Scores of a judge, 0 to 1, by question and notation."""

_LARGEST = "mean of the largest change between notations"


def format_probes(
    genuine: Sequence[Genuine], *, rng: np.random.Generator, k: int = 50, fps: float = 1.0
) -> ProbeSet:
    """Return `k` trajectories, in their shares of difficulty, in each of the three notations.

    A trajectory without a time is skipped. The probes of one trajectory differ in `subject`.
    """
    probes: list[Probe] = []
    skipped: list[AuditCase] = []
    for item in drawn_by_difficulty(genuine, k, rng=rng):
        name, keep = item.question.question_id, times_of_question(item.question)
        versions = {
            style: item.request(trajectory_with_times(item.trajectory, style, fps=fps, keep=keep))
            for style in STYLES
        }
        if len({request.trajectory.text for request in versions.values()}) < len(STYLES):
            skipped.append(unprobed("formats", name, "", "the trajectory writes no time"))
            continue
        probes += [
            Probe(
                check="formats",
                question_id=name,
                subject=style,
                what=f"all times written as {style}"
                + (f" at {fps:g} frames a second" if style == "frames" else ""),
                request=request,
            )
            for style, request in versions.items()
        ]
    return ProbeSet(probes=tuple(probes), skipped=tuple(skipped))


def format_scores(
    probes: Sequence[Probe], judgements: Mapping[str, TrajectoryJudgement], judge: str
) -> FormatScores:
    """Return the trajectory scores of the probes that a judge judged."""
    return {
        (probe.question_id, probe.subject): judgement.trajectory_score
        for probe in probes
        if (judgement := judgements.get(probe.request.key(judge))) is not None
    }


def read_formats(
    probes: Sequence[Probe],
    judgements: Mapping[str, TrajectoryJudgement],
    judge: str,
    *,
    rng: np.random.Generator,
) -> tuple[tuple[AuditFinding, ...], tuple[AuditCase, ...]]:
    """Say how far the notation of times moves the score of the same trajectory; see `format_findings`."""
    scores = format_scores(probes, judgements, judge)
    return format_findings([probe.question_id for probe in probes], scores, judge, rng=rng)


def format_findings(
    question_ids: Sequence[str], scores: FormatScores, subject: str, *, rng: np.random.Generator
) -> tuple[tuple[AuditFinding, ...], tuple[AuditCase, ...]]:
    """Return what scores (0 to 1) of (question, notation) say of one judge.

    Over the trajectories that were judged in all three notations: the mean of the largest difference
    between two of them, the share for which it is not 0, the mean score in each notation, and the mean
    change from minutes and seconds to frame numbers (negative: frame numbers cost score). Cases are
    those that moved by a quarter or more.
    """
    names = sorted(set(question_ids))
    whole = _whole(names, scores)
    by_style: dict[TimeStyle, list[float]] = {
        style: [scores[name, style] for name in whole] for style in STYLES
    }
    spans = _spans(whole, scores)
    lacking = len(names) - len(whole)
    note = (
        f"{lacking} of {len(names)} trajectories lack a judgement and are in no number"
        if lacking
        else ""
    )
    findings = tuple(
        mean_finding("formats", subject, measure, values, whole, rng=rng, note=note)
        for measure, values in (
            (_LARGEST, spans),
            ("share whose score changes", [float(span > 1e-9) for span in spans]),
            *((f"mean score, times as {style}", by_style[style]) for style in STYLES),
            ("mean change from clock to frames", _changes(by_style)),
        )
    )
    cases = tuple(
        AuditCase(
            check="formats",
            question_id=name,
            subject=subject,
            what="the same trajectory in the notation that scores highest, and in the lowest",
            before=_extreme(name, scores, is_highest=True),
            after=_extreme(name, scores, is_highest=False),
        )
        for name, span in zip(whole, spans, strict=True)
        if span >= MOVED - 1e-9
    )
    return findings, cases


def format_contrast(
    ours: FormatScores, theirs: FormatScores, subject: str, *, rng: np.random.Generator
) -> AuditFinding:
    """Return by how much more the notation moves the one judge than the other, on the same trajectories.

    The mean over the trajectories that both judged in all three notations of the largest change by
    `theirs` minus that by `ours`, -1 to 1.
    """
    whole = _whole(sorted({name for name, _ in ours}), ours)
    both = _whole(whole, theirs)
    apart = [
        their - our for their, our in zip(_spans(both, theirs), _spans(both, ours), strict=True)
    ]
    return mean_finding(
        "formats", subject, f"{_LARGEST}, by one fixed path minus by milestones", apart, both,
        rng=rng, reason="no trajectory was judged by both in all notations",
    )  # fmt: skip


def _whole(names: Sequence[str], scores: FormatScores) -> list[str]:
    return [name for name in names if all((name, style) in scores for style in STYLES)]


def _spans(names: Sequence[str], scores: FormatScores) -> list[float]:
    found = ([scores[name, style] for style in STYLES] for name in names)
    return [max(values) - min(values) for values in found]


def _changes(by_style: Mapping[TimeStyle, Sequence[float]]) -> list[float]:
    pairs = zip(by_style["frames"], by_style["clock"], strict=True)
    return [frames - clock for frames, clock in pairs]


def _extreme(name: str, scores: FormatScores, *, is_highest: bool) -> str:
    pick = max if is_highest else min
    style = pick(STYLES, key=lambda style: scores[name, style])
    return f"{style}: {scores[name, style]:.3f}"
