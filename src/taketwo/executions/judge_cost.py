"""What judging will ask and roughly cost, were no two answers and no two trajectories alike.

How many requests there can be follows from the plan. Their tokens are rough: what a judge is shown of
a question is known, what an agent will say is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.question import Question
from taketwo.executions.arm_cost import Assumptions
from taketwo.executions.plan import Plan, PlannedQuestion
from taketwo.executions.prices import cost_usd

__all__ = ["JudgeCalls", "judge_calls"]

_CHARACTERS_A_TOKEN = 4
_ANSWER_INSTRUCTIONS, _ANSWER, _LABEL = 350, 60, 60
_PROCESS_INSTRUCTIONS, _SCORES = 1_000, 700
"""Tokens: of our instructions (by their length), and rough ones of an answer and of a judge's reply."""


@dataclass(frozen=True, kw_only=True)
class JudgeCalls:
    """What one judge is asked at most: `requests`, with rough tokens of them all.

    `usd` is None where the plan has no price of the judge. Requests that are repeated since a reply was
    not usable are not counted.
    """

    judge: str
    what: Literal["answers", "trajectories"]
    requests: int
    input_tokens: int
    output_tokens: int
    usd: float | None

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as JSON values."""
        return {
            "judge": self.judge,
            "what": self.what,
            "requests": self.requests,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "usd": self.usd,
        }


def judge_calls(
    plan: Plan, present: Sequence[PlannedQuestion], known: Assumptions
) -> tuple[JudgeCalls, ...]:
    """Return what each judge of a plan will be asked at most; extractions of options are not counted."""
    found: list[JudgeCalls] = []
    shown = _answers_shown(plan, [item.question for item in present])
    if plan.judge is not None and shown:
        found += [
            _calls(plan, judge.name, "answers", shown, _LABEL)
            for judge in (plan.judge, *plan.scoring.judges)
        ]
    scoring = plan.scoring.trajectories
    if scoring is not None:
        shown = _trajectories_shown(plan, [item.question for item in present], known)
        curated = [
            _PROCESS_INSTRUCTIONS + _words(item.question) + _reference(item.question)
            for item in present
            if scoring.references and item.question.milestones and item.question.reference
        ]
        for judge in (scoring.judge, *scoring.judges):
            asked = [*shown, *(curated if judge is scoring.judge else ())]
            if asked:
                found.append(_calls(plan, judge.name, "trajectories", asked, _SCORES))
    return tuple(found)


def _answers_shown(plan: Plan, questions: Sequence[Question]) -> list[int]:
    """Return the tokens that a judge of answers is shown, a number for each request."""
    is_all = plan.scoring.answers == "published"
    a_question = plan.executions * len(plan.arms) * plan.scoring.repeats
    return [
        _ANSWER_INSTRUCTIONS + _words(question) + _ANSWER
        for question in questions
        if is_all or not question.is_matched_by_option
        for _ in range(a_question)
    ]


def _trajectories_shown(plan: Plan, questions: Sequence[Question], known: Assumptions) -> list[int]:
    """Return the tokens that a judge of trajectories is shown; a trajectory grows with its turns."""
    turns = [known.turns if arm.work is None else arm.work.turns for arm in plan.arms]
    return [
        _PROCESS_INSTRUCTIONS + _words(question) + round(number * known.input_per_turn)
        for question in questions
        if question.milestones
        for number in turns
        for _ in range(plan.executions)
    ]


def _words(question: Question) -> int:
    """Return about how many tokens the question's own texts have."""
    texts = (
        question.text,
        *question.options,
        question.answer_text or "",
        *(step.text for step in question.milestones),
    )
    return sum(map(len, texts)) // _CHARACTERS_A_TOKEN


def _reference(question: Question) -> int:
    """Return about how many tokens the curated trajectory has."""
    texts = (
        text
        for step in question.reference
        for text in (step.tool, step.arguments, step.thought, step.observation)
    )
    return sum(map(len, texts)) // _CHARACTERS_A_TOKEN


def _calls(
    plan: Plan,
    judge: str,
    what: Literal["answers", "trajectories"],
    shown: Sequence[int],
    reply: int,
) -> JudgeCalls:
    used_in, used_out = sum(shown), reply * len(shown)
    return JudgeCalls(
        judge=judge,
        what=what,
        requests=len(shown),
        input_tokens=used_in,
        output_tokens=used_out,
        usd=cost_usd(plan.prices, judge, used_in, used_out),
    )
