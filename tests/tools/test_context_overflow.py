from __future__ import annotations

from pathlib import Path

import pytest
from inspect_ai.model import ChatMessageUser, ModelOutput, ModelUsage
from tests.cells import LogTail, model_name, toolbox
from tests.scripted_model import HttpError, requests_of

from taketwo.errors import RequestError
from taketwo.executions.failures import failure_of
from taketwo.tools.budget import BudgetExhausted, Limits
from taketwo.tools.context_overflow import ContextOverflow, overflow_in, overflow_of
from taketwo.tools.role_model import ProviderReplyError

ASK = [ChatMessageUser(content="?")]
TOO_LONG = [
    "This model's maximum context length is 32768 tokens. However, you requested 40000 tokens "
    "(39000 in the messages, 1000 in the completion).",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "prompt is too long: 213000 tokens > 200000 maximum",
    "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
    "the request exceeds the available context size (8192 tokens)",
    "Input is too long for requested model.",
    "error code: context_length_exceeded",
]
FITS = (
    "This model's maximum context length is 32768 tokens. However, you requested 33000 tokens "
    "(232 in the messages, 32768 in the completion)."
)


def stopped(text: str, *, output_tokens: int | None = None) -> ModelOutput:
    output = ModelOutput.from_content("scripted", text, stop_reason="model_length")
    if output_tokens is not None:
        output.usage = ModelUsage(input_tokens=9, output_tokens=output_tokens)
    return output


@pytest.mark.parametrize("said", TOO_LONG)
def test_a_refusal_for_length_is_told_from_others(said: str) -> None:
    assert overflow_in(HttpError(400, said)) == f"HTTP 400: {said}"
    assert overflow_in(RequestError(said)) == said
    assert overflow_in(HttpError(500, said)) is None
    assert overflow_in(HttpError(429, said)) is None
    assert overflow_in(ValueError(said)) is None


def test_another_refusal_is_none() -> None:
    assert overflow_in(HttpError(400, "unknown parameter 'temperature'")) is None
    assert overflow_in(TimeoutError("context length")) is None


def test_where_only_the_length_of_the_reply_does_not_fit_the_settings_are_at_fault() -> None:
    assert overflow_in(HttpError(400, FITS)) is None
    assert overflow_of(stopped(FITS)) is None


def test_a_message_of_the_provider_in_place_of_a_reply_is_none() -> None:
    assert overflow_of(stopped(TOO_LONG[1])) == TOO_LONG[1]
    assert overflow_of(stopped("", output_tokens=0)) == "stopped before the first word"
    assert overflow_of(stopped("I saw a", output_tokens=3)) is None
    assert overflow_of(ModelOutput.from_content("scripted", TOO_LONG[1])) is None


@pytest.mark.parametrize("reply", [stopped(TOO_LONG[0]), HttpError(400, TOO_LONG[0])])
@pytest.mark.parametrize("limits", [Limits(), Limits(tokens=1000)])
async def test_it_is_a_limit_named_context_asked_for_once(
    tmp_path: Path, reply: ModelOutput | Exception, limits: Limits
) -> None:
    box = toolbox(tmp_path, orchestrator=[reply] * 3, retries=2, limits=limits)
    log = LogTail()

    with pytest.raises(ContextOverflow, match="longer than the context of scripted") as raised:
        await box.model("orchestrator").generate(ASK)

    assert isinstance(raised.value, BudgetExhausted)
    assert len(requests_of(model_name(box, "orchestrator"))) == 1
    assert box.failure is None
    ended = failure_of(raised.value)
    assert (ended.status, ended.limit) == ("limit", "context")
    assert "maximum context length is 32768" in ended.failure.message
    assert [event["error"] for event in log.of("model")] == ["ContextOverflow"]
    assert "maximum context length is 32768" in log.of("note")[0]["text"]


async def test_no_room_for_the_reply_is_a_fault_and_the_message_no_reply(tmp_path: Path) -> None:
    box = toolbox(tmp_path, orchestrator=[stopped(f"{FITS} FINAL ANSWER: A")] * 3)

    with pytest.raises(
        ProviderReplyError, match="no room for a reply: This model's maximum"
    ) as raised:
        await box.model("orchestrator").generate(ASK)

    assert box.failure is raised.value
    ended = failure_of(raised.value)
    assert (ended.status, ended.failure.retryable) == ("provider_error", False)
    assert len(requests_of(model_name(box, "orchestrator"))) == 1
