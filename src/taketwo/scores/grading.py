"""From a trajectory's answer to its score: by option, by exact match, or by pooled judgements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from typing import Literal

from taketwo.benchmarks.canonical import sha256_of_text
from taketwo.benchmarks.question import Question
from taketwo.errors import InvalidResults
from taketwo.executions.plan import Plan
from taketwo.executions.trajectory import Trajectory
from taketwo.scores.answer_parsing import parse_option
from taketwo.scores.answer_words import judged_answer, option_text
from taketwo.scores.extractions import Extraction, ExtractRequest
from taketwo.scores.judgements import Judgement, Label, ScoreStatus, judgement_key
from taketwo.scores.option_match import MatchLabel, match_open, match_option

__all__ = [
    "PROMPT_SHA256",
    "AnswerSource",
    "Graded",
    "Grader",
    "JudgeRequest",
    "judge_prompt",
]

AnswerSource = Literal["agent", "extracted", "judged"]

_VALUES = {"correct": 1.0, "incorrect": 0.0}


def judge_prompt() -> str:
    """Return the instructions of the answer judge."""
    return (resources.files("taketwo.scores") / "prompts" / "answer_judge.txt").read_text("utf-8")


PROMPT_SHA256 = sha256_of_text(judge_prompt())


@dataclass(frozen=True, kw_only=True)
class JudgeRequest:
    """An answer that needs a judge; `repeat` counts its judgements from 0."""

    question: Question
    answer: str
    repeat: int = 0

    def key(self, judge: str) -> str:
        """Return the key of its judgement by `judge`."""
        return judgement_key(
            question=self.question,
            answer=self.answer,
            judge=judge,
            prompt_sha256=PROMPT_SHA256,
            repeat=self.repeat,
        )


@dataclass(frozen=True, kw_only=True)
class Graded:
    """What became of a cell's answer.

    `accuracy` is 1.0 (right), 0.0 (wrong) or None (nobody can say). An `ungradable` answer has None
    or 0.0, as the plan wants it; both readings follow from the status. `option_accuracy` is what the
    option alone says, 1.0 or 0.0, None where there is none. `answer_source` is who read the answer
    out of the reply: the agent, or our reading of an unparsed one; None where there is no answer.
    """

    status: ScoreStatus
    accuracy: float | None
    option_accuracy: float | None = None
    answer_source: AnswerSource | None = None
    option_index: int | None = None


_WRONG = Graded(status="scored", accuracy=0.0)


class Grader:
    """Scores of a study's answers under its plan, and the judgements and extractions at hand.

    Parameters
    ----------
    plan
        Says the rule for answers, how often each is judged, what an ungradable one counts, and
        whether unparsed replies are read by an extractor.
    judgements, extractions
        The pooled ones, by key.
    failed
        Keys that the judge or the extractor could not deal with just now.
    judge
        The judge whose labels count; the plan's primary one by default.
    """

    def __init__(
        self,
        plan: Plan,
        judgements: Mapping[str, Judgement],
        extractions: Mapping[str, Extraction] | None = None,
        failed: Collection[str] = (),
        judge: str | None = None,
    ) -> None:
        self._questions = {
            planned.question.question_id: planned.question for planned in plan.questions
        }
        self._scoring = plan.scoring
        primary = None if plan.judge is None else plan.judge.name
        self._judge = primary if judge is None else judge
        extractor = plan.scoring.extractor
        self._extractor = None if extractor is None else extractor.name
        self._judgements = judgements
        self._extractions: Mapping[str, Extraction] = {} if extractions is None else extractions
        self._failed = frozenset(failed)

    def graded(self, question_id: str, trajectory: Trajectory) -> Graded:
        """Return what became of the answer.

        Of the run statuses, `answered` goes by option, exact match or judgement (a choice too, where
        no option is the truth word by word); `abstained` and `limit` are 0.0 (the agent had its
        chance); errors and cells that did not run are None. So is `unparsed` 0.0, unless the plan has
        an extractor and the reply names an option, or has every reply judged (`published`).
        """
        question = self._questions[question_id]
        if trajectory.run_status == "unparsed":
            if self._has_reply_to_judge(trajectory):
                status, accuracy = self._answered(question, trajectory, None)
                return Graded(status=status, accuracy=accuracy, answer_source="judged")
            return self._reread(question, trajectory)
        if trajectory.run_status in {"abstained", "limit"}:
            return _WRONG
        if trajectory.run_status != "answered":
            return Graded(status="not_judged", accuracy=None)
        index = trajectory.answer_index if question.options else None
        by_option = None if index is None else _value(match_option(question, index))
        status, accuracy = self._answered(question, trajectory, by_option)
        return Graded(
            status=status,
            accuracy=accuracy,
            option_accuracy=by_option,
            answer_source="agent",
            option_index=index,
        )

    def pending(
        self, trajectories: Iterable[Trajectory], judge: str | None = None
    ) -> tuple[JudgeRequest, ...]:
        """Return the distinct answers and repeats that still need the judge, in a stable order.

        `judge` asks it for another judge than the one whose labels count.
        """
        name = self._judge if judge is None else judge
        if name is None:
            return ()
        wanted = self._requests_by_key(trajectories, name)
        return tuple(wanted[key] for key in sorted(wanted) if key not in self._judgements)

    def judgements_in_use(
        self, trajectories: Iterable[Trajectory], judge: str | None = None
    ) -> tuple[Judgement, ...]:
        """Return the judgements that the scores rest on, each once, in a stable order.

        They bear this study's id of the question: another one may have asked by an id of its own.
        """
        name = self._judge if judge is None else judge
        if name is None:
            return ()
        wanted = self._requests_by_key(trajectories, name)
        return tuple(
            replace(self._judgements[key], question_id=wanted[key].question.question_id)
            for key in sorted(wanted)
            if key in self._judgements
        )

    def pending_extractions(self, trajectories: Iterable[Trajectory]) -> tuple[ExtractRequest, ...]:
        """Return the distinct ambiguous replies that the extractor has not read, in a stable order."""
        wanted = self._extractions_by_key(trajectories)
        return tuple(wanted[key] for key in sorted(wanted) if key not in self._extractions)

    def extractions_in_use(self, trajectories: Iterable[Trajectory]) -> tuple[Extraction, ...]:
        """Return the extractor's readings that the scores rest on, each once, in a stable order."""
        wanted = self._extractions_by_key(trajectories)
        return tuple(self._extractions[key] for key in sorted(wanted) if key in self._extractions)

    def _extractions_by_key(self, trajectories: Iterable[Trajectory]) -> dict[str, ExtractRequest]:
        if self._extractor is None:
            return {}
        wanted: dict[str, ExtractRequest] = {}
        for trajectory in trajectories:
            question = self._questions[trajectory.question_id]
            is_read = trajectory.run_status == "unparsed" and bool(question.options)
            if not is_read or self._has_reply_to_judge(trajectory):
                continue
            text = trajectory.answer_text
            if parse_option(text, question.for_agent()).outcome != "ambiguous":
                continue
            request = ExtractRequest(question=question, text=text)
            wanted.setdefault(request.key(self._extractor), request)
        return wanted

    def _has_reply_to_judge(self, trajectory: Trajectory) -> bool:
        """Return whether a reply in which the agent found no answer goes to the judge as it stands."""
        return (
            self._scoring.answers == "published"
            and trajectory.run_status == "unparsed"
            and bool(trajectory.answer_text.strip())
        )

    def _answered(
        self, question: Question, trajectory: Trajectory, by_option: float | None
    ) -> tuple[ScoreStatus, float | None]:
        if self._scoring.answers == "option-match":
            if question.is_matched_by_option:
                return ("not_judged", None) if by_option is None else ("scored", by_option)
            by_words = _value(_exact_match(question, trajectory))
            if by_words is not None:
                return "scored", by_words
        answer = self._words_to_judge(question, trajectory)
        return ("not_judged", None) if answer is None else self._judged(question, answer)

    def _judged(self, question: Question, answer: str) -> tuple[ScoreStatus, float | None]:
        if self._judge is None:
            return "not_judged", None
        keys = [request.key(self._judge) for request in self._repeats(question, answer)]
        missing = [key for key in keys if key not in self._judgements]
        if missing:
            is_failed = any(key in self._failed for key in missing)
            return ("judge_error" if is_failed else "not_judged"), None
        label = _majority([self._judgements[key].label for key in keys])
        if label == "ungradable":
            return "ungradable", 0.0 if self._scoring.ungradable == "wrong" else None
        return "scored", _VALUES[label]

    def _reread(self, question: Question, trajectory: Trajectory) -> Graded:
        """Grade a reply in which the agent found no option: by rule, else by the extractor's reading."""
        if self._extractor is None or not question.options:
            return _WRONG
        parsed = parse_option(trajectory.answer_text, question.for_agent())
        index = parsed.option_index
        if parsed.outcome == "ambiguous":
            key = ExtractRequest(question=question, text=trajectory.answer_text).key(
                self._extractor
            )
            extraction = self._extractions.get(key)
            if extraction is None:
                is_failed = key in self._failed
                return Graded(
                    status="judge_error" if is_failed else "not_judged",
                    accuracy=None,
                    answer_source="extracted",
                )
            index = _extracted_index(extraction, question)
        if index is None:
            return _WRONG
        value = _value(match_option(question, index))
        status, accuracy = "scored", value
        if value is None:
            status, accuracy = self._judged(question, option_text(question, index))
        return Graded(
            status=status,
            accuracy=accuracy,
            option_accuracy=value,
            answer_source="extracted",
            option_index=index,
        )

    def _answer_to_judge(self, question: Question, trajectory: Trajectory) -> str | None:
        """Return what a judge is shown of a cell; None where there is nothing, or nobody has read it yet."""
        if trajectory.run_status == "answered" or self._has_reply_to_judge(trajectory):
            return self._words_to_judge(question, trajectory)
        is_read = trajectory.run_status == "unparsed" and self._extractor is not None
        index = self._reread(question, trajectory).option_index if is_read else None
        return None if index is None else option_text(question, index)

    def _words_to_judge(self, question: Question, trajectory: Trajectory) -> str | None:
        """Return the answer in words; of a choice under `option-match` those of its option."""
        index = trajectory.answer_index
        if self._scoring.answers == "option-match" and question.options and index is not None:
            return option_text(question, index)
        return judged_answer(question, trajectory)

    def _repeats(self, question: Question, answer: str) -> list[JudgeRequest]:
        return [
            JudgeRequest(question=question, answer=answer, repeat=repeat)
            for repeat in range(self._scoring.repeats)
        ]

    def _requests_by_key(
        self, trajectories: Iterable[Trajectory], judge: str
    ) -> dict[str, JudgeRequest]:
        """Return all that a judge has to say of the trajectories, whether it has said it or not."""
        wanted: dict[str, JudgeRequest] = {}
        for trajectory in trajectories:
            question = self._questions[trajectory.question_id]
            if self._scoring.answers == "option-match" and (
                question.is_matched_by_option or _exact_match(question, trajectory) is not None
            ):
                continue
            answer = self._answer_to_judge(question, trajectory)
            if answer is None:
                continue
            for request in self._repeats(question, answer):
                wanted.setdefault(request.key(judge), request)
        return wanted


def _value(label: MatchLabel | None) -> float | None:
    return None if label is None else _VALUES[label]


def _exact_match(question: Question, trajectory: Trajectory) -> MatchLabel | None:
    """Return what comparing the words of an open answer says; None where only a judge can say."""
    return None if question.options else match_open(question, trajectory.answer_text)


def _majority(labels: Collection[Label]) -> Label:
    """Return the label of more than half of the judgements; `ungradable` where no label has that many."""
    label, count = Counter(labels).most_common(1)[0]
    return label if 2 * count > len(labels) else "ungradable"


def _extracted_index(extraction: Extraction, question: Question) -> int | None:
    index = extraction.option_index
    if index is not None and not 0 <= index < len(question.options):
        raise InvalidResults(
            f"the extraction {extraction.key[:12]} for question {extraction.question_id!r} says option "
            f"{index}, the question has 0 to {len(question.options) - 1}; remove the part it stands in"
        )
    return index
