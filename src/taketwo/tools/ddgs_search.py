"""Web search without a key, by the package ddgs, which asks public search engines."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec

import anyio
import anyio.to_thread

from taketwo.errors import RequestError
from taketwo.tools.tool_failure import ToolFailure
from taketwo.tools.web import Pause, SearchHit, one_line

__all__ = ["DdgsSearch", "require_ddgs"]

_LIMIT_S = 30.0
_ENGINE_S = 10

TextSearch = Callable[[str, int], Sequence[Mapping[str, object]]]
"""Searches a query for so many rows with `title`, `href` and `body`; blocks."""


def require_ddgs() -> None:
    """Make sure that searches can be made.

    Raises
    ------
    RequestError
        If ddgs is not installed.
    """
    if find_spec("ddgs") is None:
        raise RequestError(
            "searching without a key needs ddgs, which is not installed; "
            "install it with: pip install 'taketwo[web]'"
        )


def _by_ddgs(query: str, count: int) -> Sequence[Mapping[str, object]]:
    # Imported on use: an optional package.
    package = importlib.import_module("ddgs")
    fault: type[Exception] = importlib.import_module("ddgs.exceptions").DDGSException
    try:
        return package.DDGS(timeout=_ENGINE_S).text(query, max_results=count)
    except fault as error:
        if "no results" in str(error).lower():
            return []
        raise _failure(error) from error


class DdgsSearch:
    """Searches by ddgs. Which engine answers may change from one search to the next."""

    def __init__(self, text_search: TextSearch = _by_ddgs) -> None:
        self._text_search = text_search

    async def search(self, query: str, count: int, *, pause: Pause) -> tuple[SearchHit, ...]:
        """Return up to `count` hits.

        Raises
        ------
        ToolFailure
            With code `rate_limited`, `timeout` or `search_failed`.
        """
        del pause  # it does not say how long to wait
        try:
            with anyio.fail_after(_LIMIT_S):
                rows = await anyio.to_thread.run_sync(
                    self._text_search, query, count, abandon_on_cancel=True
                )
        except TimeoutError as error:
            raise ToolFailure(
                "timeout", f"the search did not answer within {_LIMIT_S:g} s", retryable=True
            ) from error
        return tuple(
            SearchHit(
                title=one_line(row.get("title"), 300),
                url=one_line(row.get("href"), 2048),
                snippet=one_line(row.get("body"), 1000),
            )
            for row in list(rows)[:count]
            if row.get("href")
        )


def _failure(error: Exception) -> ToolFailure:
    name = type(error).__name__
    if "ratelimit" in name.lower():
        return ToolFailure("rate_limited", "the search engines are busy", retryable=True)
    if "timeout" in name.lower():
        return ToolFailure("timeout", "the search engines did not answer in time", retryable=True)
    return ToolFailure("search_failed", f"the search failed ({name})", retryable=True)
