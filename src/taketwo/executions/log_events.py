"""From the JSON of one sample in a log to the trajectory of its cell.

What is read are the engine's model and tool events and the info events that the harness writes
(`taketwo.model`, `.primitive`, `.tool`, `.reported`, `.note`, `.cell`). A sample without
`taketwo.cell` was not finished: its trajectory is `not_run`, whatever else it says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast, get_args

from taketwo.errors import ForeignLog
from taketwo.executions.log_index import IndexReading
from taketwo.executions.log_json import (
    Json,
    arguments,
    first_text,
    in_ranges,
    instant,
    items,
    number,
    part,
    plain_json,
    plain_text,
    text,
    texts,
    thinking,
    whole,
)
from taketwo.executions.log_reported import reported_event
from taketwo.executions.request_hash import identity_of_request
from taketwo.executions.trajectory import (
    Event,
    Failure,
    Freshness,
    ModelCall,
    Note,
    PrimitiveOperation,
    RunStatus,
    ToolCall,
    Trajectory,
)

__all__ = ["UnreadableSample", "trajectory_of"]

_ATTACHMENT = "attachment://"


class UnreadableSample(ForeignLog):
    """A sample that does not say which cell it is, or how it ended in words that are known here."""


def trajectory_of(sample: Json, *, log: str | None = None) -> Trajectory:
    """Return what happened in the cell that `sample` (a sample's JSON in a log) holds.

    Raises
    ------
    UnreadableSample
        If the sample does not say which cell it is, or its status is not known.
    """
    metadata = part(sample, "metadata")
    arm, question_id = text(metadata, "arm"), text(metadata, "question_id")
    execution = whole(metadata, "execution")
    if arm is None or question_id is None or execution is None:
        raise UnreadableSample(
            f"{log or 'log'}: sample {sample.get('id')!r} does not say which cell it is; "
            f"its metadata has {sorted(metadata)}, needed are arm, question_id and execution"
        )
    reading = _Reading(sample)
    for event in items(sample, "events"):
        reading.add(cast("Json", event))
    trajectory = Trajectory(
        arm=arm,
        question_id=question_id,
        execution=execution,
        run_status="not_run",
        log=log,
        attempts=1,
        started=text(sample, "started_at"),
        events=tuple(reading.events),
        index=reading.index.use(),
    )
    if reading.cell is None:
        return replace(trajectory, failure=_failure_of_sample(sample))
    return _with_end(trajectory, reading.cell)


def _with_end(trajectory: Trajectory, cell: Json) -> Trajectory:
    status = text(cell, "run_status")
    if status not in get_args(RunStatus):
        raise UnreadableSample(
            f"{trajectory.log or 'log'}: cell {trajectory.sample_id!r} ended as {status!r}, "
            f"which this version does not know; read it with the version that wrote it"
        )
    answer = part(cell, "answer")
    failure = part(cell, "failure")
    return replace(
        trajectory,
        run_status=cast("RunStatus", status),
        answer_index=whole(answer, "option_index"),
        answer_text=text(answer, "text") or "",
        reasoning=text(answer, "reasoning") or "",
        forced=answer.get("forced") is True,
        limit=text(cell, "limit") or text(answer, "limit"),
        failure=_failure_of(failure) if failure else None,
        latency_s=number(cell, "latency_s"),
        latency_wall_s=number(cell, "latency_wall_s"),
        video_sha256=text(cell, "video_sha256"),
        limits=cast("Mapping[str, int | float | None]", part(cell, "limits")) or None,
        unavailable={
            name: reason
            for name, reason in part(cell, "unavailable").items()
            if isinstance(reason, str)
        },
    )


def _failure_of(record: Json) -> Failure:
    return Failure(
        cause=text(record, "cause") or "unknown",
        message=text(record, "message") or "",
        http_status=whole(record, "http_status"),
        retryable=record.get("retryable") is not False,
    )


def _failure_of_sample(sample: Json) -> Failure | None:
    error = part(sample, "error")
    limit = part(sample, "limit")
    if error:
        return Failure(cause="interrupted", message=text(error, "message") or "")
    if limit:
        return Failure(cause="engine limit", message=text(limit, "type") or "")
    return None


@dataclass
class _Reading:
    """The running state of reading one sample."""

    sample: Json
    events: list[Event] = field(default_factory=list[Event])
    cell: Json | None = None
    _open_model: int | None = None
    _request: Json | None = None
    _seen: dict[str, int] = field(default_factory=dict[str, int])
    _asked: dict[str, Json] = field(default_factory=dict[str, Json])
    _tool_at: dict[str, int] = field(default_factory=dict[str, int])

    def __post_init__(self) -> None:
        pools = part(self.sample, "events_data")
        self._attachments = part(self.sample, "attachments")
        self._messages = items(pools, "messages")
        self._calls = items(pools, "calls")
        self._started = instant(text(self.sample, "started_at"))
        self.index = IndexReading(lambda: _Reading(self.sample))

    def add(self, event: Json) -> None:
        """Take in the next event of the sample."""
        if self.index.take(event):
            return
        kind = event.get("event")
        if kind == "model":
            self._add_model(event)
        elif kind == "tool":
            self._add_tool(event)
        elif kind == "info":
            source = text(event, "source")
            data = cast("Json", self._resolved(event.get("data")))
            if source == "taketwo.model":
                self._complete_model(data)
            elif source == "taketwo.tool":
                self._complete_tool(data, event)
            elif source == "taketwo.primitive":
                self.events.append(_primitive_of(data, self._since_start(event)))
            elif source == "taketwo.reported":
                reported = reported_event(data, self._since_start(event))
                if reported is not None:
                    self.events.append(reported)
            elif source == "taketwo.note":
                note = Note(text=text(data, "text") or "", started_s=self._since_start(event))
                self.events.append(note)
            elif source == "taketwo.cell":
                self.cell = data

    def _add_model(self, event: Json) -> None:
        if event.get("pending"):
            return
        call, output = part(event, "call"), part(event, "output")
        usage = part(output, "usage")
        request = self._request_of(call)
        response = part(call, "response")
        message = self._reply_of(output)
        calls = [cast("Json", item) for item in items(message, "tool_calls")]
        for item in calls:
            self._asked[text(item, "id") or ""] = item
        role = text(event, "role") or "orchestrator"
        failed = text(event, "error")
        self._request = request
        self.events.append(
            ModelCall(
                role=role,
                model=text(event, "model") or "",
                served_model=None if failed else text(output, "model"),
                fingerprint=text(response, "system_fingerprint"),
                response_id=first_text(response, ("id", "response_id", "responseId")),
                input_tokens=_input_tokens(usage),
                output_tokens=whole(usage, "output_tokens"),
                latency_s=number(part(output, "metadata"), "charged_s"),
                retries=whole(event, "retries") or 0,
                cache=text(event, "cache"),
                started_s=self._since_start(event),
                input_text=self._new_input(event, role),
                text=plain_text(message.get("content")),
                reasoning=thinking(message.get("content")),
                tool_calls=tuple(text(item, "function") or "" for item in calls),
                error=failed,
            )
        )
        self._open_model = len(self.events) - 1
        self._identify(())

    def _identify(self, media: tuple[str, ...]) -> None:
        """Hash the request of the latest call, together with its media."""
        at = self._open_model
        if at is None:
            return
        call = replace(cast("ModelCall", self.events[at]), media_sha256=media)
        if self._request is not None:
            identity = identity_of_request(self._request, media)
            call = replace(
                call,
                request_sha256=identity.request_sha256,
                system_sha256=identity.system_sha256,
                tools_sha256=identity.tools_sha256,
                sampling_sent=identity.sampling,
            )
        self.events[at] = call

    def _complete_model(self, data: Json) -> None:
        """Add what the harness recorded after the latest generation."""
        at = self._open_model
        if at is None:
            return
        self._identify(texts(data, "media_sha256"))
        call = cast("ModelCall", self.events[at])
        latency = number(data, "latency_s")
        self.events[at] = replace(
            call,
            role=text(data, "role") or call.role,
            system_text_sha256=text(data, "system_text_sha256"),
            latency_s=call.latency_s if latency is None else latency,
            error=call.error or text(data, "error"),
        )
        self._open_model = None

    def _add_tool(self, event: Json) -> None:
        call_id = text(event, "id") or ""
        error = part(event, "error")
        self._tool_at[call_id] = len(self.events)
        self.events.append(
            ToolCall(
                call_id=call_id,
                name=text(event, "function") or "",
                arguments=arguments(self._resolved(event.get("arguments"))),
                result=plain_text(self._resolved(event.get("result"))),
                error=text(error, "type") if error else None,
                truncated=bool(event.get("truncated")),
                started_s=self._since_start(event),
            )
        )

    def _complete_tool(self, data: Json, event: Json) -> None:
        """Add what the harness recorded about a visible call, whoever executed it."""
        call_id = text(data, "call_id") or ""
        at = self._tool_at.get(call_id)
        if at is None:
            asked = self._asked.get(call_id, {})
            given = asked.get("arguments", data.get("arguments"))
            call = ToolCall(
                call_id=call_id,
                name=text(data, "name") or text(asked, "function") or "",
                arguments=arguments(given),
                result=self._tool_message(call_id),
                started_s=self._since_start(event),
            )
            self.events.append(call)
            at = len(self.events) - 1
        call = cast("ToolCall", self.events[at])
        times = [value for value in items(data, "frame_times_s") if isinstance(value, (int, float))]
        self.events[at] = replace(
            call,
            frames=texts(data, "frames"),
            frame_times_s=tuple(float(value) for value in times),
            error=text(data, "error") or call.error,
            latency_s=number(data, "latency_s"),
        )

    def _tool_message(self, call_id: str) -> str:
        for message in [*self._messages, *items(self.sample, "messages")]:
            record = cast("Json", message)
            if text(record, "role") == "tool" and text(record, "tool_call_id") == call_id:
                return plain_text(self._resolved(record.get("content")))
        return ""

    def _reply_of(self, output: Json) -> Json:
        choices = items(output, "choices")
        return cast("Json", self._resolved(part(choices[0], "message") if choices else {}))

    def _request_of(self, call: Json) -> Json | None:
        request = part(call, "request")
        if not request:
            return None
        refs = items(call, "call_refs")
        whole_request = dict(request)
        if refs:
            key = text(call, "call_key") or "messages"
            whole_request[key] = in_ranges(refs, self._calls)
        return cast("Json", self._resolved(whole_request))

    def _new_input(self, event: Json, role: str) -> str:
        """Return the text of the messages that this role had not been sent before."""
        refs = items(event, "input_refs")
        messages = in_ranges(refs, self._messages) if refs else items(event, "input")
        known = self._seen.get(role, 0)
        self._seen[role] = len(messages)
        fresh = messages[known:] if len(messages) > known else messages
        parts = [
            plain_text(self._resolved(cast("Json", message).get("content")))
            for message in fresh
            if text(message, "role") != "assistant"
        ]
        return "\n\n".join(item for item in parts if item)

    def _resolved(self, value: object) -> object:
        """Return `value` as plain JSON, with long texts put back where the log refers to them."""
        return plain_json(value, put_back=self._put_back)

    def _put_back(self, value: str) -> str:
        if not value.startswith(_ATTACHMENT):
            return value
        found = self._attachments.get(value.removeprefix(_ATTACHMENT), value)
        return found if isinstance(found, str) else value

    def _since_start(self, event: Json) -> float | None:
        at = instant(text(event, "timestamp"))
        if at is None or self._started is None:
            return None
        return round((at - self._started).total_seconds(), 3)


def _primitive_of(data: Json, started_s: float | None) -> PrimitiveOperation:
    freshness = text(data, "freshness")
    return PrimitiveOperation(
        operation=text(data, "operation") or "",
        succeeded=data.get("succeeded") is True,
        freshness=cast("Freshness", freshness if freshness in get_args(Freshness) else "fresh"),
        seconds=number(data, "seconds") or 0.0,
        charged_s=number(data, "charged_s") or 0.0,
        frames=whole(data, "frames") or 0,
        audio_s=number(data, "audio_s") or 0.0,
        model_calls=whole(data, "model_calls") or 0,
        tokens=whole(data, "tokens"),
        call_id=text(data, "call_id"),
        error=text(data, "error"),
        started_s=started_s,
        asked_sha256=text(data, "asked_sha256"),
        result_sha256=text(data, "result_sha256"),
        speech_source=text(data, "speech_source"),
    )


def _input_tokens(usage: Json) -> int | None:
    """Return all input tokens, those that a provider read from or wrote to its cache included."""
    plain = whole(usage, "input_tokens")
    if plain is None:
        return None
    read, written = (
        whole(usage, "input_tokens_cache_read"),
        whole(usage, "input_tokens_cache_write"),
    )
    return plain + (read or 0) + (written or 0)
