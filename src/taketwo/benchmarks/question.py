"""A question about a video: what is asked, what is true, and what the agent may see."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal, cast
from urllib.parse import quote

from taketwo.benchmarks.canonical import JsonValue, sha256_of
from taketwo.errors import InvalidQuestion

__all__ = [
    "Milestone",
    "Question",
    "QuestionFormat",
    "ReferenceStep",
    "Sweep",
    "VisibleQuestion",
    "option_labels",
    "safe_question_id",
]

QuestionFormat = Literal["mcq", "open"]
Sweep = Literal["yes", "no", "unknown"]

_HALF = re.compile(r"[\ud800-\udfff]")
_MILESTONE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_SAFE_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")


def option_labels(count: int) -> tuple[str, ...]:
    """Return the labels of `count` options: A to Z, or 1 to n for all where there are more than 26."""
    if count <= len(string.ascii_uppercase):
        return tuple(string.ascii_uppercase[:count])
    return tuple(str(number) for number in range(1, count + 1))


def safe_question_id(raw: str) -> str:
    """Return `raw` where it is a valid question id, else its percent-encoded form.

    Raises
    ------
    InvalidQuestion
        If the id is empty or its encoded form exceeds 128 characters.
    """
    if _SAFE_ID.fullmatch(raw):
        return raw
    encoded = (
        quote(raw.encode("utf-8", "surrogatepass"), safe="").replace("~", "%7E").replace("%", "_x")
    )
    if not encoded or len(encoded) > 128:
        raise InvalidQuestion(
            f"question id {raw[:60]!r} cannot be used: it needs 1 to 128 characters after encoding, "
            f"found {len(encoded)}; give the question a shorter id"
        )
    return encoded


@dataclass(frozen=True, kw_only=True)
class Milestone:
    """A step that a good trajectory reaches: what must be found, and when in the video (seconds).

    `kind` is the data set's type of it, such as `counting` or `temporal_localization`.
    """

    milestone_id: str
    text: str
    kind: str | None = None
    start_s: float | None = None
    end_s: float | None = None

    @property
    def problems(self) -> list[str]:
        """Return what is wrong with it."""
        if self.start_s is None or self.end_s is None or self.start_s <= self.end_s:
            return []
        return [
            f"milestone {self.milestone_id!r:.80} ends at {self.end_s:g} s, before it starts at "
            f"{self.start_s:g} s; exchange the two"
        ]


@dataclass(frozen=True, kw_only=True)
class ReferenceStep:
    """A step of the path that a human took: what was looked at with what, why, and what was seen."""

    tool: str
    arguments: str
    thought: str
    observation: str


@dataclass(frozen=True, kw_only=True)
class VisibleQuestion:
    """What an agent is told: never the truth, the milestones, the skills or the category."""

    question_id: str
    text: str
    options: tuple[str, ...]
    video_duration_s: float | None

    @property
    def format(self) -> QuestionFormat:
        """Return `mcq` where there are options, else `open`."""
        return "mcq" if self.options else "open"

    @property
    def labels(self) -> tuple[str, ...]:
        """Return one label per option."""
        return option_labels(len(self.options))


@dataclass(frozen=True, kw_only=True)
class Question:
    """One video question.

    `video_id` is the data set's (the cluster of the statistics); the bytes are identified by hash
    in the plan. `answer_index` is the 0-based true option. `answer_text` is the truth of an open
    question, with `accepted_answers` as further exact forms, or of one whose options none is the
    truth word by word (`answer_index` None): a judge compares it. `attributes` are the subgroup factors
    (kind, modality, difficulty, duration, ...), one level each; `capabilities`, `skills` and
    the factors in `multi_attributes` may have several. `sweep` says whether the answer needs more than the first place that seems to give it.
    `explanation` and `reference` (a curated path) are by humans, as the milestones are; no agent
    and no judge of answers ever sees them.
    """

    question_id: str
    text: str
    video_id: str
    video_path: str
    options: tuple[str, ...] = ()
    answer_index: int | None = None
    answer_text: str | None = None
    accepted_answers: tuple[str, ...] = ()
    subtitles_path: str | None = None
    video_duration_s: float | None = None
    attributes: Mapping[str, str] = field(default_factory=dict[str, str])
    skills: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    multi_attributes: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict[str, tuple[str, ...]]
    )
    milestones: tuple[Milestone, ...] = ()
    sweep: Sweep | None = None
    explanation: str | None = None
    reference: tuple[ReferenceStep, ...] = ()
    raw_id: str | None = None
    licence: str | None = None

    def __post_init__(self) -> None:
        problems = self._problems()
        if problems:
            raise InvalidQuestion(f"question {self.question_id!r}: {'; '.join(problems)}")

    def _problems(self) -> list[str]:
        problems: list[str] = []
        if not _SAFE_ID.fullmatch(self.question_id):
            problems.append("the id needs 1 to 128 characters out of A-Z a-z 0-9 . _ -")
        if not self.text.strip():
            problems.append("the text is empty")
        if not self.video_id:
            problems.append("the video id is empty")
        if self.options:
            if len(self.options) < 2:
                problems.append("one option only; a multiple-choice question needs at least 2")
            empty = [n for n, option in enumerate(self.options, start=1) if not option.strip()]
            if empty:
                problems.append(f"option {empty[0]} is empty; give it a text")
            if len(set(self.options)) != len(self.options):
                problems.append("two options are equal")
            in_words = self.answer_index is None and (self.answer_text or "").strip()
            if not in_words and self.answer_index not in range(len(self.options)):
                problems.append(
                    f"the true option {self.answer_index!r:.60} is not one of 0 to {len(self.options) - 1}"
                )
        elif self.answer_index is not None:
            problems.append(
                f"the true option is {self.answer_index!r:.60}, but there are no options"
            )
        elif not (self.answer_text or "").strip():
            problems.append("neither options nor a true answer text")
        length = self.video_duration_s
        if length is not None and not (math.isfinite(length) and length > 0):
            problems.append(f"the length of the video is {length!r} s, not a positive number")
        problems += [problem for step in self.milestones for problem in step.problems]
        twice = sorted(set(self.attributes) & set(self.several_levels))
        if twice:
            problems.append(
                f"the factor {twice[0]!r:.80} is given with one level and with several; rename one"
            )
        names = [step.milestone_id for step in self.milestones]
        if len({name.casefold() for name in names}) < len(names):
            problems.append("two milestones have the same id; give each its own")
        strange = [name for name in names if not _MILESTONE_ID.fullmatch(name)]
        if strange:
            problems.append(
                f"the milestone id {strange[0]!r:.80} needs 1 to 64 characters out of A-Z a-z 0-9 . _ -"
            )
        return problems + self._broken_texts()

    def _broken_texts(self) -> list[str]:
        """Return which texts hold half a character (a lone surrogate), which no request can carry."""
        texts = {
            "text": (self.text,),
            "options": self.options,
            "answer_text": (self.answer_text,),
            "accepted_answers": self.accepted_answers,
            "video_id": (self.video_id,),
            "video_path": (self.video_path,),
            "subtitles_path": (self.subtitles_path,),
            "milestones": tuple(step.text for step in self.milestones),
            "skills": self.skills,
            "capabilities": self.capabilities,
            "multi_attributes": (
                *self.multi_attributes,
                *(level for levels in self.multi_attributes.values() for level in levels),
            ),
            "explanation": (self.explanation,),
            "reference": tuple(step.thought + step.observation for step in self.reference),
            "attributes": (*self.attributes, *self.attributes.values()),
            "raw_id": (self.raw_id,),
            "licence": (self.licence,),
        }
        return [
            f"{name} holds half a character (a lone surrogate, {found[0]!r}); correct its text"
            for name, parts in texts.items()
            if (found := [hit[0] for part in parts if (hit := _HALF.search(part or ""))])
        ]

    @property
    def format(self) -> QuestionFormat:
        """Return `mcq` where there are options, else `open`."""
        return "mcq" if self.options else "open"

    @property
    def labels(self) -> tuple[str, ...]:
        """Return one label per option."""
        return option_labels(len(self.options))

    @property
    def is_matched_by_option(self) -> bool:
        """Return whether the chosen option alone says if an answer is right."""
        return self.answer_index is not None

    @property
    def several_levels(self) -> dict[str, tuple[str, ...]]:
        """Return the factors that may have several levels: capability, skill and `multi_attributes`."""
        found = {
            **self.multi_attributes,
            "capability": self.capabilities,
            "skill": self.skills,
        }
        return {factor: levels for factor, levels in found.items() if levels}

    def for_agent(self) -> VisibleQuestion:
        """Return the part that an agent may see."""
        return VisibleQuestion(
            question_id=self.question_id,
            text=self.text,
            options=self.options,
            video_duration_s=self.video_duration_s,
        )

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as it stands in a plan."""
        return {
            "question_id": self.question_id,
            "text": self.text,
            "video_id": self.video_id,
            "video_path": self.video_path,
            "options": list(self.options),
            "answer_index": self.answer_index,
            "answer_text": self.answer_text,
            "accepted_answers": list(self.accepted_answers),
            "subtitles_path": self.subtitles_path,
            "video_duration_s": self.video_duration_s,
            "attributes": dict(self.attributes),
            "skills": list(self.skills),
            "capabilities": list(self.capabilities),
            "multi_attributes": {
                name: list(levels) for name, levels in self.multi_attributes.items()
            },
            "milestones": [
                {
                    "milestone_id": step.milestone_id,
                    "text": step.text,
                    "kind": step.kind,
                    "start_s": step.start_s,
                    "end_s": step.end_s,
                }
                for step in self.milestones
            ],
            "sweep": self.sweep,
            "explanation": self.explanation,
            "reference": [asdict(step) for step in self.reference],
            "raw_id": self.raw_id,
            "licence": self.licence,
        }

    @classmethod
    def from_json(cls, record: Mapping[str, JsonValue]) -> Question:
        """Read what `to_json` wrote.

        Raises
        ------
        InvalidQuestion
            If a field is missing, unknown or of the wrong kind.
        """
        try:
            values = dict(record)
            milestones = tuple(
                Milestone(**cast("dict[str, str]", dict(step)))  # pyright: ignore[reportArgumentType] written by to_json
                for step in cast("list[Mapping[str, JsonValue]]", values.pop("milestones", []))
            )
            reference = tuple(
                ReferenceStep(**cast("dict[str, str]", dict(step)))
                for step in cast("list[Mapping[str, JsonValue]]", values.pop("reference", []))
            )
            for name in ("options", "accepted_answers", "skills", "capabilities"):
                items = values.get(name, [])
                if isinstance(items, str):
                    raise TypeError(f"{name} is a text, not a list")
                values[name] = tuple(cast("list[str]", items))
            several = cast("Mapping[str, list[str]]", values.pop("multi_attributes", {}))
            return cls(
                milestones=milestones,
                reference=reference,
                multi_attributes={name: tuple(levels) for name, levels in several.items()},
                **cast("dict[str, str]", values),  # pyright: ignore[reportArgumentType] the dataclass checks its own fields
            )
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise InvalidQuestion(
                f"question {record.get('question_id')!r} cannot be read: {error}"
            ) from error

    @property
    def content_sha256(self) -> str:
        """Return the hash of what is asked and what is true, wherever the video lies."""
        record = self.to_json()
        for name in ("video_path", "subtitles_path", "video_duration_s", "licence"):
            del record[name]
        return sha256_of(record)
