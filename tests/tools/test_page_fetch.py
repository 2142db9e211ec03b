"""Pages over servers of the test: redirects, sizes, types and times, never the network."""

from __future__ import annotations

import gzip
import threading
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anyio
import httpx
import pytest

from taketwo.tools.page_fetch import MOST_BYTES, PageFetcher
from taketwo.tools.tool_failure import ToolFailure

PUBLIC = "93.184.216.34"
ARTICLE = (
    "<html><head><title>The  bridge</title></head><body><nav>Home Menu</nav><article><h1>The bridge"
    "</h1><p>" + "It was opened in 1932 and is painted grey. " * 12 + "</p></article></body></html>"
)
Answer = Callable[[httpx.Request], httpx.Response]


async def resolve(host: str, port: int) -> Sequence[str]:
    return ["10.0.0.7"] if host.startswith("inside") else [PUBLIC]


def fetcher(answer: Answer, *, limit_s: float = 20.0) -> PageFetcher:
    return PageFetcher(
        resolve=resolve, transport=lambda: httpx.MockTransport(answer), limit_s=limit_s
    )


def page(
    body: bytes | str = ARTICLE, kind: str = "text/html; charset=utf-8", **headers: str
) -> httpx.Response:
    content = body.encode() if isinstance(body, str) else body
    return httpx.Response(
        200, stream=httpx.ByteStream(content), headers={"content-type": kind, **headers}
    )


async def failure_of(answer: Answer, url: str = "http://page.test/a") -> ToolFailure:
    with pytest.raises(ToolFailure) as raised:
        await fetcher(answer).page(url)
    return raised.value


async def test_a_page_is_its_title_and_main_text() -> None:
    found = await fetcher(lambda request: page()).page("http://page.test/a#part")

    assert (found.url, found.title) == ("http://page.test/a#part", "The bridge")
    assert "It was opened in 1932 and is painted grey." in found.text
    assert "Menu" not in found.text
    assert found.characters == len(found.text)
    assert found.first(10).text == found.text[:10]
    assert found.first(10).is_cut


async def test_the_connection_goes_to_the_address_that_was_checked() -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return page()

    await fetcher(answer).page("https://page.test:8443/a?b=c")

    (request,) = asked
    assert str(request.url) == f"https://{PUBLIC}:8443/a?b=c"
    assert request.headers["host"] == "page.test:8443"
    assert request.extensions["sni_hostname"] == "page.test"
    assert {"cookie", "authorization", "referer"}.isdisjoint(request.headers)


async def test_a_name_is_looked_up_once_for_each_request() -> None:
    looked_up: list[str] = []

    async def turning(host: str, port: int) -> Sequence[str]:
        looked_up.append(host)
        return [PUBLIC] if len(looked_up) == 1 else ["127.0.0.1"]

    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return page()

    await PageFetcher(resolve=turning, transport=lambda: httpx.MockTransport(answer)).page(
        "http://rebinding.test/"
    )

    assert (looked_up, asked) == (["rebinding.test"], [PUBLIC])


async def test_the_next_address_is_tried_where_one_does_not_answer() -> None:
    async def several(host: str, port: int) -> Sequence[str]:
        return ["93.184.216.1", "93.184.216.2"]

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.host == "93.184.216.1":
            raise httpx.ConnectError("refused")
        return page()

    found = await PageFetcher(resolve=several, transport=lambda: httpx.MockTransport(answer)).page(
        "http://page.test/"
    )

    assert found.title == "The bridge"


async def test_redirects_are_followed_and_carry_no_cookies() -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        if request.url.path == "/a":
            headers = {"location": "/b?c=d", "set-cookie": "session=1; Path=/"}
            return httpx.Response(301, headers=headers)
        if request.url.path == "/b":
            return httpx.Response(307, headers={"location": "//other.test/c"})
        return page()

    found = await fetcher(answer).page("https://page.test/a")

    assert found.url == "https://other.test/c"
    assert [request.headers["host"] for request in asked] == [
        "page.test",
        "page.test",
        "other.test",
    ]
    assert not any("cookie" in request.headers for request in asked)


@pytest.mark.parametrize(
    ("location", "code"),
    [
        ("http://inside.test/admin", "refused_address"),
        ("http://127.0.0.1/admin", "refused_address"),
        ("http://[::ffff:127.0.0.1]/", "refused_address"),
        ("http://2130706433/", "refused_address"),
        ("http://user:pw@page.test/", "refused_address"),
        ("file:///etc/passwd", "refused_address"),
        ("http://page.test:6379/", "refused_address"),
        ("http://page.test:port/", "page_unavailable"),
    ],
)
@pytest.mark.parametrize("hops", [0, 3])
async def test_a_redirect_to_elsewhere_is_refused_at_any_hop(
    location: str, code: str, hops: int
) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        target = location if len(asked) > hops else f"/{len(asked)}"
        return httpx.Response(302, headers={"location": target})

    failure = await failure_of(answer)

    assert failure.code == code
    assert asked == [PUBLIC] * (hops + 1)


async def test_five_redirects_are_the_most() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        step = int(request.url.path.strip("/"))
        return page() if step == 5 else httpx.Response(302, headers={"location": f"/{step + 1}"})

    found = await fetcher(answer).page("http://page.test/0")
    failure = await failure_of(answer, "http://page.test/-1")

    assert found.url == "http://page.test/5"
    assert (failure.code, failure.retryable) == ("too_many_redirects", False)


@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [
        (204, "page_unavailable", False),
        (301, "page_unavailable", False),
        (401, "page_refused", False),
        (403, "page_refused", False),
        (404, "page_not_found", False),
        (410, "page_not_found", False),
        (418, "page_unavailable", False),
        (429, "page_unavailable", True),
        (500, "page_unavailable", True),
        (503, "page_unavailable", True),
    ],
)
async def test_a_status_is_a_typed_error(status: int, code: str, retryable: bool) -> None:
    failure = await failure_of(lambda request: httpx.Response(status, text=ARTICLE))

    assert (failure.code, failure.retryable) == (code, retryable)
    assert str(status) in failure.message


@pytest.mark.parametrize(
    "kind", ["application/pdf", "image/png", "application/json", "application/octet-stream", ""]
)
async def test_only_html_and_plain_text_are_read(kind: str) -> None:
    failure = await failure_of(lambda request: page(b"%PDF-1.7", kind))

    assert failure.code == "unsupported_content"
    assert (kind or "of no stated type") in failure.message


async def test_plain_text_is_taken_as_it_stands() -> None:
    body = "<b>not</b>  markup\n\n\n\n\u200bend".encode("utf-16")

    found = await fetcher(lambda request: page(body, "text/plain")).page("http://page.test/")

    assert found.text == "<b>not</b> markup\n\n\u200bend"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("<p>caf\u00e9 on the corner</p>".encode("cp1252"), "text/html"),
        ("<p>caf\u00e9 on the corner</p>".encode("latin-1"), "text/html; charset=iso-8859-1"),
        ('<meta charset="gbk"><p>caf\u00e9 on the corner</p>'.encode("gbk"), "text/html"),
        ("\ufeff<p>caf\u00e9 on the corner</p>".encode(), "text/html; charset=zip"),
        ("<p>caf\u00e9 on the corner</p>".encode("utf-16"), "application/xhtml+xml"),
    ],
)
async def test_charsets_are_understood_and_only_those_of_pages(body: bytes, kind: str) -> None:
    found = await fetcher(lambda request: page(body, kind)).page("http://page.test/")

    assert found.text == "caf\u00e9 on the corner"


@pytest.mark.parametrize("body", ["", "<html><body></body></html>", "<script>x()</script>"])
async def test_a_page_without_text_is_said_to_have_none(body: str) -> None:
    failure = await failure_of(lambda request: page(body))

    assert failure.code == "no_text"


async def test_a_body_that_is_announced_as_too_large_is_not_read() -> None:
    read: list[int] = []

    async def chunks() -> AsyncIterator[bytes]:
        read.append(1)
        yield b"x"

    def answer(request: httpx.Request) -> httpx.Response:
        headers = {"content-type": "text/html", "content-length": str(MOST_BYTES + 1)}
        return httpx.Response(200, content=chunks(), headers=headers)

    failure = await failure_of(answer)

    assert (failure.code, read) == ("page_too_large", [])


async def test_a_body_without_end_is_left_as_soon_as_it_is_too_large() -> None:
    given: list[int] = []

    async def chunks() -> AsyncIterator[bytes]:
        while True:
            given.append(100_000)
            yield b"a" * 100_000

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=chunks(), headers={"content-type": "text/plain"})

    failure = await failure_of(answer)

    assert failure.code == "page_too_large"
    assert sum(given) == MOST_BYTES + 100_000


async def test_a_packed_bomb_is_not_unpacked_beyond_the_bound() -> None:
    bomb = gzip.compress(b"<p>" + b"a" * 60_000_000)
    assert len(bomb) < 100_000

    failure = await failure_of(lambda request: page(bomb, **{"content-encoding": "gzip"}))

    assert failure.code == "page_too_large"


async def test_a_packed_page_is_unpacked() -> None:
    packed = gzip.compress(ARTICLE.encode())

    found = await fetcher(lambda request: page(packed, **{"content-encoding": "gzip"})).page(
        "http://page.test/"
    )

    assert found.title == "The bridge"


@pytest.mark.parametrize("packing", ["br", "zstd", "deflate", "gzip, gzip", "\u00e9"])
async def test_other_packings_are_refused(packing: str) -> None:
    headers = [(b"content-type", b"text/html"), (b"content-encoding", packing.encode("latin-1"))]

    failure = await failure_of(
        lambda request: httpx.Response(200, headers=headers, stream=httpx.ByteStream(b"x"))
    )

    assert failure.code == "unsupported_content"


async def test_what_says_to_be_packed_and_is_not_is_unavailable() -> None:
    failure = await failure_of(
        lambda request: httpx.Response(
            200,
            headers={"content-type": "text/html", "content-encoding": "gzip"},
            stream=httpx.ByteStream(b"plain"),
        )
    )

    assert failure.code == "page_unavailable"


async def test_a_page_that_takes_too_long_is_a_timeout() -> None:
    async def never(host: str, port: int) -> Sequence[str]:
        await anyio.sleep_forever()
        return []

    with pytest.raises(ToolFailure, match="did not come within") as raised:
        await PageFetcher(resolve=never, limit_s=0.01).page("http://page.test/")

    assert (raised.value.code, raised.value.retryable) == ("timeout", True)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (httpx.ReadTimeout("slow"), "timeout"),
        (httpx.ConnectTimeout("slow"), "timeout"),
        (httpx.ConnectError("refused"), "page_unavailable"),
        (httpx.RemoteProtocolError("garbage"), "page_unavailable"),
        (httpx.DecodingError("garbage"), "page_unavailable"),
        (ConnectionResetError("reset"), "page_unavailable"),
    ],
)
async def test_a_connection_that_fails_is_a_typed_error(error: Exception, code: str) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise error

    failure = await failure_of(answer)

    assert (failure.code, failure.retryable) == (code, True)


async def test_a_page_of_countless_tags_is_read_without_looking_for_its_main_part() -> None:
    body = "<title>Long &amp; wide</title>" + "<p>word</p>" * 7000

    found = await fetcher(lambda request: page(body)).page("http://page.test/")

    assert found.title == "Long & wide"
    assert found.text.count("word") == 7000


@contextmanager
def local_server() -> Generator[int]:
    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/loop":
                self.send_response(302)
                self.send_header("Location", "http://inside.test/")
                self.end_headers()
                return
            body = f"<p>You asked {self.headers['Host']} for {self.path}, dear reader.</p>".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the base's name
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class ToLoopback(httpx.AsyncHTTPTransport):
    """Connect to a local port wherever the request goes, so that the real client is in the way."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self._port = port

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        assert request.url.host == PUBLIC
        request.url = request.url.copy_with(host="127.0.0.1", port=self._port)
        return await super().handle_async_request(request)


async def test_a_real_connection_carries_the_name_of_the_host() -> None:
    with local_server() as port:
        pages = PageFetcher(resolve=resolve, transport=lambda: ToLoopback(port))

        found = await pages.page("http://page.test/hello?x=1")
        with pytest.raises(ToolFailure) as raised:
            await pages.page("http://page.test/loop")

    assert found.text == "You asked page.test for /hello?x=1, dear reader."
    assert raised.value.code == "refused_address"
