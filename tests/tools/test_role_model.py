from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from inspect_ai.model import (
    ChatMessageTool,
    ChatMessageUser,
    ContentAudio,
    ContentText,
    ContentVideo,
    ModelOutput,
)
from tests.cells import LogTail, grey_jpeg, model_name, toolbox
from tests.scripted_model import (
    HttpError,
    calls,
    empty,
    malformed,
    refuses,
    requests_of,
    says,
    script,
)

from taketwo.errors import RequestError
from taketwo.tools.budget import BudgetExhausted, Limits
from taketwo.tools.role_model import ProviderReplyError, RoleSettings
from taketwo.tools.sent_media import image_content

HELLO = [ChatMessageUser(content="hello")]


async def test_a_reply_leaves_one_event_with_role_number_and_seconds(tmp_path: Path) -> None:
    box, log = toolbox(tmp_path, orchestrator=[says("hi"), says("again")]), LogTail()

    await box.model("orchestrator").generate(HELLO)
    await box.model("orchestrator").generate(HELLO)

    first, second = log.of("model")
    assert [first["call"], second["call"]] == [0, 1]
    assert first["role"] == "orchestrator"
    assert first["seed_set"] is False
    assert first["error"] is None
    assert 0 <= first["latency_s"] < 5
    assert box.budget.used("latency_s") == pytest.approx(first["latency_s"] + second["latency_s"])
    assert box.budget.used("tokens") == 30


async def test_pictures_are_recorded_by_hash_in_their_order(tmp_path: Path) -> None:
    box, log = toolbox(tmp_path, observer=[says("seen")]), LogTail()
    late, early = grey_jpeg(9), grey_jpeg(1)
    content = [*image_content(9, late), *image_content(1, early)]

    await box.model("observer").generate([ChatMessageUser(content=list(content))])

    event = log.of("model")[0]
    assert event["media_sha256"] == [hashlib.sha256(jpeg).hexdigest() for jpeg in (late, early)]
    assert event["frames"] == 2
    assert box.budget.used("frames") == 2


async def test_each_call_gets_its_own_seed_and_no_cache(tmp_path: Path) -> None:
    box = toolbox(tmp_path, orchestrator=[says("a"), says("b")], seed_of=lambda call: 1000 + call)

    await box.model("orchestrator").generate(HELLO)
    await box.model("orchestrator").generate(HELLO)

    configs = [request.config for request in requests_of(model_name(box, "orchestrator"))]
    assert [config.seed for config in configs] == [1000, 1001]
    assert {config.cache_prompt for config in configs} == {False}
    assert {config.adaptive_connections for config in configs} == {False}


async def test_seconds_stated_by_the_provider_are_charged(tmp_path: Path) -> None:
    reply = says("hi")
    reply.metadata = {"charged_s": 2.5}
    box = toolbox(tmp_path, orchestrator=[reply])

    await box.model("orchestrator").generate(HELLO)

    assert box.latency_s == 2.5


@pytest.mark.parametrize("failure", [HttpError(429), HttpError(500), TimeoutError("too slow")])
async def test_a_passing_failure_is_retried(tmp_path: Path, failure: Exception) -> None:
    box = toolbox(tmp_path, orchestrator=[failure, says("hi")])

    output = await box.model("orchestrator").generate(HELLO)

    assert output.completion == "hi"
    assert box.failure is None


@pytest.mark.parametrize("failure", [HttpError(429), HttpError(500), TimeoutError("too slow")])
async def test_a_lasting_failure_is_passed_on_as_it_is(tmp_path: Path, failure: Exception) -> None:
    box, log = toolbox(tmp_path, orchestrator=[failure] * 2), LogTail()

    with pytest.raises(type(failure)) as raised:
        await box.model("orchestrator").generate(HELLO)

    assert raised.value is failure
    assert box.failure is failure
    assert log.of("model")[0]["error"] == type(failure).__name__


@pytest.mark.parametrize(
    ("reply", "problem", "requests"),
    [
        (empty(), "empty", 2),
        (malformed(), "malformed", 2),
        (calls((" ", {})), "malformed", 2),
        (refuses(), "refused", 1),
    ],
)
async def test_a_reply_that_is_none_fails_the_cell(
    tmp_path: Path, reply: ModelOutput, problem: str, requests: int
) -> None:
    box = toolbox(tmp_path, orchestrator=[reply] * 3)

    with pytest.raises(ProviderReplyError, match=f"no usable reply: {problem}") as raised:
        await box.model("orchestrator").generate(HELLO)

    assert raised.value.retryable
    assert box.failure is raised.value
    assert len(requests_of(model_name(box, "orchestrator"))) == requests
    assert box.budget.used("turns") == 1
    assert box.budget.used("model_calls") == requests


async def test_an_empty_reply_is_asked_again(tmp_path: Path) -> None:
    box, log = toolbox(tmp_path, orchestrator=[empty(), says("hi")]), LogTail()

    output = await box.model("orchestrator").generate(HELLO)

    assert output.completion == "hi"
    assert [event["error"] for event in log.of("model")] == ["ProviderReplyError: empty", None]


async def test_a_reply_cut_off_before_its_first_word_is_not_worth_a_retry(tmp_path: Path) -> None:
    reply = empty()
    reply.choices[0].stop_reason = "max_tokens"
    box = toolbox(tmp_path, orchestrator=[reply])

    with pytest.raises(ProviderReplyError, match="cut_off") as raised:
        await box.model("orchestrator").generate(HELLO)

    assert not raised.value.retryable


@pytest.mark.parametrize(
    ("limits", "resource"),
    [
        (Limits(turns=1), "turns"),
        (Limits(model_calls=1), "model_calls"),
        (Limits(tokens=15), "tokens"),
        (Limits(latency_s=0.5), "latency_s"),
    ],
)
async def test_a_call_past_the_budget_is_not_sent(
    tmp_path: Path, limits: Limits, resource: str
) -> None:
    reply = says("hi")
    reply.metadata = {"charged_s": 1.0}
    box = toolbox(tmp_path, orchestrator=[reply, reply], limits=limits)
    await box.model("orchestrator").generate(HELLO)

    with pytest.raises(BudgetExhausted, match=resource):
        await box.model("orchestrator").generate(HELLO)

    assert len(requests_of(model_name(box, "orchestrator"))) == 1
    assert box.failure is None


async def test_the_observer_leaves_the_last_call_to_the_orchestrator(tmp_path: Path) -> None:
    box = toolbox(
        tmp_path,
        orchestrator=[says("hi")],
        observer=[says("seen")],
        limits=Limits(model_calls=1),
    )

    with pytest.raises(BudgetExhausted, match="model_calls"):
        await box.model("observer").generate(HELLO)

    assert (await box.model("orchestrator").generate(HELLO)).completion == "hi"


async def test_media_that_a_provider_drops_silently_are_refused(tmp_path: Path) -> None:
    box = toolbox(tmp_path, orchestrator=[says("hi")])
    wav = ContentAudio(audio="data:audio/wav;base64,AAAA", format="wav")
    clip = ContentVideo(video="data:video/mp4;base64,AAAA", format="mp4")
    model = box.model("orchestrator")

    with pytest.raises(RequestError, match="audio in a tool result may never reach 'scripted'"):
        await model.generate([ChatMessageTool(content=[ContentText(text="x"), wav])])
    with pytest.raises(RequestError, match="video in a user message may never reach 'scripted'"):
        await model.generate([ChatMessageUser(content=[clip])])

    assert requests_of(model_name(box, "orchestrator")) == []


async def test_a_picture_by_address_is_refused(tmp_path: Path) -> None:
    box = toolbox(tmp_path, orchestrator=[says("hi")])
    label, picture = image_content(1, b"x")
    picture.image = "https://example.org/a.jpg"

    with pytest.raises(RequestError, match="not inline"):
        await box.model("orchestrator").generate([ChatMessageUser(content=[label, picture])])


def test_a_role_without_a_model_is_named(tmp_path: Path) -> None:
    box = toolbox(tmp_path, orchestrator=[])

    with pytest.raises(RequestError, match=r"asked for the observer.*orchestrator only"):
        box.model("observer")


def test_a_setting_that_the_engine_does_not_know_is_refused() -> None:
    settings = RoleSettings(
        role="observer", model=script([]), sampling={"temprature": 0.5, "top_p": None}
    )

    with pytest.raises(RequestError, match="cannot be sampled by temprature"):
        settings.open()
