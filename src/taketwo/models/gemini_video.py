"""The `gemini-video` provider: a whole video, or a stretch of it at a frame rate, sent to Gemini.

Plain REST, so that start, end, frame rate and media resolution reach the model and uploads run
beside other calls on the event loop. Addresses and fields follow the public reference of the
Gemini API (ai.google.dev/api, Files and Models).
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import cast

import httpx
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ContentText,
    GenerateConfig,
    ModelAPI,
    ModelCall,
    ModelOutput,
    RetryDecision,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo
from pydantic import JsonValue

from taketwo.errors import RequestError
from taketwo.models.gemini_files import GeminiFiles, UploadedFile
from taketwo.models.gemini_request import (
    PARTS_KEY,
    calls_in,
    captured,
    request_body,
    stop_reason,
    usage_in,
)
from taketwo.models.native_video import (
    ReplyError,
    media_hashes,
    reply_record,
    retry_decision,
    video_of,
)
from taketwo.models.request_media import contents_of, refuse_other_kinds

__all__ = ["GeminiVideo"]

_ADDRESS = "https://generativelanguage.googleapis.com"
_KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
_KINDS = {"text", "image", "audio", "taketwo_video"}


@modelapi(name="gemini-video")
class GeminiVideo(ModelAPI):
    """Gemini with native video.

    Parameters
    ----------
    model_name
        The name of the service's model, such as `gemini-2.5-pro`.
    base_url
        Another address than the public one.
    api_key
        The key; else GOOGLE_API_KEY or GEMINI_API_KEY of the environment.
    poll_s
        Seconds between two looks at the state of an upload.
    timeout_s
        Seconds that a single request may take.

    Raises
    ------
    RequestError
        If there is no key.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  the signature of ModelAPI
        poll_s: float = 2.0,
        timeout_s: float = 600.0,
    ) -> None:
        super().__init__(
            model_name, base_url=base_url, api_key=api_key, api_key_vars=list(_KEYS), config=config
        )
        key = self.api_key or next(
            (os.environ[name] for name in _KEYS if os.environ.get(name)), None
        )
        if not key:
            raise RequestError(f"gemini-video/{model_name} needs a key: set {' or '.join(_KEYS)}")
        self._client = httpx.AsyncClient(
            base_url=base_url or _ADDRESS, headers={"x-goog-api-key": key}, timeout=timeout_s
        )
        self._files = GeminiFiles(self._client, poll_s=poll_s)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def should_retry(self, ex: Exception) -> bool | RetryDecision:
        """Return whether the request may succeed later: 408, 429, 5xx, timeouts, broken connections."""
        return retry_decision(ex)

    def tool_result_images(self) -> bool:
        """Return True: pictures of a tool result are sent beside it."""
        return True

    async def _uploads(self, messages: Sequence[ChatMessage]) -> dict[str, UploadedFile]:
        uploads: dict[str, UploadedFile] = {}
        for message in messages:
            for part in contents_of(message):
                video = video_of(part) if isinstance(part, ContentText) else None
                if video is not None and video.sha256 not in uploads:
                    uploads[video.sha256] = await self._files.ready(video)
        return uploads

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002  the name is that of ModelAPI
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> tuple[ModelOutput | Exception, ModelCall]:
        """Return the reply. The charged seconds are those of the request, not of the upload.

        Raises
        ------
        RequestError
            If a message carries content that cannot be sent.
        UnreadableVideo
            If a video is missing or the service cannot process it.
        ReplyError, httpx.TransportError
            If the service cannot be reached or is busy; a final error is returned with the call.
        """
        refuse_other_kinds(input, _KINDS, f"gemini-video/{self.model_name}")
        uploads = await self._uploads(input)
        body = request_body(input, uploads, tools, tool_choice, config)
        by_uri = {upload.uri: sha256 for sha256, upload in uploads.items()}
        logged = cast("Mapping[str, JsonValue]", captured(body, by_uri))
        call = ModelCall.create(request={"model": self.model_name, **logged}, response=None)
        started = time.perf_counter()
        try:
            response = await self._client.post(
                f"/v1beta/models/{self.model_name}:generateContent", json=body
            )
            seconds = time.perf_counter() - started
            reply = reply_record(response, "Gemini")
            call.set_response(reply, seconds)
            hashes = media_hashes(input, f"gemini-video/{self.model_name}")
            return self._output(reply, len(input), seconds, hashes), call
        except ReplyError as error:
            if retry_decision(error):
                raise
            call.set_error({"error": str(error)})
            return error, call

    def _output(
        self, reply: dict[str, JsonValue], number: int, seconds: float, hashes: list[str]
    ) -> ModelOutput:
        candidates = cast("list[dict[str, JsonValue]]", reply.get("candidates") or [])
        feedback = cast("Mapping[str, JsonValue]", reply.get("promptFeedback") or {})
        first = candidates[0] if candidates else {"finishReason": feedback.get("blockReason")}
        content = cast("Mapping[str, JsonValue]", first.get("content") or {})
        parts = cast("list[dict[str, JsonValue]]", content.get("parts") or [])
        calls = calls_in(parts, number)
        text = "".join(
            str(part["text"]) for part in parts if "text" in part and not part.get("thought")
        )
        reason = (
            "content_filter"
            if feedback.get("blockReason")
            else stop_reason(first.get("finishReason"), calls)
        )
        if not text and not calls and reason != "content_filter":
            raise ReplyError(
                f"Gemini sent an empty reply (finish reason {first.get('finishReason')!r})", 200
            )
        served = str(reply.get("modelVersion") or self.model_name)
        message = ChatMessageAssistant(
            content=text,
            model=served,
            source="generate",
            tool_calls=calls or None,
            metadata={PARTS_KEY: parts},
        )
        return ModelOutput(
            model=served,
            choices=[ChatCompletionChoice(message=message, stop_reason=reason)],
            usage=usage_in(reply),
            response_id=cast("str | None", reply.get("responseId")),
            metadata={
                "charged_s": seconds,
                "media_sha256": hashes,
                "served_model": reply.get("modelVersion"),
                "fingerprint": None,
            },
        )
