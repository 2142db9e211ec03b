from __future__ import annotations

import base64
import hashlib
import io
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    ContentAudio,
    ContentText,
    GenerateConfig,
    ModelOutput,
)
from inspect_ai.tool import ToolCall, ToolInfo, ToolParam, ToolParams
from tests.media.used_memory import made_in_used_memory
from tests.models.http_service import Reply, Service, serving

from taketwo.errors import RequestError, UnreadableVideo
from taketwo.models.native_video import ReplyError
from taketwo.models.video_clip import clip_of
from taketwo.models.vllm_video import VllmVideo

CHAT = "/v1/chat/completions"


def said(content: str | None, **more: Any) -> Reply:
    message = {"role": "assistant", "content": content, **more}
    return Reply({
        "id": "c1",
        "model": "served-name",
        "system_fingerprint": "fp-9",
        "choices": [{"message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 50, "completion_tokens": 4, "total_tokens": 54},
    })


def video(path: Path, **fields: Any) -> ContentText:
    data = path.read_bytes() if path.exists() else b""
    reference = {"path": str(path), "sha256": hashlib.sha256(data).hexdigest(), **fields}
    return ContentText(text="[video]", internal={"taketwo_video": reference})


@pytest.fixture
def grey_steps(tmp_path: Path) -> Path:
    """Return a video of 4 s at 10 fps whose grey level is 5 times the number of the frame."""
    path = tmp_path / "steps.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(40):
            picture = np.full((48, 64, 3), 5 * number, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    return path


@pytest.fixture
def grey_bytes(grey_steps: Path) -> bytes:
    return grey_steps.read_bytes()


@asynccontextmanager
async def vllm(service: Service, **arguments: Any):
    api = VllmVideo("m", base_url=f"{service.address}/v1", **arguments)
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


async def test_a_whole_video_goes_inline_as_it_is(grey_steps: Path, grey_bytes: bytes) -> None:
    with serving({CHAT: [said("grey")]}) as service:
        async with vllm(service, api_key="secret") as api:
            output, call = await ask(
                api, ChatMessageUser(content=[video(grey_steps)]), seed=4, temperature=0.5
            )

    sent = service.to(CHAT)[0]
    parts = sent.json()["messages"][0]["content"]
    head, data = parts[0]["video_url"]["url"].split(",")
    assert (head, base64.b64decode(data)) == ("data:video/mp4;base64", grey_bytes)
    assert parts[1] == {"type": "text", "text": "[video]"}
    assert (sent.json()["seed"], sent.json()["temperature"]) == (4, 0.5)
    assert sent.headers["authorization"] == "Bearer secret"
    digest = hashlib.sha256(grey_bytes).hexdigest()
    assert isinstance(output, ModelOutput)
    assert output.model == "served-name"
    assert output.metadata is not None
    assert output.metadata["fingerprint"] == "fp-9"
    assert output.metadata["media_sha256"] == [digest]
    assert (output.usage.input_tokens, output.usage.output_tokens) == (50, 4)
    assert call.request["media_sha256"] == [digest]
    assert data[:60] not in str(call.request)


async def test_a_server_that_reads_our_files_gets_the_address(grey_steps: Path) -> None:
    with serving({CHAT: [said("grey")]}) as service:
        async with vllm(service, transport="file") as api:
            await ask(api, ChatMessageUser(content=[video(grey_steps)]))

    parts = service.to(CHAT)[0].json()["messages"][0]["content"]
    assert parts[0]["video_url"]["url"] == f"file://{grey_steps}"


async def test_a_stretch_is_cut_to_exactly_its_frames(grey_steps: Path) -> None:
    part = video(grey_steps, start_s=1.0, end_s=2.0, fps=2)
    with serving({CHAT: [said("grey")]}) as service:
        async with vllm(service, transport="file") as api:
            await ask(api, ChatMessageUser(content=[part]))

    url = service.to(CHAT)[0].json()["messages"][0]["content"][0]["video_url"]["url"]
    with av.open(io.BytesIO(base64.b64decode(url.split(",")[1]))) as clip:
        shown = [
            (frame.time, int(frame.to_ndarray(format="rgb24").mean()))
            for frame in clip.decode(video=0)
        ]
    assert [time_s for time_s, _ in shown] == [0.0, 0.5, 1.0]
    # frames 10, 15 and 20 of the source
    assert [level for _, level in shown] == pytest.approx([50, 75, 100], abs=3)


def test_the_same_stretch_is_the_same_bytes(grey_steps: Path) -> None:
    made = made_in_used_memory(lambda: clip_of(grey_steps, 0.0, 4.0, 10.0, 320))
    assert len(made) == 1


async def test_a_stretch_beyond_the_video_or_with_too_many_frames_is_refused(
    grey_steps: Path,
) -> None:
    with serving({CHAT: [said("x")]}) as service:
        async with vllm(service) as api:
            with pytest.raises(RequestError, match="cannot cut a clip"):
                await ask(api, ChatMessageUser(content=[video(grey_steps, start_s=9.0)]))
            with pytest.raises(RequestError, match="more than 512 frames"):
                await ask(api, ChatMessageUser(content=[video(grey_steps, fps=500)]))
            with pytest.raises(UnreadableVideo, match="there is no such file"):
                await ask(api, ChatMessageUser(content=[video(grey_steps.with_name("gone.mp4"))]))

    assert service.received == []


async def test_calls_results_and_their_pictures_travel_in_the_protocol(painted, labelled) -> None:
    call = ToolCall(id="c7", function="look", arguments={"fps": 1})
    look = ToolInfo(
        name="look",
        description="look",
        parameters=ToolParams(properties={"fps": ToolParam(type="number")}),
    )
    asked = {
        "id": "c8",
        "type": "function",
        "function": {"name": "look", "arguments": '{"fps": 3}'},
    }
    with serving({CHAT: [said(None, tool_calls=[asked])]}) as service:
        async with vllm(service) as api:
            output, _ = await ask(
                api,
                ChatMessageUser(content="How many?"),
                ChatMessageAssistant(content="", tool_calls=[call]),
                ChatMessageTool(
                    content=labelled(1.0, painted()), function="look", tool_call_id="c7"
                ),
                tools=[look],
                choice="any",
            )

    body = service.to(CHAT)[0].json()
    assert body["tool_choice"] == "required"
    assert body["tools"][0]["function"]["name"] == "look"
    assert [message["role"] for message in body["messages"]] == [
        "user",
        "assistant",
        "tool",
        "user",
    ]
    assert body["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"fps": 1}'
    assert body["messages"][2]["tool_call_id"] == "c7"
    assert body["messages"][3]["content"][0]["type"] == "image_url"
    assert output.message.tool_calls[0].arguments == {"fps": 3}
    assert output.stop_reason == "tool_calls"


async def test_arguments_that_are_no_json_are_marked_not_repaired() -> None:
    asked = {"id": "c8", "type": "function", "function": {"name": "look", "arguments": "{fps:"}}
    with serving({CHAT: [said(None, tool_calls=[asked])]}) as service:
        async with vllm(service) as api:
            output, _ = await ask(api, ChatMessageUser(content="hi"))

    assert "the arguments are not JSON" in output.message.tool_calls[0].parse_error
    assert output.message.tool_calls[0].arguments == {}


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Reply({"error": "bad"}, 404), "the vLLM server replied 404"),
        (Reply(b"oops"), "no JSON object"),
        (Reply({"choices": []}), "a reply without a message"),
        (said(""), "empty reply"),
    ],
)
async def test_final_errors_come_back_with_the_captured_call(reply: Reply, message: str) -> None:
    with serving({CHAT: [reply]}) as service:
        async with vllm(service) as api:
            error, call = await ask(api, ChatMessageUser(content="hi"))

    with pytest.raises(ReplyError, match=message):
        raise error
    assert call.error


@pytest.mark.parametrize("status", [408, 429, 500, 502])
async def test_busy_servers_are_asked_again(status: int) -> None:
    with serving({CHAT: [Reply(b"busy", status)]}) as service:
        async with vllm(service) as api:
            with pytest.raises(ReplyError) as caught:
                await ask(api, ChatMessageUser(content="hi"))
            decision = api.should_retry(caught.value)

    assert decision.retry
    assert decision.kind == ("rate_limit" if status == 429 else "transient")


async def test_sound_is_refused_and_two_servers_are_two_pools() -> None:
    one = VllmVideo("m", base_url="http://127.0.0.1:9/v1")
    other = VllmVideo("m", base_url="http://127.0.0.1:10/v1")
    sound = ContentAudio(audio="data:audio/wav;base64,AAAA", format="wav")
    try:
        with pytest.raises(RequestError, match="vllm-video/m cannot take 'audio' content"):
            await ask(one, ChatMessageUser(content=[sound]))
        assert one.connection_key() != other.connection_key()
    finally:
        await one.aclose()
        await other.aclose()


def test_an_unknown_transport_is_refused() -> None:
    with pytest.raises(RequestError, match="transport 'ftp' is neither 'inline' nor 'file'"):
        VllmVideo("m", transport="ftp")
