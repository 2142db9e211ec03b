"""How large an audit of the judges is, and how many calls it costs before the first one is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from taketwo.errors import RequestError, UnknownName
from taketwo.scores.judge_audit.audit_findings import AuditCheck

__all__ = [
    "DESIGNS",
    "AuditDesign",
    "AuditScope",
    "ExpectedCalls",
    "audit_design",
    "expected_calls",
]

MOST_REPLIES = 3
"""A reply that breaks a rule is sent back up to twice."""


@dataclass(frozen=True, kw_only=True)
class AuditDesign:
    """How much of a study an audit looks at; a study that has less gives what it has.

    `trajectories` are scored by every one of `judges` judges. The others are numbers of genuine
    trajectories that a check starts from: `rubrics` under another wording, `assertion` set against a
    bare claim, `ablation` with `milestones` milestones removed one at a time, `injection` with each
    of `attacks` hostile texts, `references` judged against the explanation, `formats` in each of
    `notations` notations of time. Humans rate `human_questions` questions with one run of each of
    `human_arms` arms (None: of all), `raters` times.
    """

    name: str
    source: str
    trajectories: int
    judges: int
    rubrics: int
    assertion: int
    ablation: int
    milestones: int
    injection: int
    attacks: int
    references: int
    formats: int
    notations: int
    human_questions: int
    human_arms: int | None
    raters: int


DESIGNS: Mapping[str, AuditDesign] = MappingProxyType({
    "published": AuditDesign(
        name="published",
        source=(
            "AgentVidBench (2026, arXiv 2609.21386, Appendix D.4); the number of removed milestones, "
            "injections, references and formats are ours"
        ),
        trajectories=600,
        judges=3,
        rubrics=300,
        assertion=50,
        ablation=50,
        milestones=1,
        injection=10,
        attacks=12,
        references=50,
        formats=50,
        notations=3,
        human_questions=20,
        human_arms=5,
        raters=2,
    ),
    "quick": AuditDesign(
        name="quick",
        source="ours, for a first look: its intervals are wide",
        trajectories=60,
        judges=2,
        rubrics=20,
        assertion=10,
        ablation=10,
        milestones=1,
        injection=3,
        attacks=12,
        references=10,
        formats=10,
        notations=3,
        human_questions=5,
        human_arms=None,
        raters=2,
    ),
})


@dataclass(frozen=True, kw_only=True)
class AuditScope:
    """What a study has: distinct trajectories that can be judged, and how many a judge has done already.

    `questions` have such a trajectory, `explained` trajectories are of questions with an explanation.
    `judged` counts by judge; `rubric` is the study's wording.
    """

    trajectories: int
    questions: int
    explained: int = 0
    judged: Mapping[str, int] = field(default_factory=dict[str, int])
    rubric: str = "standard"


@dataclass(frozen=True, kw_only=True)
class ExpectedCalls:
    """The most judgements that an audit needs, by judge and check, without those that are there.

    Judgements of an earlier audit that are pooled already come off these numbers; a reply that has
    to be mended costs up to two calls more.
    """

    by_judge: Mapping[str, Mapping[AuditCheck, int]]

    @property
    def total(self) -> int:
        """Return the judgements of all judges."""
        return sum(sum(checks.values()) for checks in self.by_judge.values())

    @property
    def most(self) -> int:
        """Return the calls if every reply had to be mended twice."""
        return MOST_REPLIES * self.total

    def sentence(self) -> str:
        """Return the cost in words."""
        parts = [
            f"{judge} {sum(checks.values()):,} ("
            + ", ".join(f"{check} {count:,}" for check, count in checks.items() if count)
            + ")"
            for judge, checks in self.by_judge.items()
            if any(checks.values())
        ]
        if not parts:
            return "No call of a judge is needed: all judgements are there."
        return (
            f"Up to {self.total:,} judgements, {self.most:,} calls if every reply has to be mended twice: "
            f"{'; '.join(parts)}."
        )


def audit_design(name: str) -> AuditDesign:
    """Return a design by name.

    Raises
    ------
    UnknownName
        If there is none.
    """
    if name not in DESIGNS:
        raise UnknownName.among("design of an audit", name, DESIGNS)
    return DESIGNS[name]


def expected_calls(
    design: AuditDesign,
    scope: AuditScope,
    judges: Sequence[str],
    *,
    probed: Sequence[str] | None = None,
) -> ExpectedCalls:
    """Return how many judgements a design costs on a study, at most.

    Parameters
    ----------
    judges
        The study's judge first, then the further ones; all score the same trajectories.
    probed
        The judges that the probes are put to; None: the first only.

    Raises
    ------
    RequestError
        If no judge is named, one is named twice, or a probed one is not among them.
    """
    asked = tuple(judges[:1]) if probed is None else tuple(probed)
    if not judges or len(set(judges)) < len(judges) or not set(asked) <= set(judges):
        raise RequestError(
            f"an audit needs judges, each named once, found {', '.join(judges) or 'none'}; to probe: "
            f"{', '.join(asked) or 'none'}; add them with --audit-judge MODEL"
        )
    return ExpectedCalls(
        by_judge={judge: _of_judge(design, scope, judge, judge in asked) for judge in judges}
    )


def _of_judge(
    design: AuditDesign, scope: AuditScope, judge: str, is_probed: bool
) -> dict[AuditCheck, int]:
    there = scope.trajectories
    own = min(design.trajectories, there)
    calls: dict[AuditCheck, int] = {"separation": own}
    if is_probed:
        sizes: dict[AuditCheck, int] = {
            "rubrics": min(design.rubrics, there),
            "assertion": min(design.assertion, scope.questions),
            "ablation": min(design.ablation, there),
            "injection": min(design.injection, there),
            "references": min(design.references, scope.explained),
            "formats": min(design.formats, there),
        }
        # The trajectory that a probe was made of is judged as well; it may lie outside the first draw.
        calls["separation"] = own + sum(sizes.values())
        per_trajectory: dict[AuditCheck, int] = {
            "ablation": design.milestones,
            "injection": design.attacks,
            "formats": design.notations,
            "references": 1 if scope.rubric == "standard" else 2,
        }
        calls |= {check: size * per_trajectory.get(check, 1) for check, size in sizes.items()}
    # Those that are judged already may all lie outside the draws.
    unjudged = max(0, there - scope.judged.get(judge, 0))
    calls["separation"] = min(calls["separation"], unjudged)
    return calls
