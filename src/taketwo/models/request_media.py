"""The media of a request: what messages carry, in order, and the record of it without the bytes."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    Content,
    ContentAudio,
    ContentImage,
    ContentText,
    GenerateConfig,
)
from inspect_ai.tool import ToolChoice, ToolInfo
from pydantic import JsonValue

from taketwo.errors import RequestError

__all__ = [
    "FRAME_LABEL",
    "SentAudio",
    "SentFrame",
    "captured_request",
    "contents_of",
    "data_uri_bytes",
    "estimated_tokens",
    "media_of",
    "refuse_other_kinds",
]

FRAME_LABEL = re.compile(r"\[frame at (\d+(?:\.\d+)?) ?s\]\s*$")

_CHARACTERS_PER_TOKEN = 4
_TOKENS_PER_IMAGE = 258

# What changes what a model says; the rest of the configuration is about connections.
_SAMPLING = (
    "temperature", "top_p", "top_k", "max_tokens", "seed", "stop_seqs", "frequency_penalty",
    "presence_penalty", "reasoning_effort", "reasoning_tokens",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SentFrame:
    """A picture in a request; `time_s` is that of the label before it, None where there is none."""

    time_s: float | None
    data: bytes
    sha256: str
    media_type: str
    message_index: int


@dataclass(frozen=True, kw_only=True)
class SentAudio:
    """A sound in a request."""

    data: bytes
    sha256: str
    media_type: str


def contents_of(message: ChatMessage) -> list[Content]:
    """Return the parts of a message, a plain string as one text part."""
    if isinstance(message.content, str):
        return [ContentText(text=message.content)] if message.content else []
    return list(message.content)


def data_uri_bytes(uri: str, model: str) -> tuple[bytes, str]:
    """Return the bytes and the media type of a base64 `data:` URI.

    Raises
    ------
    RequestError
        For anything else: a model never opens a path or an address that a message names.
    """
    match = re.match(r"data:([\w.+-]+/[\w.+-]+)(?:;[\w=.+-]+)*;base64,", uri)
    try:
        if match is None:
            raise ValueError
        return base64.b64decode(uri[match.end() :], validate=True), match.group(1)
    except (ValueError, binascii.Error):
        raise RequestError(
            f"{model} takes media as base64 data URIs only, got {uri[:40]!r}; "
            "read the file and inline its bytes"
        ) from None


def refuse_other_kinds(messages: Sequence[ChatMessage], kinds: set[str], model: str) -> None:
    """Raise `RequestError` where a message carries a kind of content that is not in `kinds`.

    A text part with native video (`internal["taketwo_video"]`) is of kind `taketwo_video`.
    """
    for position, message in enumerate(messages):
        for part in contents_of(message):
            kind: str = part.type
            if isinstance(part, ContentText) and isinstance(part.internal, dict):
                kind = "taketwo_video" if "taketwo_video" in part.internal else kind
            if kind not in kinds:
                raise RequestError(
                    f"{model} cannot take {kind!r} content (message {position}, role "
                    f"{message.role!r}); it takes {', '.join(sorted(kinds))}, and would rather "
                    "stop than answer without having seen it"
                )


def media_of(messages: Sequence[ChatMessage], model: str) -> tuple[SentFrame | SentAudio, ...]:
    """Return pictures and sounds of all messages in their order."""
    found: list[SentFrame | SentAudio] = []
    for position, message in enumerate(messages):
        time_s: float | None = None
        for part in contents_of(message):
            if isinstance(part, ContentText):
                label = FRAME_LABEL.search(part.text)
                time_s = float(label.group(1)) if label else None
            elif isinstance(part, ContentImage):
                data, media_type = data_uri_bytes(part.image, model)
                found.append(
                    SentFrame(
                        time_s=time_s,
                        data=data,
                        sha256=hashlib.sha256(data).hexdigest(),
                        media_type=media_type,
                        message_index=position,
                    )
                )
                time_s = None
            elif isinstance(part, ContentAudio):
                data, media_type = data_uri_bytes(part.audio, model)
                found.append(
                    SentAudio(
                        data=data, sha256=hashlib.sha256(data).hexdigest(), media_type=media_type
                    )
                )
    return tuple(found)


def _captured_content(message: ChatMessage, model: str) -> list[JsonValue]:
    parts: list[JsonValue] = []
    for part in contents_of(message):
        if isinstance(part, ContentText):
            parts.append(part.text)
        elif isinstance(part, ContentImage | ContentAudio):
            uri = part.image if isinstance(part, ContentImage) else part.audio
            data, media_type = data_uri_bytes(uri, model)
            parts.append({"sha256": hashlib.sha256(data).hexdigest(), "media_type": media_type})
    return parts


def captured_request(
    model: str,
    messages: Sequence[ChatMessage],
    tools: Sequence[ToolInfo],
    tool_choice: ToolChoice,
    config: GenerateConfig,
) -> dict[str, JsonValue]:
    """Return the request as it is logged: everything that reaches the model, media by hash."""
    logged: list[JsonValue] = []
    for message in messages:
        record: dict[str, JsonValue] = {
            "role": message.role,
            "content": _captured_content(message, model),
        }
        if isinstance(message, ChatMessageAssistant) and message.tool_calls:
            record["tool_calls"] = [
                {"id": call.id, "name": call.function, "arguments": call.arguments}
                for call in message.tool_calls
            ]
        if isinstance(message, ChatMessageTool):
            record["tool_call_id"] = message.tool_call_id
            record["name"] = message.function
            record["error"] = message.error.message if message.error else None
        logged.append(record)
    sampling = config.model_dump(include=set(_SAMPLING), exclude_none=True)
    return {
        "model": model,
        "messages": logged,
        "tools": [cast("JsonValue", tool.model_dump(exclude_none=True)) for tool in tools],
        "tool_choice": tool_choice if isinstance(tool_choice, str) else {"name": tool_choice.name},
        "sampling": cast("JsonValue", sampling),
    }


def estimated_tokens(messages: Sequence[ChatMessage]) -> int:
    """Return an estimate of the tokens of `messages`: a quarter of the characters, 258 a picture.

    The offline models have no tokenizer; the estimate makes long and short requests comparable and
    is marked as one in the metadata of the output. Sounds are not counted.
    """
    characters = pictures = 0
    for message in messages:
        for part in contents_of(message):
            if isinstance(part, ContentText):
                characters += len(part.text)
            elif isinstance(part, ContentImage):
                pictures += 1
        if isinstance(message, ChatMessageAssistant) and message.tool_calls:
            characters += sum(len(str(call.arguments)) for call in message.tool_calls)
    return -(-characters // _CHARACTERS_PER_TOKEN) + _TOKENS_PER_IMAGE * pictures
