"""From a trajectory's answer to its score: by option, by exact match, or by a pooled judgement."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from importlib import resources

from taketwo.benchmarks.canonical import sha256_of_text
from taketwo.benchmarks.question import Question
from taketwo.executions.plan import Plan
from taketwo.executions.trajectory import Trajectory
from taketwo.scores.judgements import Judgement, ScoreStatus, judgement_key
from taketwo.scores.option_match import match_open, match_option

__all__ = ["PROMPT_SHA256", "Grader", "JudgeRequest", "judge_prompt"]

_VALUES = {"correct": 1.0, "incorrect": 0.0}


def judge_prompt() -> str:
    """Return the instructions of the answer judge."""
    return (resources.files("taketwo.scores") / "prompts" / "answer_judge.txt").read_text("utf-8")


PROMPT_SHA256 = sha256_of_text(judge_prompt())


@dataclass(frozen=True, kw_only=True)
class JudgeRequest:
    """An answer that needs a judge."""

    question: Question
    answer: str

    def key(self, judge: str) -> str:
        """Return the key of its judgement by `judge`."""
        return judgement_key(
            question_sha256=self.question.content_sha256,
            answer=self.answer,
            judge=judge,
            prompt_sha256=PROMPT_SHA256,
        )


class Grader:
    """Scores of a study's answers under its plan and the judgements at hand.

    `failed` are the keys that the judge could not label just now.
    """

    def __init__(
        self, plan: Plan, judgements: Mapping[str, Judgement], failed: Collection[str] = ()
    ) -> None:
        self._questions = {
            planned.question.question_id: planned.question for planned in plan.questions
        }
        self._judge = None if plan.judge is None else plan.judge.name
        self._judgements = judgements
        self._failed = frozenset(failed)

    def label_of(
        self, question_id: str, trajectory: Trajectory
    ) -> tuple[ScoreStatus, float | None]:
        """Return what became of the answer, and 1.0 (right), 0.0 (wrong) or None (nobody can say).

        Of the run statuses, `answered` goes by match or judgement; `abstained`, `unparsed` and
        `limit` are 0.0 (the agent had its chance); errors and cells that did not run are None.
        """
        if trajectory.run_status in {"abstained", "unparsed", "limit"}:
            return "scored", 0.0
        if trajectory.run_status != "answered":
            return "not_judged", None
        question = self._questions[question_id]
        if question.options:
            if trajectory.answer_index is None:
                return "not_judged", None
            return "scored", _VALUES[match_option(question, trajectory.answer_index)]
        matched = match_open(question, trajectory.answer_text)
        if matched is not None:
            return "scored", _VALUES[matched]
        return self._judged(JudgeRequest(question=question, answer=trajectory.answer_text))

    def _judged(self, request: JudgeRequest) -> tuple[ScoreStatus, float | None]:
        if self._judge is None:
            return "not_judged", None
        key = request.key(self._judge)
        judgement = self._judgements.get(key)
        if judgement is not None:
            if judgement.label == "ungradable":
                return "ungradable", None
            return "scored", _VALUES[judgement.label]
        return ("judge_error" if key in self._failed else "not_judged"), None

    def pending(self, trajectories: Iterable[Trajectory]) -> tuple[JudgeRequest, ...]:
        """Return the distinct answers that still need the judge, in a stable order."""
        if self._judge is None:
            return ()
        wanted: dict[str, JudgeRequest] = {}
        for trajectory in trajectories:
            if self.label_of(trajectory.question_id, trajectory)[0] not in {
                "not_judged",
                "judge_error",
            }:
                continue
            if trajectory.run_status != "answered" or trajectory.answer_index is not None:
                continue
            question = self._questions[trajectory.question_id]
            request = JudgeRequest(question=question, answer=trajectory.answer_text)
            wanted.setdefault(request.key(self._judge), request)
        return tuple(wanted[key] for key in sorted(wanted))
