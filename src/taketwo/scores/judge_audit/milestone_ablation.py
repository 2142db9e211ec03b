"""A trajectory without one piece of its evidence, to see whether the judge notices which one is gone.

One milestone is taken out with every call that acquired it, what that call returned, and every later
mention of it; the rest stays as it is (AgentVidBench 2026, arXiv 2609.21386, Appendix D.4, which does
not say how the events were found). Which words belong to a milestone is found by rules; see
`milestone_evidence`.

Known weaknesses, each counted in a number of its own: a synonym is not found, so evidence may stay; a
call that supports several milestones goes as a whole, so other labels may rightly fall with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.question import Milestone, Question
from taketwo.executions.trajectory import (
    Event,
    ModelCall,
    PrimitiveOperation,
    ToolCall,
    Trajectory,
)
from taketwo.scores.judge_audit.audit_findings import AuditCase
from taketwo.scores.judge_audit.judge_probes import (
    Genuine,
    Probe,
    ProbeSet,
    drawn_by_difficulty,
    unprobed,
)
from taketwo.scores.judge_audit.milestone_evidence import marks_of
from taketwo.scores.trajectory_judgements import TrajectoryJudgement
from taketwo.scores.trajectory_text import (
    own_observations,
    sentences,
    text_without,
    value_without,
)

__all__ = ["Ablation", "ablation_probes", "without_milestone"]


@dataclass(frozen=True, kw_only=True)
class Ablation:
    """A trajectory without one milestone: how many calls and sentences went.

    `touched` are the other milestones that lost words with it: their labels may rightly fall.
    """

    trajectory: Trajectory
    calls: int
    sentences: int
    touched: tuple[str, ...] = ()


def ablation_probes(
    genuine: Sequence[Genuine],
    judgements: Mapping[str, TrajectoryJudgement],
    judge: str,
    *,
    rng: np.random.Generator,
    k: int = 50,
    per_question: int = 1,
) -> ProbeSet:
    """Return `k` trajectories, in their shares of difficulty, without one covered milestone each.

    Parameters
    ----------
    judgements, judge
        Those of the genuine trajectories: only a milestone that they label covered can be taken out,
        and what they cite for it says where it is.
    per_question
        How many milestones of a question are tried, drawn at random. One that nothing in the
        trajectory could be tied to, or without which no call would be left, is passed over for the
        next and listed as skipped.
    """
    probes: list[Probe] = []
    skipped: list[AuditCase] = []
    for item in drawn_by_difficulty(genuine, k, rng=rng):
        name, clean = item.question.question_id, item.request()
        judgement = judgements.get(clean.key(judge))
        if judgement is None:
            skipped.append(unprobed("ablation", name, "", "its trajectory has no judgement"))
            continue
        covered = [
            step
            for step, label in zip(
                item.question.milestones, judgement.scores.milestones, strict=True
            )
            if label.status == "covered"
        ]
        if not covered:
            skipped.append(unprobed("ablation", name, "", "none of its milestones is covered"))
        order: list[int] = rng.permutation(len(covered)).tolist()
        made = 0
        for at in order:
            if made == per_question:
                break
            milestone = covered[at]
            found = without_milestone(item, milestone, judgement)
            if isinstance(found, str):
                skipped.append(unprobed("ablation", name, milestone.milestone_id, found))
                continue
            made += 1
            calls = len(item.trajectory.tool_calls)
            probes.append(
                Probe(
                    check="ablation",
                    question_id=name,
                    subject=milestone.milestone_id,
                    what=f"{milestone.milestone_id} taken out: {found.calls} of {calls} calls, "
                    f"{found.sentences} sentences"
                    + (
                        f"; words of {', '.join(found.touched)} went along" if found.touched else ""
                    ),
                    request=item.request(found.trajectory),
                    partner=clean,
                    touched=found.touched,
                )
            )
    return ProbeSet(probes=tuple(probes), skipped=tuple(skipped))


def without_milestone(
    genuine: Genuine, milestone: Milestone, judgement: TrajectoryJudgement
) -> Ablation | str:
    """Return the trajectory without what supports a milestone, or why that cannot be made.

    Text before the first call that goes is kept, unless the judge cited it nearly word for word: a
    plan to look is no mention of what was found. The answer itself is never taken out.
    """
    trajectory = genuine.trajectory
    marks = marks_of(genuine.question, milestone, judgement)
    removed: list[str] = []

    def noted(is_cut: Callable[[str], bool]) -> Callable[[str], bool]:
        def cut_and_noted(sentence: str) -> bool:
            is_gone = is_cut(sentence)
            if is_gone:
                removed.append(sentence)
            return is_gone

        return cut_and_noted

    gone = {
        at
        for at, event in enumerate(trajectory.events)
        if isinstance(event, ToolCall) and any(map(marks.mentions, sentences(event.result)))
    }
    if gone and len(gone) == len(trajectory.tool_calls):
        return "every call supports it, so no evidence would be left"
    first = min(gone, default=-1)
    told = own_observations(trajectory.events)
    gone_ids = {
        event.call_id for at in gone if isinstance(event := trajectory.events[at], ToolCall)
    }
    cut = 0
    events: list[Event] = []
    for at, event in enumerate(trajectory.events):
        if at in gone and isinstance(event, ToolCall):
            removed += sentences(event.result)
        if at in gone or _is_below(event, gone_ids, is_told=at in told):
            continue
        is_cut = noted(marks.mentions if at > first or at in told else marks.is_quoted)
        kept, number = _event_without(event, is_cut, is_told=at in told)
        events.append(kept)
        cut += number
    answer, number = text_without(trajectory.answer_text, noted(marks.mentions))
    cut += number
    if not gone and not cut:
        return "nothing in the trajectory could be tied to it"
    if not trajectory.tool_calls and not answer.strip() and not any(map(_has_content, events)):
        return "every sentence supports it, so no evidence would be left"
    return Ablation(
        trajectory=replace(
            trajectory,
            events=tuple(events),
            answer_text=_with_answer(answer, genuine) if number else trajectory.answer_text,
            reasoning=text_without(trajectory.reasoning, noted(marks.mentions))[0],
        ),
        calls=len(gone),
        sentences=cut,
        touched=_touched(genuine.question, milestone, judgement, removed),
    )


def _is_below(event: Event, gone_ids: Collection[str], *, is_told: bool) -> bool:
    """Return whether an event happened inside a call: an operation of one that goes, or an observer's words.

    No judge sees an observer's words inside a call. Without the call they would stand there as an
    observation of the agent's own.
    """
    if isinstance(event, ModelCall):
        return event.role == "observer" and not is_told
    return isinstance(event, PrimitiveOperation) and event.call_id in gone_ids


def _touched(
    question: Question,
    milestone: Milestone,
    judgement: TrajectoryJudgement,
    removed: Sequence[str],
) -> tuple[str, ...]:
    """Return the other milestones that words belong to which went."""
    return tuple(
        step.milestone_id
        for step in question.milestones
        if step.milestone_id != milestone.milestone_id
        and any(map(marks_of(question, step, judgement).mentions, removed))
    )


def _with_answer(rest: str, genuine: Genuine) -> str:
    """Return what is left of a final answer, with its option where that went along."""
    index, labels = genuine.trajectory.answer_index, genuine.question.labels
    if index is None or not 0 <= index < len(labels):
        return rest if rest.strip() else genuine.trajectory.answer_text
    label = labels[index]
    return rest if label in re.findall(r"\w+", rest) else f"{rest.rstrip()}\n{label}".lstrip()


def _has_content(event: Event) -> bool:
    return (
        isinstance(event, ModelCall)
        and event.role in {"orchestrator", "observer"}
        and bool(event.text.strip() or event.reasoning.strip())
    )


def _event_without(
    event: Event, is_cut: Callable[[str], bool], *, is_told: bool
) -> tuple[Event, int]:
    """Return an event without the sentences that go; `is_told` is what an observer told the agent."""
    if isinstance(event, ModelCall) and event.role == "observer" and not is_told:
        # What a tool was told: with that call gone it would pass for what the agent was told itself.
        return replace(event, text=""), 0
    if isinstance(event, ModelCall) and (event.role == "orchestrator" or is_told):
        text, cut = text_without(event.text, is_cut)
        reasoning, thought = text_without(event.reasoning, is_cut)
        return replace(event, text=text, reasoning=reasoning), cut + thought
    if isinstance(event, ToolCall):
        arguments, cut = value_without(event.arguments, is_cut)
        return replace(event, arguments=cast("Mapping[str, JsonValue]", arguments)), cut
    return event, 0
