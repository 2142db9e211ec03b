"""The body of a Gemini `generateContent` request, and what its reply says."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import cast

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ContentAudio,
    ContentImage,
    ContentText,
    GenerateConfig,
    ModelUsage,
    StopReason,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolFunction, ToolInfo
from pydantic import JsonValue

from taketwo.models.gemini_files import UploadedFile
from taketwo.models.native_video import video_of
from taketwo.models.request_media import contents_of, data_uri_bytes

__all__ = ["PARTS_KEY", "calls_in", "captured", "request_body", "stop_reason", "usage_in"]

Json = dict[str, JsonValue]

PARTS_KEY = "gemini_parts"  # metadata of a reply: its parts as sent, with their thought signatures

_SCHEMA_KEYS = ("type", "description", "enum", "format", "minimum", "maximum", "required")
_STOPS: dict[str, StopReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "max_tokens",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
}


def _schema(schema: Mapping[str, JsonValue]) -> Json:
    """Return the part of a JSON schema that function declarations understand."""
    out: Json = {key: schema[key] for key in _SCHEMA_KEYS if schema.get(key) is not None}
    if isinstance(items := schema.get("items"), dict):
        out["items"] = _schema(items)
    if isinstance(properties := schema.get("properties"), dict):
        out["properties"] = {
            name: _schema(cast("Json", value)) for name, value in properties.items()
        }
    return out


def _parts(message: ChatMessage, uploads: Mapping[str, UploadedFile]) -> list[JsonValue]:
    parts: list[JsonValue] = []
    for part in contents_of(message):
        if isinstance(part, ContentText):
            video = video_of(part)
            if video is None:
                parts.append({"text": part.text})
                continue
            upload = uploads[video.sha256]
            metadata: Json = {}
            if video.start_s is not None:
                metadata["startOffset"] = f"{video.start_s:g}s"
            if video.end_s is not None:
                metadata["endOffset"] = f"{video.end_s:g}s"
            if video.fps is not None:
                metadata["fps"] = video.fps
            sent: Json = {"fileData": {"mimeType": upload.mime_type, "fileUri": upload.uri}}
            if metadata:
                sent["videoMetadata"] = metadata
            parts.append(sent)
            if part.text:
                parts.append({"text": part.text})
        elif isinstance(part, ContentImage | ContentAudio):
            uri = part.image if isinstance(part, ContentImage) else part.audio
            data, media_type = data_uri_bytes(uri, "gemini-video")
            inline: Json = {"mimeType": media_type, "data": base64.b64encode(data).decode()}
            parts.append({"inlineData": inline})
    return parts


def _contents(messages: Sequence[ChatMessage], uploads: Mapping[str, UploadedFile]) -> list[Json]:
    contents: list[Json] = []
    for message in messages:
        if isinstance(message, ChatMessageSystem):
            continue
        role = "user"
        parts: list[JsonValue] = _parts(message, uploads)
        if isinstance(message, ChatMessageAssistant):
            role = "model"
            sent_before = (message.metadata or {}).get(PARTS_KEY)
            if sent_before:
                parts = cast("list[JsonValue]", sent_before)
            else:
                for called in message.tool_calls or ():
                    call: Json = {"name": called.function, "args": called.arguments}
                    parts.append({"functionCall": call})
        elif isinstance(message, ChatMessageTool):
            result: Json = (
                {"error": message.error.message} if message.error else {"result": message.text}
            )
            media = [part for part in parts if "text" not in cast("Json", part)]
            response: Json = {"name": message.function or "", "response": result}
            parts = [{"functionResponse": response}, *(parts if media else [])]
        if contents and contents[-1]["role"] == role:
            cast("list[JsonValue]", contents[-1]["parts"]).extend(parts)
        else:
            contents.append({"role": role, "parts": parts})
    return contents


def _sampling(config: GenerateConfig, resolution: str | None) -> Json:
    values: Json = {
        "temperature": config.temperature,
        "topP": config.top_p,
        "topK": config.top_k,
        "seed": config.seed,
        "maxOutputTokens": config.max_tokens,
        "stopSequences": cast("JsonValue", config.stop_seqs),
        "mediaResolution": f"MEDIA_RESOLUTION_{resolution.upper()}" if resolution else None,
    }
    if config.reasoning_tokens is not None:
        values["thinkingConfig"] = {"thinkingBudget": config.reasoning_tokens}
    return {name: value for name, value in values.items() if value is not None}


def _calling(tool_choice: ToolChoice) -> Json:
    if isinstance(tool_choice, ToolFunction):
        return {"mode": "ANY", "allowedFunctionNames": [tool_choice.name]}
    return {"mode": {"auto": "AUTO", "any": "ANY", "none": "NONE"}[tool_choice]}


def request_body(
    messages: Sequence[ChatMessage],
    uploads: Mapping[str, UploadedFile],
    tools: Sequence[ToolInfo],
    tool_choice: ToolChoice,
    config: GenerateConfig,
) -> Json:
    """Return the request.

    Parameters
    ----------
    uploads
        The upload of each video by its SHA-256.
    """
    system = "\n\n".join(m.text for m in messages if isinstance(m, ChatMessageSystem))
    videos = [
        video
        for message in messages
        for part in contents_of(message)
        if isinstance(part, ContentText) and (video := video_of(part))
    ]
    resolution = next((video.resolution for video in videos if video.resolution), None)
    body: Json = {"contents": cast("JsonValue", _contents(messages, uploads))}
    if system:
        body["systemInstruction"] = {"parts": [{"text": system}]}
    if tools:
        declarations: list[JsonValue] = []
        for tool in tools:
            declared: Json = {"name": tool.name, "description": tool.description}
            if tool.parameters.properties:
                declared["parameters"] = _schema(tool.parameters.model_dump(exclude_none=True))
            declarations.append(declared)
        body["tools"] = [{"functionDeclarations": declarations}]
        body["toolConfig"] = {"functionCallingConfig": _calling(tool_choice)}
    if sampling := _sampling(config, resolution):
        body["generationConfig"] = sampling
    return body


def captured(value: JsonValue, sha256_by_uri: Mapping[str, str]) -> JsonValue:
    """Return a request body with uploads and inline media replaced by their SHA-256."""
    if isinstance(value, list):
        return [captured(item, sha256_by_uri) for item in value]
    if not isinstance(value, dict):
        return value
    if "fileUri" in value:
        return {"sha256": sha256_by_uri.get(str(value["fileUri"])), "mimeType": value["mimeType"]}
    if set(value) == {"mimeType", "data"}:
        digest = hashlib.sha256(base64.b64decode(str(value["data"]))).hexdigest()
        return {"sha256": digest, "mimeType": value["mimeType"]}
    return {name: captured(item, sha256_by_uri) for name, item in value.items()}


def calls_in(parts: Sequence[Json], number: int) -> list[ToolCall]:
    """Return the function calls of a reply; `number` messages came before it and name the calls."""
    calls: list[ToolCall] = []
    for part in parts:
        call = part.get("functionCall")
        if isinstance(call, dict):
            arguments = call.get("args")
            calls.append(
                ToolCall(
                    id=str(call.get("id") or f"call_{number}_{len(calls) + 1}"),
                    function=str(call.get("name")),
                    arguments=dict(arguments) if isinstance(arguments, dict) else {},
                )
            )
    return calls


def stop_reason(finish: JsonValue, calls: Sequence[ToolCall]) -> StopReason:
    """Return why the reply ended, in the engine's words."""
    return "tool_calls" if calls else _STOPS.get(str(finish), "unknown")


def usage_in(reply: Json) -> ModelUsage | None:
    """Return the tokens that were reported, None where nothing was."""
    counts = reply.get("usageMetadata")
    if not isinstance(counts, dict):
        return None
    given = {name: value for name, value in counts.items() if isinstance(value, int)}
    thoughts, cached = given.get("thoughtsTokenCount"), given.get("cachedContentTokenCount")
    return ModelUsage(
        input_tokens=given.get("promptTokenCount", 0) - (cached or 0),
        output_tokens=given.get("candidatesTokenCount", 0) + (thoughts or 0),
        total_tokens=given.get("totalTokenCount", 0),
        input_tokens_cache_read=cached,
        reasoning_tokens=thoughts,
    )
