"""What a judge of trajectories is asked: the trajectory, its reference, the instructions, and the key of it all.

Here without the engine, so that a finished study can look its judgements up anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from string import Template

from taketwo.benchmarks.canonical import sha256_of_text
from taketwo.benchmarks.question import Question
from taketwo.executions.scoring_spec import JUDGE_PRESETS, RUBRICS, JudgePreset
from taketwo.scores.answer_words import options_text
from taketwo.scores.process_scores import FAILURE_TAGS
from taketwo.scores.trajectory_judgements import trajectory_key
from taketwo.scores.trajectory_text import Protocol, RenderedTrajectory
from taketwo.tools.fencing import fence

__all__ = [
    "JUDGE_PRESETS",
    "RUBRICS",
    "JudgePreset",
    "TrajectoryRequest",
    "judge_request",
    "rubric",
]


@dataclass(frozen=True, kw_only=True)
class TrajectoryRequest:
    """A trajectory to be judged against its question's milestones."""

    question: Question
    trajectory: RenderedTrajectory
    protocol: Protocol = "blind"
    rubric: str = "standard"

    def key(self, judge: str) -> str:
        """Return the key of its judgement by `judge`."""
        return trajectory_key(
            question=self.question,
            trajectory=self.trajectory,
            judge=judge,
            protocol=self.protocol,
            prompt_sha256=sha256_of_text(rubric(self.rubric)),
        )


def rubric(name: str) -> str:
    """Return the instructions of the trajectory judge in one of their wordings."""
    ending = "" if name == "standard" else f"_{name}"
    path = resources.files("taketwo.scores") / "prompts" / f"trajectory_judge{ending}.txt"
    tags = "\n".join(f"- {tag}" for tag in FAILURE_TAGS)
    return Template(path.read_text("utf-8")).substitute(tags=tags)


def judge_request(request: TrajectoryRequest) -> str:
    """Return what the judge is shown: question, options, sweep flag, milestones and trajectory.

    Neither the true answer, nor an explanation, nor an answer that somebody else parsed is in it.
    """
    question = request.question
    options = options_text(question)
    milestones = [
        f"{step.milestone_id} ({step.kind or 'no type'}): {' '.join(step.text.split())}"
        for step in question.milestones
    ]
    names = ", ".join(step.milestone_id for step in question.milestones)
    system = [fence("system", request.trajectory.system)] if request.protocol == "published" else []
    return "\n\n".join([
        *system,
        f"SWEEP_REQUIRED: {question.sweep or 'unknown'}",
        fence("question", question.text),
        *([fence("options", options)] if options else []),
        fence("milestones", "\n".join(milestones)),
        fence("trajectory", request.trajectory.text),
        f"Reply with the JSON object only. Label these {len(milestones)} milestones once each, in this "
        f"order: {names}.",
    ])
