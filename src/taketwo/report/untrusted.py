"""Text from models, tools, files and questions, made harmless to look at before it is escaped."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["harmless"]

# Characters that reorder, hide or disguise their neighbours: bidirectional controls, invisible
# spaces, Unicode tags (the "ASCII smuggling" block), variation selectors beyond the usual two.
_DECEPTIVE = re.compile(
    "[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\u206a-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BREAKS = re.compile("\r\n?|[\u2028\u2029\x85\x0b\x0c]")
_MARKS_IN_A_ROW = 4


def harmless(text: str, limit: int = 2000) -> str:
    r"""Return `text` as it may be shown: nothing invisible, nothing reordered, of bounded length.

    Characters that reorder or hide others and control characters are replaced by their code point
    in brackets (`[U+202E]`), lone surrogates by U+FFFD, line separators of all kinds by a line
    feed, and more than 4 combining marks on one character are dropped. What exceeds `limit`
    characters is cut and the cut is said. Escaping for HTML, LaTeX or Markdown is a separate step
    of whoever writes that format.

    Examples
    --------
    >>> harmless("a\u202ecod.exe")
    'a[U+202E]cod.exe'
    >>> harmless("abcdef", limit=3)
    'abc … [3 more characters]'
    """
    cut = text[:limit]
    cut = _BREAKS.sub("\n", cut)
    cut = _CONTROL.sub(_code_point, cut)
    cut = _DECEPTIVE.sub(_code_point, cut)
    cut = _SURROGATE.sub("\ufffd", cut)
    cut = _with_few_marks(cut)
    left = len(text) - limit
    return cut if left <= 0 else f"{cut} … [{left:,} more character{'s' if left > 1 else ''}]"


def _code_point(match: re.Match[str]) -> str:
    return f"[U+{ord(match[0]):04X}]"


def _with_few_marks(text: str) -> str:
    if text.isascii():
        return text
    kept: list[str] = []
    run = 0
    for character in text:
        run = run + 1 if unicodedata.category(character) in {"Mn", "Me"} else 0
        if run <= _MARKS_IN_A_ROW:
            kept.append(character)
    return "".join(kept)
