"""Reading the steps of a normalized file of AgentVidBench as a trajectory of ours."""

from __future__ import annotations

import json
import re
from collections import deque
from dataclasses import dataclass, replace
from typing import Annotated, cast

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from taketwo.executions.log_json import Json, arguments, part, plain_json, text, whole
from taketwo.executions.trajectory import (
    Event,
    ModelCall,
    Note,
    PrimitiveOperation,
    RunStatus,
    ToolCall,
    Trajectory,
)
from taketwo.scores.formats.recorded_numbers import amount_problems
from taketwo.scores.formats.run_folder_steps import ERROR, LOOK, MARKS, REMARK, Phase

__all__ = ["StructuredAnswer", "answer_in", "record_problems", "trajectory_of"]

_GAVE_UP = "max iterations"
_NO_RESULT = "the run recorded no result of this call"
_LABEL = re.compile("[A-Z]|[1-9][0-9]{0,3}")


_Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Step(BaseModel):
    model_config = ConfigDict(extra="ignore")
    step_id: Annotated[int, Field(ge=1, strict=True)]
    phase: Phase
    method_native_type: str = ""
    data: dict[str, object]
    taketwo: dict[str, object] = {}
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
    used = part(record, "tokens")
    return amount_problems(used, used, place="tokens.")


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
    given = [{**step.data, **step.taketwo} for step in found.steps if step.phase == "answer"]
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
    is_open = False
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
            said = _said(step, record.model)
            if is_open and isinstance(said, ModelCall) and said.text:
                thought = cast("ModelCall", events[-1])
                events[-1] = replace(thought, text=said.text, latency_s=said.latency_s)
            elif said is not None:
                events.append(said)
            # Thoughts and the words that follow them at once were one generation.
            is_open = _is_open(step, said)
            continue
        is_open = False
    return events


def _is_open(step: _Step, said: Event | None) -> bool:
    """Return whether the words of the same generation are still to come."""
    is_thought = isinstance(said, ModelCall) and not said.text
    return is_thought and step.taketwo.get("is_whole") is not True


def _answered(call: ToolCall | None, name: str, step: _Step) -> ToolCall:
    shown = text(step.data, "result_text") or ""
    failed = step.data.get("success") is False
    is_told = failed and shown.startswith(ERROR)
    return ToolCall(
        call_id=f"step-{step.step_id}" if call is None else call.call_id,
        name=name,
        arguments={} if call is None else call.arguments,
        result="" if is_told else shown,
        error=(shown.removeprefix(ERROR) if is_told else "the call failed") if failed else None,
        latency_s=step.elapsed_seconds,
    )


def _said(step: _Step, model: str) -> Event | None:
    words = text(step.data, "text")
    if words is None:
        words = json.dumps(plain_json(step.data), ensure_ascii=False) if step.data else ""
    if step.method_native_type == "note":
        return Note(text=words.removeprefix(REMARK))
    frames = whole(step.data, "frames") or 0
    if step.phase == "observe" and step.method_native_type == LOOK and frames > 0:
        # Its seconds are not recorded; they are in the cell's latency, which has a field of its own.
        return PrimitiveOperation(
            operation="extract_video_parts",
            succeeded=True,
            freshness="fresh",
            seconds=0.0,
            charged_s=0.0,
            frames=frames,
        )
    if step.phase == "observe" and step.taketwo.get("is_observer") is True:
        return ModelCall(
            role="observer", model="unknown", text=words, latency_s=step.elapsed_seconds
        )
    mark = next((mark for mark in MARKS if words.startswith(mark)), "")
    # What bears no mark is what the model thought; other phases are what it said.
    is_thought = step.phase == "thinking" and (not mark or step.taketwo.get("is_thought") is True)
    plain = words if is_thought else words.removeprefix(mark)
    if not plain.strip():
        return None
    return ModelCall(
        role="orchestrator",
        model=model,
        text="" if is_thought else plain,
        reasoning=plain if is_thought else "",
        latency_s=step.elapsed_seconds,
    )
