from __future__ import annotations

import logging

import numpy as np
import pytest

from taketwo.errors import RequestError
from taketwo.tools import text_search as searching
from taketwo.tools.text_search import (
    WordSearch,
    ranked,
    search_identity,
    search_kind,
    text_search,
    words_of,
)
from taketwo.tools.text_search_embeddings import EmbeddingSearch

CLIPS = [
    "A woman pours coffee into a white cup.",
    "[Music]",
    "Two dogs run across the beach.",
    "[Music]",
    "",
    "A dog sleeps on the sofa; a woman reads.",
]


def test_bm25_agrees_with_its_formula_computed_by_hand() -> None:
    """Lucene's variant: idf = ln(1 + (N - n + 0.5) / (n + 0.5)), no factor k1 + 1 above the line."""
    corpus = [words_of(text) for text in CLIPS]
    mean = sum(map(len, corpus)) / len(corpus)

    def expected(query: str, words: list[str]) -> float:
        total = 0.0
        for word in words_of(query):
            holding = sum(word in other for other in corpus)
            if holding == 0:
                continue
            idf = np.log(1 + (len(corpus) - holding + 0.5) / (holding + 0.5))
            often = words.count(word)
            total += idf * often / (often + 1.5 * (1 - 0.75 + 0.75 * len(words) / mean))
        return total

    for query in ("the dogs", "woman with a dog", "coffee cup cup", "zebra", ""):
        found = WordSearch(CLIPS).scores(query)
        assert found == pytest.approx([expected(query, words) for words in corpus], abs=1e-5)


def test_equal_texts_tie_and_keep_the_order_of_time() -> None:
    for kind in ("bm25", "embeddings"):
        scores = text_search(kind, CLIPS).scores("music")  # type: ignore[arg-type]
        assert ranked(scores, 2) == [1, 3]


def test_what_has_no_word_in_common_is_no_result() -> None:
    assert ranked(WordSearch(CLIPS).scores("dog"), 10, above=0.0) == [2, 5]
    assert ranked(WordSearch(CLIPS).scores("dog"), 10) == [2, 5, 0, 1, 3, 4]
    assert ranked(WordSearch(CLIPS).scores("xylophone"), 10, above=0.0) == []


def test_meaning_finds_what_words_do_not() -> None:
    query = "puppy by the sea"

    assert ranked(WordSearch(CLIPS).scores(query), 10, above=0.0) == []
    assert ranked(EmbeddingSearch(CLIPS).scores(query), 1) == [2]


@pytest.mark.parametrize("kind", ["bm25", "embeddings"])
@pytest.mark.parametrize("texts", [[], [""], ["", " \n"], ["\u0000\u202e"], ["a" * 100_000]])
@pytest.mark.parametrize("query", ["", "??", "a", "the of and", "x " * 10_000, "\U0001f600"])
def test_odd_texts_and_queries_have_finite_scores(kind: str, texts: list[str], query: str) -> None:
    scores = text_search(kind, texts).scores(query)  # type: ignore[arg-type]

    assert scores.shape == (len(texts),)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The DOGS' ponies' glasses pass", ["dog", "pony", "glasse", "pass"]),
        ("ＦＵＬＬ width", ["full", "width"]),
        ("who is it", ["who", "is", "it"]),
        ("赤い球", ["赤", "い", "球"]),
        ("code_42-B", ["code", "42", "b"]),
        ("!?", []),
    ],
)
def test_words_are_folded_and_plurals_are_one_word(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_auto_is_meaning_where_it_can_be_had_and_words_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert search_kind("auto") == "embeddings"
    assert search_kind("bm25") == "bm25"
    missing = "the package wordllama is not installed"
    monkeypatch.setattr(searching, "embeddings_problem", lambda: missing)

    assert search_kind("auto") == "bm25"
    with pytest.raises(RequestError, match="embeddings is asked for, but the package wordllama is"):
        search_kind("embeddings")


def test_an_identity_names_engine_version_and_weights() -> None:
    assert search_identity("bm25").startswith("bm25s 0.")
    assert "weights 64b47a2dc493, tokenizer 93248f2a9ec3" in search_identity("embeddings")


def test_searching_leaves_the_logging_of_the_process_alone() -> None:
    root = logging.getLogger()
    before = (list(root.handlers), root.level)

    text_search("embeddings", CLIPS).scores("dog")
    text_search("bm25", CLIPS).scores("dog")

    assert (list(root.handlers), root.level) == before
    assert logging.getLogger("bm25s").level == logging.WARNING
