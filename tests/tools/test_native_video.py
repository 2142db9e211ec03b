from __future__ import annotations

from pathlib import Path

import pytest
from inspect_ai.model import ChatMessage, ChatMessageTool, ChatMessageUser, ContentText

from taketwo.errors import RequestError
from taketwo.models.native_video import video_of
from taketwo.tools.native_video import video_content, video_reference
from taketwo.tools.sent_media import frames_in, image_content, media_sha256, refuse_droppable

VIDEO = video_content(
    path=Path("/videos/a.mp4"), sha256="ab" * 32, duration_s=9.5, fps=2.0, resolution="low"
)


def message(*parts: ContentText) -> list[ChatMessage]:
    return [ChatMessageUser(content=[*parts, *image_content(1.0, b"jpeg")])]


def test_the_providers_that_send_video_read_the_reference() -> None:
    read = video_of(VIDEO)

    assert read is not None
    assert (read.path, read.sha256, read.fps, read.resolution) == (
        Path("/videos/a.mp4"),
        "ab" * 32,
        2.0,
        "low",
    )
    assert read.is_whole


def test_the_words_with_it_name_neither_file_nor_hash() -> None:
    assert VIDEO.text == "[video from 0.0 s to 9.5 s, 2 frames a second]"


def test_it_is_recorded_by_its_hash_and_counts_as_its_frames() -> None:
    messages = message(VIDEO)

    assert media_sha256(messages)[0] == "ab" * 32
    assert len(media_sha256(messages)) == 2
    assert frames_in(messages) == 20 + 1


def test_plain_text_is_no_video() -> None:
    assert video_reference(ContentText(text="x")) is None
    assert frames_in(message(ContentText(text="x"))) == 1


@pytest.mark.parametrize("provider", ["gemini-video", "vllm-video"])
def test_it_goes_to_providers_that_know_it(provider: str) -> None:
    refuse_droppable(message(VIDEO), provider)


@pytest.mark.parametrize("provider", ["openai", "google", "anthropic", "vllm", "taketwo"])
def test_it_is_refused_where_only_the_words_would_be_sent(provider: str) -> None:
    with pytest.raises(
        RequestError, match=f"video by reference in a user message may never reach '{provider}'"
    ):
        refuse_droppable(message(VIDEO), provider)


def test_it_is_refused_in_a_tool_result() -> None:
    result: list[ChatMessage] = [ChatMessageTool(content=[VIDEO], tool_call_id="c")]

    with pytest.raises(RequestError, match="video by reference in a tool result"):
        refuse_droppable(result, "gemini-video")
