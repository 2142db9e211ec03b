"""Services of others: faults of the service are a provider's, broken words are the agent's."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.cells import COLOURS, toolbox
from tests.models.http_service import Reply, Service, serving

from taketwo.agents.catalog import agent_spec
from taketwo.agents.external import HttpAgent, HttpOptions
from taketwo.agents.external_http import ServiceFault
from taketwo.agents.external_process import OutputTooLarge
from taketwo.agents.external_protocol import BrokenProtocol
from taketwo.errors import RequestError
from taketwo.executions.failures import failure_of
from taketwo.tools.budget import Limits
from taketwo.tools.toolbox import Toolbox

ANSWER = b'{"event": "answer", "answer": "B"}\n'
LINES = {"content-type": "application/x-ndjson; charset=utf-8"}
JSON = {"content-type": "application/json"}


def agent(service: Service | str, **options: Any) -> HttpAgent:
    address = service if isinstance(service, str) else f"{service.address}/answer"
    settings = {"time_limit_s": 20.0, "retry_wait_s": 0.0} | options
    return HttpAgent(options=HttpOptions.model_validate({"url": address, **settings}))


def box(folder: Path, limits: Limits | None = None) -> Toolbox:
    return toolbox(folder, tools=[], limits=limits)


def replies(*given: Reply) -> dict[str, list[Reply]]:
    return {"/": list(given)}


async def test_a_service_gets_the_question_and_its_whole_reply_is_the_answer(
    tmp_path: Path,
) -> None:
    body = b'{\n  "answer": "blue",\n  "reasoning": "seen"\n}'
    with serving(replies(Reply(body, headers=JSON))) as service:
        answer = await agent(service, options={"depth": 2})(COLOURS, box(tmp_path))

    assert (answer.option_index, answer.reasoning) == (1, "seen")
    (request,) = service.received
    assert (request.method, request.path) == ("POST", "/answer")
    assert request.headers["content-type"] == "application/json"
    sent = request.json()
    assert sent["question"]["options"] == ["red", "blue", "green"]
    assert sent["options"] == {"depth": 2}
    assert "answer_index" not in json.dumps(sent)


async def test_a_reply_in_lines_is_booked_like_that_of_a_program(tmp_path: Path) -> None:
    body = (
        b'{"event": "hello", "reports": ["tool_call"]}\n'
        b'{"event": "model_call", "input_tokens": 9, "output_tokens": 1}\n' + ANSWER
    )
    cell = box(tmp_path)
    with serving(replies(Reply(body, headers=LINES))) as service:
        answer = await agent(service)(COLOURS, cell)

    assert answer.option_index == 1
    assert (cell.budget.used("turns"), cell.budget.used("tokens")) == (1, 10)
    assert set(cell.unavailable) == {"primitive_ops", "latency_s", "frames"}


async def test_work_past_a_limit_is_limit(tmp_path: Path) -> None:
    body = b'{"event": "model_call"}\n' * 2 + ANSWER
    with serving(replies(Reply(body, headers=LINES))) as service:
        answer = await agent(service)(COLOURS, box(tmp_path, Limits(turns=1)))

    assert (answer.status, answer.limit, answer.option_index) == ("limit", "turns", None)


async def test_headers_come_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "Bearer mine")
    with serving(replies(Reply(ANSWER))) as service:
        await agent(service, headers_env={"Authorization": "MY_TOKEN"})(COLOURS, box(tmp_path))

    assert service.received[0].headers["authorization"] == "Bearer mine"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "option headers_env names MY_TOKEN, which is not set here"),
        ("secret\nx", "characters other than printable ASCII"),
    ],
)
async def test_a_header_that_cannot_be_sent_is_told_without_its_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str | None, reason: str
) -> None:
    monkeypatch.delenv("MY_TOKEN", raising=False)
    if value is not None:
        monkeypatch.setenv("MY_TOKEN", value)

    with pytest.raises(RequestError, match=reason) as refused:
        await agent("http://127.0.0.1:9/", headers_env={"X": "MY_TOKEN"})(COLOURS, box(tmp_path))

    assert "secret" not in str(refused.value)


def ends_as(cell: Toolbox, error: BaseException) -> tuple[str, int | None, bool]:
    """Return status, HTTP status and whether a later attempt may help, as the cell records them."""
    found = failure_of(error, met_outside=cell.failure)
    return found.status, found.failure.http_status, found.failure.retryable


async def test_a_redirect_is_refused_and_not_followed(tmp_path: Path) -> None:
    cell = box(tmp_path)
    with serving(replies(Reply(ANSWER))) as other:
        elsewhere = Reply(b"", status=307, headers={"location": f"{other.address}/x"})
        with serving(replies(elsewhere)) as service, pytest.raises(ServiceFault) as fault:
            await agent(service)(COLOURS, cell)

    assert f"sends on to '{other.address}/x' (HTTP 307); redirects are refused" in str(fault.value)
    assert other.received == []
    assert len(service.received) == 1
    assert ends_as(cell, fault.value) == ("provider_error", 307, False)


@pytest.mark.parametrize(
    ("status", "attempts", "retryable"),
    [(500, 4, True), (503, 4, True), (429, 4, True), (400, 1, False), (404, 1, False)],
)
async def test_a_failed_request_is_a_fault_of_the_provider_with_its_cause(
    tmp_path: Path, status: int, attempts: int, retryable: bool
) -> None:
    cell = box(tmp_path)
    with (
        serving(replies(Reply(b"the engine is down", status=status))) as service,
        pytest.raises(ServiceFault, match=f"HTTP {status}: 'the engine is down'") as fault,
    ):
        await agent(service)(COLOURS, cell)

    assert len(service.received) == attempts
    assert ends_as(cell, fault.value) == ("provider_error", status, retryable)


async def test_a_service_that_comes_back_is_asked_again(tmp_path: Path) -> None:
    down = Reply(b"", status=502)
    with serving(replies(down, down, Reply(ANSWER))) as service:
        answer = await agent(service)(COLOURS, box(tmp_path))

    assert answer.option_index == 1
    assert len(service.received) == 3


async def test_a_service_that_is_not_there_is_a_fault_of_the_provider(tmp_path: Path) -> None:
    cell = box(tmp_path)

    with pytest.raises(ServiceFault, match=r"http://127\.0\.0\.1:9/: ConnectError") as fault:
        await agent("http://127.0.0.1:9/?key=secret", retries=1)(COLOURS, cell)

    assert "secret" not in str(fault.value)
    assert ends_as(cell, fault.value) == ("provider_error", None, True)


async def test_a_reply_that_breaks_off_is_not_asked_for_again_once_work_was_reported(
    tmp_path: Path,
) -> None:
    cut = Reply(b'{"event": "model_call"}\n', headers=LINES, cut=True)
    cell = box(tmp_path)
    with serving(replies(cut)) as service, pytest.raises(ServiceFault, match="RemoteProtocolError"):
        await agent(service)(COLOURS, cell)

    assert len(service.received) == 1
    assert cell.budget.used("turns") == 1


async def test_a_service_that_is_silent_ends_at_the_time_limit(tmp_path: Path) -> None:
    cell = box(tmp_path)
    with (
        serving(replies(Reply(ANSWER, delay_s=60))) as service,
        pytest.raises(ServiceFault, match=r"no answer from .* within 0\.5 s") as fault,
    ):
        await agent(service, time_limit_s=0.5)(COLOURS, cell)

    assert ends_as(cell, fault.value) == ("provider_error", None, True)


@contextmanager
def streaming(piece: Callable[[], bytes], kind: str) -> Iterator[str]:
    """Serve a reply that never ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(200)
            self.send_header("content-type", kind)
            self.end_headers()
            with suppress(OSError):
                while not stopped.is_set():
                    self.wfile.write(piece())

        def log_message(self, *arguments: object) -> None:
            pass

    stopped = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize(
    ("piece", "kind", "reason"),
    [
        (b" " * 65536, "application/json", "the reply of the agent has more than 8388608 bytes"),
        (b"x" * 65536, "application/x-ndjson", "a line of the agent has more than 1048576 bytes"),
        (b"\n" * 65536, "application/x-ndjson", "the reply of the agent has more than"),
    ],
)
async def test_a_reply_without_end_is_cut_off(
    tmp_path: Path, piece: bytes, kind: str, reason: str
) -> None:
    cell = box(tmp_path)
    started = time.monotonic()
    with streaming(lambda: piece, kind) as address, pytest.raises(OutputTooLarge) as cut:
        await agent(address)(COLOURS, cell)

    assert reason in str(cut.value)
    assert time.monotonic() - started < 20
    assert ends_as(cell, cut.value) == ("agent_error", None, False)


async def test_a_slow_drip_ends_at_the_time_limit(tmp_path: Path) -> None:
    def drip() -> bytes:
        time.sleep(0.02)
        return b'{"event": "progress", "text": "."}\n'

    with (
        streaming(drip, "application/jsonl") as address,
        pytest.raises(ServiceFault, match=r"within 0\.7 s"),
    ):
        await agent(address, time_limit_s=0.7)(COLOURS, box(tmp_path))


async def test_a_huge_body_that_says_its_length_is_cut_off(tmp_path: Path) -> None:
    huge = Reply(b" " * (9 << 20), headers=JSON)
    with serving(replies(huge)) as service, pytest.raises(OutputTooLarge):
        await agent(service)(COLOURS, box(tmp_path))


async def test_a_packed_reply_is_refused_since_it_could_unfold_without_end(tmp_path: Path) -> None:
    packed = Reply(b"\x1f\x8b", headers=JSON | {"content-encoding": "gzip"})
    with serving(replies(packed)) as service, pytest.raises(ServiceFault, match="as 'gzip'"):
        await agent(service)(COLOURS, box(tmp_path))

    assert service.received[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"B",
        b'"B"',
        b'{"answer": 1}',
        b'{"answer": NaN}',
        b'{"answer": "A", "answer": "B"}',
        b'{"answer": "\xff"}',
        b'{"event": "model_call"}',
        b"<html>down for maintenance</html>",
        b'{"answer": "B"}{"answer": "B"}',
    ],
)
async def test_a_reply_that_is_no_answer_is_the_agents_fault(tmp_path: Path, body: bytes) -> None:
    cell = box(tmp_path)
    with (
        serving(replies(Reply(body, headers=JSON))) as service,
        pytest.raises(BrokenProtocol, match="not an event of") as broken,
    ):
        await agent(service)(COLOURS, cell)

    assert ends_as(cell, broken.value) == ("agent_error", None, False)


async def test_two_answers_in_lines_are_none(tmp_path: Path) -> None:
    with (
        serving(replies(Reply(ANSWER * 2, headers=LINES))) as service,
        pytest.raises(BrokenProtocol, match="a second answer"),
    ):
        await agent(service)(COLOURS, box(tmp_path))


async def test_proxies_of_the_environment_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serving(replies(Reply(ANSWER))) as service:
        answer = await agent(service)(COLOURS, box(tmp_path))

    assert answer.option_index == 1


@pytest.mark.parametrize(
    "url",
    [
        "ftp://x/y",
        "file:///etc/passwd",
        "http://user:password@x/",
        "http://",
        "x.example/answer",
        "http://x/y#z",
        "http://x y/",
    ],
)
def test_an_address_that_is_none_is_refused_when_the_plan_is_made(url: str) -> None:
    with pytest.raises(RequestError, match="url: String should match pattern"):
        agent_spec("http").checked({"url": url})
