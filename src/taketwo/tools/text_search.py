"""Search in a list of short texts: by words in common (BM25), or by meaning (a model of embeddings).

BM25 is the default without further packages: deterministic, no weights, and on short evidence as
good as small static embeddings. Both give equal texts equal scores, so that ties are broken by the
order of the texts, which is time.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Sequence
from importlib.metadata import version
from typing import Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from taketwo.errors import RequestError
from taketwo.tools.text_search_embeddings import (
    EmbeddingSearch,
    embeddings_identity,
    embeddings_problem,
)

__all__ = [
    "SearchKind",
    "TextSearch",
    "WordSearch",
    "ranked",
    "search_identity",
    "search_kind",
    "text_search",
    "words_of",
]

SearchKind = Literal["bm25", "embeddings"]

_K1, _B = 1.5, 0.75
_ROUNDED = 5
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been by did do does for from had has have he her his how i in is it "
        "its of on or she that the their them then there these they this to was were what when "
        "where which while who whom whose why will with you",
    )
)


class TextSearch(Protocol):
    """A search in texts that were given when it was made."""

    @property
    def label(self) -> str:
        """What a result says of how it was found."""
        ...

    def scores(self, query: str) -> NDArray[np.float64]:
        """Return one score a text, in their order; 0 or less has nothing in common with `query`."""
        ...


def search_kind(asked: Literal["auto", "bm25", "embeddings"]) -> SearchKind:
    """Return the search that is meant: `auto` is `embeddings` where they are installed, else `bm25`.

    Raises
    ------
    RequestError
        If embeddings are asked for and cannot be had.
    """
    if asked == "bm25":
        return "bm25"
    problem = embeddings_problem()
    if problem is None:
        return "embeddings"
    if asked == "embeddings":
        raise RequestError(f"search by embeddings is asked for, but {problem}")
    return "bm25"


def search_identity(kind: SearchKind) -> str:
    """Return what determines the results for given texts: engine, version, weights, settings."""
    if kind == "embeddings":
        return embeddings_identity()
    return f"bm25s {version('bm25s')}, lucene, k1 {_K1}, b {_B}, words 1"


def text_search(kind: SearchKind, texts: Sequence[str]) -> TextSearch:
    """Return a search in `texts`; loading embeddings takes about 0.3 s.

    Raises
    ------
    HarnessError
        If embeddings are not installed, or their weights are not the pinned ones.
    """
    return EmbeddingSearch(texts) if kind == "embeddings" else WordSearch(texts)


def ranked(scores: NDArray[np.float64], count: int, *, above: float | None = None) -> list[int]:
    """Return the positions of the best `count` scores, best first, equal ones in their order.

    `above` leaves out those that are not above it.
    """
    rounded = np.round(scores, _ROUNDED)
    order = np.argsort(-rounded, kind="stable")
    kept = [int(place) for place in order if above is None or rounded[place] > above]
    return kept[:count]


class _Bm25(Protocol):
    """The engine, whose own types are incomplete."""

    def index(self, corpus: list[list[str]], *, show_progress: bool) -> None: ...
    def get_scores(self, query_tokens_single: list[str]) -> NDArray[np.float32]: ...


class WordSearch:
    """BM25 over the words of the texts, as Lucene computes it (Robertson and Zaragoza, 2009)."""

    label = "by words in common (BM25)"

    def __init__(self, texts: Sequence[str]) -> None:
        import bm25s  # half a second, which only an agent that searches is to pay

        logging.getLogger("bm25s").setLevel(logging.WARNING)  # it logs every step by itself
        corpus = [words_of(text) for text in texts]
        self._count = len(corpus)
        self._vocabulary = {word for words in corpus for word in words}
        self._engine = cast("_Bm25", bm25s.BM25(method="lucene", k1=_K1, b=_B, backend="numpy"))
        if self._vocabulary:
            self._engine.index(corpus, show_progress=False)

    def scores(self, query: str) -> NDArray[np.float64]:
        """Return the score of each text; 0 where it has no word of `query`."""
        known = [word for word in words_of(query) if word in self._vocabulary]
        if not known:
            return np.zeros(self._count)
        return self._engine.get_scores(known).astype(np.float64)


def words_of(text: str) -> list[str]:
    """Return the words of a text as they are compared: folded, without function words and plural s.

    Function words count where a text has no others. Scripts without spaces are taken sign by sign.

    Examples
    --------
    >>> words_of("The dogs and two ponies")
    ['dog', 'two', 'pony']
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    words: list[str] = []
    for word in _WORD.findall(folded):
        if _UNSPACED.search(word):
            words.extend(word)
        else:
            words.append(_singular(word))
    telling = [word for word in words if word not in _FUNCTION_WORDS]
    return telling or words


def _singular(word: str) -> str:
    """Return `word` without the s of a plural, by the rules of Harman (1991)."""
    if len(word) < 4 or not word.endswith("s"):
        return word
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return f"{word[:-3]}y"
    if word.endswith(("us", "ss")):
        return word
    return word[:-1]
