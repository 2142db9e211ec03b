"""Fetching one page from the public web, within bounds that no page can stretch.

Only GET, without cookies, credentials, proxies or anything else of the environment. The address is
checked at every redirect, the connection goes to the address that was checked, and bytes are
counted as they come in, compressed and unpacked.
"""

from __future__ import annotations

import ssl
import zlib
from collections.abc import Callable
from functools import partial

import anyio
import anyio.to_thread
import httpx

from taketwo.tools.page_text import PageText, decoded, html_text, tidy
from taketwo.tools.tool_failure import ToolFailure
from taketwo.tools.web import WebPage, one_line
from taketwo.tools.web_address import (
    Resolve,
    WebAddress,
    public_addresses,
    system_resolve,
    web_address,
)

__all__ = ["MOST_BYTES", "PageFetcher"]

MOST_BYTES = 2_000_000
"""A page may have so many bytes, as sent and as unpacked."""

_MOST_REDIRECTS = 5
_MOST_ADDRESSES = 3
_WHOLE_S = 20.0
_STEP_S = 10.0
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_PLAIN = frozenset({"text/plain"})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HEADERS = {
    "User-Agent": "taketwo (reads single pages for research)",
    "Accept": "text/html,application/xhtml+xml,text/plain;q=0.9",
    "Accept-Encoding": "gzip",
    "Accept-Language": "en,*;q=0.5",
}


class PageFetcher:
    """Fetches pages; nothing is kept from one to the next.

    Parameters
    ----------
    resolve
        Looks up hosts.
    transport
        Makes the connection of one request; by default over the network, certificates checked.
    limit_s
        Seconds for a page in all, redirects and reading included.
    """

    def __init__(
        self,
        *,
        resolve: Resolve = system_resolve,
        transport: Callable[[], httpx.AsyncBaseTransport] | None = None,
        limit_s: float = _WHOLE_S,
    ) -> None:
        self._resolve = resolve
        self._transport = transport or _network()
        self._limit_s = limit_s

    async def page(self, url: str) -> WebPage:
        """Return the readable text of the page at `url`.

        Raises
        ------
        ToolFailure
            With code `invalid_url`, `refused_address`, `unknown_host`, `page_not_found`,
            `page_refused`, `page_unavailable`, `too_many_redirects`, `unsupported_content`,
            `page_too_large`, `no_text` or `timeout`.
        """
        try:
            with anyio.fail_after(self._limit_s):
                return await self._page(url)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise ToolFailure(
                "timeout", f"the page did not come within {self._limit_s:g} s", retryable=True
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as error:
            raise ToolFailure(
                "page_unavailable",
                f"the page cannot be fetched ({type(error).__name__})",
                retryable=True,
            ) from error

    async def _page(self, url: str) -> WebPage:
        address = web_address(url)
        for _ in range(_MOST_REDIRECTS + 1):
            found = await self._at(address)
            if isinstance(found, WebPage):
                return found
            address = found
        raise ToolFailure(
            "too_many_redirects",
            f"the page leads on more than {_MOST_REDIRECTS} times",
            retryable=False,
        )

    async def _at(self, address: WebAddress) -> WebPage | WebAddress:
        """Return the page at an address, or the address that it leads on to."""
        hosts = await public_addresses(address, self._resolve)
        failure: httpx.TransportError | None = None
        for host in hosts[:_MOST_ADDRESSES]:
            # A client of its own for each request: it cannot carry cookies on.
            async with httpx.AsyncClient(
                transport=self._transport(), trust_env=False, timeout=_STEP_S
            ) as client:
                request = client.build_request(
                    "GET",
                    address.url.copy_with(host=host, fragment=None),
                    headers={**_HEADERS, "Host": address.url.netloc.decode("ascii")},
                    extensions={"sni_hostname": address.host},
                )
                try:
                    response = await client.send(request, stream=True)
                except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                    failure = error
                    continue
                try:
                    return await _read(address, response)
                finally:
                    await response.aclose()
        raise failure or httpx.ConnectError("no address")


def _network() -> Callable[[], httpx.AsyncBaseTransport]:
    contexts: list[ssl.SSLContext] = []

    def transport() -> httpx.AsyncBaseTransport:
        if not contexts:
            contexts.append(httpx.create_ssl_context())
        return httpx.AsyncHTTPTransport(verify=contexts[0])

    return transport


async def _read(address: WebAddress, response: httpx.Response) -> WebPage | WebAddress:
    if response.status_code in _REDIRECTS:
        return _led_on(address, response)
    if response.status_code != 200:
        raise _no_page(response.status_code)
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _HTML | _PLAIN:
        raise ToolFailure(
            "unsupported_content",
            f"the page is {one_line(kind, 60) or 'of no stated type'}; only HTML and plain text are read",
            retryable=False,
        )
    body = await _body(response)
    text = decoded(body, response.charset_encoding)
    if kind in _PLAIN:
        read = PageText(title="", text=tidy(text))
    else:
        read = await anyio.to_thread.run_sync(partial(html_text, text), abandon_on_cancel=True)
    if not read.text:
        raise ToolFailure(
            "no_text", "the page has no readable text; it may need a browser", retryable=False
        )
    return WebPage(
        url=str(address.url),
        title=one_line(read.title, 300),
        text=read.text,
        characters=len(read.text),
    )


def _led_on(address: WebAddress, response: httpx.Response) -> WebAddress:
    location = response.headers.get("location", "")
    if not location:
        raise _no_page(response.status_code)
    return web_address(str(address.url.join(location)))


def _no_page(status: int) -> ToolFailure:
    if status in {404, 410}:
        return ToolFailure(
            "page_not_found", f"there is no such page (HTTP {status})", retryable=False
        )
    if status in {401, 402, 403, 407, 451}:
        return ToolFailure(
            "page_refused", f"the site does not give this page out (HTTP {status})", retryable=False
        )
    return ToolFailure(
        "page_unavailable",
        f"the site answered with HTTP {status}",
        retryable=status in {408, 425, 429} or status >= 500,
    )


async def _body(response: httpx.Response) -> bytes:
    """Return the unpacked body, or refuse it as soon as it is too large."""
    packing = response.headers.get("content-encoding", "").strip().lower()
    if packing not in {"", "identity", "gzip", "x-gzip"}:
        raise ToolFailure(
            "unsupported_content",
            f"the page is packed as {one_line(packing, 40)!r}, which was not asked for",
            retryable=False,
        )
    announced = response.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > MOST_BYTES:
        raise _too_large()
    unpack = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16) if "gzip" in packing else None
    body, received = bytearray(), 0
    async for chunk in response.aiter_raw():
        received += len(chunk)
        if received > MOST_BYTES:
            raise _too_large()
        try:
            body += (
                chunk if unpack is None else unpack.decompress(chunk, MOST_BYTES + 1 - len(body))
            )
        except zlib.error as error:
            raise ToolFailure(
                "page_unavailable", "the page cannot be unpacked", retryable=True
            ) from error
        if len(body) > MOST_BYTES:
            raise _too_large()
    return bytes(body)


def _too_large() -> ToolFailure:
    return ToolFailure(
        "page_too_large",
        f"the page has more than {MOST_BYTES // 1_000_000} MB; find a smaller one",
        retryable=False,
    )
