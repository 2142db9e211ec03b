"""What each provider's service really gets, and what becomes of what it sends back."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ChatMessageUser, ModelAPI
from tenacity import wait_none
from tests.cells import LogTail, grey_jpeg, toolbox
from tests.models.http_service import Reply, Service, serving
from tests.wire.protocols import PROTOCOLS, Protocol

from taketwo.agents.conversation import Conversation
from taketwo.tools.role_model import ProviderReplyError, RoleSettings
from taketwo.tools.sent_media import image_content
from taketwo.tools.toolbox import Toolbox

TOOLS = ("extract_video_parts", "get_transcript")

# A client library of Google subclasses a class of aiohttp that warns of it.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class:DeprecationWarning")
every_protocol = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.name)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ModelAPI, "retry_wait", lambda self: wait_none())
    for name in ("OPENAI_API_KEY", "STUB_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "a-key")


def box_of(
    folder: Path,
    protocol: Protocol,
    service: Service,
    *,
    retries: int = 1,
    timeout_s: float = 20.0,
    **sampling: Any,
) -> Toolbox:
    settings = RoleSettings(
        role="orchestrator",
        model=protocol.model,
        base_url=service.address + protocol.suffix,
        sampling={"temperature": 0.0, **sampling},
        retries=retries,
        timeout_s=timeout_s,
    )
    return toolbox(folder, tools=TOOLS, extra_roles={"orchestrator": settings})


def with_frames() -> list[ChatMessageUser]:
    content = [*image_content(1.0, grey_jpeg(1)), *image_content(9.5, grey_jpeg(9.5))]
    return [ChatMessageUser(content=[*content])]


@every_protocol
async def test_frames_arrive_whole_each_after_its_time(tmp_path: Path, protocol: Protocol) -> None:
    with serving({protocol.path: [protocol.text("seen")]}) as service:
        output = (
            await box_of(tmp_path, protocol, service).model("orchestrator").generate(with_frames())
        )

    assert output.completion == "seen"
    assert protocol.parts(service.received[0].json()) == [
        ("text", "[frame at 1.00 s]"),
        ("image", base64.b64encode(grey_jpeg(1)).decode()),
        ("text", "[frame at 9.50 s]"),
        ("image", base64.b64encode(grey_jpeg(9.5)).decode()),
    ]


@every_protocol
async def test_tools_temperature_and_nothing_else_are_sent(
    tmp_path: Path, protocol: Protocol
) -> None:
    with serving({protocol.path: [protocol.text("well")]}) as service:
        box = box_of(tmp_path, protocol, service)
        await box.model("orchestrator").generate([ChatMessageUser(content="go")], tools=True)

    request = service.received[0]
    body = request.json()
    assert protocol.tools(body) == [
        ("extract_video_parts", {"start_time", "end_time", "count", "fps", "resolution"}),
        ("get_transcript", {"start_time", "end_time"}),
    ]
    # Anthropic's service takes no temperature any more; the engine leaves it out, and so the log says.
    assert protocol.temperature(body) == (None if protocol.name == "anthropic" else 0.0)
    assert protocol.seed(body) is None
    assert "cache" not in request.body.decode().lower()
    assert not [name for name in request.headers if "cache" in name]


@every_protocol
async def test_parallel_calls_come_back_paired_with_their_results(
    tmp_path: Path, protocol: Protocol
) -> None:
    replies = [
        protocol.calls(
            ("a1", "extract_video_parts", {"start_time": 2.0, "end_time": 4.0, "count": 2}),
            ("b2", "get_transcript", {"start_time": 0.0, "end_time": 5.0}),
            ("c3", "no_such_tool", {}),
        ),
        protocol.text('{"answer": "B"}'),
    ]
    with serving({protocol.path: replies}) as service:
        box = box_of(tmp_path, protocol, service)
        box.primitives.media.info.__dict__["has_audio"] = False
        conversation = Conversation(box, [ChatMessageUser(content="go")])
        turn = await conversation.turn()
        await conversation.run(turn)
        answer = await conversation.turn()

    body = service.received[1].json()
    made, results = protocol.calls_and_results(body)
    assert len(made) == 3
    assert results == made
    sent = service.received[1].body.decode()
    assert "unknown_tool" in sent
    assert "[frame at 2.00 s]" in sent
    assert base64.b64encode(grey_jpeg(2.0)).decode()[:60].replace("+", "-").replace("/", "_") in (
        sent.replace("+", "-").replace("/", "_")
    )
    assert answer.text == '{"answer": "B"}'
    assert box.budget.used("visible_calls") == 3


@every_protocol
@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_busy_service_is_asked_again_and_its_tokens_are_counted_once(
    tmp_path: Path, protocol: Protocol, status: int
) -> None:
    headers = {"retry-after": "0"} if status == 429 else {}
    replies = [protocol.error(status, **headers), protocol.text("at last")]
    with serving({protocol.path: replies}) as service:
        box, log = box_of(tmp_path, protocol, service), LogTail()
        output = await box.model("orchestrator").generate([ChatMessageUser(content="go")])

    assert output.completion == "at last"
    assert len(service.received) == 2
    assert box.budget.used("tokens") == 107
    assert box.budget.used("model_calls") == 1
    assert log.of("model")[0]["error"] is None


@every_protocol
async def test_a_service_that_stays_down_is_a_fault_of_the_provider(
    tmp_path: Path, protocol: Protocol
) -> None:
    with serving({protocol.path: [protocol.error(500)]}) as service:
        box, log = box_of(tmp_path, protocol, service), LogTail()
        with pytest.raises(Exception, match=r"500|later"):
            await box.model("orchestrator").generate([ChatMessageUser(content="go")])

    assert len(service.received) == 2
    assert box.failure is not None
    assert log.of("model")[0]["error"]


@every_protocol
async def test_a_reply_that_is_cut_off_on_the_wire_is_asked_for_again(
    tmp_path: Path, protocol: Protocol
) -> None:
    whole = protocol.text("whole")
    cut = Reply(
        whole.data()[:40],
        200,
        {"content-type": "application/json"},
        cut=True,
        streamed=whole.streamed and whole.streamed[:200],
    )
    with serving({protocol.path: [cut, whole]}) as service:
        box = box_of(tmp_path, protocol, service, retries=2)
        output = await box.model("orchestrator").generate([ChatMessageUser(content="go")])

    assert output.completion == "whole"
    assert len(service.received) == 2


@every_protocol
async def test_a_slow_reply_is_given_up_and_asked_for_again(
    tmp_path: Path, protocol: Protocol
) -> None:
    slow = replace(protocol.text("late"), delay_s=3.0)
    with serving({protocol.path: [slow, protocol.text("quick")]}) as service:
        box = box_of(tmp_path, protocol, service, timeout_s=1.0)
        output = await box.model("orchestrator").generate([ChatMessageUser(content="go")])

    assert output.completion == "quick"
    assert box.latency_s < 3.0


@every_protocol
async def test_an_empty_reply_is_asked_again_and_then_a_fault(
    tmp_path: Path, protocol: Protocol
) -> None:
    with serving({protocol.path: [protocol.text("")]}) as service:
        box = box_of(tmp_path, protocol, service)
        with pytest.raises(ProviderReplyError, match="no usable reply"):
            await box.model("orchestrator").generate([ChatMessageUser(content="go")])

    assert len(service.received) == 2
    assert box.budget.used("model_calls") == 2
