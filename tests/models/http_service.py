"""A loopback HTTP service that answers by script and keeps what it was sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Received:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Reply:
    body: bytes | dict[str, Any] = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    cut: bool = False
    streamed: bytes | None = None  # sent instead where the request asks for a stream

    def data(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass
class Service:
    """`replies` holds, for the start of a path, what is replied in turn; the last one stays."""

    address: str
    replies: dict[str, list[Reply]]
    received: list[Received] = field(default_factory=list)

    def next_reply(self, path: str) -> Reply:
        for start, queue in self.replies.items():
            if path.startswith(start):
                return queue.pop(0) if len(queue) > 1 else queue[0]
        return Reply(b"no such path", 404)

    def to(self, start: str) -> list[Received]:
        return [item for item in self.received if item.path.startswith(start)]


@contextmanager
def serving(replies: dict[str, list[Reply]]) -> Iterator[Service]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            names = {name.lower(): value for name, value in self.headers.items()}
            service.received.append(Received(self.command, self.path, names, body))
            reply = service.next_reply(self.path)
            data = reply.data()
            is_streamed = reply.streamed is not None and b'"stream":true' in body.replace(b" ", b"")
            if is_streamed:
                data = reply.streamed or b""
            if reply.delay_s:
                stopped.wait(reply.delay_s)
            self.send_response(reply.status)
            if is_streamed:
                self.send_header("content-type", "text/event-stream")
            for name, value in reply.headers.items():
                self.send_header(name, value.replace("HERE", service.address))
            self.send_header("content-length", str(len(data) + 1000 * reply.cut))
            self.end_headers()
            with suppress(OSError):  # a client that has given up is gone
                self.wfile.write(data)
            self.close_connection = reply.cut

        do_GET = do_POST = _answer  # noqa: N815  the names of http.server

        def log_message(self, *arguments: object) -> None:
            pass

    stopped = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    service = Service(f"http://127.0.0.1:{server.server_address[1]}", replies)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield service
    finally:
        stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()
