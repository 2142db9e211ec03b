"""Whether words after a label leave it the answer, or make a word, an initial or a second answer of it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

__all__ = ["ONE_LETTER", "LabelledWords"]

ONE_LETTER = frozenset({"Lu", "Ll", "Nd", "So"})
"""The Unicode categories of what may stand for a letter or digit: full-width, bold or circled ones."""

_LETTER = r"[^\W_\u2e80-\U0003ffff]"  # Scripts without spaces run on after a label.
_STANDS_ALONE = re.compile(
    rf"(?<!{_LETTER})(?<!{_LETTER}['\u2019-])(?<!\d[.,:])(?P<label>[A-Za-z]|\d{{1,4}})"
    rf"(?!{_LETTER}|['\u2019]{_LETTER}|-{_LETTER}{_LETTER}|[.,:]\d|\+\+|#)(?=(?: (?P<next>\S{{1,12}}))?)"
)
_ABBREVIATED = re.compile(r"\b(?:e\.\s?g|i\.\s?e|a\.m|p\.m|n\.a|w/o)\b\.?", re.IGNORECASE)
_OF_A_LABEL = frozenset({"is", "or", "and", "seems", "looks", "fits", "matches", "instead", "too"})
_SET_OFF = re.compile(r"\s*[.,]\s+|\s+[\u2013\u2014-]+\s+|\s*[\u2013\u2014]\s*")
_REASON = re.compile(r"(?:because|since)\b", re.IGNORECASE)
_REMARK = re.compile(
    r"(?:as|based|given|due|from|i|we|it|this|that|these|those|the|there|they|he|she|in|on|at|when|"
    r"while|after|before|only|clearly|definitely|certainly|probably|likely|most[ ]likely)\b",
    re.IGNORECASE,
)
_DENIAL = re.compile(
    r"(?:(?:it|this|that|which|i)\b\s*)?(?:(?:is|was|are|were|am|do|does|can|could|has\sbeen|seems|looks)\b"
    r"\s*)?(?:not|no|never|cannot|(?:is|was|ca|do)n['\u2019]t|i['\u2019]m\snot|wrong|incorrect|false|unlikely|impossible|"
    r"eliminated|excluded|ruled\sout|unclear|unsure)\b",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"(?:an?|the)\s+", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class LabelledWords:
    """What looks like a label, the mark behind it with its spaces, and the words that follow."""

    label: str
    mark: str
    words: str

    def leave_label(self, index: int, options: tuple[str, ...], labels: tuple[str, ...]) -> bool:
        """Return whether the words leave option `index`, whose label it is, the only one that is named.

        `options` are the options' texts as they are compared, folded, with single spaces. The rule
        is the one of `taketwo.agents.answer.option_index`; words that are an option's text, and no
        more, are for the caller. The time is in proportion to the number of words.
        """
        if not self.words:
            return True
        words = _begun(" ".join(self.words.split()).casefold().rstrip(" .,;:!?*_`"))
        texts = [_begun(option) for option in options]
        if len(words) > 1 and texts[index].startswith(f"{words} "):
            return True
        named, left = _without_texts(self.words, options)
        if any(index not in same for same in named) or _labels_alone(left, labels) - {index}:
            return False
        firsts = [text.split(" ", 1)[0] for text in texts]
        first = words.split(" ", 1)[0].rstrip(",.;:!?")
        if len(first) > 1 and first == firsts[index] and firsts.count(first) == 1:
            return True
        return _begun(left).startswith("\0") or _is_remark(self)


def _begun(text: str) -> str:
    """Return a text without the article that it begins with."""
    return _ARTICLE.sub("", text, count=1) if _ARTICLE.match(text) else text


def _is_remark(said: LabelledWords) -> bool:
    """Return whether words that name no option are set off from the label as a remark on it."""
    mark = re.sub("[*_`]", "", said.mark)
    if _DENIAL.match(said.words):
        return False
    if ")" in mark or "]" in mark:
        return True
    is_set_off = _SET_OFF.fullmatch(mark) is not None
    if _REASON.match(said.words):
        return is_set_off or ":" in mark
    return is_set_off and said.label not in {"I", "i"} and _REMARK.match(said.words) is not None


def _without_texts(text: str, options: tuple[str, ...]) -> tuple[list[set[int]], str]:
    """Return the options whose texts stand in `text`, longer before shorter ones, and what is left."""
    text = text.replace("\0", " ")
    at: dict[str, set[int]] = {}
    for index, option in enumerate(options):
        if re.search(r"[^\W_]", option):
            at.setdefault(option, set()).add(index)
    if not at:
        return [], text
    sought = "|".join(
        r"\s+".join(map(re.escape, option.split())) for option in sorted(at, key=len, reverse=True)
    )
    pattern = re.compile(
        rf"(?<!{_LETTER})(?<!\d[.,:])(?:{sought})(?!{_LETTER}|[.,:]\d)", re.IGNORECASE
    )
    named = [
        at.get(" ".join(found.group().casefold().split()), set())
        for found in pattern.finditer(text)
    ]
    return named, pattern.sub("\0", text)


def _labels_alone(text: str, labels: tuple[str, ...]) -> set[int]:
    """Return the options whose labels stand alone in `text`, in either case and whatever is around them.

    The words `a` and `I`, numbers before a word and letters after a number (units) are none.
    """
    kinds = {ord(sign): unicodedata.normalize("NFKC", sign) for sign in set(text)}
    plain = text.translate({
        code: sign
        for code, sign in kinds.items()
        if re.fullmatch(r"[A-Za-z0-9]", sign) and unicodedata.category(chr(code)) in ONE_LETTER
    })
    plain = _ABBREVIATED.sub("\0", plain)
    numbers = {label: index for index, label in enumerate(labels)}
    return {
        numbers[label]
        for found in _STANDS_ALONE.finditer(plain)
        if (label := found["label"].upper()) in numbers and not _is_word(found, plain)
    }


def _is_word(found: re.Match[str], text: str) -> bool:
    """Return whether a letter or number that stands alone is a word of its sentence, and no label."""
    sign, following = found["label"], found["next"] or ""
    before = text[max(0, found.start() - 3) : found.start()]
    if sign.islower() and re.search(r"\d $", before):
        return True
    if not following or following.strip(",.;:!?") in _OF_A_LABEL:
        return False
    if sign in {"I", "i"} or sign.isdigit():
        return following[0].islower()
    begins = before.rstrip()[-1:] in {"", *".!?:;\"'([\u201c\u2018\u2013\u2014-"}
    return sign == "a" or (sign == "A" and begins)
