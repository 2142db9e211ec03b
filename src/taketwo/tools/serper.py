"""Web search by Serper: one request a search, its status checked, bounded patience when it is busy."""

from __future__ import annotations

import email.utils
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import cast

import anyio
import httpx

from taketwo.tools.tool_failure import ToolFailure
from taketwo.tools.web import Pause, SearchHit, one_line

__all__ = ["SERPER_KEY", "SerperSearch"]

SERPER_KEY = "SERPER_API_KEY"
"""The environment variable that holds the key."""

_ENDPOINT = "https://google.serper.dev/search"
_ATTEMPTS = 3
_LONGEST_PAUSE_S = 30.0
_LIMIT_S = 20.0
_MOST_BYTES = 2_000_000


class SerperSearch:
    """Searches by Serper.

    Parameters
    ----------
    key
        The key of the account; it goes into a header and nowhere else.
    transport
        Makes the connection of one request; by default over the network.
    """

    def __init__(
        self, key: str, *, transport: Callable[[], httpx.AsyncBaseTransport | None] = lambda: None
    ) -> None:
        self._key = key
        self._transport = transport

    async def search(self, query: str, count: int, *, pause: Pause) -> tuple[SearchHit, ...]:
        """Return up to `count` hits; one try again after HTTP 429 or 5xx waits what the service asks.

        At most three attempts are made and at most 30 s are waited between two.

        Raises
        ------
        ToolFailure
            With code `rate_limited`, `search_refused`, `search_failed` or `timeout`.
        """
        failure = ToolFailure("search_failed", "no attempt was made", retryable=True)
        for attempt in range(_ATTEMPTS):
            response = await self._sent(query, count)
            if response.status_code == 200:
                return _hits(response)[:count]
            failure = _failure(response.status_code)
            wait_s = _asked_pause_s(response.headers.get("retry-after", ""), attempt)
            if not failure.retryable or wait_s > _LONGEST_PAUSE_S or attempt == _ATTEMPTS - 1:
                break
            await pause(wait_s)
        raise failure

    async def _sent(self, query: str, count: int) -> httpx.Response:
        try:
            with anyio.fail_after(_LIMIT_S):
                async with httpx.AsyncClient(
                    transport=self._transport(), timeout=_LIMIT_S, follow_redirects=False
                ) as client:
                    return await client.post(
                        _ENDPOINT,
                        headers={"X-API-KEY": self._key},
                        json={"q": query, "num": count},
                    )
        except (TimeoutError, httpx.TimeoutException) as error:
            raise ToolFailure(
                "timeout", f"the search did not answer within {_LIMIT_S:g} s", retryable=True
            ) from error
        except (httpx.HTTPError, OSError) as error:
            raise ToolFailure(
                "search_failed",
                f"the search service cannot be reached ({type(error).__name__})",
                retryable=True,
            ) from error


def _failure(status: int) -> ToolFailure:
    if status == 429:
        return ToolFailure("rate_limited", "the search service is busy (HTTP 429)", retryable=True)
    if status in {401, 402, 403}:
        return ToolFailure(
            "search_refused",
            f"the search service refuses the key (HTTP {status})",
            retryable=False,
        )
    return ToolFailure(
        "search_failed", f"the search service answered with HTTP {status}", retryable=status >= 500
    )


def _asked_pause_s(header: str, attempt: int) -> float:
    """Return the seconds that a Retry-After asks for, else 1, 2, ...; never negative."""
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(header).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            seconds = 2.0**attempt
    return max(0.0, seconds) if math.isfinite(seconds) else 2.0**attempt


def _hits(response: httpx.Response) -> tuple[SearchHit, ...]:
    """Return the organic hits; a reply that is not what Serper sends is a failure, not `no hits`."""
    try:
        if len(response.content) > _MOST_BYTES:
            raise ValueError(f"{len(response.content)} bytes")
        record = cast("Mapping[str, object]", response.json())
        rows = cast("Sequence[Mapping[str, object]]", record.get("organic", []))
        if "organic" not in record and "searchParameters" not in record:
            raise ValueError("neither hits nor the parameters of a search")
        return tuple(
            SearchHit(
                title=one_line(row.get("title"), 300),
                url=one_line(row.get("link"), 2048),
                snippet=one_line(row.get("snippet"), 1000),
            )
            for row in rows
            if row.get("link")
        )
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ToolFailure(
            "search_failed",
            f"the search service sent something that is no list of hits ({type(error).__name__})",
            retryable=True,
        ) from error
