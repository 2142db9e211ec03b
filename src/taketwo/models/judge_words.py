"""Short texts as what the offline judge compares: words, names, numbers with what they count, times.

Words are lower-cased and cut to a stem, number words become digits, `0:45` and `45 s` are the same
time. Small words, and words for the work itself (find, count, shows), say nothing and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Passage", "Quantity", "number_of", "passage", "stem"]

_SMALL_TEXT = """
a an and any are as at away be been before after being but by can could did do does doing during each
for from had has have here how i if in into is it its itself just me more most much my near no nor of on
one onto or our out over own same she he so some such than that the their them then there these they this
those through to too under until up upon us very via was we were what when where whether which while
who whose why will with within without would you your video clip frame
answer answers apart appear appeared appears ascertain ask asked asks check confirm correct count
counted counting counts determine establish exact find finding found get give given hear heard hold
identify inspect item know list locate look looked make moment narrator note notice number observe
option part place question read reading reads recognise recognize reference report reports said say
says see seen segment show showed showing shown shows spot state stated step tell term text time times
value verify visible watch word words
"""
_SMALL = frozenset(_SMALL_TEXT.split())
_UNITS_OF_TIME = frozenset({"s", "sec", "secs", "second", "seconds"})
_NUMBERS_TEXT = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty
"""
_DIGITS = {name: str(value) for value, name in enumerate(_NUMBERS_TEXT.split())}
_INDEXES = frozenset({"time", "step", "number", "part", "item", "option", "milestone", "take"})
_MOST_NOUNS = 3
_TOKEN = re.compile(
    r"(?P<clock>(?<![0-9:.])[0-9]{1,3}:[0-5][0-9](?::[0-5][0-9])?(?:[.,][0-9]{1,3})?(?![0-9:]))"
    r"|(?P<number>(?<![0-9.])[0-9]{1,12}(?:\.[0-9]{1,6})?(?![^\W_]|\.[0-9]))"
    r"|(?P<seconds>(?<![0-9.])[0-9]{1,12}(?:\.[0-9]{1,6})?)(?=s\b)"
    r"|(?P<word>[^\W_]+(?:['’][^\W_]+)?)"
    r"|(?P<quote>[\"“”])"
    r"|(?P<stop>[.!?])"
    r"|(?P<mark>[^\w\s-])"
)


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """A number and the words that stand right after it: up to three, none for a bare number."""

    number: str
    nouns: frozenset[str]

    def is_of_same(self, other: Quantity) -> bool:
        """Return whether both count the same thing: the words of one are among those of the other."""
        return bool(self.nouns and other.nouns) and (
            self.nouns <= other.nouns or other.nouns <= self.nouns
        )


@dataclass(frozen=True, kw_only=True)
class Passage:
    """What of a text is compared. Times are in seconds.

    `names` are those of the `words` that mark something out: capitals, quotes, codes, weekdays.
    `index` is the number of `time 3`, which counts occurrences and is no quantity.
    """

    words: frozenset[str]
    names: frozenset[str]
    quantities: tuple[Quantity, ...]
    times: tuple[float, ...]
    index: int | None = None

    @property
    def numbers(self) -> frozenset[str]:
        """Return all numbers that are not times."""
        return frozenset(quantity.number for quantity in self.quantities)


@dataclass(frozen=True, kw_only=True)
class _Token:
    kind: str
    text: str
    is_quoted: bool
    begins: bool


def _tokens(text: str) -> Iterator[_Token]:
    is_quoted, begins = False, True
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind == "quote":
            is_quoted = not is_quoted
        yield _Token(kind=kind, text=match.group(), is_quoted=is_quoted, begins=begins)
        begins = kind == "stop" or (begins and kind in {"quote", "mark"}) or match.group() == ":"


def stem(word: str) -> str:
    """Return a lower-case word without its ending: closes, closed and closing are one."""
    for ending, shortest in (("ing", 6), ("ed", 5), ("s", 4)):
        if word.endswith(ending) and len(word) >= shortest and not word.endswith("ss"):
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def number_of(word: str) -> str:
    """Return the digits of a lower-case number word up to twenty, and any other word as it is."""
    return _DIGITS.get(word, word)


def _seconds(clock: str) -> float:
    parts = [float(part) for part in clock.replace(",", ".").split(":")]
    return sum(part * 60**place for place, part in enumerate(reversed(parts)))


def _is_name(token: _Token) -> bool:
    text = token.text
    return (
        token.is_quoted
        or (len(text) > 1 and text.isupper())
        or (any(sign.isdigit() for sign in text) and any(sign.isalpha() for sign in text))
        or (text[0].isupper() and len(text) > 1 and not token.begins)
    )


def passage(text: str) -> Passage:
    """Return what of `text` is compared.

    A text of nothing but small words keeps those, unless it has numbers.

    Examples
    --------
    >>> found = passage('count two yellow squares with the sign "LANTERN"')
    >>> sorted(found.words), sorted(found.names), found.quantities[0].number
    (['lantern', 'sign', 'squar', 'yellow'], ['lantern'], '2')
    """
    tokens = list(_tokens(text))
    words: set[str] = set()
    small: set[str] = set()
    names: set[str] = set()
    quantities: list[Quantity] = []
    times: list[float] = []
    index: int | None = None
    for at, token in enumerate(tokens):
        following = tokens[at + 1] if at + 1 < len(tokens) else None
        lower = token.text.lower()
        if token.kind == "clock":
            times.append(_seconds(token.text))
        elif token.kind == "seconds":
            times.append(float(token.text))
        elif token.kind == "number" or lower in _DIGITS:
            number = _DIGITS.get(lower, token.text)
            if following is not None and following.text.lower() in _UNITS_OF_TIME:
                times.append(float(number))
                continue
            if at and tokens[at - 1].text.lower() in _INDEXES and len(number) < 4:
                index = int(float(number))
                continue
            nouns = _nouns(tokens, at + 1)
            if lower != "one" or nouns:
                quantities.append(Quantity(number=_plain(number), nouns=nouns))
        elif token.kind == "word" and lower not in _UNITS_OF_TIME:
            if lower in _SMALL and not (token.is_quoted and len(lower) > 3):
                small.add(lower)
                continue
            words.add(stem(lower))
            if _is_name(token):
                names.add(stem(lower))
    kept = words or (small if not (quantities or times) else set[str]())
    return Passage(
        words=frozenset(kept),
        names=frozenset(names),
        quantities=tuple(quantities),
        times=tuple(times),
        index=index,
    )


def _nouns(tokens: Sequence[_Token], start: int) -> frozenset[str]:
    found: list[str] = []
    for token in tokens[start : start + _MOST_NOUNS]:
        lower = token.text.lower()
        if token.kind != "word" or lower in _SMALL or lower in _DIGITS:
            break
        found.append(stem(lower))
    return frozenset(found)


def _plain(number: str) -> str:
    """Return `4` for `4.0` and for `04`."""
    value = float(number)
    return str(int(value)) if value.is_integer() else str(value)
