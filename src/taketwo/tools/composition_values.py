"""What flows through a composition, and where it came from: windows, frames, speech, observations, pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from taketwo.benchmarks.canonical import JsonValue
from taketwo.media.transcript import Transcript
from taketwo.tools.composition_forms import ValueType
from taketwo.tools.seen_frames import SeenFrame
from taketwo.tools.transcribe_speech import transcript_lines

__all__ = [
    "MAX_CHARACTERS",
    "Document",
    "DocumentsValue",
    "FlagValue",
    "FramesValue",
    "ObservedValue",
    "Provenance",
    "TextValue",
    "TextsValue",
    "TranscriptValue",
    "Value",
    "WindowValue",
    "evidence_json",
    "evidence_line",
    "evidence_text",
    "is_there",
    "provenance_of",
]

MAX_CHARACTERS = 24_000


@dataclass(frozen=True, kw_only=True)
class WindowValue:
    """A part of the video in seconds, inside the video."""

    start_s: float
    end_s: float


@dataclass(frozen=True, kw_only=True)
class TextValue:
    """A text that the caller gave, or an address."""

    text: str


@dataclass(frozen=True, kw_only=True)
class TextsValue:
    """Texts that the caller gave."""

    texts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class FlagValue:
    """Whether something is so; `remark` says why, in our words."""

    is_set: bool
    remark: str = ""


@dataclass(frozen=True, kw_only=True)
class FramesValue:
    """Frames of a part of the video. `remark` says how many there are and why not more."""

    frames: tuple[SeenFrame, ...]
    window: WindowValue
    remark: str = ""


@dataclass(frozen=True, kw_only=True)
class TranscriptValue:
    """The segments of speech that lie in a part of the video, whole."""

    speech: Transcript
    window: WindowValue


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """What something was made from; times in seconds of the video."""

    window_s: tuple[float, float] | None = None
    frame_times_s: tuple[float, ...] = ()
    speech_s: tuple[float, float] | None = None
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ObservedValue:
    """What a model says about the video. Untrusted."""

    text: str
    made_from: Provenance


@dataclass(frozen=True, kw_only=True)
class Document:
    """A page or a result of a search. Untrusted."""

    address: str
    title: str
    text: str


@dataclass(frozen=True, kw_only=True)
class DocumentsValue:
    """Pages, or results of a search."""

    documents: tuple[Document, ...]


Value = (
    WindowValue
    | TextValue
    | TextsValue
    | FlagValue
    | FramesValue
    | TranscriptValue
    | ObservedValue
    | DocumentsValue
)


def is_there(value: Value | None) -> bool:
    """Return whether a value is one: found, true, not empty."""
    match value:
        case None:
            return False
        case WindowValue():
            return True
        case TextValue():
            return bool(value.text.strip())
        case TextsValue():
            return bool(value.texts)
        case FlagValue():
            return value.is_set
        case FramesValue():
            return bool(value.frames)
        case TranscriptValue():
            return bool(value.speech.segments)
        case ObservedValue():
            return bool(value.text.strip())
        case DocumentsValue():
            return bool(value.documents)
        case _:
            assert_never(value)


def provenance_of(values: Sequence[Value]) -> Provenance:
    """Return what something that was made from `values` comes from, all of them together."""
    windows: list[tuple[float, float]] = []
    speech: list[tuple[float, float]] = []
    times_s: set[float] = set()
    addresses: list[str] = []
    for value in values:
        if isinstance(value, FramesValue | TranscriptValue):
            windows.append((value.window.start_s, value.window.end_s))
        if isinstance(value, FramesValue):
            times_s |= {frame.time_s for frame in value.frames}
        elif isinstance(value, TranscriptValue) and value.speech.segments:
            speech.append(_span(value.speech))
        elif isinstance(value, ObservedValue):
            times_s |= set(value.made_from.frame_times_s)
            windows += [value.made_from.window_s] if value.made_from.window_s else []
            speech += [value.made_from.speech_s] if value.made_from.speech_s else []
            addresses += value.made_from.addresses
        elif isinstance(value, DocumentsValue):
            addresses += [one.address for one in value.documents]
    return Provenance(
        window_s=_union(windows),
        frame_times_s=tuple(sorted(times_s)),
        speech_s=_union(speech),
        addresses=tuple(dict.fromkeys(addresses)),
    )


def evidence_line(value: Value) -> str:
    """Return what a piece of evidence is and where it comes from, in our own words on one line."""
    match value:
        case WindowValue():
            return _seconds(value.start_s, value.end_s)
        case FlagValue():
            said = "yes" if value.is_set else "no"
            return f"{said}, {value.remark}" if value.remark else said
        case FramesValue():
            times = ", ".join(f"{frame.time_s:.1f}" for frame in value.frames)
            return f"{value.remark or len(value.frames)}, at {times} s"
        case TranscriptValue():
            window = _seconds(value.window.start_s, value.window.end_s)
            count = len(value.speech.segments)
            if not count:
                return f"no speech in {window}"
            segments = "1 segment" if count == 1 else f"{count} segments"
            return f"{segments}, {_seconds(*_span(value.speech))}, overlapping {window}"
        case ObservedValue():
            return f"from {_origin(value.made_from)}"
        case DocumentsValue():
            return f"{len(value.documents)} from the web"
        case TextValue() | TextsValue():
            return "given"
        case _:
            assert_never(value)


def evidence_text(value: Value) -> str:
    """Return the untrusted text of a piece of evidence, all of it; empty where it has none."""
    match value:
        case TranscriptValue():
            return "\n".join(transcript_lines(value.speech))
        case ObservedValue():
            return value.text.strip()
        case DocumentsValue():
            return "\n\n".join(
                f"{one.title}\n{one.address}\n{one.text}".strip() for one in value.documents
            )
        case _:
            return ""


def evidence_json(kind: ValueType, value: Value) -> dict[str, JsonValue]:
    """Return a piece of evidence with its provenance as JSON values; pictures by their hash."""
    origin = value.made_from if isinstance(value, ObservedValue) else provenance_of([value])
    record: dict[str, JsonValue] = {"type": kind, **_origin_json(origin)}
    match value:
        case WindowValue():
            record["window_s"] = [value.start_s, value.end_s]
        case FlagValue():
            record |= {"value": value.is_set, "remark": value.remark}
        case FramesValue():
            record["frames"] = [frame.sha256 for frame in value.frames]
        case TranscriptValue():
            record["segments"] = [
                {"start_s": one.start_s, "end_s": one.end_s, "text": one.text}
                for one in value.speech.segments
            ]
            record["source"] = value.speech.source
        case ObservedValue():
            record["text"] = value.text
        case DocumentsValue():
            record["documents"] = [
                {"url": one.address, "title": one.title, "text": one.text}
                for one in value.documents
            ]
        case TextValue() | TextsValue():
            pass
        case _:
            assert_never(value)
    return record


def _origin_json(origin: Provenance) -> Mapping[str, JsonValue]:
    return {
        "window_s": None if origin.window_s is None else list(origin.window_s),
        "frame_times_s": list(origin.frame_times_s),
        "speech_s": None if origin.speech_s is None else list(origin.speech_s),
        "addresses": list(origin.addresses),
    }


def _origin(origin: Provenance) -> str:
    parts: list[str] = []
    if origin.frame_times_s:
        span = _seconds(origin.frame_times_s[0], origin.frame_times_s[-1])
        parts.append(f"{len(origin.frame_times_s)} frames, {span}")
    if origin.speech_s is not None:
        parts.append(f"speech, {_seconds(*origin.speech_s)}")
    if origin.addresses:
        parts.append(f"{len(origin.addresses)} web addresses")
    return " and ".join(parts) or "nothing that was seen or heard"


def _span(speech: Transcript) -> tuple[float, float]:
    return (
        min(segment.start_s for segment in speech.segments),
        max(segment.end_s for segment in speech.segments),
    )


def _union(spans: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    if not spans:
        return None
    return min(start for start, _ in spans), max(end for _, end in spans)


def _seconds(start_s: float, end_s: float) -> str:
    return f"{start_s:.1f} s" if start_s == end_s else f"{start_s:.1f}-{end_s:.1f} s"
