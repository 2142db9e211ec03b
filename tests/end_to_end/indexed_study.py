"""A small study whose arms work with an index of the video: several questions on one real video."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.end_to_end.describing import MODEL
from tests.end_to_end.small_study import make_question, paint_video

from taketwo.agents.catalog import agent_spec
from taketwo.benchmarks.canonical import JsonValue
from taketwo.executions.environment import code_sha256, package_versions
from taketwo.executions.freeze import write_plan
from taketwo.executions.plan import Arm, ModelSpec, Plan, PlannedQuestion, Sampling
from taketwo.executions.resolved_study import prompt_hashes, tools_sha256
from taketwo.executions.rule import Rule
from taketwo.media.video import file_sha256
from taketwo.tools.budget import Limits

PLUGIN = "tests.end_to_end.describing"
OPTIONS: Mapping[str, JsonValue] = {"clip_seconds": 1, "search": "bm25"}


def make_indexed_study(
    folder: Path,
    *,
    arms: Sequence[str] = ("dvd",),
    questions: int = 3,
    executions: int = 1,
    cells: int = 2,
    seconds: int = 4,
    args: Mapping[str, JsonValue] | None = None,
    options: Mapping[str, JsonValue] | None = None,
    limits: Limits | None = None,
    attempts: int = 3,
    connections: int = 2,
) -> Plan:
    """Freeze a study of arms of the agent `dvd` into `folder` and return its plan."""
    video = paint_video(folder / "clip.mp4", seconds=seconds)
    spec = agent_spec("dvd")
    checked = spec.checked({**OPTIONS, **(options or {})})
    model = ModelSpec(name=MODEL, args=dict(args or {}))
    made = tuple(
        Arm(
            name=name,
            agent="dvd",
            baseline=None if number == 0 else arms[0],
            options=checked.model_dump(mode="json"),
            models={
                "orchestrator": model,
                "observer": model,
                "transcriber": ModelSpec(name="taketwo/offline-transcriber"),
            },
            sampling={
                "orchestrator": Sampling(temperature=0.5),
                "observer": Sampling(temperature=0),
            },
            limits=spec.limits_for(checked).tightened_by(limits or Limits()),
            tools=tuple(tool.name for tool in spec.tools(checked)),
            prompts=prompt_hashes(spec, checked),
            tools_sha256=tools_sha256(spec.tools(checked)),
        )
        for number, name in enumerate(arms)
    )
    planned = tuple(
        PlannedQuestion(
            question=question,
            question_sha256=question.content_sha256,
            video_sha256=file_sha256(video),
            subtitles_sha256=None,
            availability="available",
        )
        for question in (make_question(number, video) for number in range(questions))
    )
    plan = Plan(
        study="indexed",
        created="2026-01-01T00:00:00+00:00",
        seed=7,
        executions=executions,
        benchmark="local",
        benchmark_version="1",
        benchmark_sha256="2" * 64,
        questions=planned,
        arms=made,
        rule=Rule(attempts=attempts),
        judge=None,
        cells=cells,
        connections=connections,
        retries=0,
        timeout_s=30.0,
        provider_seeds=False,
        code_sha256=code_sha256(),
        packages=package_versions({MODEL}),
        prices={MODEL: {"input": 1.0, "output": 2.0}},
    )
    write_plan(plan, folder)
    return plan
