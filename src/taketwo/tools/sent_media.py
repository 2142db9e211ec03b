"""What media a request carries, and a guard against media that a provider drops without a word."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterator, Sequence

from inspect_ai.model import (
    ChatMessage,
    ChatMessageTool,
    ContentAudio,
    ContentData,
    ContentDocument,
    ContentImage,
    ContentText,
    ContentVideo,
)

from taketwo.errors import RequestError
from taketwo.tools.native_video import video_reference

__all__ = ["frame_label", "frames_in", "image_content", "media_sha256", "refuse_droppable"]

_AUDIO_PROVIDERS = frozenset({
    "openai",
    "openai-api",
    "google",
    "vllm",
    "taketwo",
    "gemini-video",
    "mockllm",
    "scripted",
})
_VIDEO_PROVIDERS = frozenset({"openai", "google", "anthropic", "gemini-video", "vllm-video"})
"""Providers that send such content of a user message, or refuse it loudly.

Measured from request bodies with inspect_ai 0.3.285. Others may drop it, and the log would show
media that no model received.
"""

_REFERENCE_PROVIDERS = frozenset({"gemini-video", "vllm-video", "scripted"})
"""Providers that know a video by reference; any other would send the words with it and no video."""

_Media = ContentImage | ContentAudio | ContentVideo | ContentDocument | ContentText
"""A text is a medium where it carries a reference to a video."""


def frame_label(time_s: float) -> str:
    """Return the text that stands before a frame, `[frame at 12.00 s]`."""
    return f"[frame at {time_s:.2f} s]"


def image_content(time_s: float, jpeg: bytes) -> tuple[ContentText, ContentImage]:
    """Return a frame as it goes to a model: its time, then the picture."""
    uri = f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}"
    return ContentText(text=frame_label(time_s)), ContentImage(image=uri)


def media_sha256(messages: Sequence[ChatMessage]) -> tuple[str, ...]:
    """Return the hex SHA-256 of each medium in `messages`, in order.

    Raises
    ------
    RequestError
        If a medium is not inline: a path or an address cannot be vouched for.
    """
    return tuple(_sha256(part) for _, part in _media(messages))


def frames_in(messages: Sequence[ChatMessage]) -> int:
    """Return how many pictures a model is handed: a video by reference counts as those of its rate.

    A recording is no picture.
    """
    count = 0
    for _, part in _media(messages):
        if isinstance(part, ContentAudio):
            continue
        reference = video_reference(part) if isinstance(part, ContentText) else None
        frames = 1 if reference is None else reference.get("frames")
        count += frames if isinstance(frames, int) else 1
    return count


def refuse_droppable(messages: Sequence[ChatMessage], provider: str) -> None:
    """Refuse media that `provider` may leave out of the request without a word.

    Tool results may carry text and pictures only: five of six providers drop other media there.

    Raises
    ------
    RequestError
        For the first such medium.
    """
    for message, part in _media(messages):
        if isinstance(part, ContentImage):
            continue
        kind = "video by reference" if isinstance(part, ContentText) else part.type
        in_tool_result = isinstance(message, ChatMessageTool)
        sent_by = {
            "audio": _AUDIO_PROVIDERS,
            "video": _VIDEO_PROVIDERS,
            "video by reference": _REFERENCE_PROVIDERS,
        }.get(kind, frozenset())
        if in_tool_result or provider not in sent_by:
            where = "a tool result" if in_tool_result else f"a {message.role} message"
            raise RequestError(
                f"{kind} in {where} may never reach {provider!r}: the provider can drop it without "
                "a word; hand over frames as images with their times, or use a provider that "
                f"sends {kind}"
            )


def _media(messages: Sequence[ChatMessage]) -> Iterator[tuple[ChatMessage, _Media]]:
    for message in messages:
        if isinstance(message.content, str):
            continue
        for part in message.content:
            if isinstance(part, ContentImage | ContentAudio | ContentVideo | ContentDocument):
                yield message, part
            elif isinstance(part, ContentText):
                if video_reference(part) is not None:
                    yield message, part
            elif isinstance(part, ContentData):
                raise RequestError(
                    f"a {message.role} message carries provider data that no other provider reads; "
                    "hand over text and images"
                )


def _sha256(part: _Media) -> str:
    if isinstance(part, ContentText):
        return str((video_reference(part) or {}).get("sha256"))
    if isinstance(part, ContentImage):
        source = part.image
    elif isinstance(part, ContentAudio):
        source = part.audio
    elif isinstance(part, ContentVideo):
        source = part.video
    else:
        source = part.document
    head, comma, body = source.partition(",")
    if not (comma and head.startswith("data:") and head.endswith(";base64")):
        raise RequestError(
            f"a {part.type} of a request is not inline ({source[:40]!r}); read it and send its bytes"
        )
    try:
        return hashlib.sha256(base64.b64decode(body, validate=True)).hexdigest()
    except binascii.Error as error:
        raise RequestError(f"a {part.type} of a request is not valid base64 ({error})") from error
