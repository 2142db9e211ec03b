"""Words of short English texts: which of them carry meaning, how far two texts share them."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from difflib import SequenceMatcher
from functools import lru_cache

__all__ = ["content_words", "likeness", "number_in", "overlap"]

_STOP_TEXT = """
a an and are as at be been before after by can did do does during each else first for from
had has have how in into is it its just last many me more much no not of on one only or
out right same seen shown shows so than that the their them then there these they this
those to until was were what when where which while who why will with you video
"""
_STOP = frozenset(_STOP_TEXT.split())
_NUMBERS_TEXT = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen twenty
"""
_NUMBERS = tuple(_NUMBERS_TEXT.split())


_SAME_LETTERS = 0.8
_DIGITS = {name: str(value) for value, name in enumerate(_NUMBERS)}


def _stem(word: str) -> str:
    if len(word) > 4 and word.endswith("es") and word[-3] in "sxz":
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] != "s" else word


@lru_cache(maxsize=4096)
def content_words(text: str) -> frozenset[str]:
    """Return the lower-case words of `text` that carry meaning, in the singular, numbers as digits.

    A text of nothing but small words gives those small words.
    """
    words: list[str] = re.findall(r"[a-z0-9]+(?:'[a-z]+)?", text.lower())
    kept = {_stem(_DIGITS.get(word, word)) for word in words if word not in _STOP}
    return frozenset(kept or words)


def overlap(words: AbstractSet[str], others: AbstractSet[str]) -> float:
    """Return the share of `words` (0..1) that is also in `others`; 0 for no words."""
    return len(words & others) / len(words) if words else 0.0


def likeness(text: str, other: str) -> float:
    """Return how alike two short texts are, 0..1: the better of shared words and shared letters.

    Letters count from a ratio of 0.8 on only, which forgives a character that was misread.
    """
    matcher = SequenceMatcher(a=text.lower().strip(), b=other.lower().strip())
    # The first two are cheap upper bounds of the third.
    is_alike = (
        matcher.real_quick_ratio() > _SAME_LETTERS
        and matcher.quick_ratio() > _SAME_LETTERS
        and matcher.ratio() > _SAME_LETTERS
    )
    shared = overlap(content_words(text), content_words(other))
    return max(shared, matcher.ratio()) if is_alike else shared


def number_in(text: str) -> int | None:
    """Return the one whole number that `text` states in digits or words up to twenty, else None."""
    found = [int(digits) for digits in re.findall(r"(?<![\w.])-?\d+(?![\w.]*\d)\b", text)]
    found += [
        _NUMBERS.index(word) for word in re.findall(r"[a-z]+", text.lower()) if word in _NUMBERS
    ]
    return found[0] if len(found) == 1 else None
