"""What humans wrote of a question: a path to judge like an agent's, and an explanation to judge against.

The curated path becomes the text that a judge reads of any agent, so that it can stand beside the
arms: a good judge gives it nearly everything. The explanation replaces the milestones as the judge's
reference, to see whether the milestones keep what decides (`judge_audit.reference_probes`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from string import Template
from typing import cast

from taketwo.benchmarks.canonical import JsonValue, sha256_of_text
from taketwo.benchmarks.question import Question
from taketwo.executions.trajectory import Event, ModelCall, ToolCall, Trajectory
from taketwo.scores.answer_words import option_text, options_text
from taketwo.scores.process_scores import FAILURE_TAGS
from taketwo.scores.trajectory_judgements import Reference, trajectory_key
from taketwo.scores.trajectory_request import TrajectoryRequest
from taketwo.scores.trajectory_text import RenderedTrajectory, rendered
from taketwo.tools.fencing import fence

__all__ = [
    "REFERENCE_SYSTEM",
    "ExplanationRequest",
    "explanation_request",
    "explanation_rubric",
    "rendered_reference",
    "true_answer",
]

REFERENCE_SYSTEM = "curated by a human"
"""The name of the pseudo-arm in the protocol that shows names."""


def true_answer(question: Question) -> str:
    """Return the truth in words: label and text of the true option, or the text of an open answer."""
    if question.answer_index is None:
        return (question.answer_text or "").strip()
    return option_text(question, question.answer_index)


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
    options = options_text(question)
    system = [fence("system", request.trajectory.system)] if request.protocol == "published" else []
    return "\n\n".join([
        *system,
        f"SWEEP_REQUIRED: {question.sweep or 'unknown'}",
        fence("question", question.text),
        *([fence("options", options)] if options else []),
        fence("explanation", question.explanation or ""),
        fence("trajectory", request.trajectory.text),
        "Reply with the JSON object only. There are no milestones: leave milestone_coverage an empty "
        "list.",
    ])


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
