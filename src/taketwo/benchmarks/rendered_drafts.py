"""What a question about a rendered video is before its options are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from taketwo.benchmarks.rendered_evidence import Program, evidence_of_script
from taketwo.benchmarks.rendered_program import Value
from taketwo.benchmarks.scene import Section, Utterance, VideoScript
from taketwo.benchmarks.scene_phrases import TOPICS, plural_noun

__all__ = ["KINDS", "Draft", "Kind", "Modality", "Pair", "Stage", "Step"]

Kind = Literal["counting", "order", "text_reading", "spoken_cue", "change", "multi_hop"]
KINDS: tuple[Kind, ...] = (
    "counting",
    "order",
    "text_reading",
    "spoken_cue",
    "change",
    "multi_hop",
)
Modality = Literal["visual", "audio", "audio_visual"]
Pair = tuple[str, str]


@dataclass(frozen=True)
class Step:
    """Something that must be found, and when it is to be found (seconds)."""

    text: str
    start_s: float
    end_s: float


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A question with its program, from which the truth follows.

    `distractors` are wrong values, most telling first; all occur in the video. `shown_as` gives
    the option text of values that are not their own text.
    `least_options` is for drafts with many wrong values.
    """

    kind: Kind
    variant: str
    text: str
    program: Program
    distractors: Sequence[Value]
    steps: tuple[Step, ...]
    skills: tuple[str, ...]
    modality: Modality
    shown_as: Mapping[Value, str] = field(default_factory=dict[Value, str])
    may_be_open: bool = False
    least_options: int = 2


class Stage:
    """A script as the writers of questions look at it, with their source of chance."""

    def __init__(self, script: VideoScript, rng: np.random.Generator) -> None:
        self.script = script
        self.rng = rng
        self.evidence = evidence_of_script(script)
        self.sections = script.sections
        self.groups: list[Pair] = sorted({
            (s.colour, s.shape) for s in script.shapes if s.role == "group"
        })
        flashes = sorted(
            (s for s in script.shapes if s.role == "flash"), key=lambda shape: shape.start_s
        )
        pairs = [(s.colour, s.shape) for s in flashes]
        self.flashes = flashes
        self.singles: list[Pair] = [pair for pair in pairs if pairs.count(pair) == 1]
        self.repeated: Pair = next(pair for pair in pairs if pairs.count(pair) > 1)
        self.topics = {topic.key: topic for topic in TOPICS}

    def pick(self, count: int) -> int:
        """Return a random index below `count`."""
        return int(self.rng.integers(count))

    def pick_group(self) -> Pair:
        """Return a random kind of shape out of those shown in groups."""
        return self.groups[self.pick(len(self.groups))]

    def count(self, section: Section, pair: Pair) -> int:
        """Return how many shapes of a kind a section shows."""
        return sum(
            (s.colour, s.shape) == pair and s.role == "group" and s.start_s == section.start_s
            for s in self.script.shapes
        )

    def all_counts(self, near: Section) -> list[Value]:
        """Return every number of shapes that occurs, those of one section first."""
        ordered = [near, *(s for s in self.sections if s is not near)]
        return [self.count(section, pair) for section in ordered for pair in self.groups]

    def said(self, role: str) -> Utterance:
        """Return the first utterance of a role."""
        return next(u for u in self.script.utterances if u.role == role)

    def topic_utterance(self, section: Section) -> Utterance:
        """Return the sentence about the topic of a section."""
        return next(
            u for u in self.script.utterances if u.role == "topic" and u.about == section.topic
        )

    def section_at(self, time_s: float) -> Section:
        """Return the section of a second."""
        return next(s for s in self.sections if s.start_s <= time_s < s.end_s)

    def sign_step(self, section: Section) -> Step:
        """Return the step of finding a section by its word."""
        return Step(f"find where the sign shows {section.word}", section.start_s, section.end_s)

    def count_step(self, section: Section, pair: Pair) -> Step:
        """Return the step of counting a kind of shape in a section."""
        count = self.count(section, pair)
        text = f"count {count} {plural_noun(*pair, count)} with the sign {section.word}"
        return Step(text, section.start_s, section.end_s)

    def code_step(self, section: Section) -> Step:
        """Return the step of reading the code of a section."""
        sign = next(s for s in self.script.signs if s.role == "code" and s.text == section.code)
        return Step(f"read the code {sign.text}", sign.start_s, sign.end_s)

    def hear_step(self, utterance: Utterance) -> Step:
        """Return the step of hearing an utterance."""
        return Step(f"hear: {utterance.text}", utterance.start_s, utterance.end_s)

    def topic_text(self, key: str, *, is_paraphrased: bool) -> str:
        """Return how a topic is named in a question or option."""
        topic = self.topics[key]
        return topic.paraphrase if is_paraphrased else topic.literal

    def draw_paraphrased(self) -> bool:
        """Return whether topics are paraphrased: always in hard videos, else in half."""
        return self.script.difficulty == "hard" or bool(self.rng.random() < 0.5)
