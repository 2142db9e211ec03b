"""A trajectory without one piece of its evidence, to see whether the judge notices which one is gone.

One milestone is taken out with every call that acquired it, what that call returned, and every later
mention of it; the rest stays as it is (AgentVidBench 2026, arXiv 2609.21386, Appendix D.4, which does
not say how the events were found). Which words belong to a milestone is found by rules, not by a
model:

- *Quotation*: what the judge itself cited for the milestone, in fragments. A sentence belongs to the
  milestone if it has at least 6 in 10 of a fragment's words, one of its numbers among them where it
  has any, or if all of its words (3 or more) are the fragment's.
- *Marks*: what only this milestone has, compared with the texts and citations of the others. Phrases
  in quotation marks, numbers of two digits or more and names (capitals inside a sentence) decide
  alone; of other words, two are needed (one, where there is no other mark).

Words are compared without case, accents of width or plural s; numerals up to twelve count as numbers.
Known weaknesses: a synonym is not found, so evidence may stay; a call that supports several
milestones goes as a whole, so other labels may rightly fall with it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
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
from taketwo.scores.judge_audit.audit_findings import AuditCase, AuditFinding
from taketwo.scores.judge_audit.judge_probes import (
    Genuine,
    JudgedProbe,
    Probe,
    ProbeSet,
    drawn_by_difficulty,
    judged_probes,
    mean_finding,
    unprobed,
)
from taketwo.scores.trajectory_judgements import TrajectoryJudgement
from taketwo.scores.trajectory_text import sentences, text_without, value_without

__all__ = ["Ablation", "ablation_probes", "read_ablation", "without_milestone"]

_PUBLISHED_DROP, _PUBLISHED_FELL = 0.41, 0.73
_RANK: Mapping[str, int] = {"covered": 2, "partial": 1, "incorrect": 0, "missing": 0}
_QUOTED_SHARE, _NEARLY_ALL = 0.6, 0.9
_WORD = re.compile(r"\d+(?:[:.,/-]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?")
_FRAGMENTS = re.compile(r"\.\.\.|…|;|\n")
_PHRASE = re.compile(r"\"([^\"\n]{2,80})\"|“([^”\n]{2,80})”|(?<!\w)'([^'\n]{2,80})'(?!\w)")
_NUMERALS: Mapping[str, str] = {
    "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6",
    "seven": "7", "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
}  # fmt: skip
_COMMON = frozenset({
    "a", "about", "after", "again", "all", "also", "an", "and", "any", "are", "as", "at", "be",
    "been", "before", "being", "between", "both", "but", "by", "can", "did", "do", "does",
    "during", "each", "else", "every", "for", "from", "had", "has", "have", "how", "i", "if",
    "in", "into", "is", "it", "its", "more", "most", "no", "not", "of", "off", "on", "once",
    "only", "or", "other", "out", "over", "same", "so", "some", "such", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "through", "to", "too",
    "under", "until", "up", "was", "we", "were", "what", "when", "where", "which", "while", "who",
    "will", "with", "would", "you", "your", "confirm", "count", "determine", "ensure",
    "establish", "find", "identify", "locate", "note", "observe", "recognise", "recognize", "see",
    "verify", "check", "clip", "evidence", "frame", "milestone", "moment", "question", "scene",
    "second", "section", "segment", "show", "shown", "time", "video", "view",
})  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Ablation:
    """A trajectory without one milestone: how many calls and sentences went."""

    trajectory: Trajectory
    calls: int
    sentences: int


@dataclass(frozen=True, kw_only=True)
class _Marks:
    """What belongs to one milestone: fragments cited for it, marks that decide alone, other words."""

    fragments: tuple[frozenset[str], ...]
    phrases: tuple[tuple[str, ...], ...]
    strong: frozenset[str]
    weak: frozenset[str]

    def is_quoted(self, sentence: str) -> bool:
        """Return whether the judge cited the sentence nearly word for word."""
        return self.is_cited(sentence, share=_NEARLY_ALL)

    def is_cited(self, sentence: str, *, share: float = _QUOTED_SHARE) -> bool:
        """Return whether the sentence has so much of what the judge cited."""
        words = frozenset(_content(sentence))
        return any(
            (len(words & fragment) >= share * len(fragment) and _agree(words, fragment))
            or (len(words) >= 3 and words <= fragment)
            for fragment in self.fragments
        )

    def mentions(self, sentence: str) -> bool:
        """Return whether the sentence is cited for the milestone or bears its marks."""
        if self.is_cited(sentence):
            return True
        ordered = _words(sentence)
        found = frozenset(ordered)
        if found & self.strong or any(_is_inside(phrase, ordered) for phrase in self.phrases):
            return True
        needed = 1 if len(self.weak) == 1 and not (self.strong or self.phrases) else 2
        return len(found & self.weak) >= needed


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
                    f"{found.sentences} sentences",
                    request=item.request(found.trajectory),
                    partner=clean,
                )
            )
    return ProbeSet(probes=tuple(probes), skipped=tuple(skipped))


def read_ablation(
    probes: Sequence[Probe],
    judgements: Mapping[str, TrajectoryJudgement],
    judge: str,
    *,
    rng: np.random.Generator,
) -> tuple[tuple[AuditFinding, ...], tuple[AuditCase, ...]]:
    """Say whether the judge notices which piece of evidence is gone.

    The mean drop of the trajectory score (positive is lower), the share in which the label of the
    removed milestone fell, and the share in which it fell and no other label did. Cases are those in
    which it did not fall.
    """
    pairs, remark = judged_probes(probes, judgements, judge)
    fallen = [_fallen(pair) for pair in pairs]
    own = [pair.probe.subject in names for pair, names in zip(pairs, fallen, strict=True)]
    alone = [names == {pair.probe.subject} for pair, names in zip(pairs, fallen, strict=True)]
    findings = tuple(
        mean_finding(
            "ablation",
            judge,
            measure,
            values,
            [pair.probe.question_id for pair in pairs],
            rng=rng,
            published=published,
            note=remark,
        )
        for measure, values, published in (
            ("mean drop of the trajectory score", [-p.change for p in pairs], _PUBLISHED_DROP),
            ("share whose removed milestone fell", list(map(float, own)), _PUBLISHED_FELL),
            ("share whose removed milestone alone fell", list(map(float, alone)), None),
        )
    )
    cases = tuple(
        AuditCase(
            check="ablation",
            question_id=pair.probe.question_id,
            subject=pair.probe.subject,
            what=pair.probe.what,
            before=_label(pair.partner, pair.probe.subject),
            after=_label(pair.judged, pair.probe.subject),
        )
        for pair, fell in zip(pairs, own, strict=True)
        if not fell
    )
    return findings, cases


def without_milestone(
    genuine: Genuine, milestone: Milestone, judgement: TrajectoryJudgement
) -> Ablation | str:
    """Return the trajectory without what supports a milestone, or why that cannot be made.

    Text before the first call that goes is kept, unless the judge cited it nearly word for word: a
    plan to look is no mention of what was found. The answer itself is never taken out.
    """
    trajectory = genuine.trajectory
    marks = _marks_of(genuine.question, milestone, judgement)
    gone = {
        at
        for at, event in enumerate(trajectory.events)
        if isinstance(event, ToolCall) and any(map(marks.mentions, sentences(event.result)))
    }
    if gone and len(gone) == len(trajectory.tool_calls):
        return "every call supports it, so no evidence would be left"
    first = min(gone, default=-1)
    gone_ids = {
        event.call_id for at in gone if isinstance(event := trajectory.events[at], ToolCall)
    }
    cut = 0
    events: list[Event] = []
    for at, event in enumerate(trajectory.events):
        if at in gone or (isinstance(event, PrimitiveOperation) and event.call_id in gone_ids):
            continue
        kept, number = _event_without(event, marks.mentions if at > first else marks.is_quoted)
        events.append(kept)
        cut += number
    answer, number = text_without(trajectory.answer_text, marks.mentions)
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
            reasoning=text_without(trajectory.reasoning, marks.mentions)[0],
        ),
        calls=len(gone),
        sentences=cut,
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
        and event.role == "orchestrator"
        and bool(event.text.strip() or event.reasoning.strip())
    )


def _event_without(event: Event, is_cut: Callable[[str], bool]) -> tuple[Event, int]:
    if isinstance(event, ModelCall) and event.role == "orchestrator":
        text, cut = text_without(event.text, is_cut)
        reasoning, thought = text_without(event.reasoning, is_cut)
        return replace(event, text=text, reasoning=reasoning), cut + thought
    if isinstance(event, ToolCall):
        arguments, cut = value_without(event.arguments, is_cut)
        return replace(event, arguments=cast("Mapping[str, JsonValue]", arguments)), cut
    return event, 0


def _marks_of(question: Question, milestone: Milestone, judgement: TrajectoryJudgement) -> _Marks:
    cited = {label.milestone_id: label.evidence for label in judgement.scores.milestones}
    others = frozenset(
        word
        for step in question.milestones
        if step.milestone_id != milestone.milestone_id
        for word in _words(f"{step.text}\n{cited[step.milestone_id]}")
    )
    evidence = cited[milestone.milestone_id]
    fragments = tuple(
        words for part in _FRAGMENTS.split(evidence) if len(words := frozenset(_content(part))) >= 2
    )
    own = frozenset(_content(milestone.text)) - others
    numbers = {word for word in _content(evidence) if word[0].isdigit()} - others
    strong = {
        word for word in own | numbers if word[0].isdigit() and sum(map(str.isdigit, word)) >= 2
    } | {word for word in own if word in _names(milestone.text)}
    return _Marks(
        fragments=fragments,
        phrases=tuple(
            tuple(_words(next(filter(None, match.groups()))))
            for match in _PHRASE.finditer(milestone.text)
        ),
        strong=frozenset(strong),
        weak=own - strong,
    )


def _agree(words: frozenset[str], fragment: frozenset[str]) -> bool:
    numbers = {word for word in fragment if word[0].isdigit()}
    return not numbers or bool(numbers & words)


def _names(text: str) -> frozenset[str]:
    """Return the words with a capital inside a sentence."""
    return frozenset(
        word
        for sentence in sentences(text)
        for match in list(_WORD.finditer(sentence))[1:]
        if match.group()[0].isupper()
        for word in _words(match.group())
    )


def _words(text: str) -> list[str]:
    found: list[str] = []
    for match in _WORD.finditer(unicodedata.normalize("NFKC", text).casefold()):
        word = match.group()
        if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
            word = word[:-1]
        found.append(_NUMERALS.get(word, word))
    return found


def _content(text: str) -> list[str]:
    return [word for word in _words(text) if word not in _COMMON and (word[0].isdigit() or len(word) > 2)]  # fmt: skip


def _is_inside(phrase: Sequence[str], words: Sequence[str]) -> bool:
    size = len(phrase)
    return size > 0 and any(
        list(words[at : at + size]) == list(phrase) for at in range(len(words) - size + 1)
    )


def _fallen(pair: JudgedProbe) -> set[str]:
    before = {label.milestone_id: label.status for label in pair.partner.scores.milestones}
    return {
        label.milestone_id
        for label in pair.judged.scores.milestones
        if _RANK[label.status] < _RANK[before[label.milestone_id]]
    }


def _label(judgement: TrajectoryJudgement, milestone_id: str) -> str:
    (status,) = (
        label.status for label in judgement.scores.milestones if label.milestone_id == milestone_id
    )
    return f"{status}, {judgement.trajectory_score:.3f}"
