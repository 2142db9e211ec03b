"""Which words of a trajectory belong to one milestone, found by rules and not by a model.

- *Quotation*: what the judge itself cited for the milestone, in fragments. A sentence belongs to the
  milestone if it has at least 6 in 10 of a fragment's words, one of its numbers among them where it
  has any, or if all of its words (3 or more) are the fragment's.
- *Marks*: what only this milestone has, compared with the texts and citations of the others. Phrases
  in quotation marks, numbers of two digits or more and names (capitals inside a sentence) decide
  alone; of other words, two are needed (one, where there is no other mark).

Words are compared without case, accents of width or plural s; numerals up to twelve count as numbers.
Known weakness: a synonym is not found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from taketwo.benchmarks.question import Milestone, Question
from taketwo.scores.trajectory_judgements import TrajectoryJudgement
from taketwo.scores.trajectory_text import sentences

__all__ = ["MilestoneMarks", "is_still_there", "marks_of"]

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
class MilestoneMarks:
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


def marks_of(
    question: Question, milestone: Milestone, judgement: TrajectoryJudgement
) -> MilestoneMarks:
    """Return what belongs to a milestone of a question and to no other, by a judgement of a trajectory."""
    cited = {label.milestone_id: label.evidence for label in judgement.scores.milestones}
    others = frozenset(
        word
        for step in question.milestones
        if step.milestone_id != milestone.milestone_id
        for word in _words(f"{step.text}\n{cited[step.milestone_id]}")
    )
    evidence = cited[milestone.milestone_id]
    own = frozenset(_content(milestone.text)) - others
    numbers = {word for word in _content(evidence) if word[0].isdigit()} - others
    strong = {
        word for word in own | numbers if word[0].isdigit() and sum(map(str.isdigit, word)) >= 2
    } | {word for word in own if word in _names(milestone.text)}
    return MilestoneMarks(
        fragments=_fragments(evidence, fewest=2),
        phrases=tuple(
            tuple(_words(next(filter(None, match.groups()))))
            for match in _PHRASE.finditer(milestone.text)
        ),
        strong=frozenset(strong),
        weak=own - strong,
    )


def is_still_there(evidence: str, text: str) -> bool:
    """Return whether a sentence of a text has what somebody cites as its words, by the rule of quotation.

    What has no word of content (nothing, or a single letter) is nowhere.
    """
    fragments = _fragments(evidence, fewest=1)
    cited = MilestoneMarks(fragments=fragments, phrases=(), strong=frozenset(), weak=frozenset())
    return any(map(cited.is_cited, sentences(text)))


def _fragments(evidence: str, *, fewest: int) -> tuple[frozenset[str], ...]:
    return tuple(
        words
        for part in _FRAGMENTS.split(evidence)
        if len(words := frozenset(_content(part))) >= fewest
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
