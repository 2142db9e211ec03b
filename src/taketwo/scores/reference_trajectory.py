"""What humans wrote of a question: a path to judge like an agent's, and an explanation to judge against.

The curated path becomes the text that a judge reads of any agent, so that it can stand beside the
arms: a good judge gives it nearly everything. The explanation replaces the milestones as the judge's
reference, to see whether the milestones keep what decides (AgentVidBench 2026, arXiv 2609.21386,
Appendix C.3).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from string import Template
from typing import cast

import numpy as np

from taketwo.benchmarks.canonical import JsonValue, sha256_of_text
from taketwo.benchmarks.question import Question
from taketwo.executions.trajectory import Event, ModelCall, ToolCall, Trajectory
from taketwo.scores.audit_findings import AuditCase, AuditFinding
from taketwo.scores.judge_probes import (
    Genuine,
    Probe,
    ProbeSet,
    axis_pairs,
    correlation_finding,
    joined,
    judged_probes,
    moved_cases,
    unprobed,
)
from taketwo.scores.process_scores import AXES, FAILURE_TAGS
from taketwo.scores.trajectory_judgements import Reference, TrajectoryJudgement, trajectory_key
from taketwo.scores.trajectory_request import TrajectoryRequest
from taketwo.scores.trajectory_text import RenderedTrajectory, rendered
from taketwo.tools.fencing import fence

__all__ = [
    "REFERENCE_SYSTEM",
    "ExplanationRequest",
    "explanation_request",
    "explanation_rubric",
    "read_references",
    "reference_probes",
    "rendered_reference",
    "true_answer",
]

REFERENCE_SYSTEM = "curated by a human"
"""The name of the pseudo-arm in the protocol that shows names."""

_PUBLISHED_REFERENCES: Mapping[str, float] = {
    "task_understanding": 0.656,
    "gt_evidence_coverage": 0.756,
    "evidence_grounding": 0.814,
    "evidence_completeness": 0.746,
    "reasoning_faithfulness": 0.837,
}
_PUBLISHED_REFERENCES_MEAN = 0.762


def true_answer(question: Question) -> str:
    """Return the truth in words: label and text of the true option, or the text of an open answer."""
    if question.answer_index is None:
        return (question.answer_text or "").strip()
    option = " ".join(question.options[question.answer_index].split())
    return f"{question.labels[question.answer_index]}. {option}"


def rendered_reference(question: Question) -> RenderedTrajectory | None:
    """Return the curated path of a question as a judge reads trajectories; None where there is none.

    Each step says its thought and then calls its tool, which returns what was observed. A step
    without a tool is a remark of its own. The final answer is the true one.
    """
    if not any(
        (step.tool + step.thought + step.observation).strip() for step in question.reference
    ):
        return None
    events: list[Event] = []
    for number, step in enumerate(question.reference, start=1):
        if not step.tool.strip():
            said = "\n".join(part for part in (step.thought, step.observation) if part.strip())
            events.append(_said(said))
            continue
        events += [
            _said(step.thought),
            ToolCall(
                call_id=str(number),
                name=step.tool.strip(),
                arguments=_arguments(step.arguments),
                result=step.observation,
            ),
        ]
    trajectory = Trajectory(
        arm="",
        question_id=question.question_id,
        execution=1,
        run_status="answered",
        answer_text=true_answer(question),
        events=tuple(events),
    )
    return rendered(trajectory, system=REFERENCE_SYSTEM)


@dataclass(frozen=True, kw_only=True)
class ExplanationRequest(TrajectoryRequest):
    """A trajectory to be judged against what a human wrote of its question, in place of milestones.

    Raises
    ------
    ValueError
        If the question has no explanation, or another wording of the instructions is asked for:
        there is one only.
    """

    def __post_init__(self) -> None:
        if not (self.question.explanation or "").strip():
            raise ValueError(
                f"question {self.question.question_id!r} has no explanation to judge against"
            )
        if self.rubric != "standard":
            raise ValueError(
                f"judging against an explanation has one wording, 'standard', not {self.rubric!r}"
            )

    @property
    def reference(self) -> Reference:
        """Return what the trajectory is judged against."""
        return "explanation"

    def key(self, judge: str) -> str:
        """Return the key of its judgement by `judge`."""
        return trajectory_key(
            question=self.question,
            trajectory=self.trajectory,
            judge=judge,
            protocol=self.protocol,
            prompt_sha256=sha256_of_text(explanation_rubric()),
            reference=self.reference,
        )


def explanation_rubric() -> str:
    """Return the instructions of a judge who has an explanation for a reference."""
    path = resources.files("taketwo.scores") / "prompts" / "trajectory_judge_explanation.txt"
    tags = "\n".join(f"- {tag}" for tag in FAILURE_TAGS)
    return Template(path.read_text("utf-8")).substitute(tags=tags)


def explanation_request(request: ExplanationRequest) -> str:
    """Return what the judge is shown: question, options, sweep flag, explanation and trajectory."""
    question = request.question
    options = [
        f"{label}. {' '.join(option.split())}"
        for label, option in zip(question.labels, question.options, strict=True)
    ]
    system = [fence("system", request.trajectory.system)] if request.protocol == "published" else []
    return "\n\n".join([
        *system,
        f"SWEEP_REQUIRED: {question.sweep or 'unknown'}",
        fence("question", question.text),
        *([fence("options", "\n".join(options))] if options else []),
        fence("explanation", question.explanation or ""),
        fence("trajectory", request.trajectory.text),
        "Reply with the JSON object only. There are no milestones: leave milestone_coverage an empty "
        "list.",
    ])


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
            note=remark,
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
    return tuple(found), moved_cases(pairs, "references")


def _said(text: str) -> ModelCall:
    return ModelCall(role="orchestrator", model="", text=text)


def _arguments(written: str) -> Mapping[str, JsonValue]:
    """Return the arguments of a step, which a data set may write as JSON or in words."""
    if not written.strip():
        return {}
    try:
        value: object = json.loads(written)
    except (ValueError, RecursionError):
        return {"arguments": written}
    if not isinstance(value, dict):
        return {"arguments": written}
    return cast("Mapping[str, JsonValue]", value)
