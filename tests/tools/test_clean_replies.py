from __future__ import annotations

import hashlib
import time
from typing import Any

import pytest
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ContentImage,
    ContentReasoning,
    ContentText,
    Logprob,
    Logprobs,
    ModelOutput,
    get_model,
)
from inspect_ai.tool import ToolCall
from tests.scripted_model import HttpError, calls, says, script

from taketwo.tools.clean_replies import CLEANED, clean_call, clean_output, with_clean_replies

ARGUMENTS = {"start_time": 0.0, "end_time": 4.5, "fps": 1, "focus": "the circle"}


def reply(*parts: Any, **fields: Any) -> ModelOutput:
    message = ChatMessageAssistant(content=list(parts))
    return ModelOutput(choices=[ChatCompletionChoice(message=message)], **fields)


def test_an_ordinary_reply_is_returned_as_it_is() -> None:
    output = calls(("analyze_video", ARGUMENTS), text="I look.")
    output.metadata = {"charged_s": 0.5, "media_sha256": ["ab" * 32]}

    assert clean_output(output) is output


def test_looking_at_an_ordinary_reply_costs_next_to_nothing() -> None:
    output = calls(("analyze_video", ARGUMENTS), text="I look. " * 100)
    dump = min(_seconds(output.model_dump_json) for _ in range(20))

    clean = min(_seconds(lambda: clean_output(output)) for _ in range(20))

    assert clean < 20 * dump


def _seconds(work: Any) -> float:
    started = time.process_time_ns()
    for _ in range(50):
        work()
    return (time.process_time_ns() - started) / 50e9


def test_text_reasoning_and_completion_agree_after_cleaning() -> None:
    output = reply(
        ContentReasoning(reasoning="think \ud800", summary="\udc00", signature="s"),
        ContentText(text="said \ud800", internal={"id": "\udfff"}),
    )

    clean = clean_output(output)

    thought, said = clean.message.content
    assert isinstance(thought, ContentReasoning)
    assert (thought.reasoning, thought.summary, thought.signature) == (
        "think \ufffd",
        "\ufffd",
        "s",
    )
    assert isinstance(said, ContentText)
    assert said.internal == {"id": "\ufffd"}
    assert clean.completion == "said \ufffd"
    assert output.completion == "said \ud800"
    assert (clean.metadata or {})[CLEANED][3] == (
        "text: 6 characters, lone surrogates replaced "
        f"(sha256 {hashlib.sha256(b'said ' + bytes([0xED, 0xA0, 0x80])).hexdigest()})"
    )


def test_of_a_huge_reply_the_end_is_kept_and_what_is_left_is_bounded() -> None:
    output = reply(*[ContentText(text="x" * 1_000_000 + "END")] * 100)

    clean = clean_output(output)

    assert "END" in clean.completion[-100:]
    assert len(clean.completion) < 850_000
    assert (clean.metadata or {})[CLEANED][-1] == "and 90 more"


def test_a_picture_that_is_too_large_gives_way_to_words() -> None:
    output = reply(
        ContentImage(image="data:image/png;base64," + "A" * 300_000), ContentText(text="x")
    )

    clean = clean_output(output)

    assert clean.message.content[0] == ContentText(
        text="[image left out: it cannot be kept in a log]"
    )


def test_numbers_in_metadata_and_texts_in_log_probabilities_are_cleaned() -> None:
    output = says("A")
    output.metadata = {"charged_s": float("nan")}
    lone, replaced = "\ud800", "\ufffd"
    output.choices[0].logprobs = Logprobs(content=[Logprob(token=lone, logprob=-1.5)])

    clean = clean_output(output)

    assert (clean.metadata or {})["charged_s"] == "[the number nan]"
    assert clean.choices[0].logprobs == Logprobs(content=[Logprob(token=replaced, logprob=-1.5)])


def test_a_call_that_lost_its_meaning_says_so_and_the_others_stay() -> None:
    output = calls(("analyze_video", {"fps": float("inf")}), ("analyze_video", ARGUMENTS))

    lost, kept = clean_output(output).message.tool_calls or []

    assert lost.arguments == {"fps": "[the number inf]"}
    assert lost.parse_error == "fps: the number inf"
    assert kept is (output.message.tool_calls or [])[1]


def test_names_and_ids_of_calls_are_cut() -> None:
    call = clean_call(ToolCall(id="i" * 5000, function="f\ud800" * 5000, arguments={}))

    assert len(call.id) < 350
    assert len(call.function) < 350
    assert call.function.startswith("f\ufffdf\ufffd")
    assert call.parse_error is None


async def test_the_engine_sees_the_provider_and_its_name() -> None:
    name = script([says("hi \ud800")])
    model = get_model(name, role="observer")

    cleaned = with_clean_replies(model)

    assert str(cleaned) == name
    assert cleaned.role == "observer"
    assert cleaned.api.__class__ is type(model.api)
    assert cleaned.api.max_connections() == model.api.max_connections()
    assert cleaned.api.connection_key() == f"ScriptedModel:{model.api.connection_key()}"
    assert type(model.api) is not type(cleaned.api)
    assert with_clean_replies(cleaned) is cleaned
    assert (await cleaned.generate("x")).completion == "hi \ufffd"


async def test_an_exception_keeps_its_class_and_loses_its_surrogates() -> None:
    model = with_clean_replies(get_model(script([HttpError(400, "no \ud800")])))

    with pytest.raises(HttpError, match="HTTP 400: no \ufffd") as raised:
        await model.generate("x")

    assert raised.value.status_code == 400
