"""A trajectory in the Agent Trajectory Interchange Format (ATIF) of Harbor, for viewers of others.

A generation of the orchestrator is a step of the agent, with the calls that follow it and what they
returned; a remark of the harness is a step of the system, and so are frames that the agent looked at
without a call. What other models did below a visible call has no step of its own and is in the totals.
What nobody reported is null, never 0. The true answer is not in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import cast

from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.question import Question
from taketwo.executions.log_json import plain_json
from taketwo.executions.plan import Arm
from taketwo.executions.trajectory import ModelCall, Note, ToolCall, Trajectory
from taketwo.scores.formats.run_folder_steps import frames_looked_at, look_text

__all__ = ["ATIF_VERSION", "atif_record"]

ATIF_VERSION = "ATIF-v1.4"


def atif_record(
    trajectory: Trajectory,
    question: Question,
    arm: Arm,
    *,
    session_id: str,
    cost_usd: float | None = None,
) -> dict[str, JsonValue]:
    """Return a cell as one ATIF document.

    `cost_usd` is the cell's cost in US dollars as the outcomes have it; a step has the cost that was
    reported for it alone.
    """
    steps = [_step("user", _asked(question)), *_steps(trajectory)]
    for number, step in enumerate(steps, start=1):
        step["step_id"] = number
    model = arm.models.get("orchestrator")
    calls = [call for call in trajectory.all_model_calls if call.error is None]
    record: dict[str, JsonValue] = {
        "schema_version": ATIF_VERSION,
        "session_id": session_id,
        "agent": {
            "name": arm.agent,
            "version": version("taketwo"),
            "model_name": None if model is None else model.name,
            "extra": {"arm": arm.name, "tools": list(arm.tools), "factors": dict(arm.factors)},
        },
        "steps": cast("JsonValue", steps),
        "final_metrics": {
            "total_prompt_tokens": _sum([call.input_tokens for call in calls]),
            "total_completion_tokens": _sum([call.output_tokens for call in calls]),
            "total_cost_usd": cost_usd,
            "total_steps": len(steps),
        },
        "extra": _ending(trajectory, question),
    }
    return cast("dict[str, JsonValue]", plain_json(record))


def _asked(question: Question) -> str:
    options = [
        f"{label}. {option}"
        for label, option in zip(question.labels, question.options, strict=True)
    ]
    return "\n".join([question.text, *options])


def _ending(trajectory: Trajectory, question: Question) -> dict[str, JsonValue]:
    index = trajectory.answer_index
    failure = trajectory.failure
    return {
        "question_id": trajectory.question_id,
        "execution": trajectory.execution,
        "run_status": trajectory.run_status,
        "forced": trajectory.forced,
        "answer_text": trajectory.answer_text,
        "answer_label": None if index is None else question.labels[index],
        "failure": None if failure is None else f"{failure.cause}: {failure.message}",
        "latency_s": trajectory.latency_s,
    }


def _steps(trajectory: Trajectory) -> list[dict[str, JsonValue]]:
    steps: list[dict[str, JsonValue]] = []
    open_step: dict[str, JsonValue] | None = None
    for event in trajectory.events:
        frames = frames_looked_at(event)
        if frames or isinstance(event, Note):
            told = event.text if isinstance(event, Note) else look_text(frames)
            steps.append(_step("system", told))
            open_step = None
        elif isinstance(event, ModelCall):
            if event.role == "orchestrator":
                open_step = _generation(event)
                steps.append(open_step)
        elif isinstance(event, ToolCall):
            if open_step is None:
                open_step = _step("agent", "")
                steps.append(open_step)
            _add_call(open_step, event)
    return steps


def _step(source: str, message: str) -> dict[str, JsonValue]:
    return {"step_id": 0, "source": source, "message": message}


def _generation(call: ModelCall) -> dict[str, JsonValue]:
    step = _step("agent", call.text)
    if call.reasoning.strip():
        step["reasoning_content"] = call.reasoning
    step["model_name"] = call.served_model or call.model
    step["metrics"] = {
        "prompt_tokens": call.input_tokens,
        "completion_tokens": call.output_tokens,
        "cost_usd": call.cost_usd,
    }
    step["extra"] = {"latency_s": call.latency_s, "retries": call.retries, "error": call.error}
    return step


def _add_call(step: dict[str, JsonValue], call: ToolCall) -> None:
    made = cast("list[JsonValue]", step.setdefault("tool_calls", []))
    made.append({
        "tool_call_id": call.call_id,
        "function_name": call.name,
        "arguments": dict(call.arguments),
    })
    seen = cast("dict[str, list[JsonValue]]", step.setdefault("observation", {"results": []}))
    shown = call.result or (f"error: {call.error}" if call.error is not None else "")
    seen["results"].append({"source_call_id": call.call_id, "content": shown})


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if values and len(known) == len(values) else None
