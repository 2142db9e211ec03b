"""What happened in a cell, as ordered events; the record that everything after the log reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal, cast

from taketwo.benchmarks.canonical import JsonValue

__all__ = [
    "Event",
    "Failure",
    "Freshness",
    "IndexUse",
    "ModelCall",
    "ModelTokens",
    "Note",
    "PrimitiveOperation",
    "RunStatus",
    "ToolCall",
    "Trajectory",
]

RunStatus = Literal[
    "answered",
    "abstained",
    "unparsed",
    "limit",
    "agent_error",
    "provider_error",
    "media_error",
    "not_run",
]
Freshness = Literal["fresh", "shared", "replayed"]


@dataclass(frozen=True, kw_only=True)
class ModelCall:
    """One generation. Hashes are of what was really sent; None is not captured, never `same`.

    `latency_s` is self-timed work without waiting for slots or rate limits. `sampling_sent` leaves
    the seed out; `request_sha256` is the hash of the whole request without the seed, together with
    `media_sha256`, the ordered hashes of the media that the call was handed. `system_text_sha256` is
    of the system prompt as our side wrote it, `system_sha256` as the provider was sent it.
    `reasoning` is what the provider shows of the model's thinking before its reply, empty where it shows none.
    A call that an agent outside made `is_reported`: nothing of it was seen, `cost_usd` is as told.
    """

    kind: Literal["model"] = "model"
    role: str
    model: str
    served_model: str | None = None
    fingerprint: str | None = None
    response_id: str | None = None
    request_sha256: str | None = None
    system_sha256: str | None = None
    system_text_sha256: str | None = None
    tools_sha256: str | None = None
    sampling_sent: Mapping[str, JsonValue] | None = None
    media_sha256: tuple[str, ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_s: float | None = None
    retries: int = 0
    cache: str | None = None
    started_s: float | None = None
    input_text: str = ""
    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[str, ...] = ()
    error: str | None = None
    cost_usd: float | None = None
    is_reported: bool = False


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """One visible call: what the orchestrator asked for and what it got back."""

    kind: Literal["tool"] = "tool"
    call_id: str
    name: str
    arguments: Mapping[str, JsonValue]
    result: str = ""
    frames: tuple[str, ...] = ()
    frame_times_s: tuple[float, ...] = ()
    error: str | None = None
    truncated: bool = False
    latency_s: float | None = None
    started_s: float | None = None
    is_reported: bool = False


@dataclass(frozen=True, kw_only=True)
class PrimitiveOperation:
    """One underlying unit of work. `charged_s` is what it costs in the cell's latency.

    `speech_source` says who heard the speech of a transcription: a transcriber with its weights, or
    the hash of a file of subtitles.
    Of an operation on the web, `asked_sha256` is the hash of what was asked and `result_sha256` that
    of what came back.
    """

    kind: Literal["primitive"] = "primitive"
    operation: str
    succeeded: bool
    freshness: Freshness
    seconds: float
    charged_s: float
    frames: int = 0
    audio_s: float = 0.0
    model_calls: int = 0
    tokens: int | None = None
    call_id: str | None = None
    error: str | None = None
    started_s: float | None = None
    asked_sha256: str | None = None
    result_sha256: str | None = None
    speech_source: str | None = None
    is_reported: bool = False


@dataclass(frozen=True, kw_only=True)
class Note:
    """A remark of the harness inside the cell (a forced answer, a degraded tool)."""

    kind: Literal["note"] = "note"
    text: str
    started_s: float | None = None


Event = ModelCall | ToolCall | PrimitiveOperation | Note


@dataclass(frozen=True, kw_only=True)
class ModelTokens:
    """What one model used; None where a reply of it did not report its usage."""

    model: str
    input_tokens: int | None
    output_tokens: int | None


@dataclass(frozen=True, kw_only=True)
class IndexUse:
    """The index of its video that a cell worked with, and what was done on it inside this cell.

    `index` names it and is None where the cell ended before it was whole. `source` is `built` or
    `resumed` (by this cell) or `shared`. `clips` are all, `failed_clips` those without a description.
    `model_calls`, `operations`, `frames` (handed to a model), `latency_s` (self-timed work) and
    `usage` are those of the whole index, whichever cells made it; `cells` is by how many they are to
    be divided. `charged` is whether the share was booked on the cell.

    `events` is what this cell did for the index. None of it is among the cell's own events.
    """

    index: str | None = None
    source: str | None = None
    clips: int = 0
    failed_clips: int = 0
    cells: int = 1
    charged: bool = False
    model_calls: int = 0
    operations: int = 0
    frames: int = 0
    latency_s: float | None = None
    usage: tuple[ModelTokens, ...] = ()
    events: tuple[Event, ...] = ()

    @property
    def made_calls(self) -> tuple[ModelCall, ...]:
        """Return the generations that this cell asked for on behalf of the index, in order."""
        return tuple(event for event in self.events if isinstance(event, ModelCall))


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a cell has no answer: `cause` is the exception's class, `retryable` as the provider said."""

    cause: str
    message: str
    http_status: int | None = None
    retryable: bool = True


@dataclass(frozen=True, kw_only=True)
class Trajectory:
    """What happened in the cell (question, arm, execution).

    `latency_s` is the sum of self-timed model and tool work, shared media charged at its recorded
    fresh seconds; `latency_wall_s` is as observed. `log` names the attempt's file inside the
    execution's folder; `attempts` counts how often the cell was started and left a record.
    `video_sha256` is the hash of the file that was opened, `limits` are those that were in force.
    `index` is the index that the agent worked with, if it works with one. `unavailable` names the
    metrics that nobody measured in this cell, each with the reason.
    """

    arm: str
    question_id: str
    execution: int
    run_status: RunStatus
    log: str | None = None
    attempts: int = 0
    answer_index: int | None = None
    answer_text: str = ""
    reasoning: str = ""
    forced: bool = False
    limit: str | None = None
    failure: Failure | None = None
    started: str | None = None
    latency_s: float | None = None
    latency_wall_s: float | None = None
    video_sha256: str | None = None
    limits: Mapping[str, int | float | None] | None = None
    unavailable: Mapping[str, str] = field(default_factory=dict[str, str])
    events: tuple[Event, ...] = field(default_factory=tuple)
    index: IndexUse | None = None

    @property
    def sample_id(self) -> str:
        """Return the id that the cell has in a log."""
        return f"{self.arm}:{self.question_id}"

    @property
    def model_calls(self) -> tuple[ModelCall, ...]:
        """Return the generations of the cell itself, in order; none of those for an index."""
        return tuple(event for event in self.events if isinstance(event, ModelCall))

    @property
    def all_model_calls(self) -> tuple[ModelCall, ...]:
        """Return the generations, those that the cell asked for on behalf of an index first."""
        made = () if self.index is None else self.index.made_calls
        return (*made, *self.model_calls)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """Return the visible calls, in order."""
        return tuple(event for event in self.events if isinstance(event, ToolCall))

    @property
    def primitives(self) -> tuple[PrimitiveOperation, ...]:
        """Return the primitive operations, in order."""
        return tuple(event for event in self.events if isinstance(event, PrimitiveOperation))

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as JSON values."""
        return cast("dict[str, JsonValue]", _plain(asdict(self)))

    @classmethod
    def from_json(cls, record: Mapping[str, JsonValue]) -> Trajectory:
        """Read what `to_json` wrote."""
        values = cast("dict[str, str]", dict(record))
        events = tuple(
            _event_from(event) for event in cast("list[dict[str, JsonValue]]", record["events"])
        )
        failure = cast("dict[str, str] | None", record["failure"])
        index = cast("Mapping[str, JsonValue] | None", record.get("index"))
        unavailable = cast("Mapping[str, str] | None", record.get("unavailable"))
        for name in ("events", "failure", "index", "unavailable"):
            values.pop(name, None)
        return cls(
            events=events,
            unavailable=unavailable or {},
            index=None if index is None else _index_from(index),
            failure=None if failure is None else Failure(**failure),  # pyright: ignore[reportArgumentType] written by to_json
            **values,  # pyright: ignore[reportArgumentType] written by to_json
        )


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {
            str(key): _plain(item) for key, item in cast("Mapping[object, object]", value).items()
        }
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in cast("list[object]", value)]
    return value


def _index_from(record: Mapping[str, JsonValue]) -> IndexUse:
    values = cast("dict[str, str]", dict(record))
    usage = cast("list[dict[str, str]]", record["usage"])
    events = cast("list[dict[str, JsonValue]]", record["events"])
    values.pop("usage")
    values.pop("events")
    return IndexUse(
        usage=tuple(ModelTokens(**one) for one in usage),  # pyright: ignore[reportArgumentType] written by to_json
        events=tuple(_event_from(event) for event in events),
        **values,  # pyright: ignore[reportArgumentType] written by to_json
    )


_EVENTS = {"model": ModelCall, "tool": ToolCall, "primitive": PrimitiveOperation, "note": Note}


def _event_from(record: Mapping[str, JsonValue]) -> Event:
    values = {
        name: tuple(value) if isinstance(value, list) else value for name, value in record.items()
    }
    return _EVENTS[cast("str", record["kind"])](**values)  # pyright: ignore[reportArgumentType] written by to_json
