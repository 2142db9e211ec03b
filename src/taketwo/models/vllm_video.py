"""The `vllm-video` provider: video as a `video_url` part to a server that speaks the OpenAI protocol.

vLLM knows no start and end of a video, so a stretch, or a whole video at a given rate, is cut into
a small clip here and sent inline; a whole video at the server's own rate is sent as it is, inline
or, where the server can read our files, by `file://` address.
"""

from __future__ import annotations

import base64
import json
import mimetypes
import os
import time
from collections.abc import Mapping, Sequence
from typing import Literal, cast

import anyio.to_thread
import httpx
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ContentImage,
    ContentText,
    GenerateConfig,
    ModelAPI,
    ModelCall,
    ModelOutput,
    ModelUsage,
    RetryDecision,
    StopReason,
    modelapi,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolFunction, ToolInfo
from pydantic import JsonValue

from taketwo.errors import RequestError, UnreadableVideo
from taketwo.models.native_video import (
    ReplyError,
    VideoReference,
    media_hashes,
    reply_record,
    retry_decision,
    video_of,
)
from taketwo.models.request_media import (
    captured_request,
    contents_of,
    data_uri_bytes,
    refuse_other_kinds,
)
from taketwo.models.video_clip import clip_of

__all__ = ["VllmVideo"]

Json = dict[str, JsonValue]
Transport = Literal["inline", "file"]

_ADDRESS = "http://localhost:8000/v1"
_KINDS = {"text", "image", "taketwo_video"}
_SIDES = {"low": 448, "medium": 768, "high": 1280}
_DEFAULT_FPS = 1.0
_STOPS: dict[str, StopReason] = {
    "stop": "stop",
    "length": "max_tokens",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
}


@modelapi(name="vllm-video")
class VllmVideo(ModelAPI):
    """A model behind an OpenAI-compatible server that takes `video_url` parts.

    Parameters
    ----------
    model_name
        The name under which the server offers the model.
    base_url
        Address up to and including `/v1`; else VLLM_BASE_URL, else port 8000 of this machine.
    api_key
        Key of the server, if it wants one; else VLLM_API_KEY.
    transport
        How a whole video travels: `inline` in the request, or as the address of a `file` (the
        server must run with `--allowed-local-media-path`).
    timeout_s
        Seconds that a single request may take.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  the signature of ModelAPI
        transport: Transport = "inline",
        timeout_s: float = 600.0,
    ) -> None:
        super().__init__(
            model_name,
            base_url=base_url,
            api_key=api_key,
            api_key_vars=["VLLM_API_KEY"],
            config=config,
        )
        if transport not in {"inline", "file"}:
            raise RequestError(f"transport {transport!r} is neither 'inline' nor 'file'")
        key = self.api_key or os.environ.get("VLLM_API_KEY")
        self._transport: Transport = transport
        self._client = httpx.AsyncClient(
            base_url=base_url or os.environ.get("VLLM_BASE_URL") or _ADDRESS,
            headers={"authorization": f"Bearer {key}"} if key else {},
            timeout=timeout_s,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def should_retry(self, ex: Exception) -> bool | RetryDecision:
        """Return whether the request may succeed later: 408, 429, 5xx, timeouts, broken connections."""
        return retry_decision(ex)

    def tool_result_images(self) -> bool:
        """Return True: pictures of a tool result follow it in a user message."""
        return True

    def connection_key(self) -> str:
        """Return the address: two servers with one model name are two pools."""
        return str(self._client.base_url)

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002  the name is that of ModelAPI
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> tuple[ModelOutput | Exception, ModelCall]:
        """Return the reply. The charged seconds are those of the request, not of cutting clips.

        Raises
        ------
        RequestError
            If a message carries content that cannot be sent.
        UnreadableVideo
            If a video cannot be read.
        ReplyError, httpx.TransportError
            If the server cannot be reached or is busy; a final error is returned with the call.
        """
        name = f"vllm-video/{self.model_name}"
        refuse_other_kinds(input, _KINDS, name)
        messages: list[JsonValue] = []
        for message in input:
            messages += await self._sent(message)
        body = _body(self.model_name, messages, tools, tool_choice, config)
        hashes = media_hashes(input, name)
        logged = captured_request(name, input, tools, tool_choice, config)
        call = ModelCall.create(
            request={**logged, "media_sha256": hashes, "videos": _videos_logged(input)},
            response=None,
        )
        started = time.perf_counter()
        try:
            response = await self._client.post("/chat/completions", json=body)
            seconds = time.perf_counter() - started
            reply = reply_record(response, "the vLLM server")
            call.set_response(reply, seconds)
            return self._output(reply, seconds, hashes), call
        except ReplyError as error:
            if retry_decision(error):
                raise
            call.set_error({"error": str(error)})
            return error, call

    async def _sent(self, message: ChatMessage) -> list[JsonValue]:
        """Return a message in the protocol; media of a tool result go into a user message after it."""
        texts: list[JsonValue] = []
        media: list[JsonValue] = []
        for part in contents_of(message):
            if isinstance(part, ContentText):
                video = video_of(part)
                if video is not None:
                    address = await anyio.to_thread.run_sync(self._address, video)
                    media.append({"type": "video_url", "video_url": {"url": address}})
                if part.text:
                    (media if media else texts).append({"type": "text", "text": part.text})
            elif isinstance(part, ContentImage):
                data_uri_bytes(part.image, f"vllm-video/{self.model_name}")
                media.append({"type": "image_url", "image_url": {"url": part.image}})
        if isinstance(message, ChatMessageTool):
            content = f"[ERROR] {message.error.message}" if message.error else message.text
            sent: list[JsonValue] = [
                {"role": "tool", "tool_call_id": message.tool_call_id or "", "content": content}
            ]
            if media:
                sent.append({"role": "user", "content": media})
            return sent
        if isinstance(message, ChatMessageAssistant):
            record: Json = {"role": "assistant", "content": message.text}
            if message.tool_calls:
                record["tool_calls"] = [_call_sent(call) for call in message.tool_calls]
            return [record]
        return [{"role": message.role, "content": texts + media if media else message.text}]

    def _address(self, video: VideoReference) -> str:
        if not video.path.is_file():
            raise UnreadableVideo(f"cannot send {str(video.path)!r}: there is no such file")
        if not video.is_whole or video.fps is not None:
            data = clip_of(
                video.path,
                video.start_s,
                video.end_s,
                video.fps or _DEFAULT_FPS,
                _SIDES[video.resolution or "medium"],
            )
            return f"data:video/mp4;base64,{base64.b64encode(data).decode()}"
        if self._transport == "file":
            return video.path.resolve().as_uri()
        mime_type = mimetypes.guess_type(video.path.name)[0] or "video/mp4"
        return f"data:{mime_type};base64,{base64.b64encode(video.path.read_bytes()).decode()}"

    def _output(self, reply: Json, seconds: float, hashes: list[str]) -> ModelOutput:
        choices = reply.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(first, dict) or not isinstance(first.get("message"), dict):
            raise ReplyError("the vLLM server sent a reply without a message", 200)
        record = cast("Json", first["message"])
        calls = [_call_read(item) for item in cast("list[Json]", record.get("tool_calls") or [])]
        text = str(record.get("content") or "")
        reason = "tool_calls" if calls else _STOPS.get(str(first.get("finish_reason")), "unknown")
        if not text and not calls and reason != "content_filter":
            raise ReplyError(f"the vLLM server sent an empty reply (stop reason {reason!r})", 200)
        served = str(reply.get("model") or self.model_name)
        message = ChatMessageAssistant(
            content=text, model=served, source="generate", tool_calls=calls or None
        )
        return ModelOutput(
            model=served,
            choices=[ChatCompletionChoice(message=message, stop_reason=reason)],
            usage=_usage(reply.get("usage")),
            response_id=cast("str | None", reply.get("id")),
            metadata={
                "charged_s": seconds,
                "media_sha256": hashes,
                "served_model": reply.get("model"),
                "fingerprint": reply.get("system_fingerprint"),
            },
        )


def _body(
    model: str,
    messages: list[JsonValue],
    tools: Sequence[ToolInfo],
    tool_choice: ToolChoice,
    config: GenerateConfig,
) -> Json:
    values: Json = {
        "temperature": config.temperature,
        "top_p": config.top_p,
        "top_k": config.top_k,
        "seed": config.seed,
        "max_tokens": config.max_tokens,
        "stop": cast("JsonValue", config.stop_seqs),
        "reasoning_effort": config.reasoning_effort,
    }
    body: Json = {"model": model, "messages": messages}
    body |= {name: value for name, value in values.items() if value is not None}
    if tools:
        body["tools"] = [
            {
                "type": "function",
                "function": cast(
                    "JsonValue", tool.model_dump(exclude_none=True, exclude={"options"})
                ),
            }
            for tool in tools
        ]
        if isinstance(tool_choice, ToolFunction):
            body["tool_choice"] = {"type": "function", "function": {"name": tool_choice.name}}
        else:
            body["tool_choice"] = "required" if tool_choice == "any" else tool_choice
    return body


def _videos_logged(messages: Sequence[ChatMessage]) -> list[JsonValue]:
    videos: list[JsonValue] = []
    for message in messages:
        for part in contents_of(message):
            video = video_of(part) if isinstance(part, ContentText) else None
            if video is not None:
                videos.append({
                    "sha256": video.sha256,
                    "start_s": video.start_s,
                    "end_s": video.end_s,
                    "fps": video.fps,
                    "resolution": video.resolution,
                })
    return videos


def _call_sent(call: ToolCall) -> Json:
    function: Json = {"name": call.function, "arguments": json.dumps(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _call_read(item: Mapping[str, JsonValue]) -> ToolCall:
    function = cast("Json", item.get("function") or {})
    stated = function.get("arguments")
    arguments: object = stated
    parse_error: str | None = None
    if isinstance(stated, str):
        try:
            arguments = json.loads(stated or "{}")
        except (ValueError, RecursionError) as error:
            parse_error = f"the arguments are not JSON ({error}): {stated[:200]}"
    if parse_error is None and not isinstance(arguments, dict):
        parse_error = f"the arguments are not an object: {str(stated)[:200]}"
    return ToolCall(
        id=str(item.get("id") or f"call_{function.get('name')}"),
        function=str(function.get("name")),
        arguments=cast("dict[str, object]", arguments) if parse_error is None else {},
        parse_error=parse_error,
    )


def _usage(counts: JsonValue) -> ModelUsage | None:
    """Return the tokens that were reported, None where nothing was."""
    if not isinstance(counts, dict):
        return None
    given = {name: value for name, value in counts.items() if isinstance(value, int)}
    details = counts.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    cached = cached if isinstance(cached, int) else None
    return ModelUsage(
        input_tokens=given.get("prompt_tokens", 0) - (cached or 0),
        output_tokens=given.get("completion_tokens", 0),
        total_tokens=given.get("total_tokens", 0),
        input_tokens_cache_read=cached,
    )
