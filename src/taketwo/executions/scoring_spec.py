"""How a study is scored, as its plan has it: the rule for answers, the judges, and who judges trajectories.

Fixed before anything runs, like the rule of the comparison: which judge is the primary one cannot be
chosen after the scores are known. Further judges only ever stand beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, cast

from taketwo.benchmarks.canonical import JsonValue
from taketwo.errors import RuleMismatch
from taketwo.executions.model_spec import ModelSpec

__all__ = [
    "JUDGE_PRESETS",
    "PUBLISHED_ANSWER_JUDGE",
    "RUBRICS",
    "AnswerRule",
    "JudgePreset",
    "Protocol",
    "Rubric",
    "ScoringSpec",
    "TrajectoryScoring",
    "Ungradable",
]

AnswerRule = Literal["option-match", "published"]
Ungradable = Literal["undefined", "wrong"]
Protocol = Literal["blind", "published"]
Rubric = Literal["standard", "paraphrased"]

RUBRICS: tuple[Rubric, ...] = ("standard", "paraphrased")
"""Wordings of the instructions; another one changes sentences, never axes, tags or schema."""

PUBLISHED_ANSWER_JUDGE = "openai/gpt-4o"
"""Who judges answers in SAGE's evaluation and in REPAIR (2026), at temperature 0."""

MOST_REPEATS = 25


@dataclass(frozen=True, kw_only=True)
class JudgePreset:
    """A judge as somebody published it: its model and the most tokens of a reply."""

    model: str
    max_tokens: int
    source: str


JUDGE_PRESETS: Mapping[str, JudgePreset] = MappingProxyType({
    "published": JudgePreset(
        model="anthropic/claude-opus-4-7",
        max_tokens=4096,
        source="AgentVidBench (2026, arXiv 2609.21386), Table of judge settings",
    ),
    "repository": JudgePreset(
        model="anthropic/claude-opus-4-7",
        max_tokens=8000,
        source="AgentVidBench's public code, which gives twice the tokens that the paper says",
    ),
})


@dataclass(frozen=True, kw_only=True)
class TrajectoryScoring:
    """Who judges trajectories against their milestones, and how.

    `protocol` says whether the judge is told the name of the system (`published`) or not (`blind`).
    `rubric` names a wording of the instructions. `max_tokens` is the most of one reply. `judges` are
    further ones beside the primary `judge`. With `references` the curated trajectories of the
    questions are judged too, as a line to read the others by.
    """

    judge: ModelSpec
    protocol: Protocol = "blind"
    rubric: str = "standard"
    max_tokens: int | None = 4096
    judges: tuple[ModelSpec, ...] = ()
    references: bool = True

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as it stands in a plan."""
        return {
            "judge": self.judge.to_json(),
            "protocol": self.protocol,
            "rubric": self.rubric,
            "max_tokens": self.max_tokens,
            "judges": [judge.to_json() for judge in self.judges],
            "references": self.references,
        }

    @classmethod
    def from_json(cls, record: Mapping[str, JsonValue]) -> TrajectoryScoring:
        """Read what `to_json` wrote."""
        return cls(
            judge=ModelSpec.from_json(cast("Mapping[str, JsonValue]", record["judge"])),
            protocol=cast("Protocol", record["protocol"]),
            rubric=cast("str", record["rubric"]),
            max_tokens=cast("int | None", record["max_tokens"]),
            judges=_models(record["judges"]),
            references=cast("bool", record["references"]),
        )


@dataclass(frozen=True, kw_only=True)
class ScoringSpec:
    """How answers and trajectories are scored.

    `answers` is the rule: `option-match` scores a choice by its option and asks the judge about
    open answers only; `published` sends every answer to the judge, as SAGE's evaluation does.
    `repeats` is how often each distinct answer is judged, an odd number: the strict majority
    counts. `ungradable` is what an answer that nobody can grade does to accuracy. `judges` are
    further ones beside the plan's, whose labels are reported and never replace its own.
    `extractor` is asked which option an ambiguous reply means; without it such a reply stays
    without an option.

    Raises
    ------
    RuleMismatch
        If `repeats` is even, below 1 or above 25.
    """

    answers: AnswerRule = "option-match"
    repeats: int = 1
    ungradable: Ungradable = "undefined"
    judges: tuple[ModelSpec, ...] = ()
    extractor: ModelSpec | None = None
    trajectories: TrajectoryScoring | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.repeats <= MOST_REPEATS or self.repeats % 2 == 0:
            raise RuleMismatch(
                f"an answer is judged an odd number of times, 1 to {MOST_REPEATS}, so that there can "
                f"be a majority; found repeats: {self.repeats}"
            )

    @property
    def models(self) -> tuple[ModelSpec, ...]:
        """Return the models that scoring asks, the plan's judge of answers apart."""
        trajectories = (
            ()
            if self.trajectories is None
            else (self.trajectories.judge, *self.trajectories.judges)
        )
        extractor = () if self.extractor is None else (self.extractor,)
        return (*self.judges, *extractor, *trajectories)

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as it stands in a plan."""
        return {
            "answers": self.answers,
            "repeats": self.repeats,
            "ungradable": self.ungradable,
            "judges": [judge.to_json() for judge in self.judges],
            "extractor": None if self.extractor is None else self.extractor.to_json(),
            "trajectories": None if self.trajectories is None else self.trajectories.to_json(),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, JsonValue]) -> ScoringSpec:
        """Read what `to_json` wrote."""
        extractor = cast("Mapping[str, JsonValue] | None", record["extractor"])
        trajectories = cast("Mapping[str, JsonValue] | None", record["trajectories"])
        return cls(
            answers=cast("AnswerRule", record["answers"]),
            repeats=cast("int", record["repeats"]),
            ungradable=cast("Ungradable", record["ungradable"]),
            judges=_models(record["judges"]),
            extractor=None if extractor is None else ModelSpec.from_json(extractor),
            trajectories=None
            if trajectories is None
            else TrajectoryScoring.from_json(trajectories),
        )


def _models(records: JsonValue) -> tuple[ModelSpec, ...]:
    return tuple(
        ModelSpec.from_json(record) for record in cast("list[Mapping[str, JsonValue]]", records)
    )
