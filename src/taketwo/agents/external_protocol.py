"""What an agent that runs outside is handed, and what it may say: one JSON object a line.

The protocol is `taketwo.agent/1`. What is not of the protocol is refused, never guessed at: a line
that is no JSON object, an unknown event or field, a value of another type, NaN, a name that stands
twice in one object, bytes that are no UTF-8.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, Never, cast

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic import JsonValue as AnyJson

from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.tools.operation import PrimitiveKind
from taketwo.tools.toolbox import Toolbox

__all__ = [
    "LONGEST_LINE",
    "MOST_BYTES",
    "PROTOCOL",
    "AnswerEvent",
    "BrokenProtocol",
    "Event",
    "HelloEvent",
    "ModelCallEvent",
    "OperationEvent",
    "ProgressEvent",
    "Reportable",
    "ToolCallEvent",
    "event_of",
    "request_of",
    "single_answer_of",
]

PROTOCOL = "taketwo.agent/1"
MOST_BYTES = 8 << 20
"""Bytes that an agent may say in one cell."""
LONGEST_LINE = 1 << 20
"""Bytes of one line."""

Reportable = Literal["model_call", "tool_call", "operation"]
_Count = Annotated[int, Field(ge=0, le=10**12)]
_Amount = Annotated[float, Field(ge=0, le=1e9)]
_SHOWN = 160


class BrokenProtocol(Exception):
    """What the agent said is not of the protocol; the cell has no answer, whatever else it said."""


class _Event(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class HelloEvent(_Event):
    """The first event, if there is one: `reports` names the kinds of events that will be complete."""

    event: Literal["hello"]
    protocol: str = PROTOCOL
    reports: list[Reportable] = Field(default_factory=list[Reportable])


class ProgressEvent(_Event):
    """A remark for the log."""

    event: Literal["progress"]
    text: str


class ModelCallEvent(_Event):
    """A generation that the agent paid for; what is left out is not known."""

    event: Literal["model_call"]
    role: Literal["orchestrator", "observer", "transcriber"] = "orchestrator"
    model: str = Field(default="", max_length=300)
    input_tokens: _Count | None = None
    output_tokens: _Count | None = None
    cost_usd: _Amount | None = None
    latency_s: _Amount | None = None
    text: str = ""


class ToolCallEvent(_Event):
    """A visible call: a tool that the agent's orchestrator called."""

    event: Literal["tool_call"]
    name: str = Field(min_length=1, max_length=300)
    arguments: dict[str, AnyJson] = Field(default_factory=dict[str, AnyJson])
    result: str = ""
    error: str | None = None
    latency_s: _Amount | None = None


class OperationEvent(_Event):
    """A primitive operation."""

    event: Literal["operation"]
    operation: PrimitiveKind
    succeeded: bool = True
    frames: _Count = 0
    latency_s: _Amount | None = None


class AnswerEvent(_Event):
    """The last event: the label or the text of an option, the answer to an open question, or null.

    `latency_s` are the seconds of work of models and tools, summed, what the events state included.
    """

    event: Literal["answer"] = "answer"
    answer: str | None
    reasoning: str = ""
    forced: bool = False
    limit: str | None = Field(default=None, max_length=100)
    latency_s: _Amount | None = None


Event = HelloEvent | ProgressEvent | ModelCallEvent | ToolCallEvent | OperationEvent | AnswerEvent
_ANY: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="event")])
_ANSWER: TypeAdapter[Event] = TypeAdapter(AnswerEvent)


def request_of(
    question: VisibleQuestion,
    toolbox: Toolbox,
    *,
    options: Mapping[str, JsonValue],
    time_limit_s: float,
) -> bytes:
    """Return what an agent outside is handed: one line of JSON, without the truth.

    `limits` are those in force; the agent is to keep them, and what it reports is held against them.
    """
    media, video = toolbox.primitives.media, toolbox.video
    record: dict[str, JsonValue] = {
        "protocol": PROTOCOL,
        "question": {
            "question_id": question.question_id,
            "format": question.format,
            "text": question.text,
            "options": list(question.options),
            "labels": list(question.labels),
        },
        "video": {
            "path": str(media.path.resolve()),
            "sha256": video.sha256,
            "duration_s": video.duration_s,
            "width": video.width,
            "height": video.height,
            "fps": video.fps,
            "has_audio": video.has_audio,
        },
        "subtitles_path": None if media.subtitles is None else str(media.subtitles.resolve()),
        "options": dict(options),
        "limits": {
            name: value
            for name, value in toolbox.budget.limits.to_json().items()
            if value is not None
        },
        "time_limit_s": time_limit_s,
    }
    return json.dumps(record, ensure_ascii=True, allow_nan=False).encode() + b"\n"


def event_of(line: bytes) -> Event:
    """Return the event that a line is.

    Raises
    ------
    BrokenProtocol
        If it is none; the message shows its beginning.
    """
    return _read(line, _ANY)


def single_answer_of(body: bytes) -> Event:
    """Return the answer that a whole reply is, `event` left out or not.

    Raises
    ------
    BrokenProtocol
        If it is none; the message shows its beginning.
    """
    return _read(body, _ANSWER)


def _read(data: bytes, form: TypeAdapter[Event]) -> Event:
    try:
        record = json.loads(
            data.decode("utf-8"), parse_constant=_no_number, object_pairs_hook=_names_once
        )
        return form.validate_python(record)
    except ValidationError as error:
        problem = "; ".join(
            _problem(cast("Sequence[object]", item["loc"]), item["msg"])
            for item in error.errors(include_url=False, include_input=False)[:3]
        )
    except RecursionError:
        problem = "it is nested too deep"
    except ValueError as error:  # no UTF-8, no JSON, a name twice
        problem = str(error)[:200]
    shown = repr(data[:_SHOWN].decode("utf-8", "replace"))
    raise BrokenProtocol(f"not an event of {PROTOCOL}: {problem}; found {shown}")


def _problem(place: Sequence[object], message: str) -> str:
    where = ".".join(str(part) for part in place)
    return f"{where}: {message}" if where else message


def _no_number(name: str) -> Never:
    raise ValueError(f"{name} is no number of JSON")


def _names_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    record = dict(pairs)
    if len(record) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r:.60} stands twice in one object")
    return record
