"""Trajectories as the steps of AgentVidBench's normalized files (schema 1.1), and the text of such steps.

The phases are theirs: `thinking`, `tool_call`, `tool_result`, `answer`, and `observe` where the agent
looked at frames, or asked its observer, by itself. What is below a visible call is left out; a remark of the
harness is a `thinking` step of native type `note`, so that a forced answer does not look voluntary.
Words that were said bear a mark, thoughts bear none.
What has no place in a step's data stands beside it under our own key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Literal, cast

from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.question import Question
from taketwo.executions.log_json import Json, number, part, plain_json, text
from taketwo.executions.trajectory import (
    Event,
    ModelCall,
    Note,
    PrimitiveOperation,
    ToolCall,
    Trajectory,
)
from taketwo.scores.formats.run_folder_summary import OWN_KEY
from taketwo.scores.trajectory_text import own_observations

__all__ = [
    "ERROR",
    "LOOK",
    "MARKS",
    "REMARK",
    "SCHEMA_VERSION",
    "Phase",
    "canonical_text",
    "frames_looked_at",
    "look_text",
    "normalized_record",
    "record_in",
    "turn_of_each",
    "without_identity",
]

SCHEMA_VERSION = "1.1"

Phase = Literal["thinking", "tool_call", "tool_result", "answer", "plan", "observe", "reflect"]

_BEFORE_CALL, _REPLY = "[PRE-ACTION] ", "[RESPONSE] "
MARKS = (_BEFORE_CALL, _REPLY)
"""What words that a model said begin with: before a call, and without one."""

REMARK = "[HARNESS] "
ERROR = "[ERROR] "
LOOK = "look"
"""The native type of a step in which the agent looked at frames by itself."""

_HEADER = re.compile(
    r"\A=== (?P<method>[^\n]*) trajectory \(model=(?P<model>[^\n]*), qid=(?P<id>[^\n]*)\) ===[ \t]*\n+"
)
_METRICS = re.compile(r"^Metrics: n_steps=[^\n]*\n+", re.MULTILINE)
_FIRST_STEP = re.compile(r"^\[Step 1\][ \t]*\n", re.MULTILINE)
_STEP = re.compile(r"\[Step ([0-9]{1,9})\][ \t]*\n")
_SHOWN = ("step_id", "phase", "method_native_type", "data")
_USED = r"(?:\w+_)?tokens(?:_\w+)?|elapsed(?:_\w+)?|latency(?:_\w+)?|wall_\w+|retry_\w+|cost_usd"
_USE = re.compile(_USED)
_USE_LINE = re.compile(rf'^[ \t]*"(?:{_USED})": (?:-?[0-9][^\n]*|null,?)\n', re.MULTILINE)


def normalized_record(
    trajectory: Trajectory, question: Question, *, question_id: int, method: str, model: str
) -> dict[str, JsonValue]:
    """Return a cell as the content of `outputs/question<id>.normalized.json`.

    Neither the true answer nor a score is in it.
    """
    steps: list[dict[str, JsonValue]] = []
    told = own_observations(trajectory.events)
    for at, event in enumerate(trajectory.events):
        steps += [_observed(event)] if at in told else _steps_of(event)
    steps.append(_answer_step(trajectory, question))
    for number_, step in enumerate(steps, start=1):
        step["step_id"] = number_
    ordered = [{"step_id": step["step_id"], **step} for step in steps]
    return {
        "schema_version": SCHEMA_VERSION,
        "question_id": question_id,
        "method": method,
        "model": model,
        "question_text": question.text,
        "elapsed_seconds": trajectory.latency_s,
        "tokens": {},
        "metrics": _metrics(ordered),
        "steps": cast("JsonValue", ordered),
    }


def frames_looked_at(event: Event) -> int:
    """Return how many frames an event took that no visible call asked for; 0 where it is no such look."""
    if not isinstance(event, PrimitiveOperation) or event.call_id is not None:
        return 0
    return event.frames if event.operation == "extract_video_parts" else 0


def look_text(frames: int) -> str:
    """Return the words for a look at that many frames."""
    return f"looked at {frames} frames of the video"


def _observed(event: Event) -> dict[str, JsonValue]:
    call = cast("ModelCall", event)
    step = _step("observe", "observer", {"text": call.text}, call.latency_s)
    return {**step, OWN_KEY: {"is_observer": True}}


def _steps_of(event: Event) -> list[dict[str, JsonValue]]:
    if frames := frames_looked_at(event):
        return [_step("observe", LOOK, {"text": look_text(frames), "frames": frames})]
    if isinstance(event, Note):
        return [_step("thinking", "note", {"text": f"{REMARK}{event.text}"})]
    if isinstance(event, ModelCall):
        if event.role != "orchestrator" or event.error is not None:
            return []
        mark = _BEFORE_CALL if event.tool_calls else _REPLY
        said: list[dict[str, JsonValue]] = []
        if event.reasoning.strip():
            said.append(_thought(event))
        if event.text.strip():
            said.append(_step("thinking", "thinking", {"text": f"{mark}{event.text}"}))
        if said and event.latency_s is not None:
            said[-1]["elapsed_seconds"] = event.latency_s
        return said
    if not isinstance(event, ToolCall):
        return []
    asked = cast("dict[str, JsonValue]", plain_json(dict(event.arguments)))
    shown = event.result or (f"{ERROR}{event.error}" if event.error is not None else "")
    result: dict[str, JsonValue] = {
        "tool": event.name,
        "success": event.error is None,
        "result_text": shown,
    }
    if (fps := number(asked, "fps")) is not None:
        result["fps"] = fps
    start, end = number(asked, "start_time"), number(asked, "end_time")
    if start is not None and end is not None:
        result["time_range"] = [start, end]
    return [
        _step("tool_call", "tool_call", {"tool": event.name, "arguments": asked}),
        _step("tool_result", "tool_result", result, event.latency_s),
    ]


def _thought(call: ModelCall) -> dict[str, JsonValue]:
    """Return the step of what a model thought; ours says what the words alone do not show."""
    step = _step("thinking", "thinking", {"text": call.reasoning})
    own: dict[str, JsonValue] = {}
    if call.reasoning.startswith(MARKS):
        own["is_thought"] = True
    if not call.text.strip():
        own["is_whole"] = True
    return {**step, OWN_KEY: own} if own else step


def _step(
    phase: Phase, native: str, data: dict[str, JsonValue], seconds: float | None = None
) -> dict[str, JsonValue]:
    step: dict[str, JsonValue] = {"phase": phase, "method_native_type": native, "data": data}
    return step if seconds is None else {**step, "elapsed_seconds": seconds}


def _answer_step(trajectory: Trajectory, question: Question) -> dict[str, JsonValue]:
    index = trajectory.answer_index
    letter = None if index is None else question.labels[index]
    step = _step("answer", "answer", {"letter": letter, "reasoning": trajectory.reasoning})
    return {**step, OWN_KEY: {"text": trajectory.answer_text}}


def _metrics(steps: Sequence[Mapping[str, JsonValue]]) -> dict[str, JsonValue]:
    phases = [step["phase"] for step in steps]
    plans, calls, looks = (phases.count(name) for name in ("plan", "tool_call", "observe"))
    shown = [
        len(text(step["data"], "result_text") or "")
        for step in steps
        if step["phase"] == "tool_result"
    ]
    return {
        "n_steps": len(steps),
        "n_tool_calls": calls,
        "n_observe": looks,
        "n_plans": plans,
        "n_reflects": phases.count("reflect"),
        "n_rounds": max(plans, calls, looks),
        "n_replans": max(0, plans - 1),
        "total_observation_chars": sum(shown),
    }


def canonical_text(record: Json) -> str:
    """Return a normalized record as the text that AgentVidBench hands to its judge."""
    counts = part(record, "metrics")
    named = ("n_steps", "n_tool_calls", "n_observe", "n_rounds")
    identity = record.get("question_id", record.get("qid"))
    lines = [
        f"=== {record.get('method')} trajectory (model={record.get('model')}, qid={identity}) ===",
        "",
        f"Question: {record.get('question_text')}",
        "",
        f"Metrics: {' '.join(f'{name}={counts.get(name)}' for name in named)}",
        "",
    ]
    for place, step in enumerate(cast("list[object]", record.get("steps")), start=1):
        lines += [f"[Step {place}]", json.dumps(plain_json(step), indent=2, ensure_ascii=False)]
    return "\n".join(lines) + "\n"


def record_in(written: str) -> Json | None:
    """Return the record that a canonical text was made of; None where it is no such text.

    A mark of the byte order and line ends of Windows make no difference.

    Raises
    ------
    ValueError
        If it begins as one and its steps cannot be read; the message says at which.
    """
    plain = _unix(written)
    head = _HEADER.match(plain)
    first = None if head is None else _FIRST_STEP.search(plain, head.end())
    if head is None or first is None:
        return None
    about = _METRICS.sub("", plain[head.end() : first.start()]).strip()
    identity = head["id"].strip()
    return {
        "schema_version": SCHEMA_VERSION,
        "question_id": int(identity) if re.fullmatch("[0-9]{1,18}", identity) else identity,
        "method": head["method"],
        "model": head["model"],
        "question_text": about.removeprefix("Question:").strip(),
        "steps": _steps_in(plain, first.start()),
    }


def _unix(written: str) -> str:
    return written.removeprefix("\ufeff").replace("\r\n", "\n")


def _steps_in(plain: str, at: int) -> list[Json]:
    decoder = json.JSONDecoder()
    steps: list[Json] = []
    while (match := _STEP.match(plain, at)) is not None:
        if int(match[1]) != len(steps) + 1:
            raise ValueError(f"[Step {match[1]}] stands where step {len(steps) + 1} is expected")
        try:
            step, at = decoder.raw_decode(plain, match.end())
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"[Step {match[1]}] holds no readable JSON; the text is cut off or changed"
            ) from error
        if type(step) is not dict:
            raise ValueError(f"[Step {match[1]}] holds no JSON object")
        steps.append(cast("Json", step))
        while plain[at : at + 1].isspace():
            at += 1
    if at < len(plain):
        raise ValueError(f"what follows [Step {len(steps)}] is no step")
    return steps


def without_identity(written: str) -> str:
    """Return a canonical text without what names system or model, counts steps or tells tokens and times.

    Any other text is returned as it stands.
    """
    plain = _unix(written)
    if _HEADER.match(plain) is None and _METRICS.search(plain) is None:
        return written
    shown = _METRICS.sub("", _HEADER.sub("", plain, count=1), count=1)
    first = _FIRST_STEP.search(shown)
    if first is None:
        return shown
    try:
        steps = _steps_in(shown, first.start())
    except ValueError:
        return _USE_LINE.sub("", shown)
    return shown[: first.start()] + "".join(
        f"[Step {place}]\n{json.dumps(_blind(step), indent=2, ensure_ascii=False)}\n"
        for place, step in enumerate(steps, start=1)
    )


def _blind(step: Json) -> dict[str, JsonValue]:
    return {name: _unused(plain_json(step[name]), name) for name in _SHOWN if name in step}


def _unused(value: JsonValue, name: str) -> JsonValue:
    """Return a part of a step without what was used for it; what a tool was asked stays whole."""
    if name == "arguments" or not isinstance(value, (dict, list)):
        return value
    if isinstance(value, list):
        return [_unused(item, "") for item in value]
    return {key: _unused(item, key) for key, item in value.items() if _USE.fullmatch(key) is None}


def turn_of_each(steps: Sequence[Mapping[str, JsonValue]]) -> list[int]:
    """Return the turn of each step, from 1: a turn begins with what a model thought or said."""
    turns: list[int] = []
    turn, is_open = 0, False
    for step in steps:
        is_said = step["method_native_type"] == "thinking"
        words = text(step["data"], "text") or ""
        is_thought = part(step, OWN_KEY).get("is_thought") is True or not words.startswith(MARKS)
        turn += is_said and (is_thought or not is_open)
        is_open = is_said and is_thought and part(step, OWN_KEY).get("is_whole") is not True
        turns.append(max(1, turn))
    return turns
