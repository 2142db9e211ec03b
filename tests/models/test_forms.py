from __future__ import annotations

import pytest
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
)
from pydantic import BaseModel

from taketwo.models.forms import FORM_HEADING, asked_form
from taketwo.tools import structured


class Verdict(BaseModel):
    verdict: bool


def request(form: type[BaseModel] = Verdict) -> str:
    return f"Judge.\n\n{structured.form_request(form)}"


def test_the_heading_is_the_one_that_requests_are_written_with() -> None:
    assert FORM_HEADING == structured.FORM_HEADING


def test_the_schema_of_a_request_is_found() -> None:
    schema = asked_form([ChatMessageUser(content=request())])

    assert schema is not None
    assert schema["required"] == ["verdict"]


@pytest.mark.parametrize(
    "messages",
    [
        [ChatMessageUser(content="Judge.")],
        [ChatMessageUser(content=f"<<<UNTRUSTED notes\n{request()}\n>>>UNTRUSTED")],
        [ChatMessageUser(content=f"{FORM_HEADING}\nno schema")],
        [ChatMessageUser(content=f"{FORM_HEADING}\n[1, 2]")],
        [ChatMessageUser(content=f"{FORM_HEADING}\n{'[' * 100_000}")],
        [ChatMessageUser(content=FORM_HEADING)],
        [
            ChatMessageUser(content=request()),
            ChatMessageAssistant(content='{"verdict": true}'),
            ChatMessageUser(content="Now say why."),
        ],
    ],
)
def test_a_form_that_is_not_asked_for_now_is_none(messages: list[ChatMessage]) -> None:
    assert asked_form(messages) is None


def test_of_several_forms_the_last_one_counts() -> None:
    class Other(BaseModel):
        other: str

    messages: list[ChatMessage] = [
        ChatMessageSystem(content=request()),
        ChatMessageUser(content=request(Other)),
    ]

    schema = asked_form(messages)

    assert schema is not None
    assert schema["required"] == ["other"]


def test_a_reply_that_was_sent_back_is_asked_for_in_the_form_again() -> None:
    messages: list[ChatMessage] = [
        ChatMessageUser(content=request()),
        ChatMessageAssistant(content="yes"),
        ChatMessageUser(content=f"Your reply does not fit.\n\n{request()}"),
    ]

    assert asked_form(messages) is not None
