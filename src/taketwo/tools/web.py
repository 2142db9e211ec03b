"""What the web is to a cell: hits of a search, readable pages, and who provides them.

Nothing of it is kept between calls or shared between cells. Whatever goes wrong is a `ToolFailure`:
an error of the tool, which the orchestrator reads, and never the end of a cell.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from taketwo.benchmarks.canonical import JsonValue
from taketwo.tools.loggable import loggable_text
from taketwo.tools.tool_failure import ToolFailure

__all__ = [
    "NO_WEB",
    "PageSource",
    "Pause",
    "SearchHit",
    "SearchName",
    "SearchProvider",
    "Web",
    "WebPage",
    "one_line",
    "web_faults",
]

SearchName = Literal["serper", "ddgs", "corpus"]
"""What a study may search by: Serper (with a key), public engines (without), or recorded pages."""

NO_WEB = "the study names no web; write web: {search: ...} into it"
"""Why a search or a page cannot be had."""


Pause = Callable[[float], Awaitable[None]]
"""Waits some seconds, which are not charged as work of the cell."""


@dataclass(frozen=True, kw_only=True)
class SearchHit:
    """One result of a web search; all of it is untrusted text."""

    title: str
    url: str
    snippet: str

    def to_json(self) -> dict[str, JsonValue]:
        """Return the hit as JSON values."""
        return {"title": self.title, "url": self.url, "snippet": self.snippet}


@dataclass(frozen=True, kw_only=True)
class WebPage:
    """The readable text of a page; `url` is where it was found after redirects.

    `characters` is the length of the whole text, also where `text` holds less.
    """

    url: str
    title: str
    text: str
    characters: int

    @property
    def is_cut(self) -> bool:
        """Return whether `text` is less than the whole."""
        return len(self.text) < self.characters

    def first(self, characters: int) -> WebPage:
        """Return the page with at most that many characters of its text."""
        return replace(self, text=self.text[:characters])


class SearchProvider(Protocol):
    """What answers a search."""

    async def search(self, query: str, count: int, *, pause: Pause) -> Sequence[SearchHit]:
        """Return up to `count` hits, best first; none is an empty sequence.

        Raises
        ------
        ToolFailure
            If the search could not be made.
        """
        ...


class PageSource(Protocol):
    """What gives the readable text of a page."""

    async def page(self, url: str) -> WebPage:
        """Return the page at an address.

        Raises
        ------
        ToolFailure
            If the address is refused, the page cannot be had, or it has no text.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Web:
    """Where a study searches and reads."""

    search: SearchProvider
    pages: PageSource


def one_line(text: object, most: int) -> str:
    """Return a text from the web on one line, without lone surrogates, cut to `most` characters."""
    return " ".join(loggable_text(str(text or "")[: 4 * most]).split())[:most]


@contextmanager
def web_faults() -> Generator[None]:
    """Make a `ToolFailure` of whatever else a provider of the web raises in the block.

    The web is not the cell's: a package, a page or a parser that breaks ends no cell.
    """
    try:
        yield
    except ToolFailure:
        raise
    except Exception as error:
        raise ToolFailure(
            "web_failed", f"the web could not be used ({type(error).__name__})", retryable=True
        ) from error
