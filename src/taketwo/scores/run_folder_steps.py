"""Trajectories as the steps of AgentVidBench's normalized files (schema 1.1), and back.

The phases are theirs: `thinking`, `tool_call`, `tool_result`, `answer`. What is below a visible call
has no phase and is left out; a remark of the harness is a `thinking` step of native type `note`, so
that a forced answer does not look voluntary.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, cast

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.question import Question
from taketwo.executions.log_json import Json, arguments, number, part, plain_json, text
from taketwo.executions.trajectory import Event, ModelCall, Note, RunStatus, ToolCall, Trajectory

__all__ = [
    "SCHEMA_VERSION",
    "StructuredAnswer",
    "answer_in",
    "canonical_text",
    "normalized_record",
    "record_problems",
    "trajectory_of",
    "without_identity",
]

SCHEMA_VERSION = "1.1"

Phase = Literal["thinking", "tool_call", "tool_result", "answer", "plan", "observe", "reflect"]

_BEFORE_CALL, _REPLY, _REMARK = "[PRE-ACTION] ", "[RESPONSE] ", "[HARNESS] "
_GAVE_UP = "max iterations"
_NO_RESULT = "the run recorded no result of this call"
_ERROR = "[ERROR] "
_HEADER = re.compile(r"\A=== [^\n]* trajectory \(model=[^\n]*, qid=[^\n]*\) ===\n+")
_LABEL = re.compile("[A-Z]|[1-9][0-9]{0,3}")
_METRICS = re.compile(r"^Metrics: n_steps=[^\n]*\n+", re.MULTILINE)


_Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Step(BaseModel):
    model_config = ConfigDict(extra="ignore")
    step_id: Annotated[int, Field(ge=1, strict=True)]
    phase: Phase
    method_native_type: str = ""
    data: dict[str, object]
    elapsed_seconds: _Seconds | None = None


class _Record(BaseModel):
    model_config = ConfigDict(extra="ignore")
    schema_version: str = Field(pattern=r"^1\.\d+$")
    question_id: int = Field(validation_alias=AliasChoices("question_id", "qid"), strict=True)
    method: str
    model: str
    question_text: str = ""
    elapsed_seconds: _Seconds | None = None
    steps: list[_Step]


@dataclass(frozen=True, kw_only=True)
class StructuredAnswer:
    """The answer step of a trajectory: its letter, None where it is none, and whether it gave up.

    Where the agent of the reference ends without an answer, for whatever reason, it writes the
    letter A with the reason "max iterations". Nobody chose that letter.
    """

    letter: str | None
    reasoning: str
    gave_up: bool


def record_problems(record: Json) -> list[str]:
    """Return what is wrong with a normalized file, each with its field."""
    try:
        _Record.model_validate(record)
    except ValidationError as error:
        return [
            f"field {'.'.join(map(str, item['loc']))!r}: {item['msg']}, found {item['input']!r:.60}"
            for item in error.errors(include_url=False)[:20]
        ]
    return []


def normalized_record(
    trajectory: Trajectory, question: Question, *, question_id: int, method: str, model: str
) -> dict[str, JsonValue]:
    """Return a cell as the content of `outputs/question<id>.normalized.json`.

    Neither the true answer nor a score is in it.
    """
    steps: list[dict[str, JsonValue]] = []
    for event in trajectory.events:
        steps += _steps_of(event)
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


def _steps_of(event: Event) -> list[dict[str, JsonValue]]:
    if isinstance(event, Note):
        return [_step("thinking", "note", {"text": f"{_REMARK}{event.text}"})]
    if isinstance(event, ModelCall):
        if event.role != "orchestrator" or event.error is not None or not event.text.strip():
            return []
        mark = _BEFORE_CALL if event.tool_calls else _REPLY
        return [_step("thinking", "thinking", {"text": f"{mark}{event.text}"}, event.latency_s)]
    if not isinstance(event, ToolCall):
        return []
    asked = cast("dict[str, JsonValue]", plain_json(dict(event.arguments)))
    shown = event.result or (f"{_ERROR}{event.error}" if event.error is not None else "")
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


def _step(
    phase: Phase, native: str, data: dict[str, JsonValue], seconds: float | None = None
) -> dict[str, JsonValue]:
    step: dict[str, JsonValue] = {"phase": phase, "method_native_type": native, "data": data}
    return step if seconds is None else {**step, "elapsed_seconds": seconds}


def _answer_step(trajectory: Trajectory, question: Question) -> dict[str, JsonValue]:
    index = trajectory.answer_index
    return _step(
        "answer",
        "answer",
        {
            "letter": None if index is None else question.labels[index],
            "reasoning": trajectory.reasoning,
            "text": trajectory.answer_text,
        },
    )


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
        lines += [f"[Step {place}]", json.dumps(step, indent=2, ensure_ascii=False)]
    return "\n".join(lines) + "\n"


def without_identity(written: str) -> str:
    """Return a canonical text without the lines that name system and model and count steps."""
    return _METRICS.sub("", _HEADER.sub("", written, count=1), count=1)


def answer_in(record: Json) -> StructuredAnswer | None:
    """Return the last answer step of a normalized record."""
    found = [step.data for step in _Record.model_validate(record).steps if step.phase == "answer"]
    if not found:
        return None
    letter = (text(found[-1], "letter") or "").strip().upper()
    reasoning = text(found[-1], "reasoning") or ""
    gave_up = reasoning.strip().casefold() == _GAVE_UP and letter in {"A", "?", ""}
    is_none = gave_up or _LABEL.fullmatch(letter) is None
    return StructuredAnswer(
        letter=None if is_none else letter, reasoning=reasoning, gave_up=gave_up
    )


def trajectory_of(
    record: Json, *, arm: str, question_id: str, execution: int = 1, run_status: RunStatus
) -> Trajectory:
    """Return what a normalized record says as a trajectory of ours.

    A call without a result has an error that says so. Models and tools below the visible calls are
    not in such a record and neither are they in the trajectory.

    Raises
    ------
    ValueError
        If the record breaks the schema (`record_problems` says where).
    """
    found = _Record.model_validate(record)
    answer = answer_in(record)
    events = _events(found)
    said = [event.text for event in events if isinstance(event, ModelCall)]
    given = [step.data for step in found.steps if step.phase == "answer"]
    written = text(given[-1], "text") if given else None
    if written is None:
        written = "" if answer is None or answer.letter is None else (said or [answer.letter])[-1]
    letter = None if answer is None else answer.letter
    return Trajectory(
        arm=arm,
        question_id=question_id,
        execution=execution,
        run_status=run_status,
        answer_index=None if letter is None else _index_of(letter),
        answer_text=written,
        reasoning="" if answer is None or answer.gave_up else answer.reasoning,
        latency_s=found.elapsed_seconds,
        events=tuple(events),
    )


def _index_of(label: str) -> int:
    """Return the 0-based option of a label: A to Z, or 1 to n where there are more than 26."""
    return int(label) - 1 if label.isdigit() else ord(label) - ord("A")


def _events(record: _Record) -> list[Event]:
    events: list[Event] = []
    waiting: dict[str, deque[int]] = {}
    for step in record.steps:
        name = str(step.data.get("tool") or "unnamed")
        if step.phase == "tool_call":
            waiting.setdefault(name, deque()).append(len(events))
            events.append(
                ToolCall(
                    call_id=f"step-{step.step_id}",
                    name=name,
                    arguments=arguments(plain_json(step.data.get("arguments"))),
                    error=_NO_RESULT,
                )
            )
        elif step.phase == "tool_result":
            at = waiting[name].popleft() if waiting.get(name) else None
            call = None if at is None else cast("ToolCall", events[at])
            answered = _answered(call, name, step)
            if at is None:
                events.append(answered)
            else:
                events[at] = answered
        elif step.phase != "answer":
            events += _said(step, record.model)
    return events


def _answered(call: ToolCall | None, name: str, step: _Step) -> ToolCall:
    shown = text(step.data, "result_text") or ""
    failed = step.data.get("success") is False
    is_told = failed and shown.startswith(_ERROR)
    return ToolCall(
        call_id=f"step-{step.step_id}" if call is None else call.call_id,
        name=name,
        arguments={} if call is None else call.arguments,
        result="" if is_told else shown,
        error=(shown.removeprefix(_ERROR) if is_told else "the call failed") if failed else None,
        latency_s=step.elapsed_seconds,
    )


def _said(step: _Step, model: str) -> list[Event]:
    words = text(step.data, "text")
    if words is None:
        words = json.dumps(plain_json(step.data), ensure_ascii=False) if step.data else ""
    if step.method_native_type == "note":
        return [Note(text=words.removeprefix(_REMARK))]
    plain = words.removeprefix(_BEFORE_CALL).removeprefix(_REPLY)
    if not plain.strip():
        return []
    return [ModelCall(role="orchestrator", model=model, text=plain, latency_s=step.elapsed_seconds)]
