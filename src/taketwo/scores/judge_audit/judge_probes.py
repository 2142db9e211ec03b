"""Probes of a judge of trajectories: what is made out of genuine trajectories, and how outcomes are counted.

A probe is a request to the judge, mostly with a partner: the same thing without the change. Whoever
composes the audit has both judged through the pool and hands the judgements back. A probe without
them is in no number, and every number says how many there were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from taketwo.benchmarks.question import Question
from taketwo.benchmarks.selection import allocate
from taketwo.executions.trajectory import Trajectory
from taketwo.scores.judge_audit.audit_findings import (
    NOT_PROBED,
    AuditCase,
    AuditCheck,
    AuditFinding,
)
from taketwo.scores.judge_audit.score_pairs import finding_of, question_codes
from taketwo.scores.trajectory_judgements import TrajectoryJudgement
from taketwo.scores.trajectory_request import TrajectoryRequest
from taketwo.scores.trajectory_text import Protocol, RenderedTrajectory, rendered
from taketwo.stats.agreement import pearson
from taketwo.stats.cluster import cluster_sums
from taketwo.stats.resampling import bootstrap_means

__all__ = [
    "DRAWS",
    "UNSCORED_AXIS",
    "Genuine",
    "JudgedProbe",
    "Probe",
    "ProbeSet",
    "axis_pairs",
    "axis_remark",
    "correlation_finding",
    "drawn_by_difficulty",
    "genuine_trajectories",
    "joined",
    "judged_probes",
    "mean_finding",
    "moved_cases",
    "probe_case",
    "unprobed",
]

DRAWS = 2_000
LEVEL = 0.95
MOVED = 0.25
UNSCORED_AXIS = "no trajectory in which both sides scored it"
NO_DIFFICULTY = "(none given)"


@dataclass(frozen=True, kw_only=True)
class Genuine:
    """A trajectory that really happened, and how the judge is asked about it."""

    question: Question
    trajectory: Trajectory
    system: str
    protocol: Protocol = "blind"
    rubric: str = "standard"

    def request(self, trajectory: Trajectory | None = None) -> TrajectoryRequest:
        """Return the request about the trajectory, or about another one in its place."""
        text = rendered(trajectory or self.trajectory, system=self.system)
        return self.request_about(text)

    def request_about(self, text: RenderedTrajectory) -> TrajectoryRequest:
        """Return the request about a text in the trajectory's place."""
        return TrajectoryRequest(
            question=self.question, trajectory=text, protocol=self.protocol, rubric=self.rubric
        )


@dataclass(frozen=True, kw_only=True)
class Probe:
    """A request that tries the judge, and its partner without what is tried.

    `subject` is the kind of probe (a milestone, an attack, a notation), `what` says what was done.
    `touched` are milestones, other than the one that is tried, that lost some of their words too.
    """

    check: AuditCheck
    question_id: str
    subject: str
    what: str
    request: TrajectoryRequest
    partner: TrajectoryRequest | None = None
    touched: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ProbeSet:
    """The probes of a check, and those that could not be made, each with the reason."""

    probes: tuple[Probe, ...]
    skipped: tuple[AuditCase, ...] = ()

    @property
    def requests(self) -> tuple[TrajectoryRequest, ...]:
        """Return all that the judge is to be asked, partners included."""
        return tuple(
            request
            for probe in self.probes
            for request in (probe.request, probe.partner)
            if request is not None
        )


@dataclass(frozen=True, kw_only=True)
class JudgedProbe:
    """A probe with both of its judgements."""

    probe: Probe
    judged: TrajectoryJudgement
    partner: TrajectoryJudgement

    @property
    def change(self) -> float:
        """Return by how much the trajectory score rose from the partner to the probe, -1 to 1."""
        return self.judged.trajectory_score - self.partner.trajectory_score


def genuine_trajectories(
    questions: Sequence[Question],
    trajectories: Mapping[str, Trajectory],
    *,
    system: str,
    protocol: Protocol = "blind",
    rubric: str = "standard",
) -> tuple[Genuine, ...]:
    """Return what probes are made from: the questions with milestones that have a trajectory.

    In the order of the questions' ids, so that draws do not depend on the order of a mapping.
    """
    return tuple(
        Genuine(
            question=question,
            trajectory=trajectories[question.question_id],
            system=system,
            protocol=protocol,
            rubric=rubric,
        )
        for question in sorted(questions, key=lambda item: item.question_id)
        if question.milestones and question.question_id in trajectories
    )


def drawn_by_difficulty(
    genuine: Sequence[Genuine], k: int, *, rng: np.random.Generator
) -> tuple[Genuine, ...]:
    """Draw `k` trajectories whose shares of difficulty are those of all; all, where there are fewer.

    Questions without a difficulty are a stratum of their own. The order of `genuine` is kept.
    """
    strata: dict[str, list[int]] = {}
    for at, item in enumerate(genuine):
        strata.setdefault(item.question.attributes.get("difficulty", NO_DIFFICULTY), []).append(at)
    names = sorted(strata)
    counts = allocate([len(strata[name]) for name in names], min(k, len(genuine)))
    taken: list[int] = []
    for name, count in zip(names, counts, strict=True):
        order: list[int] = rng.permutation(len(strata[name])).tolist()
        taken += [strata[name][at] for at in order[:count]]
    return tuple(genuine[at] for at in sorted(taken))


def judged_probes(
    probes: Sequence[Probe], judgements: Mapping[str, TrajectoryJudgement], judge: str
) -> tuple[tuple[JudgedProbe, ...], str]:
    """Return the probes that have both judgements, and a remark on the others, empty where none."""
    found: list[JudgedProbe] = []
    for probe in probes:
        judged = judgements.get(probe.request.key(judge))
        partner = None if probe.partner is None else judgements.get(probe.partner.key(judge))
        if judged is not None and partner is not None:
            found.append(JudgedProbe(probe=probe, judged=judged, partner=partner))
    lacking = len(probes) - len(found)
    remark = (
        f"{lacking} of {len(probes)} probes lack a judgement and are in no number"
        if lacking
        else ""
    )
    return tuple(found), remark


def unprobed(check: AuditCheck, question_id: str, subject: str, reason: str) -> AuditCase:
    """Return the record of a probe that could not be made."""
    return AuditCase(
        check=check,
        question_id=question_id,
        subject=subject,
        what=f"{NOT_PROBED}{reason}",
        before="",
        after="",
    )


def mean_finding(
    check: AuditCheck,
    subject: str,
    measure: str,
    values: Sequence[float],
    question_ids: Sequence[str],
    *,
    rng: np.random.Generator,
    published: float | None = None,
    note: str = "",
    reason: str | None = None,
) -> AuditFinding:
    """Return a mean with the interval over draws of questions.

    There is no interval over one question, nor where all values are the same: draws of equal values
    would claim a certainty that nothing supports. `reason` says why there is nothing, where there is.
    """
    n, clusters = len(values), len(set(question_ids))
    if not n:
        return AuditFinding(
            check=check, subject=subject, measure=measure, value=None, n=0, clusters=0,
            published=published, reason=reason or "no probe of this kind has been judged", note=note,
        )  # fmt: skip
    array = np.asarray(values, dtype=np.float64)
    low = high = None
    if clusters < 2:
        note = joined(note, "no interval: 1 question has no variance")
    elif np.ptp(array) == 0:
        note = joined(note, "no interval: all values are the same")
    else:
        means = bootstrap_means(
            cluster_sums(array, question_codes(question_ids)), draws=DRAWS, rng=rng
        )
        ends = np.quantile(means[:, 0], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        low, high = float(ends[0]), float(ends[1])
    return AuditFinding(
        check=check, subject=subject, measure=measure, value=float(array.mean()), low=low,
        high=high, n=n, clusters=clusters, published=published, note=note,
    )  # fmt: skip


def axis_pairs(pairs: Sequence[JudgedProbe], axis: str) -> list[tuple[float, float, str]]:
    """Return partner and probe on an axis, with the question, where the axis applies to both."""
    found: list[tuple[float, float, str]] = []
    for pair in pairs:
        before, after = pair.partner.scores.axes[axis], pair.judged.scores.axes[axis]
        if before is not None and after is not None:
            found.append((float(before), float(after), pair.probe.question_id))
    return found


def axis_remark(pairs: Sequence[JudgedProbe], axis: str) -> str:
    """Return in how many pairs only one side scored the axis, empty where in none."""
    one_only = sum(
        (pair.partner.scores.axes[axis] is None) != (pair.judged.scores.axes[axis] is None)
        for pair in pairs
    )
    return f"{one_only} more, to which only one side found that it applies" if one_only else ""


def correlation_finding(
    check: AuditCheck,
    subject: str,
    values: Sequence[tuple[float, float, str]],
    *,
    rng: np.random.Generator,
    published: float | None,
    note: str,
    reason: str | None = None,
) -> AuditFinding:
    """Return Pearson's r of values (one side, the other, question), questions being drawn.

    `reason` says why there is none, where there is no value.
    """
    measure = "Pearson r"
    if not values:
        return mean_finding(
            check, subject, measure, [], [], rng=rng, published=published, note=note, reason=reason
        )
    estimate = pearson(
        np.array([before for before, _, _ in values]),
        np.array([after for _, after, _ in values]),
        rng=rng,
        cluster=question_codes([name for *_, name in values]),
        draws=DRAWS,
    )
    return finding_of(check, subject, measure, estimate, published=published, note=note)


def moved_cases(pairs: Sequence[JudgedProbe]) -> tuple[AuditCase, ...]:
    """Return the probes whose trajectory score moved by a quarter or more, with both scores."""
    return tuple(probe_case(pair) for pair in pairs if abs(pair.change) >= MOVED)


def probe_case(pair: JudgedProbe) -> AuditCase:
    """Return a probe as a case, with the trajectory scores without and with what was done."""
    return AuditCase(
        check=pair.probe.check,
        question_id=pair.probe.question_id,
        subject=pair.probe.subject,
        what=pair.probe.what,
        before=f"{pair.partner.trajectory_score:.3f}",
        after=f"{pair.judged.trajectory_score:.3f}",
    )


def joined(*notes: str) -> str:
    """Return the remarks that are not empty as one."""
    return "; ".join(note for note in notes if note)
