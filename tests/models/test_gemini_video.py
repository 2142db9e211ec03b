from __future__ import annotations

import hashlib
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentText,
    ContentVideo,
    GenerateConfig,
    ModelOutput,
)
from inspect_ai.tool import ToolFunction, ToolInfo, ToolParam, ToolParams
from tests.models.http_service import Reply, Service, serving

from taketwo.errors import RequestError, UnreadableVideo
from taketwo.models.gemini_video import GeminiVideo
from taketwo.models.native_video import ReplyError

GENERATE = "/v1beta/models/gemini-x:generateContent"
USAGE = {
    "promptTokenCount": 100,
    "candidatesTokenCount": 7,
    "thoughtsTokenCount": 5,
    "totalTokenCount": 112,
    "cachedContentTokenCount": 40,
}


def said(*parts: dict[str, Any], **more: Any) -> Reply:
    candidate = {"content": {"parts": list(parts), "role": "model"}, "finishReason": "STOP"}
    return Reply({"candidates": [candidate], "modelVersion": "gemini-x-002", **more})


def uploads(*states: str) -> dict[str, list[Reply]]:
    def file(state: str) -> dict[str, str]:
        return {"name": "files/abc", "uri": "https://files/abc", "state": state}

    return {
        "/upload/": [Reply(headers={"X-Goog-Upload-URL": "HERE/put-here"})],
        "/put-here": [Reply({"file": file(states[0])})],
        "/v1beta/files/abc": [Reply(file(state)) for state in states[1:]] or [Reply(b"", 500)],
    }


def clip(tmp_path: Path, data: bytes = b"some video bytes", **fields: Any) -> ContentText:
    path = tmp_path / "clip.mp4"
    path.write_bytes(data)
    video = {"path": str(path), "sha256": hashlib.sha256(data).hexdigest(), **fields}
    return ContentText(text="[video 2.5-9.0 s]", internal={"taketwo_video": video})


@asynccontextmanager
async def gemini(service: Service):
    api = GeminiVideo("gemini-x", base_url=service.address, api_key="a-key", poll_s=0.0)
    try:
        yield api
    finally:
        await api.aclose()


async def ask(
    api: Any,
    *messages: ChatMessage,
    tools: list[ToolInfo] | None = None,
    choice: Any = "auto",
    **config: Any,
) -> tuple[Any, Any]:
    return await api.generate(list(messages), tools or [], choice, GenerateConfig(**config))


async def test_a_stretch_is_uploaded_once_and_sent_with_its_offsets_and_rate(tmp_path) -> None:
    part = clip(tmp_path, start_s=2.5, end_s=9.0, fps=4, resolution="low")
    replies = uploads("PROCESSING", "PROCESSING", "ACTIVE") | {GENERATE: [said({"text": "a boat"})]}
    with serving(replies) as service:
        async with gemini(service) as api:
            message = ChatMessageUser(content=[part, ContentText(text="What is it?")])
            for _ in range(2):
                output, call = await ask(api, message, temperature=0.2)

    assert len(service.to("/upload/")) == 1
    start = service.to("/upload/")[0]
    assert start.headers["x-goog-upload-header-content-length"] == "16"
    assert start.headers["x-goog-api-key"] == "a-key"
    assert service.to("/put-here")[0].body == b"some video bytes"
    assert service.to("/put-here")[0].headers["x-goog-upload-command"] == "upload, finalize"
    assert len(service.to("/v1beta/files/abc")) == 2
    assert service.to(GENERATE)[0].json() == {
        "contents": [
            {
                "role": "user",
                "parts": [
                    {
                        "fileData": {"mimeType": "video/mp4", "fileUri": "https://files/abc"},
                        "videoMetadata": {"startOffset": "2.5s", "endOffset": "9s", "fps": 4.0},
                    },
                    {"text": "[video 2.5-9.0 s]"},
                    {"text": "What is it?"},
                ],
            }
        ],
        "generationConfig": {"temperature": 0.2, "mediaResolution": "MEDIA_RESOLUTION_LOW"},
    }
    digest = hashlib.sha256(b"some video bytes").hexdigest()
    assert isinstance(output, ModelOutput)
    assert output.metadata is not None
    assert output.metadata["media_sha256"] == [digest]
    assert call.request["contents"][0]["parts"][0]["fileData"] == {
        "sha256": digest,
        "mimeType": "video/mp4",
    }
    assert "https://files/abc" not in str(call.request)


async def test_a_large_file_goes_up_in_pieces_in_order(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("taketwo.models.gemini_files._CHUNK_BYTES", 6)
    replies = uploads("ACTIVE") | {GENERATE: [said({"text": "x"})]}
    with serving(replies) as service:
        async with gemini(service) as api:
            await ask(api, ChatMessageUser(content=[clip(tmp_path)]))

    pieces = service.to("/put-here")
    assert b"".join(piece.body for piece in pieces) == b"some video bytes"
    assert [piece.headers["x-goog-upload-offset"] for piece in pieces] == ["0", "6", "12"]
    assert [piece.headers["x-goog-upload-command"] for piece in pieces] == [
        "upload",
        "upload",
        "upload, finalize",
    ]


async def test_served_model_usage_and_calls_are_read() -> None:
    reply = said(
        {"text": "thinking aloud", "thought": True},
        {"text": "let me look"},
        {"functionCall": {"name": "analyze_video", "args": {"fps": 2}}, "thoughtSignature": "sig"},
        usageMetadata=USAGE,
        responseId="r1",
    )
    window = ToolInfo(
        name="analyze_video",
        description="look",
        parameters=ToolParams(properties={"fps": ToolParam(type="number", description="rate")}),
    )
    with serving({GENERATE: [reply]}) as service:
        async with gemini(service) as api:
            question = ChatMessageUser(content="How many?")
            first, _ = await ask(
                api, ChatMessageSystem(content="You look."), question, tools=[window]
            )
            result = ChatMessageTool(content="two", function="analyze_video")
            await ask(
                api, question, first.message, result,
                tools=[window], choice=ToolFunction(name="analyze_video"),
            )  # fmt: skip

    assert first.model == "gemini-x-002"
    assert first.completion == "let me look"
    assert first.stop_reason == "tool_calls"
    assert first.message.tool_calls[0].arguments == {"fps": 2}
    usage = first.usage
    assert (usage.input_tokens, usage.input_tokens_cache_read, usage.output_tokens) == (60, 40, 12)
    assert (usage.reasoning_tokens, usage.total_tokens, first.response_id) == (5, 112, "r1")
    sent = service.to(GENERATE)[0].json()
    assert sent["systemInstruction"] == {"parts": [{"text": "You look."}]}
    assert sent["toolConfig"] == {"functionCallingConfig": {"mode": "AUTO"}}
    assert sent["tools"][0]["functionDeclarations"][0]["parameters"] == {
        "type": "object",
        "properties": {"fps": {"type": "number", "description": "rate"}},
        "required": [],
    }
    again = service.to(GENERATE)[1].json()
    assert again["toolConfig"]["functionCallingConfig"] == {
        "mode": "ANY",
        "allowedFunctionNames": ["analyze_video"],
    }
    assert [content["role"] for content in again["contents"]] == ["user", "model", "user"]
    assert again["contents"][1]["parts"][2]["thoughtSignature"] == "sig"
    assert again["contents"][2]["parts"] == [
        {"functionResponse": {"name": "analyze_video", "response": {"result": "two"}}}
    ]


async def test_tokens_that_are_not_reported_are_unknown_not_zero() -> None:
    with serving({GENERATE: [said({"text": "hello"})]}) as service:
        async with gemini(service) as api:
            output, _ = await ask(api, ChatMessageUser(content="hi"))

    assert output.usage is None


@pytest.mark.parametrize(
    ("status", "retries", "kind"),
    [(429, True, "rate_limit"), (500, True, "transient"), (503, True, "transient")],
)
async def test_busy_services_are_asked_again(status: int, retries: bool, kind: str) -> None:
    busy = Reply({"error": {"message": "busy"}}, status, {"retry-after": "7"})
    with serving({GENERATE: [busy]}) as service:
        async with gemini(service) as api:
            with pytest.raises(ReplyError, match=f"Gemini replied {status}") as caught:
                await ask(api, ChatMessageUser(content="hi"))
            decision = api.should_retry(caught.value)

    assert (decision.retry, decision.kind, decision.retry_after) == (retries, kind, 7.0)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Reply({"error": {"message": "bad field"}}, 400), "Gemini replied 400"),
        (Reply(b"<html>"), "a body that is no JSON object"),
        (Reply(b""), "a body that is no JSON object"),
        (Reply({"candidates": []}), "empty reply"),
        (said(), "empty reply \\(finish reason 'STOP'\\)"),
    ],
)
async def test_final_errors_come_back_with_the_captured_call(reply: Reply, message: str) -> None:
    with serving({GENERATE: [reply]}) as service:
        async with gemini(service) as api:
            error, call = await ask(api, ChatMessageUser(content="hi"))

            with pytest.raises(ReplyError, match=message):
                raise error
            assert not api.should_retry(error)
    assert call.error
    assert call.request["contents"] == [{"role": "user", "parts": [{"text": "hi"}]}]


async def test_a_refusal_is_a_filtered_reply_and_no_answer() -> None:
    with serving({GENERATE: [Reply({"promptFeedback": {"blockReason": "SAFETY"}})]}) as service:
        async with gemini(service) as api:
            output, _ = await ask(api, ChatMessageUser(content="hi"))

    assert (output.stop_reason, output.completion) == ("content_filter", "")


async def test_a_video_that_cannot_be_processed_or_found_is_unreadable(tmp_path) -> None:
    with serving(uploads("PROCESSING", "FAILED")) as service:
        async with gemini(service) as api:
            with pytest.raises(UnreadableVideo, match="could not process"):
                await ask(api, ChatMessageUser(content=[clip(tmp_path)]))
            gone = {"path": str(tmp_path / "gone.mp4"), "sha256": "0" * 64}
            part = ContentText(text="", internal={"taketwo_video": gone})
            with pytest.raises(UnreadableVideo, match="there is no such file"):
                await ask(api, ChatMessageUser(content=[part]))


async def test_an_unreachable_service_is_passing() -> None:
    api = GeminiVideo("gemini-x", base_url="http://127.0.0.1:9", api_key="k")
    try:
        with pytest.raises(httpx.ConnectError) as caught:
            await ask(api, ChatMessageUser(content="hi"))
        assert api.should_retry(caught.value)
        assert api.should_retry(httpx.ReadTimeout("slow"))
        assert not api.should_retry(ValueError("ours"))
    finally:
        await api.aclose()


async def test_inline_video_is_refused(tmp_path) -> None:
    api = GeminiVideo("gemini-x", base_url="http://127.0.0.1:9", api_key="k")
    video = ContentVideo(video="data:video/mp4;base64,AAAA", format="mp4")
    try:
        with pytest.raises(RequestError, match="gemini-video/gemini-x cannot take 'video' content"):
            await ask(api, ChatMessageUser(content=[video]))
    finally:
        await api.aclose()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"start_s": 5, "end_s": 2}, "is empty or negative"),
        ({"fps": "4"}, "has fps='4'"),
        ({"resolution": "huge"}, "resolution 'huge' is not one of low, medium, high"),
        ({"path": None}, "needs path and sha256"),
    ],
)
async def test_a_wrong_reference_is_refused(tmp_path, fields: dict[str, Any], message: str) -> None:
    api = GeminiVideo("gemini-x", base_url="http://127.0.0.1:9", api_key="k")
    try:
        with pytest.raises(RequestError, match=message):
            await ask(api, ChatMessageUser(content=[clip(tmp_path, **fields)]))
    finally:
        await api.aclose()


def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)

    with pytest.raises(RequestError, match="set GOOGLE_API_KEY or GEMINI_API_KEY"):
        GeminiVideo("gemini-x")
