"""What the wire protocols of three providers look like: replies to send, and how to read a request."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.models.http_service import Reply

__all__ = ["PROTOCOLS", "Protocol"]

_USAGE = (100, 7)


@dataclass(frozen=True)
class Protocol:
    """One protocol: the model's name, its endpoint, and how to speak it."""

    name: str
    model: str
    path: str
    suffix: str = ""

    def text(self, text: str) -> Reply:
        """Return a reply that says `text`."""
        return self._reply(text, ())

    def calls(self, *calls: tuple[str, str, Mapping[str, object]]) -> Reply:
        """Return a reply with parallel calls, each `(id, tool, arguments)`."""
        return self._reply("", calls)

    def _reply(self, text: str, calls: Sequence[tuple[str, str, Mapping[str, object]]]) -> Reply:
        body = {"openai": _openai, "anthropic": _anthropic, "google": _google}[self.name](
            text, calls
        )
        streamed = _anthropic_stream(body) if self.name == "anthropic" else None
        return Reply(body, streamed=streamed)

    def error(self, status: int, **headers: str) -> Reply:
        """Return an error reply."""
        body: dict[str, Any] = {
            "openai": {"error": {"message": "try later", "type": "rate_limit", "code": None}},
            "anthropic": {"type": "error", "error": {"type": "overloaded", "message": "later"}},
            "google": {"error": {"code": status, "message": "later", "status": "UNAVAILABLE"}},
        }[self.name]
        return Reply(body, status, dict(headers))

    def parts(self, body: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Return the content of the user's last message as `(text|image, value)`; images as base64."""
        return {"openai": _openai_parts, "anthropic": _anthropic_parts, "google": _google_parts}[
            self.name
        ](body)

    def tools(self, body: Mapping[str, Any]) -> list[tuple[str, set[str]]]:
        """Return the tools of a request: name and argument names, in order."""
        if self.name == "openai":
            functions = [tool["function"] for tool in body.get("tools", [])]
            return [(item["name"], set(item["parameters"]["properties"])) for item in functions]
        if self.name == "anthropic":
            return [
                (tool["name"], set(tool["input_schema"]["properties"]))
                for tool in body.get("tools", [])
            ]
        declared = [
            item for tool in body.get("tools", []) for item in tool.get("functionDeclarations", [])
        ]
        return [(item["name"], set(_google_properties(item))) for item in declared]

    def temperature(self, body: Mapping[str, Any]) -> float | None:
        """Return the temperature as sent."""
        config = body.get("generationConfig", {}) if self.name == "google" else body
        return config.get("temperature")

    def seed(self, body: Mapping[str, Any]) -> object:
        """Return the seed as sent."""
        config = body.get("generationConfig", {}) if self.name == "google" else body
        return config.get("seed")

    def calls_and_results(self, body: Mapping[str, Any]) -> tuple[list[str], list[str]]:
        """Return the calls of the last assistant message and the results after it, by id or name."""
        if self.name == "openai":
            said = next(m for m in reversed(body["messages"]) if m["role"] == "assistant")
            after = body["messages"][body["messages"].index(said) + 1 :]
            results = [m["tool_call_id"] for m in after if m["role"] == "tool"]
            return [call["id"] for call in said["tool_calls"]], results
        if self.name == "anthropic":
            said = next(m for m in reversed(body["messages"]) if m["role"] == "assistant")
            after = body["messages"][body["messages"].index(said) + 1 :]
            made = [part["id"] for part in said["content"] if part["type"] == "tool_use"]
            results = [
                part["tool_use_id"]
                for message in after
                for part in message["content"]
                if part["type"] == "tool_result"
            ]
            return made, results
        turns = body["contents"]
        said = next(turn for turn in reversed(turns) if turn["role"] == "model")
        after = turns[turns.index(said) + 1 :]
        made = [part["functionCall"]["name"] for part in said["parts"] if "functionCall" in part]
        results = [
            part["functionResponse"]["name"]
            for turn in after
            for part in turn["parts"]
            if "functionResponse" in part
        ]
        return made, results


def _openai(text: str, calls: Sequence[tuple[str, str, Mapping[str, object]]]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {
                "id": identity,
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for identity, name, arguments in calls
        ]
    return {
        "id": "c-1",
        "object": "chat.completion",
        "created": 1,
        "model": "served-model-7",
        "system_fingerprint": "fp_1",
        "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
        ],
        "usage": {
            "prompt_tokens": _USAGE[0],
            "completion_tokens": _USAGE[1],
            "total_tokens": sum(_USAGE),
        },
    }


def _anthropic(text: str, calls: Sequence[tuple[str, str, Mapping[str, object]]]) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    content += [
        {"type": "tool_use", "id": identity, "name": name, "input": dict(arguments)}
        for identity, name, arguments in calls
    ]
    return {
        "id": "m-1",
        "type": "message",
        "role": "assistant",
        "model": "served-model-7",
        "content": content,
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": _USAGE[0], "output_tokens": _USAGE[1]},
    }


def _anthropic_stream(body: Mapping[str, Any]) -> bytes:
    """Return a message as the events that it is streamed in."""
    start = {**body, "content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, part in enumerate(body["content"]):
        if part["type"] == "text":
            empty, delta = (
                {"type": "text", "text": ""},
                {"type": "text_delta", "text": part["text"]},
            )
        else:
            empty = {**part, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(part["input"])}
        events += [
            {"type": "content_block_start", "index": index, "content_block": empty},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    events += [
        {
            "type": "message_delta",
            "delta": {"stop_reason": body["stop_reason"], "stop_sequence": None},
            "usage": {"output_tokens": _USAGE[1]},
        },
        {"type": "message_stop"},
    ]
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events
    )


def _google(text: str, calls: Sequence[tuple[str, str, Mapping[str, object]]]) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": text}] if text else []
    parts += [
        {"functionCall": {"name": name, "args": dict(arguments)}} for _, name, arguments in calls
    ]
    return {
        "candidates": [
            {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
        ],
        "usageMetadata": {
            "promptTokenCount": _USAGE[0],
            "candidatesTokenCount": _USAGE[1],
            "totalTokenCount": sum(_USAGE),
        },
        "modelVersion": "served-model-7",
        "responseId": "r-1",
    }


def _openai_parts(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    content = next(m for m in reversed(body["messages"]) if m["role"] == "user")["content"]
    if isinstance(content, str):
        return [("text", content)]
    return [
        ("text", part["text"])
        if part["type"] == "text"
        else ("image", part["image_url"]["url"].partition("base64,")[2])
        for part in content
    ]


def _anthropic_parts(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    content = next(m for m in reversed(body["messages"]) if m["role"] == "user")["content"]
    if isinstance(content, str):
        return [("text", content)]
    flat = [
        inner
        for part in content
        for inner in (part["content"] if part["type"] == "tool_result" else [part])
    ]
    return [
        ("text", part["text"]) if part["type"] == "text" else ("image", part["source"]["data"])
        for part in flat
    ]


def _google_parts(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    turn = next(turn for turn in reversed(body["contents"]) if turn["role"] == "user")
    return [
        ("text", part["text"])
        if "text" in part
        # The service writes base64 for addresses, where it may differ in two characters.
        else ("image", _standard(part["inlineData"]["data"]))
        for part in turn["parts"]
        if "text" in part or "inlineData" in part
    ]


def _standard(data: str) -> str:
    return base64.b64encode(
        base64.urlsafe_b64decode(data.replace("+", "-").replace("/", "_"))
    ).decode()


def _google_properties(item: Mapping[str, Any]) -> Mapping[str, Any]:
    schema = item.get("parametersJsonSchema") or item.get("parameters_json_schema")
    return (schema or item["parameters"])["properties"]


PROTOCOLS = (
    Protocol("openai", "openai-api/stub/gpt-x", "/v1/chat/completions", "/v1"),
    Protocol("anthropic", "anthropic/claude-haiku-4-5", "/v1/messages"),
    Protocol("google", "google/gemini-2.5-pro", "/v1/models/gemini-2.5-pro"),
)
