"""What an agent hands back: an answer, an abstention, or text from which none can be read."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from taketwo.agents.commitments import LINE_BREAK, Commitment, commitments, without_thoughts
from taketwo.agents.labelled_words import ONE_LETTER, LabelledWords
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.tools.loggable import MAX_CHARACTERS

__all__ = [
    "FULL_WIDTH",
    "Answer",
    "AnswerStatus",
    "as_matched",
    "option_index",
    "parse_answer",
    "read_end",
]

AnswerStatus = Literal["answered", "abstained", "unparsed", "limit"]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An agent's reply to a question.

    `option_index` is the 0-based option of a multiple-choice question and None otherwise. `text`
    is the reply as given (for an open question, the answer). `forced` marks an answer that was
    given because a budget ran out. A status other than `answered` never carries an option.
    """

    status: AnswerStatus
    text: str
    option_index: int | None = None
    reasoning: str = ""
    forced: bool = False
    limit: str | None = None

    def __post_init__(self) -> None:
        if self.status != "answered" and self.option_index is not None:
            raise ValueError(f"an answer with status {self.status!r} cannot carry an option")


FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
"""Full-width characters with the ordinary ones that they stand for, as `str.translate` takes them."""

_ABSTENTIONS = frozenset({"none", "null", "n/a", "abstain", "no answer"})
_WRAPPING = " \t\r\n*_`'\"\u201c\u201d\u2018\u2019"
_BOX = "\\boxed{"
_SET = re.compile(r"\\(?:text|textbf|textrm|mathrm|mathbf|mathsf)\{(?P<inside>[^{}]*+)\}")
_MAX_READ = MAX_CHARACTERS // 2
_MOST_MARKS = 30

_LED_IN = re.compile(r"^(?:option|choice|answer|label)\s*:?\s*", re.IGNORECASE)
_LABELLED = re.compile(
    r"^[(\[]?\s*(?P<label>[A-Za-z]|\d{1,4})(?P<mark>\s*[)\].:,\u2013\u2014-]+[*_`]*\s*)(?P<rest>.*)$",
    re.DOTALL,
)
_LABEL_THEN = re.compile(
    r"^[(\[]?(?P<label>[A-Z]|\d{1,4})[)\]]?[*_`]*\s+"
    r"(?:[(\[](?P<own>.+)[)\]]|(?P<why>(?:because|since)\b.+))$",
    re.DOTALL,
)
_THEN_LABEL = re.compile(r"^(?P<own>.*\S)\s*[(\[](?P<label>[A-Za-z]|\d{1,4})[)\]]$", re.DOTALL)


def as_matched(text: str) -> str:
    """Return a text as it is compared: what nobody sees cannot tell two texts apart.

    Characters of the category Cf (zero-width spaces, direction marks, soft hyphens) are left out, a
    tab and every Unicode space is a space, and the rest is composed (NFC). For matching only: some
    scripts and pictures need what is left out here.
    """
    if text.isascii() and "\t" not in text:
        return text
    kinds = {sign: unicodedata.category(sign) for sign in set(text)}
    table = {
        ord(sign): "" if kind == "Cf" else " "
        for sign, kind in kinds.items()
        if kind in {"Cf", "Zs"}
    }
    plain = text.translate(table | {0x09: " "})
    # A few signs of Tibetan are no marks themselves and fall into marks alone.
    marks = "".join(
        sign for sign in kinds if unicodedata.combining(unicodedata.normalize("NFD", sign)[0])
    )
    if marks:
        # Normalising sorts the marks on one letter, by the square of their number: as Unicode's
        # "stream-safe" form (UAX 15) does, a joiner keeps a run of them short.
        run = re.compile(f"([{re.escape(marks)}]{{{_MOST_MARKS}}})")
        plain = run.sub("\\1\u034f", plain)
    return unicodedata.normalize("NFC", plain)


def read_end(text: str) -> str:
    """Return the part of a reply that is read: its last 100,000 characters, none of a thought without end."""
    if len(text) > _MAX_READ and as_matched(text[:100]).lstrip().startswith("<"):
        return text[-_MAX_READ:] if without_thoughts(as_matched(text)) else ""
    return text[-_MAX_READ:]


def parse_answer(text: str, question: VisibleQuestion) -> Answer:
    """Read an answer out of a reply, the same way every time, without ever guessing.

    The last commitment counts: a JSON object with the key `answer` (fenced, bare or cut off) or a
    line `FINAL ANSWER: ...`; where there is none, a phrase such as "the answer is B", or a reply
    that consists of the answer alone. For a multiple-choice question it must name exactly one
    option, by its label (any number of options, letters or numbers) or by its whole text; the label
    goes before the text where both fit. `null` and `none` abstain. Whatever names no option, or
    more than one, is `unparsed`. So is an object whose answer stands twice with different values, or
    one nested more than 64 deep. Spaces, characters that nobody sees and the way that accents are
    composed make no difference (`as_matched`), nor does a label in full width; what is kept of the
    reply is as it was written.

    Parameters
    ----------
    text
        The reply; what a model thought aloud between think tags is left out, and everything after
        a tag at its start that no other ends. Of one that is longer than 100,000 characters the end
        is read, where the last commitment stands.
    question
        The question that it replies to.

    Examples
    --------
    >>> asked = VisibleQuestion(question_id="q", text="Which?", options=("red", "blue"),
    ...                         video_duration_s=None)
    >>> parse_answer('I saw it. {"answer": "B"}', asked).option_index
    1
    >>> parse_answer("I cannot determine the answer.", asked).status
    'unparsed'
    """
    read = read_end(text)
    plain, said = without_thoughts(as_matched(read)), without_thoughts(read)
    found = commitments(plain)
    alone = not found
    if alone:
        if not question.options:
            return Answer(status="unparsed", text=text)
        whole = said if as_matched(said) == plain else plain
        last, reasoning = Commitment(start=0, value=whole), ""
    else:
        last, reasoning = _as_written(found[-1], plain, said)
    if not last.is_readable:
        return Answer(status="unparsed", text=text, reasoning=reasoning)
    if not question.options:
        return _open_answer(last.value, text, reasoning)
    index = None if last.value is None else option_index(last.value, question, is_alone=alone)
    if index is not None:
        return Answer(status="answered", text=text, option_index=index, reasoning=reasoning)
    is_none = last.value is None or _bare(as_matched(last.value)).casefold() in _ABSTENTIONS
    return Answer(status="abstained" if is_none else "unparsed", text=text, reasoning=reasoning)


def _as_written(last: Commitment, plain: str, said: str) -> tuple[Commitment, str]:
    """Return the commitment that was found in `plain` as it stands in `said`, and what was argued.

    Where `said` shows another commitment last, because a mark that nobody sees stands in the words
    that lead in the answer, it is returned as it was found.
    """
    source = plain
    if said != plain:
        written = next(reversed(commitments(said)), None)
        if written is not None and _matched(written.value) == _matched(last.value):
            last, source = written, said
    if last.reasoning is not None:
        return last, last.reasoning
    return last, source[: last.start].strip()


def _matched(value: str | None) -> str | None:
    return None if value is None else as_matched(value)


def option_index(value: str, question: VisibleQuestion, *, is_alone: bool = False) -> int | None:
    """Return the 0-based option that `value` names, by label or by its whole text; None for no single one.

    Words may follow a label and a mark. Where they are another option's text, or name another one
    by its label or its text, nothing is named. Else the label counts (1) before its own option's
    text, the beginning of it, or words that begin like it and like no other option's; (2) closed by
    a bracket ("T) seen twice"), unless the words deny it; (3) before "because" or "since", with or without
    a mark, and beside its own text in brackets ("B (a cup)", "a cup (B)"); and (4)
    after a full stop, a comma or a dash, before words that begin a remark ("A. I saw it", "B,
    probably"), save for the letter `I`. A hyphen within a word sets off nothing. So "T-shirt",
    "e.g. a car", "N. Korea", "Q: what?" and "I, too, am unsure" name no option, unless theirs says so.
    Where `is_alone`, the words must be the option's own text, because any text may begin like a label.
    """
    bare = _bare(as_matched(value))
    by_label = _label_index(bare, question.labels)
    if by_label is not None:
        return by_label
    by_text = _text_indices(bare, question.options, _bare(value))
    if by_text:
        return by_text[0] if len(by_text) == 1 else None
    confirmed = _confirmed(bare.translate(FULL_WIDTH), question, is_alone=is_alone)
    if confirmed is not None:
        return confirmed
    match = _LABELLED.match(bare.translate(FULL_WIDTH))
    index = None if match is None else _label_index(match["label"], question.labels)
    if match is None or index is None:
        return None
    # What follows the label may name an option, in whatever width either is written.
    written = _LABELLED.match(_bare(value).translate(FULL_WIDTH))
    options = tuple(option.translate(FULL_WIDTH) for option in question.options)
    named = _text_indices(_bare(match["rest"]), options, _bare((written or match)["rest"]))
    if named or is_alone:
        return index if named == [index] else None
    folded = tuple(_folded(as_matched(option)) for option in options)
    words = LabelledWords(
        label=match["label"], mark=match["mark"], words=match["rest"].strip(_WRAPPING)
    )
    return index if words.leave_label(index, folded, question.labels) else None


def _confirmed(bare: str, question: VisibleQuestion, *, is_alone: bool) -> int | None:
    """Return the option whose label stands beside its own text in brackets, or before a reason."""
    for found in (_LABEL_THEN.match(bare), _THEN_LABEL.match(bare)):
        index = None if found is None else _label_index(found["label"], question.labels)
        if found is None or index is None:
            continue
        options = tuple(option.translate(FULL_WIDTH) for option in question.options)
        if found["own"] is not None:
            if _text_indices(_bare(found["own"]), options, found["own"]) == [index]:
                return index
        elif not is_alone:
            folded = tuple(_folded(as_matched(option)) for option in options)
            said = LabelledWords(label=found["label"], mark=", ", words=found["why"])
            return index if said.leave_label(index, folded, question.labels) else None
    return None


def _bare(value: str) -> str:
    """Return what is said without what wraps it or leads in; what is all wrapping is left as it is."""
    inner = _unboxed(value).strip(_WRAPPING)
    inner = _LED_IN.sub("", inner).strip(_WRAPPING)
    return inner.rstrip(".").strip(_WRAPPING) or inner or value.strip()


def _unboxed(value: str) -> str:
    r"""Return what stands in the first `\boxed{...}`, up to the last brace of its line, else `value`."""
    start = value.find(_BOX)
    while start >= 0:
        broken = LINE_BREAK.search(value, start)
        line_end = len(value) if broken is None else broken.start()
        inside = start + len(_BOX)
        close = value.rfind("}", inside, line_end)
        if close >= 0:
            return _SET.sub(lambda found: found["inside"], value[inside:close])
        start = value.find(_BOX, line_end)
    return value


def _label_index(text: str, labels: tuple[str, ...]) -> int | None:
    label = text.strip("()[] \t.:\uff08\uff09\uff3b\uff3d\uff0e\uff1a").upper()
    if len(label) == 1 and unicodedata.category(label) in ONE_LETTER:
        # Full-width, bold or circled; superscripts and Roman numerals are no letters.
        label = unicodedata.normalize("NFKC", label).upper()
    return labels.index(label) if label in labels else None


def _text_indices(text: str, options: tuple[str, ...], written: str) -> list[int]:
    """Return the options whose text is `text`; of several, those that are as `written` as well."""
    sought = _folded(as_matched(text))
    if not sought:
        return []
    found = [at for at, option in enumerate(options) if _folded(as_matched(option)) == sought]
    if len(found) > 1:
        exact = [at for at in found if _folded(options[at]) == _folded(written)]
        return exact or found
    return found


def _folded(text: str) -> str:
    joined = " ".join(text.split())
    return (joined.strip(_WRAPPING).rstrip(".") or joined).casefold()


def _open_answer(value: str | None, text: str, reasoning: str) -> Answer:
    stripped = "" if value is None else _plain(value)
    matched = _plain(as_matched(stripped))
    if value is None or matched.casefold() in _ABSTENTIONS:
        return Answer(status="abstained", text=text, reasoning=reasoning)
    if not matched:
        return Answer(status="unparsed", text=text, reasoning=reasoning)
    return Answer(status="answered", text=stripped, reasoning=reasoning)


def _plain(value: str) -> str:
    return " ".join(value.split()).strip("*_` ")
