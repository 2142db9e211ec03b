"""A recorded web: pages in files, searched by BM25 and read as they were recorded, without a network.

Results are the same in every execution, so a study that may use the web can be run again without
the web's own drift. A page is a JSON object with `url`, `title` and either `text` or `html`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from taketwo.benchmarks.canonical import sha256_of
from taketwo.errors import DataError
from taketwo.tools.page_text import PageText, html_text, tidy
from taketwo.tools.text_search import WordSearch, ranked, words_of
from taketwo.tools.tool_failure import ToolFailure
from taketwo.tools.web import Pause, SearchHit, WebPage, one_line

__all__ = ["WebCorpus", "corpus_sha256", "read_corpus"]

_WORD = re.compile(r"\w+")
_SNIPPET = 300
_MOST_BYTES = 512 << 20


class _Recorded(BaseModel):
    """One line of a corpus."""

    model_config = ConfigDict(extra="ignore")

    url: str = Field(min_length=1, max_length=2048)
    title: str = ""
    text: str | None = None
    html: str | None = None

    @model_validator(mode="after")
    def _has_one_body(self) -> Self:
        if (self.text is None) == (self.html is None):
            raise ValueError("give either text or html")
        return self


@dataclass(frozen=True, kw_only=True)
class _Page:
    url: str
    title: str
    text: str


class WebCorpus:
    """Recorded pages, which answer searches and give their text.

    Parameters
    ----------
    pages
        Address, title and readable text of each page; no address twice.
    sha256
        Hash of the recorded pages.
    """

    def __init__(self, pages: Sequence[_Page], sha256: str) -> None:
        self.sha256 = sha256
        self._pages = tuple(sorted(pages, key=lambda page: page.url))
        self._by_address = {_address_key(page.url): page for page in self._pages}
        self._index = WordSearch([f"{page.title}\n{page.text}" for page in self._pages])

    def __len__(self) -> int:
        return len(self._pages)

    async def search(self, query: str, count: int, *, pause: Pause) -> tuple[SearchHit, ...]:
        """Return up to `count` pages that have a word of the query, best first, ties by address."""
        del pause
        best = ranked(self._index.scores(query), count, above=0.0)
        words = frozenset(words_of(query))
        return tuple(
            SearchHit(title=page.title, url=page.url, snippet=_snippet(page.text, words))
            for page in (self._pages[number] for number in best)
        )

    async def page(self, url: str) -> WebPage:
        """Return the recorded page at an address; scheme, fragment and a last slash do not matter.

        Raises
        ------
        ToolFailure
            With code `page_not_found`: nothing else is ever fetched.
        """
        found = self._by_address.get(_address_key(url))
        if found is None:
            raise ToolFailure(
                "page_not_found",
                f"{one_line(url, 200)!r} is not among the {len(self)} recorded pages; "
                "take addresses from search results",
                retryable=False,
            )
        return WebPage(
            url=found.url, title=found.title, text=found.text, characters=len(found.text)
        )


def read_corpus(path: Path) -> WebCorpus:
    """Read a corpus: a `.jsonl` file, or a folder of `.jsonl` files and of `.json` files of one page.

    HTML is turned into text here, about 20 ms a page.

    Raises
    ------
    DataError
        If there is no page, a line is none, an address is there twice, or the files are larger
        than 512 MiB; the message names file and line.
    RequestError
        If a page is HTML and trafilatura is not installed.
    """
    recorded = _recorded(path)
    return WebCorpus([_readable(page) for page in recorded], _sha256(recorded))


def corpus_sha256(path: Path) -> str:
    """Return the hash of the recorded pages, the same however they are spread over files.

    Raises
    ------
    DataError
        As `read_corpus`.
    """
    return _sha256(_recorded(path))


def _sha256(recorded: Sequence[_Recorded]) -> str:
    return sha256_of([[page.url, page.title, page.text, page.html] for page in recorded])


def _recorded(path: Path) -> list[_Recorded]:
    """Return the pages as recorded, in the order of their addresses."""
    recorded: dict[str, _Recorded] = {}
    for where, line in _lines(path):
        try:
            page = _Recorded.model_validate_json(line)
        except (ValidationError, RecursionError) as error:
            raise DataError(f"{where}: no recorded page: {_explained(error)}") from error
        key = _address_key(page.url)
        if key in recorded:
            raise DataError(f"{where}: the address {page.url!r:.200} is there twice; keep one page")
        recorded[key] = page
    if not recorded:
        raise DataError(
            f"{path}: no recorded page here; write one JSON object a line into a .jsonl"
        )
    return [recorded[key] for key in sorted(recorded)]


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    if path.is_dir():
        files = sorted(item for item in path.rglob("*") if item.suffix in {".jsonl", ".json"})
    elif path.is_file():
        files = [path]
    else:
        raise DataError(f"{path}: there is no recorded web here; name a .jsonl file or a folder")
    size = sum(file.stat().st_size for file in files)
    if size > _MOST_BYTES:
        raise DataError(f"{path}: {size} bytes of recorded pages, more than {_MOST_BYTES}")
    for file in files:
        try:
            text = file.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"{file}: cannot be read as UTF-8 text ({error})") from error
        if file.suffix == ".json":
            yield str(file), text
            continue
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield f"{file}:{number}", line


def _explained(error: ValidationError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "nested too deep"
    return "; ".join(
        f"{'.'.join(map(str, item['loc'])) or 'the line'}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False)[:3]
    )


def _readable(page: _Recorded) -> _Page:
    if page.html is None:
        read = PageText(title=page.title, text=tidy(page.text or ""))
    else:
        read = html_text(page.html)
    return _Page(url=page.url, title=one_line(page.title or read.title, 300), text=read.text)


def _address_key(url: str) -> str:
    """Return what makes two addresses the same page."""
    address = url.strip().partition("#")[0]
    address = re.sub(r"^[a-z]+://", "", address, flags=re.IGNORECASE)
    host, slash, rest = address.partition("/")
    return f"{host.lower()}{slash}{rest}".rstrip("/")


def _snippet(text: str, words: frozenset[str]) -> str:
    """Return the line of a page that has most words of the query, cut around the first of them."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    line = max(lines, key=lambda line: len(words.intersection(words_of(line))))
    found = (match.start() for match in _WORD.finditer(line) if words & {*words_of(match[0])})
    return one_line(line[max(0, next(found, 0) - _SNIPPET // 3) :], _SNIPPET)
