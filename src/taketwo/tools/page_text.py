"""The readable text of a page, out of its bytes: decoded by what it says of itself, menus left out."""

from __future__ import annotations

import importlib
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from html import unescape
from importlib.util import find_spec
from typing import Any, cast

from taketwo.errors import RequestError
from taketwo.tools.loggable import loggable_text

__all__ = ["PageText", "decoded", "html_text", "require_html_reader", "tidy"]

_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]{1,40})""", re.I)
_KNOWN = re.compile(
    r"(?:utf-?8|utf-?16(?:le|be)?|us-ascii|ascii|iso-?8859-\d{1,2}|latin-?\d|windows-?\d{3,4}|cp\d{3,4}"
    r"|koi8-[ru]|gb2312|gbk|gb18030|big5|euc-(?:jp|kr)|shift[-_]jis|iso-2022-jp)",
    re.IGNORECASE,
)
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{1,1000})", re.IGNORECASE)
_ROOT = re.compile(r"<(?:html|body)\b", re.IGNORECASE)
_HEAD = 50_000
_MOST_TAGS = 12_000
_MOST_CHARACTERS = 400_000
_SPACES = re.compile(r"[ \t\u00a0]+")
_BLANKS = re.compile(r"\n{3,}")


@dataclass(frozen=True, kw_only=True)
class PageText:
    """What a page is called, and its text."""

    title: str
    text: str


def require_html_reader() -> None:
    """Make sure that HTML can be read.

    Raises
    ------
    RequestError
        If trafilatura is not installed.
    """
    if find_spec("trafilatura") is None:
        raise RequestError(
            "reading web pages needs trafilatura, which is not installed; "
            "install it with: pip install 'taketwo[web]'"
        )


def decoded(body: bytes, charset: str | None) -> str:
    """Return a page's bytes as text.

    The charset is the one of the response, else of the page itself, else UTF-8, else Windows-1252;
    bytes that do not fit become U+FFFD. A charset that no page needs is not used.
    """
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return body.decode("utf-16", "replace")
    own = _CHARSET.search(body[:4096])
    named = [charset, None if own is None else own[1].decode("ascii")]
    for name in named:
        if name and _KNOWN.fullmatch(name.strip()):
            try:
                return body.decode(name.strip(), "replace").removeprefix("\ufeff")
            except LookupError:
                continue
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def html_text(html: str) -> PageText:
    """Return the readable part of an HTML page; an empty text where there is none.

    Of a page with more than 12,000 tags all text is taken, menus included: finding the main part
    takes a quarter of a millisecond a tag, and a page must not be able to keep the cell busy.

    Raises
    ------
    RequestError
        If trafilatura is not installed.
    """
    require_html_reader()
    # Imported on use: an optional package that takes a second to load.
    reader = importlib.import_module("trafilatura")
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # a page without text is no error
    if not _ROOT.search(html[:_HEAD]):
        html = f"<html><body>{html}</body></html>"  # a fragment is no document to the reader
    title, text = "", ""
    if html.count("<") <= _MOST_TAGS:
        main = cast("Callable[..., Any]", reader.bare_extraction)(
            html, include_comments=False, include_tables=True, with_metadata=True
        )
        if main is not None:
            title, text = str(main.title or ""), str(main.text or "")
    if not text.strip():
        own = _TITLE.search(html[:_HEAD])
        title = title or ("" if own is None else unescape(own[1]))
        text = str(cast("Callable[..., Any]", reader.html2txt)(html) or "")
    return PageText(title=" ".join(title.split()), text=tidy(text))


def tidy(text: str) -> str:
    """Return a page's text without runs of spaces and empty lines, and at most 400,000 characters."""
    lines = (_SPACES.sub(" ", line).strip() for line in text.splitlines())
    return loggable_text(
        _BLANKS.sub("\n\n", "\n".join(lines)).strip()[:_MOST_CHARACTERS], _MOST_CHARACTERS
    )
