"""The web of a study, opened: by the name of a search, with what it needs checked before any cell."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from taketwo.errors import RequestError
from taketwo.tools.ddgs_search import DdgsSearch, require_ddgs
from taketwo.tools.page_fetch import PageFetcher
from taketwo.tools.page_text import require_html_reader
from taketwo.tools.serper import SERPER_KEY, SerperSearch
from taketwo.tools.web import SearchName, Web
from taketwo.tools.web_corpus import read_corpus

__all__ = ["open_web"]


def open_web(
    search: SearchName,
    *,
    path: Path | None = None,
    sha256: str | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Web:
    """Return where cells search and read.

    Parameters
    ----------
    search
        `serper` (needs a key in SERPER_API_KEY), `ddgs` (no key) or `corpus` (recorded pages).
    path
        Where the recorded pages lie.
    sha256
        The hash that the recorded pages must have.
    environ
        Where the key is looked up.

    Raises
    ------
    RequestError
        If a key, a package or the path is missing, or the recorded pages are other ones.
    DataError
        If the recorded pages cannot be read.
    """
    if search == "corpus":
        if path is None:
            raise RequestError(
                "a search of recorded pages needs their place: web: {search: corpus, path: ...}"
            )
        corpus = read_corpus(path)
        if sha256 is not None and corpus.sha256 != sha256:
            raise RequestError(
                f"{path}: the recorded pages are not those of the plan: planned {sha256[:12]}, "
                f"now {corpus.sha256[:12]}; restore them, or freeze a new study"
            )
        return Web(search=corpus, pages=corpus)
    require_html_reader()
    if search == "ddgs":
        require_ddgs()
        return Web(search=DdgsSearch(), pages=PageFetcher())
    key = environ.get(SERPER_KEY, "").strip()
    if not key:
        raise RequestError(
            f"the search by Serper needs a key in {SERPER_KEY}, which is not set; set it, or search "
            "without a key: web: {search: ddgs}"
        )
    return Web(search=SerperSearch(key), pages=PageFetcher())
