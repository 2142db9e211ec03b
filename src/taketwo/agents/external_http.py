"""A service that answers questions over HTTP: one POST request, one reply, within bounds.

Redirects are refused: they would hand the question, and the headers, to an address that the study
does not name. Proxies and passwords of the environment are not used.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass

import anyio
import httpx

from taketwo.agents.external_process import OutputTooLarge
from taketwo.agents.external_protocol import (
    LONGEST_LINE,
    MOST_BYTES,
    event_of,
    single_answer_of,
)
from taketwo.agents.external_report import Report

__all__ = ["Service", "ServiceFault"]

_OK = 200
_TRY_AGAIN = frozenset({408, 409, 425, 429})
_LONGEST_WAIT_S = 60.0
_SHOWN = 200
_LINES = frozenset({"application/x-ndjson", "application/jsonl", "application/json-lines"})


class ServiceFault(Exception):
    """The service gave no reply that could hold an answer: a fault of the provider, not of the agent."""

    def __init__(self, message: str, *, status_code: int | None = None) -> None:
        super().__init__(message)
        self.status_code = status_code

    @property
    def may_be_asked_again(self) -> bool:
        """Return whether the same request may succeed later."""
        code = self.status_code
        return code is None or code in _TRY_AGAIN or code >= 500


@dataclass(frozen=True, kw_only=True)
class Service:
    """How one service is asked.

    `time_limit_s` covers all attempts of a question and the waiting between them.
    """

    url: str
    headers: Mapping[str, str]
    time_limit_s: float
    retries: int
    retry_wait_s: float

    async def ask(self, given: bytes, report: Report) -> None:
        """Send `given` and hand what the service says to `report`.

        An attempt is repeated only while nothing was taken in, so that no work is booked twice.

        Raises
        ------
        ServiceFault
            If it cannot be reached, replies with another status than 200, or breaks off.
        BrokenProtocol, OutputTooLarge, BudgetExhausted
            As what it says deserves.
        """
        attempt = 0
        deadline = time.monotonic() + self.time_limit_s
        while True:
            try:
                with anyio.fail_after(max(0.0, deadline - time.monotonic())):
                    await self._once(given, report)
                return
            except TimeoutError as error:
                raise ServiceFault(
                    f"no answer from {self._shown_url} within {self.time_limit_s:g} s (option "
                    "time_limit_s)"
                ) from error
            except ServiceFault as fault:
                attempt += 1
                if report.is_begun or not fault.may_be_asked_again or attempt > self.retries:
                    raise
                wait_s = min(self.retry_wait_s * 2 ** (attempt - 1), _LONGEST_WAIT_S)
                if time.monotonic() + wait_s >= deadline:
                    raise
                await anyio.sleep(wait_s)

    @property
    def _shown_url(self) -> str:
        """Return the address without its query, which may hold a secret."""
        return self.url.partition("?")[0]

    async def _once(self, given: bytes, report: Report) -> None:
        headers = {
            **self.headers,
            "content-type": "application/json",
            "accept": "application/x-ndjson, application/json",
            "accept-encoding": "identity",
        }
        try:
            async with (
                httpx.AsyncClient(
                    follow_redirects=False, trust_env=False, timeout=self.time_limit_s
                ) as client,
                client.stream("POST", self.url, content=given, headers=headers) as response,
            ):
                await self._refuse(response)
                await self._take(response, report)
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            raise ServiceFault(
                f"{self._shown_url}: {type(error).__name__}: {str(error)[:_SHOWN] or 'no details'}"
            ) from error

    async def _refuse(self, response: httpx.Response) -> None:
        code = response.status_code
        if response.has_redirect_location:
            target = response.headers["location"][:_SHOWN]
            raise ServiceFault(
                f"{self._shown_url} sends on to {target!r} (HTTP {code}); redirects are refused: "
                "name the final address as url",
                status_code=code,
            )
        if code != _OK:
            said = await self._beginning(response)
            raise ServiceFault(
                f"{self._shown_url} replied with HTTP {code}: {said}", status_code=code
            )
        coding = response.headers.get("content-encoding", "identity")
        if coding.strip().lower() not in {"", "identity"}:
            raise ServiceFault(
                f"{self._shown_url} sends its reply as {coding[:40]!r} although it was asked not to",
                status_code=code,
            )

    async def _take(self, response: httpx.Response, report: Report) -> None:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind in _LINES:
            async for line in _lines(response):
                report.take(event_of(line))
            return
        body = bytearray()
        async for chunk in _chunks(response):
            body += chunk
        report.take(single_answer_of(bytes(body)))

    async def _beginning(self, response: httpx.Response) -> str:
        """Return how the reply of a failed request begins."""
        body = b""
        with contextlib.suppress(httpx.HTTPError, OutputTooLarge):
            async for chunk in _chunks(response):
                body += chunk
                if len(body) >= _SHOWN:
                    break
        return repr(body[:_SHOWN].decode("utf-8", "replace"))


async def _chunks(response: httpx.Response) -> AsyncGenerator[bytes]:
    """Yield the reply as it was sent, up to 8 MiB."""
    total = 0
    async for chunk in response.aiter_raw():
        total += len(chunk)
        if total > MOST_BYTES:
            raise OutputTooLarge("the reply", MOST_BYTES)
        yield chunk


async def _lines(response: httpx.Response) -> AsyncGenerator[bytes]:
    rest = b""
    async for chunk in _chunks(response):
        *lines, rest = (rest + chunk).split(b"\n")
        if max(map(len, [rest, *lines])) > LONGEST_LINE:
            raise OutputTooLarge("a line", LONGEST_LINE)
        for line in lines:
            if line.strip():
                yield line
    if rest.strip():
        yield rest
