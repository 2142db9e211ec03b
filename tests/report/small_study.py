"""A small study that never ran, with everything that a report reads."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image, ImageDraw

from taketwo.analysis.compare import compare
from taketwo.analysis.comparison import Comparison
from taketwo.benchmarks.question import Question
from taketwo.executions.manifest_record import (
    Attempt,
    CellIdentity,
    Finding,
    FixedPart,
    Manifest,
    Observed,
)
from taketwo.executions.plan import Arm, ModelSpec, Plan, PlannedQuestion, Sampling
from taketwo.executions.rule import Rule
from taketwo.executions.trajectory import (
    Event,
    Failure,
    ModelCall,
    Note,
    RunStatus,
    ToolCall,
    Trajectory,
)
from taketwo.outcomes.table import COLUMNS, Outcomes
from taketwo.report.accounts import ContextNumber
from taketwo.report.document import Sources
from taketwo.tools.budget import Limits

KINDS = ("counting", "order", "text reading", "spoken cue", "change", "multi-hop")
COLOURS = ("red", "green", "blue", "yellow", "orange", "purple")


@dataclass(frozen=True)
class Study:
    """The records of a study and the folder of its frames."""

    plan: Plan
    outcomes: Outcomes
    trajectories: tuple[Trajectory, ...]
    manifests: tuple[Manifest, ...]
    frames: Path

    def compare(self, **options: str) -> Comparison:
        """Return the comparison by the plan's rule."""
        return compare(
            self.outcomes, self.plan.rule, study=self.plan.study, seed=1, draws=500, **options
        )

    def sources(self) -> Sources:
        """Return all that a report can be given."""
        return Sources(
            comparison=self.compare(),
            plan=self.plan,
            outcomes=self.outcomes,
            trajectories=self.trajectories,
            manifests=self.manifests,
            context=(
                ContextNumber(
                    label="Chance",
                    metric="accuracy",
                    value=0.287,
                    meaning="guessing evenly among the options of each question",
                ),
                ContextNumber(
                    label="Perception only",
                    metric="accuracy",
                    value=0.867,
                    meaning="upper bound: every frame measured, no planning, no budget",
                ),
            ),
        )


def make_question(number: int) -> Question:
    """Return one question of a rendered kind."""
    kind = KINDS[number % len(KINDS)]
    colour = COLOURS[number % len(COLOURS)]
    return Question(
        question_id=f"r{number:03d}-{kind.replace(' ', '-')}",
        text=f"How many {colour} circles are on screen after the speaker says 'start counting'?",
        video_id=f"v{number // 2:03d}",
        video_path=f"videos/v{number // 2:03d}.mp4",
        options=("two", "three", "five", "none at any time"),
        answer_index=number % 4,
        video_duration_s=24.0,
        attributes={"kind": kind, "difficulty": "medium"},
    )


def make_plan(questions: tuple[Question, ...], executions: int) -> Plan:
    """Return the frozen plan of two arms on `questions`."""
    models = {
        "orchestrator": ModelSpec(name="taketwo/offline-orchestrator"),
        "observer": ModelSpec(name="taketwo/offline-observer"),
    }
    base = Arm(
        name="single_turn",
        agent="single_turn",
        baseline=None,
        options={},
        models={"orchestrator": models["orchestrator"]},
        sampling={"orchestrator": Sampling(temperature=0.7)},
        limits=Limits(turns=1, frames=16, wall_s=600),
        tools=(),
        prompts={"orchestrator": hashlib.sha256(b"p").hexdigest()},
        tools_sha256=hashlib.sha256(b"none").hexdigest(),
    )
    method = replace(
        base,
        name="video_react",
        agent="video_react",
        baseline="single_turn",
        models=models,
        sampling={role: Sampling(temperature=0.7, max_tokens=800) for role in models},
        limits=Limits(turns=8, visible_calls=8, frames=64, tokens=40_000, wall_s=600),
        tools=("analyze_video", "get_transcript"),
    )
    return Plan(
        study="demo",
        created="2026-03-02T09:14:07+00:00",
        seed=20260302,
        executions=executions,
        benchmark="rendered",
        benchmark_version="1",
        benchmark_sha256=hashlib.sha256(b"benchmark").hexdigest(),
        questions=tuple(
            PlannedQuestion(
                question=question,
                question_sha256=question.content_sha256,
                video_sha256=hashlib.sha256(question.video_id.encode()).hexdigest(),
                subtitles_sha256=None,
                availability="available",
            )
            for question in questions
        ),
        arms=(base, method),
        rule=Rule(missing="as-wrong"),
        judge=None,
        cells=2,
        connections=4,
        retries=3,
        timeout_s=120,
        provider_seeds=False,
        code_sha256=hashlib.sha256(b"code").hexdigest(),
        packages={"inspect_ai": "0.3.285", "numpy": "2.4.0", "taketwo": "0.1.0"},
    )


def make_frame(root: Path, video: str, time_s: float) -> str:
    """Write a painted frame into a frame store and return its hash."""
    image = Image.new("RGB", (512, 288), (236, 238, 230))
    draw = ImageDraw.Draw(image)
    for position in range(1 + int(time_s) % 4):
        x = 60 + 110 * position
        draw.ellipse((x, 90, x + 80, 170), fill=(205, 50, 45))
    draw.text((20, 20), f"{video} {time_s:.1f} s", fill=(20, 20, 20))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=85)
    data = buffer.getvalue()
    sha256 = hashlib.sha256(data).hexdigest()
    path = root / sha256[:2] / f"{sha256}.jpg"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return sha256


def events_of(
    arm: str, question: Question, frames: Mapping[float, str], rng: np.random.Generator
) -> tuple[Event, ...]:
    """Return what an arm did with the question."""
    hashes, times = tuple(frames.values()), tuple(frames)
    if arm == "single_turn":
        text = "\n".join(f"[frame at {time_s:.2f} s]" for time_s in times)
        return (
            ModelCall(
                role="orchestrator",
                model="taketwo/offline-orchestrator",
                media_sha256=hashes,
                input_text=text,
                input_tokens=900,
                output_tokens=60,
            ),
        )
    calls = tuple(
        ToolCall(
            call_id=f"c{number}",
            name="analyze_video",
            arguments={
                "start_time": 8.0 * number,
                "end_time": 8.0 * number + 8.0,
                "fps": 0.5,
                "focus": f"count the circles; {question.text[:40]}",
            },
            result=(
                "Focus answer:\n3 red circles\nObservations:\n"
                f"[{8 * number}.0 s] 3 red circles (confidence 0.90)\nCoverage: partial"
            ),
            frames=hashes[number::2],
            frame_times_s=times[number::2],
        )
        for number in range(1 + int(rng.integers(2)))
    )
    note = (Note(text="answered before the budget was used up"),) if rng.random() < 0.2 else ()
    return (*calls, *note)


def make_study(root: Path, *, questions: int = 60, executions: int = 2) -> Study:
    """Return a study whose method is ahead in the first execution only."""
    rng = np.random.default_rng(7)
    asked = tuple(make_question(number) for number in range(questions))
    plan = make_plan(asked, executions)
    frames = root / "frames"
    rows: list[dict[str, object]] = []
    trajectories: list[Trajectory] = []
    ability = rng.random(questions)
    bar = {("single_turn", 1): 0.42, ("video_react", 1): 0.72}
    for execution in range(1, executions + 1):
        for arm in plan.arms:
            level = bar.get((arm.name, execution), 0.5)
            for number, question in enumerate(asked):
                is_right = bool(0.75 * ability[number] + 0.25 * rng.random() < level)
                status: RunStatus = "answered"
                failure = None
                if number == 11 and arm.name == "video_react" and execution == 2:
                    status = "provider_error"
                    failure = Failure(
                        cause="RateLimit", message="429 after 4 tries", http_status=429
                    )
                elif rng.random() < 0.04:
                    status, is_right = "unparsed", False
                elif rng.random() < 0.03 and arm.name == "video_react":
                    status, is_right = "limit", False
                index = question.answer_index if is_right else (number + 1) % 4
                answered = status == "answered"
                seen = (
                    {time_s: make_frame(frames, question.video_id, time_s) for time_s in TIMES}
                    if number < 24
                    else {}
                )
                is_method = arm.name == "video_react"
                turns = 1 + (int(rng.integers(1, 5)) if is_method else 0)
                seconds = float(rng.gamma(4, 0.4 if is_method else 0.1)) * (
                    1.6 if execution == 2 and is_method else 1
                )
                trajectories.append(
                    Trajectory(
                        arm=arm.name,
                        question_id=question.question_id,
                        execution=execution,
                        run_status=status,
                        log=f"K{execution}/attempt-01.eval",
                        attempts=1,
                        answer_index=index if answered else None,
                        answer_text="" if index is None else question.options[index],
                        reasoning="The circles at 12.0 s are three; the cue precedes them.",
                        failure=failure,
                        latency_s=seconds,
                        events=events_of(arm.name, question, seen, rng),
                    )
                )
                rows.append({
                    "arm": arm.name,
                    "baseline": arm.baseline,
                    "execution": execution,
                    "question_id": question.question_id,
                    "video_id": question.video_id,
                    "availability": "available",
                    "run_status": status,
                    "score_status": "scored" if failure is None else "not_judged",
                    "forced": False,
                    "answer_index": index if answered else None,
                    "answer_text": "" if index is None else question.options[index],
                    "failure": None if failure is None else "RateLimit: 429 after 4 tries",
                    "attempts": 1 if failure is None else 3,
                    "log": f"K{execution}/attempt-01.eval",
                    "accuracy": None if failure is not None else float(is_right),
                    "turns": None if failure is not None else float(turns),
                    "visible_calls": None if failure is not None else float(turns - 1),
                    "primitive_ops": None if failure is not None else float(2 * turns),
                    "latency_s": None if failure is not None else seconds,
                    "latency_wall_s": seconds * 1.5,
                    "tokens": None if failure is not None else 900.0 * turns,
                    "input_tokens": 850.0 * turns,
                    "output_tokens": 50.0 * turns,
                    "frames": 8.0,
                    "factors": "{}",
                    "attributes": json.dumps(dict(question.attributes)),
                })
    schema = {column.name: column.dtype for column in COLUMNS}
    return Study(
        plan=plan,
        outcomes=Outcomes(pl.DataFrame(rows, schema=schema)),
        trajectories=tuple(trajectories),
        manifests=tuple(make_manifest(plan, k) for k in range(1, executions + 1)),
        frames=frames,
    )


TIMES = (0.0, 3.4, 6.9, 10.3, 13.7, 17.1, 20.6, 24.0)


def make_manifest(plan: Plan, execution: int) -> Manifest:
    """Return a manifest in which one fingerprint is not reported and one observation drifted."""
    fixed = [FixedPart(name="benchmark", sha256=(plan.benchmark_sha256,))]
    for arm in plan.arms:
        fixed += [
            FixedPart(
                name="system prompt as sent",
                arm=arm.name,
                role=role,
                sha256=(hashlib.sha256(f"{arm.name}{role}".encode()).hexdigest(),),
            )
            for role in arm.models
        ]
        fixed.append(FixedPart(name="tool schema", arm=arm.name, sha256=(arm.tools_sha256,)))
    return Manifest(
        study=plan.study,
        plan_sha256=plan.sha256,
        execution=execution,
        fixed=tuple(fixed),
        observed=tuple(
            Observed(
                arm=arm.name,
                role=role,
                served_models=("taketwo/offline-1",),
                calls=len(plan.questions) * (1 if arm.baseline is None else 4),
            )
            for arm in plan.arms
            for role in arm.models
        ),
        cells=tuple(
            CellIdentity(
                arm=arm.name,
                question_id=planned.question.question_id,
                run_status="answered",
                availability="available",
            )
            for arm in plan.arms
            for planned in plan.questions
        ),
        attempts=(
            Attempt(
                log="attempt-01.eval",
                sha256=hashlib.sha256(f"log{execution}".encode()).hexdigest(),
                status="success",
                created="2026-03-02T09:20:00+00:00",
                code_sha256=plan.code_sha256,
            ),
        ),
        findings=(
            Finding(kind="unavailable", check="logprobs", message="nobody recorded logprobs"),
        ),
        observations={"a" * 64: f"{execution}" * 64},
    )
