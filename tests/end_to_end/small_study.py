"""A small study in a folder: a real video of a few frames, two arms, models that play back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import av
import numpy as np

from taketwo.agents.catalog import agent_spec
from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.question import Question
from taketwo.executions.environment import code_sha256, package_versions
from taketwo.executions.freeze import write_plan
from taketwo.executions.plan import Arm, ModelSpec, Plan, PlannedQuestion, Sampling
from taketwo.executions.resolved_study import prompt_hashes, tools_sha256
from taketwo.executions.rule import Rule, Stopping
from taketwo.media.video import file_sha256
from taketwo.tools.budget import Limits

PLUGIN = "tests.end_to_end.playback"


def paint_video(path: Path, *, seconds: int = 4, rate: int = 8) -> Path:
    """Write a short video whose frames get brighter."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=rate)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for index in range(seconds * rate):
            image = np.full((48, 64, 3), 5 * (index % 50), dtype=np.uint8)
            for packet in stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    return path


def make_question(number: int, video: Path) -> Question:
    """Return a question whose first option is true, unless its number is divisible by 3."""
    return Question(
        question_id=f"q{number}",
        text=f"What is shown in scene {number}?",
        video_id=f"v{number % 2}",
        video_path=str(video),
        options=("a red circle", "a blue square", "a star"),
        answer_index=1 if number % 3 == 0 else 0,
        attributes={"kind": "text reading"},
    )


def make_arm(
    name: str, agent: str, baseline: str | None, args: Mapping[str, JsonValue], limits: Limits
) -> Arm:
    """Return an arm whose models play back."""
    spec = agent_spec(agent)
    options = spec.checked({})
    model = {
        role: ModelSpec(
            name="playback/observer" if role == "observer" else "playback/planner", args=args
        )
        for role in spec.roles_for(options)
        if role != "transcriber"
    }
    if "transcriber" in spec.roles_for(options):
        model["transcriber"] = ModelSpec(name="taketwo/offline-transcriber")
    return Arm(
        name=name,
        agent=agent,
        baseline=baseline,
        options=options.model_dump(mode="json"),
        models=model,
        sampling={role: Sampling(temperature=0.5) for role in model if role != "transcriber"},
        limits=spec.limits_for(options).tightened_by(limits),
        tools=tuple(tool.name for tool in spec.tools(options)),
        prompts=prompt_hashes(spec, options),
        tools_sha256=tools_sha256(spec.tools(options)),
        factors={"agent": agent},
    )


def make_study(
    folder: Path,
    *,
    questions: int = 4,
    executions: int = 2,
    args: Mapping[str, JsonValue] | None = None,
    limits: Limits | None = None,
    cells: int = 4,
    attempts: int = 3,
    prices: Mapping[str, Mapping[str, float]] | None = None,
    stopping: Stopping | None = None,
) -> Plan:
    """Freeze a study of `single_turn` against `video_react` into `folder` and return its plan."""
    video = paint_video(folder / "clip.mp4")
    arguments, bounds = dict(args or {}), limits or Limits()
    arms = (
        make_arm("base", "single_turn", None, arguments, bounds),
        make_arm("react", "video_react", "base", arguments, bounds),
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
    models = {spec.name for arm in arms for spec in arm.models.values()}
    plan = Plan(
        study="small",
        created="2026-01-01T00:00:00+00:00",
        seed=7,
        executions=executions,
        benchmark="local",
        benchmark_version="1",
        benchmark_sha256="2" * 64,
        questions=planned,
        arms=arms,
        rule=Rule(attempts=attempts, stopping=stopping),
        judge=None,
        cells=cells,
        connections=8,
        retries=0,
        timeout_s=30.0,
        provider_seeds=False,
        code_sha256=code_sha256(),
        packages=package_versions(models),
        prices=prices or {},
    )
    write_plan(plan, folder)
    return plan
