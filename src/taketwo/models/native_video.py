"""Video by reference in a message, and the manners of the HTTP providers that send it natively.

A text part whose `internal` holds `{"taketwo_video": {path, sha256, start_s, end_s, fps,
resolution}}` stands for a video, or a stretch of it. Providers that cannot send it refuse it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import httpx
from inspect_ai.model import ChatMessage, ContentText, RetryDecision
from pydantic import JsonValue

from taketwo.errors import HarnessError, RequestError
from taketwo.models.request_media import SentAudio, SentFrame, contents_of, media_of

__all__ = [
    "ReplyError",
    "VideoReference",
    "media_hashes",
    "reply_record",
    "retry_decision",
    "video_of",
]

_RESOLUTIONS = ("low", "medium", "high")


class ReplyError(HarnessError):
    """A provider replied with an error, with nothing, or with what is not a reply."""

    def __init__(self, message: str, status: int, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, kw_only=True)
class VideoReference:
    """A video file, or the stretch of it from `start_s` to `end_s`, sampled at `fps` if given."""

    path: Path
    sha256: str
    start_s: float | None = None
    end_s: float | None = None
    fps: float | None = None
    resolution: str | None = None

    @property
    def is_whole(self) -> bool:
        """Return whether no stretch is named."""
        return not self.start_s and self.end_s is None


def _seconds(record: Mapping[str, JsonValue], name: str) -> float | None:
    value = record.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise RequestError(
            f"the video reference has {name}={value!r}; give a number or leave it out"
        )
    return float(value)


def video_of(part: ContentText) -> VideoReference | None:
    """Return the video that a text part stands for, None for plain text.

    Raises
    ------
    RequestError
        If the reference lacks a path or a hash, names times that do not fit together, or a
        resolution other than low, medium, high.
    """
    internal = part.internal
    if not isinstance(internal, dict) or "taketwo_video" not in internal:
        return None
    record = cast("Mapping[str, JsonValue]", internal["taketwo_video"])
    path, sha256, resolution = record.get("path"), record.get("sha256"), record.get("resolution")
    if not isinstance(path, str) or not isinstance(sha256, str):
        raise RequestError(f"a video reference needs path and sha256, found {sorted(record)}")
    if resolution is not None and resolution not in _RESOLUTIONS:
        raise RequestError(f"resolution {resolution!r} is not one of {', '.join(_RESOLUTIONS)}")
    reference = VideoReference(
        path=Path(path),
        sha256=sha256,
        start_s=_seconds(record, "start_s"),
        end_s=_seconds(record, "end_s"),
        fps=_seconds(record, "fps"),
        resolution=cast("str | None", resolution),
    )
    start_s = reference.start_s or 0.0
    if start_s < 0 or (reference.end_s is not None and reference.end_s <= start_s):
        raise RequestError(
            f"the stretch {reference.start_s} to {reference.end_s} s of {path!r} is empty or "
            "negative; the start must be at least 0 and before the end"
        )
    return reference


def media_hashes(messages: Sequence[ChatMessage], model: str) -> list[str]:
    """Return the SHA-256 of every video, picture and sound of the messages, in their order."""
    hashes: list[str] = []
    for message in messages:
        inline = iter(media_of([message], model))
        for part in contents_of(message):
            if isinstance(part, ContentText):
                reference = video_of(part)
                if reference is not None:
                    hashes.append(reference.sha256)
            else:
                item: SentFrame | SentAudio | None = next(inline, None)
                if item is not None:
                    hashes.append(item.sha256)
    return hashes


def reply_record(response: httpx.Response, provider: str) -> dict[str, JsonValue]:
    """Return the JSON object of a reply.

    Raises
    ------
    ReplyError
        If the status is not a success, or the body is not a JSON object.
    """
    if not response.is_success:
        wait = response.headers.get("retry-after", "")
        raise ReplyError(
            f"{provider} replied {response.status_code} to {response.request.url.path}: "
            f"{response.text[:300]}",
            response.status_code,
            float(wait) if wait.replace(".", "", 1).isdigit() else None,
        )
    try:
        record = response.json()
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise ReplyError(
            f"{provider} replied {response.status_code} with a body that is no JSON object: "
            f"{response.text[:120]!r}",
            response.status_code,
        )
    return cast("dict[str, JsonValue]", record)


def retry_decision(error: Exception) -> RetryDecision:
    """Return whether the same request may succeed later.

    429 is a rate limit; 408, 5xx, timeouts and broken connections are passing; everything else,
    such as a refused request or a reply that is empty or malformed, is final.
    """
    if isinstance(error, ReplyError):
        if error.status == 429:
            return RetryDecision.rate_limit(error.retry_after_s)
        if error.status == 408 or error.status >= 500:
            return RetryDecision.transient(error.retry_after_s)
        return RetryDecision.no()
    if isinstance(error, httpx.TransportError):
        return RetryDecision.transient()
    cause = error.__cause__
    return retry_decision(cause) if isinstance(cause, Exception) else RetryDecision.no()
