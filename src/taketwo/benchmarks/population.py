"""What a set of questions is made of, and how a part of it differs from the whole.

The tables of the population in REPAIR (2026, arXiv, A5 and A6) and the statistics of AgentVidBench
(2026, arXiv 2609.21386, Section 3.3), for any benchmark: every label of a question or of its video is
a factor, and a question with several labels of one factor counts under each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from statistics import median

from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.question import Question

__all__ = [
    "Composition",
    "Difference",
    "Durations",
    "LevelCount",
    "Overlap",
    "composition_of",
    "differences",
    "labels_of",
    "video_overlap",
]


@dataclass(frozen=True, kw_only=True)
class LevelCount:
    """How many questions have a level of a factor, and on how many videos they are.

    `share` (0 to 1) is of all questions, `video_share` of all videos. Of a factor of the videos, such
    as genre, the videos are the count that a data set states; of a factor of the questions, a video
    counts under every level that one of its questions has.
    """

    factor: str
    level: str
    questions: int
    share: float
    videos: int
    video_share: float


@dataclass(frozen=True, kw_only=True)
class Durations:
    """How long the videos are, in seconds; of the `videos` whose length the data set gives."""

    videos: int
    shortest_s: float
    median_s: float
    longest_s: float


@dataclass(frozen=True, kw_only=True)
class Composition:
    """What a set of questions is made of.

    `milestones` counts milestones by type, `milestones_per_question` questions by their number.
    `skills_per_question` is a mean, None where no question names a skill. `chance` is the expected
    accuracy of guessing on the multiple-choice questions, None where there are none. `durations` is
    None where the data set gives no length.
    """

    questions: int
    videos: int
    levels: tuple[LevelCount, ...]
    milestones: tuple[tuple[str, int], ...]
    milestones_per_question: tuple[tuple[int, int], ...]
    skills_per_question: float | None
    chance: float | None
    durations: Durations | None = None

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as JSON values."""
        return {
            "questions": self.questions,
            "videos": self.videos,
            "levels": [asdict(level) for level in self.levels],
            "milestones": dict(self.milestones),
            "milestones_per_question": {str(n): count for n, count in self.milestones_per_question},
            "skills_per_question": self.skills_per_question,
            "chance": self.chance,
            "durations": None if self.durations is None else asdict(self.durations),
        }


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A level in a whole and in a part of it; `points` is the share of the part minus that of the whole."""

    factor: str
    level: str
    whole: int
    whole_share: float
    part: int
    part_share: float
    points: float


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """How many videos of one side also have questions on the other."""

    shared: int
    first: int
    second: int


def labels_of(question: Question) -> dict[str, tuple[str, ...]]:
    """Return the levels of every factor of a question; `format` is ours, the others are the data set's."""
    return {
        **{name: (level,) for name, level in question.attributes.items()},
        "format": (question.format,),
        **question.several_levels,
    }


def composition_of(questions: Sequence[Question]) -> Composition:
    """Return what `questions` are made of; factors and levels in the order of their names."""
    counts = _counts(questions)
    videos = _videos(questions)
    total, of_videos = len(questions), len({question.video_id for question in questions})
    skills = [len(question.skills) for question in questions]
    guesses = [Fraction(1, len(question.options)) for question in questions if question.options]
    return Composition(
        questions=total,
        videos=of_videos,
        levels=tuple(
            LevelCount(
                factor=factor,
                level=level,
                questions=count,
                share=count / total,
                videos=len(videos[factor, level]),
                video_share=len(videos[factor, level]) / of_videos,
            )
            for (factor, level), count in sorted(counts.items())
        ),
        milestones=tuple(
            Counter(
                step.kind or "no type" for question in questions for step in question.milestones
            ).most_common()
        ),
        milestones_per_question=tuple(
            sorted(Counter(len(question.milestones) for question in questions).items())
        ),
        skills_per_question=sum(skills) / total if total and any(skills) else None,
        chance=float(sum(guesses) / len(guesses)) if guesses else None,
        durations=_durations(questions),
    )


def differences(whole: Sequence[Question], part: Sequence[Question]) -> tuple[Difference, ...]:
    """Return how the shares of `part` differ from those of `whole`, in percentage points.

    Neither side may be empty. Factors and levels stand in the order of their names.
    """
    of_whole, of_part = _counts(whole), _counts(part)
    found: list[Difference] = []
    for factor, level in sorted({*of_whole, *of_part}):
        there, here = of_whole[factor, level], of_part[factor, level]
        shares = Fraction(there, len(whole)), Fraction(here, len(part))
        found.append(
            Difference(
                factor=factor,
                level=level,
                whole=there,
                whole_share=float(shares[0]),
                part=here,
                part_share=float(shares[1]),
                points=float(100 * (shares[1] - shares[0])),
            )
        )
    return tuple(found)


def video_overlap(first: Sequence[Question], second: Sequence[Question]) -> Overlap:
    """Return how many videos have questions on both sides."""
    here = {question.video_id for question in first}
    there = {question.video_id for question in second}
    return Overlap(shared=len(here & there), first=len(here), second=len(there))


def _videos(questions: Sequence[Question]) -> dict[tuple[str, str], set[str]]:
    """Return the videos that have a question at each level of each factor."""
    found: dict[tuple[str, str], set[str]] = {}
    for question in questions:
        for factor, levels in labels_of(question).items():
            for level in levels:
                found.setdefault((factor, level), set()).add(question.video_id)
    return found


def _durations(questions: Sequence[Question]) -> Durations | None:
    known = {
        question.video_id: question.video_duration_s
        for question in questions
        if question.video_duration_s is not None
    }
    if not known:
        return None
    lengths = list(known.values())
    return Durations(
        videos=len(known),
        shortest_s=min(lengths),
        median_s=median(lengths),
        longest_s=max(lengths),
    )


def _counts(questions: Sequence[Question]) -> Counter[tuple[str, str]]:
    return Counter(
        (factor, level)
        for question in questions
        for factor, levels in labels_of(question).items()
        for level in set(levels)
    )
