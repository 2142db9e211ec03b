"""The frozen plan of a study: everything that is decided before the first call; its hash names the study."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast

from taketwo.benchmarks.canonical import JsonValue, sha256_of
from taketwo.benchmarks.question import Question
from taketwo.errors import DataError, RequestError
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.rule import Rule
from taketwo.executions.scoring_spec import ScoringSpec
from taketwo.executions.web_spec import WebSpec
from taketwo.tools.budget import Limits
from taketwo.tools.expected_work import ExpectedWork

__all__ = [
    "FORMAT",
    "ROLES",
    "Arm",
    "Availability",
    "ModelRole",
    "ModelSpec",
    "Plan",
    "PlannedQuestion",
    "Sampling",
    "read_plan",
]

FORMAT = "taketwo.plan/1"

ModelRole = Literal["orchestrator", "observer", "transcriber", "judge"]
ROLES: tuple[ModelRole, ...] = ("orchestrator", "observer", "transcriber", "judge")
Availability = Literal["available", "missing", "unreadable"]


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How a role's model is sampled; None is the provider's default and is not sent."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    reasoning_effort: str | None = None
    reasoning_tokens: int | None = None

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as it stands in a plan."""
        return {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "top_k": self.top_k,
            "max_tokens": self.max_tokens,
            "reasoning_effort": self.reasoning_effort,
            "reasoning_tokens": self.reasoning_tokens,
        }


@dataclass(frozen=True, kw_only=True)
class Arm:
    """An agent in a study.

    `baseline` names the arm that this one is compared with and is None for a baseline itself.
    `models` and `sampling` have one entry per role that the agent uses. `limits` are the effective
    ones: the smallest of the agent's own, the study's and the arm's. `prompts` are the hashes of
    the prompt templates by role, `tools_sha256` the hash of the tool schema block that the
    orchestrator sees. `texts` are the hashes of the single templates, sorted: a system prompt that is
    one of them as it stands needs no filling. `factors` are the levels of a grid (agent, orchestrator, reasoning, ...).
    `work` is what the agent expects of one cell; None is not declared.
    """

    name: str
    agent: str
    baseline: str | None
    options: Mapping[str, JsonValue]
    models: Mapping[ModelRole, ModelSpec]
    sampling: Mapping[ModelRole, Sampling]
    limits: Limits
    tools: tuple[str, ...]
    prompts: Mapping[str, str]
    tools_sha256: str
    factors: Mapping[str, str] = field(default_factory=dict[str, str])
    work: ExpectedWork | None = None
    texts: tuple[str, ...] = ()

    @property
    def role(self) -> Literal["baseline", "method"]:
        """Return what the arm is in the comparison."""
        return "baseline" if self.baseline is None else "method"

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as it stands in a plan.

        A limit in dollars, the expected work and the single templates are left out where there are
        none, so that plans from before they existed keep their hash.
        """
        limits = self.limits.to_json()
        if limits["cost_usd"] is None:
            del limits["cost_usd"]
        work: dict[str, JsonValue] = {}
        if self.work is not None:
            work["work"] = {**self.work.to_json()}
        return {
            "name": self.name,
            "agent": self.agent,
            "baseline": self.baseline,
            "options": dict(self.options),
            "models": {role: spec.to_json() for role, spec in self.models.items()},
            "sampling": {role: policy.to_json() for role, policy in self.sampling.items()},
            "limits": limits,
            "tools": list(self.tools),
            "prompts": dict(self.prompts),
            "tools_sha256": self.tools_sha256,
            "factors": dict(self.factors),
            **work,
            **({"texts": list(self.texts)} if self.texts else {}),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, JsonValue]) -> Arm:
        """Read what `to_json` wrote."""
        values = cast("dict[str, dict[str, dict[str, str]]]", dict(record))
        work = cast("Mapping[str, float | bool | None] | None", record.get("work"))
        return cls(
            name=cast("str", record["name"]),
            agent=cast("str", record["agent"]),
            baseline=cast("str | None", record["baseline"]),
            options=cast("Mapping[str, JsonValue]", record["options"]),
            models={
                cast("ModelRole", role): ModelSpec.from_json(cast("Mapping[str, JsonValue]", spec))
                for role, spec in values["models"].items()
            },
            sampling={
                cast("ModelRole", role): Sampling(**policy)  # pyright: ignore[reportArgumentType] written by to_json
                for role, policy in values["sampling"].items()
            },
            limits=Limits.from_json(cast("Mapping[str, int | float | None]", record["limits"])),
            tools=tuple(cast("list[str]", record["tools"])),
            prompts=cast("Mapping[str, str]", record["prompts"]),
            tools_sha256=cast("str", record["tools_sha256"]),
            factors=cast("Mapping[str, str]", record["factors"]),
            work=None if work is None else ExpectedWork.from_json(work),
            texts=tuple(cast("list[str]", record.get("texts", []))),
        )


@dataclass(frozen=True, kw_only=True)
class PlannedQuestion:
    """A question with the identity and state of its media when the plan was frozen."""

    question: Question
    question_sha256: str
    video_sha256: str | None
    subtitles_sha256: str | None
    availability: Availability
    reason: str | None = None

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as it stands in a plan."""
        return {
            "question": self.question.to_json(),
            "question_sha256": self.question_sha256,
            "video_sha256": self.video_sha256,
            "subtitles_sha256": self.subtitles_sha256,
            "availability": self.availability,
            "reason": self.reason,
        }


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything that is decided before the first call.

    `seed` is the root of every draw of ours. `cells` and `connections` are how many cells and how
    many requests per model run at once. `retries` and `timeout_s` hold for one model request.
    `packages` are the versions that were installed, `code_sha256` is the hash of our own sources
    that a cell runs through.
    `prices` are US dollars per million tokens by model name (`input`, `output`), `prices_date` the
    day they were read. `web` is where cells search and read; None is nowhere. `scoring` is how answers
    and trajectories are scored; the judge of answers is `judge`. `created` and `study_file`, where the study was written, are left out of
    the hash.
    """

    study: str
    created: str
    seed: int
    executions: int
    benchmark: str
    benchmark_version: str
    benchmark_sha256: str
    questions: tuple[PlannedQuestion, ...]
    arms: tuple[Arm, ...]
    rule: Rule
    judge: ModelSpec | None
    cells: int
    connections: int
    retries: int
    timeout_s: float
    provider_seeds: bool
    code_sha256: str
    packages: Mapping[str, str]
    prices: Mapping[str, Mapping[str, float]] = field(
        default_factory=dict[str, Mapping[str, float]]
    )
    prices_date: str | None = None
    study_file: str | None = None
    web: WebSpec | None = None
    scoring: ScoringSpec = field(default_factory=ScoringSpec)

    def to_json(self) -> dict[str, JsonValue]:
        """Return the plan as it stands in `plan.json`, its own hash included."""
        return {
            **self._record(),
            "created": self.created,
            "study_file": self.study_file,
            "sha256": self.sha256,
        }

    def _record(self) -> dict[str, JsonValue]:
        return {
            "format": FORMAT,
            "study": self.study,
            "seed": self.seed,
            "executions": self.executions,
            "benchmark": self.benchmark,
            "benchmark_version": self.benchmark_version,
            "benchmark_sha256": self.benchmark_sha256,
            "questions": [planned.to_json() for planned in self.questions],
            "arms": [arm.to_json() for arm in self.arms],
            "rule": self.rule.to_json(),
            "judge": None if self.judge is None else self.judge.to_json(),
            "cells": self.cells,
            "connections": self.connections,
            "retries": self.retries,
            "timeout_s": self.timeout_s,
            "provider_seeds": self.provider_seeds,
            "code_sha256": self.code_sha256,
            "packages": dict(self.packages),
            "prices": {name: dict(price) for name, price in self.prices.items()},
            "prices_date": self.prices_date,
            # Left out where there is none, so that plans from before it existed keep their hash.
            **({} if self.web is None else {"web": self.web.to_json()}),
            **({} if self.scoring == ScoringSpec() else {"scoring": self.scoring.to_json()}),
        }

    @property
    def sha256(self) -> str:
        """Return the hash that names the study: the same wherever the study and its media lie.

        Paths are left out of it; the bytes of the media are in it by their hashes.
        """
        questions = [
            {
                **planned.to_json(),
                "question": {
                    name: value
                    for name, value in planned.question.to_json().items()
                    if name not in {"video_path", "subtitles_path"}
                },
            }
            for planned in self.questions
        ]
        web = {} if self.web is None else {"web": self.web.identity}
        return sha256_of({**self._record(), "questions": questions, **web})

    def arm(self, name: str) -> Arm:
        """Return the arm called `name`."""
        for arm in self.arms:
            if arm.name == name:
                return arm
        raise RequestError(
            f"the plan has no arm {name!r}; it has {[arm.name for arm in self.arms]}"
        )

    def planned(self, question_id: str) -> PlannedQuestion:
        """Return the planned question with that id."""
        for planned in self.questions:
            if planned.question.question_id == question_id:
                return planned
        raise RequestError(f"the plan has no question {question_id!r}")


def read_plan(path: Path) -> Plan:
    """Read a `plan.json`.

    Raises
    ------
    DataError
        If it is missing, not JSON, newer than this version, or does not match its own hash.
    """
    try:
        record = cast("dict[str, JsonValue]", json.loads(path.read_bytes()))
    except FileNotFoundError as error:
        raise DataError(f"{path}: no plan here; freeze one with: taketwo plan STUDY") from error
    except (ValueError, OSError, RecursionError) as error:
        raise DataError(f"{path}: not a readable plan ({error}); freeze it anew") from error
    _check_format(path, record)
    try:
        plan = _plan_from(record)
        found = plan.sha256
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: the plan lacks or garbles a field ({error!r})") from error
    if found != record.get("sha256"):
        raise DataError(
            f"{path}: the plan was edited after it was frozen: its hash is {found[:12]}, "
            f"it says {str(record.get('sha256'))[:12]}; restore it, or freeze a new study"
        )
    return plan


def _check_format(path: Path, record: object) -> None:
    found = cast("dict[str, object]", record).get("format") if isinstance(record, dict) else None
    match = re.fullmatch(r"taketwo\.plan/(\d+)", str(found))
    if match is None:
        raise DataError(f"{path}: not a plan of Take Two: format is {found!r}, expected {FORMAT!r}")
    if int(match[1]) > 1:
        raise DataError(f"{path}: written by a newer version ({found}); this one reads {FORMAT}")


def _plan_from(record: Mapping[str, JsonValue]) -> Plan:
    values = dict(record)
    for name in ("format", "sha256"):
        values.pop(name, None)
    questions = tuple(
        PlannedQuestion(
            **{
                **planned,
                "question": Question.from_json(cast("dict[str, JsonValue]", planned["question"])),
            }  # pyright: ignore[reportArgumentType] written by to_json
        )
        for planned in cast("list[dict[str, JsonValue]]", values.pop("questions"))
    )
    arms = tuple(
        Arm.from_json(arm) for arm in cast("list[dict[str, JsonValue]]", values.pop("arms"))
    )
    rule = Rule.from_json(cast("dict[str, JsonValue]", values.pop("rule")))
    judge = cast("Mapping[str, JsonValue] | None", values.pop("judge"))
    scoring = cast("Mapping[str, JsonValue] | None", values.pop("scoring", None))
    web = cast("Mapping[str, JsonValue] | None", values.pop("web", None))
    return Plan(
        questions=questions,
        arms=arms,
        rule=rule,
        judge=None if judge is None else ModelSpec.from_json(judge),
        scoring=ScoringSpec() if scoring is None else ScoringSpec.from_json(scoring),
        web=None if web is None else WebSpec.from_json(web),
        **values,  # pyright: ignore[reportArgumentType] written by to_json
    )
