from __future__ import annotations

import base64
import hashlib

import pytest
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    ContentImage,
    ContentText,
    GenerateConfig,
)
from inspect_ai.tool import ToolCall, ToolCallError, ToolFunction

from taketwo.errors import RequestError
from taketwo.models.request_media import (
    SentFrame,
    captured_request,
    data_uri_bytes,
    estimated_tokens,
    media_of,
)


def picture(data: bytes) -> ContentImage:
    return ContentImage(image=f"data:image/jpeg;base64,{base64.b64encode(data).decode()}")


def test_pictures_come_in_order_with_the_time_of_the_label_right_before_them() -> None:
    messages = [
        ChatMessageUser(
            content=[ContentText(text="[frame at 1.50 s]"), picture(b"one"), picture(b"two")]
        ),
        ChatMessageTool(content=[ContentText(text="note\n[frame at 9.00 s]"), picture(b"three")]),
    ]

    media = media_of(messages, "m")

    assert [(item.data, item.time_s) for item in media if isinstance(item, SentFrame)] == [
        (b"one", 1.5),
        (b"two", None),
        (b"three", 9.0),
    ]


@pytest.mark.parametrize("uri", ["http://host/x.jpg", "/x.jpg", "data:image/jpeg;base64,%%%", ""])
def test_only_data_uris_are_read(uri: str) -> None:
    with pytest.raises(RequestError, match="m takes media as base64 data URIs only"):
        data_uri_bytes(uri, "m")


def test_the_capture_holds_roles_calls_errors_choice_and_sampling() -> None:
    call = ToolCall(id="1", function="look", arguments={"fps": 2})
    error = ToolCallError("timeout", "too slow")
    messages = [
        ChatMessageUser(content=[picture(b"one")]),
        ChatMessageAssistant(content="hm", tool_calls=[call]),
        ChatMessageTool(content="", function="look", tool_call_id="1", error=error),
    ]

    record = captured_request(
        "m", messages, [], ToolFunction(name="look"), GenerateConfig(temperature=0.0, max_retries=3)
    )

    assert record["messages"] == [
        {
            "role": "user",
            "content": [{"sha256": hashlib.sha256(b"one").hexdigest(), "media_type": "image/jpeg"}],
        },
        {
            "role": "assistant",
            "content": ["hm"],
            "tool_calls": [{"id": "1", "name": "look", "arguments": {"fps": 2}}],
        },
        {"role": "tool", "content": [], "tool_call_id": "1", "name": "look", "error": "too slow"},
    ]
    assert record["tool_choice"] == {"name": "look"}
    assert record["sampling"] == {"temperature": 0.0}


def test_tokens_are_a_quarter_of_the_characters_and_258_a_picture() -> None:
    message = ChatMessageUser(content=[ContentText(text="12345"), picture(b"x")])

    assert estimated_tokens([message]) == 2 + 258
