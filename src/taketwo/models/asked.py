"""What kind of reasoning a question asks for, recognised by general English cues."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from taketwo.models.shapes import COLOURS, SHAPES

__all__ = ["Asked", "Direction", "Edge", "Relation", "understand"]

Relation = Literal["after", "before", "during"]
Direction = Literal["more", "fewer", "difference"]
Edge = Literal["first", "last"]

_QUOTED = re.compile(r"[\"“«]([^\"”»]+)[\"”»]|(?<!\w)['‘]([^'’]+(?:['’]\w[^'’]*)*)['’](?!\w)")
_CAPITALS = re.compile(r"\b[A-Z][A-Z0-9-]+\b")
_SPOKEN = re.compile(
    r"\b(speaker|narrator|voice|says?|said|saying|speech|spoken|speaks?|tells?|told|mentions?|"
    r"mentioned|hears?|heard|announce[sd]?|audio|names?|named|talks?)\b",
    re.IGNORECASE,
)
_SHOWN = re.compile(
    r"\b(shown|shows?|see|seen|displayed?|appears?|visible|on screen|on the screen|written|text|"
    r"code|sign|caption|read|drawn|painted)\b",
    re.IGNORECASE,
)
_COUNTING = re.compile(r"\bhow many\b|\bnumber of\b|\bcount\b|\bhow often\b", re.IGNORECASE)
_NEGATED = re.compile(r"\b(never|not|no|isn't|doesn't|don't|without|neither)\b", re.IGNORECASE)
_MORE = re.compile(r"\bhow many (more|additional|extra)\b|\bincreased?\b|\badded\b", re.IGNORECASE)
_FEWER = re.compile(
    r"\bhow many (fewer|less)\b|\bdecreased?\b|\bdisappear(ed)?\b|\bremoved\b", re.IGNORECASE
)
_DIFFERENCE = re.compile(r"\bdifference\b|\bchanged?\b|\bby how (many|much)\b", re.IGNORECASE)
_RELATIONS: tuple[tuple[Relation, re.Pattern[str]], ...] = (
    ("after", re.compile(r"\b(after|follows|following|next to come|once)\b", re.IGNORECASE)),
    ("before", re.compile(r"\b(before|precedes|preceding|prior to|until)\b", re.IGNORECASE)),
    ("during", re.compile(r"\b(while|when|during|as soon as|together with|at the moment)\b", re.I)),
)
_FIRST = re.compile(r"\b(first|earliest|beginning|start|starts|opening)\b", re.IGNORECASE)
_LAST = re.compile(r"\b(last|latest|final|end|ends|ending)\b", re.IGNORECASE)
_SPAN = re.compile(
    r"\b(?:between|from)\s+(\d+(?:\.\d+)?)\s*(?:s|seconds?)?\s*(?:and|to|-)\s*(\d+(?:\.\d+)?)\s*s",
    re.IGNORECASE,
)
_MOMENT = re.compile(
    r"\b(?:at|around|second)\s+(\d+(?:\.\d+)?)\s*(?:s\b|seconds?\b|$)", re.IGNORECASE
)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a question asks.

    `anchor` is the thing that fixes a place in the video ("after the word EXIT"), `relation` how
    the answer lies to it. `colour` and `shape` are of what is counted. `window_s` is a stretch that
    the question states in seconds.
    """

    counts: bool
    direction: Direction | None
    colour: str | None
    shape: str | None
    is_spoken: bool
    is_shown: bool
    is_negated: bool
    relation: Relation | None
    anchor: str
    anchor_is_spoken: bool
    edge: Edge | None
    window_s: tuple[float, float] | None


def _named(text: str, names: tuple[str, ...]) -> str | None:
    found = [
        (match.start(), name) for name in names if (match := re.search(rf"\b{name}s?\b", text))
    ]
    return min(found)[1] if found else None


def _relation(text: str) -> tuple[Relation | None, int, int]:
    """Return the relation with the first place in `text`, and where its word starts and ends."""
    found: list[tuple[int, int, Relation]] = [
        (match.start(), match.end(), name)
        for name, cue in _RELATIONS
        if (match := cue.search(text))
    ]
    if not found:
        return None, 0, 0
    start, end, name = min(found)
    return name, start, end


def _anchor(text: str, relation_start: int, relation_end: int) -> tuple[str, str]:
    """Return the anchor and the clause that it stands in."""
    opens = relation_start == 0 or text[:relation_start].strip() in {"", "Right", "Just", "Shortly"}
    clause = text[relation_end:]
    if opens and "," in clause:
        clause = re.split(r",\s+(?=\w)", clause)[0] if '"' not in clause else _to_quote_end(clause)
    quoted = _QUOTED.search(clause) or _QUOTED.search(text)
    if quoted:
        return next(group for group in quoted.groups() if group), clause
    capitals = _CAPITALS.findall(clause)
    if capitals:
        return " ".join(capitals), clause
    return clause.strip(" ?.,!"), clause


def _to_quote_end(clause: str) -> str:
    match = _QUOTED.search(clause)
    return clause[: match.end()] if match else clause


def _direction(text: str) -> Direction | None:
    if _MORE.search(text):
        return "more"
    if _FEWER.search(text):
        return "fewer"
    return "difference" if _DIFFERENCE.search(text) else None


def _edge(text: str) -> Edge | None:
    first, last = _FIRST.search(text), _LAST.search(text)
    if bool(first) == bool(last):
        return None
    return "first" if first else "last"


def understand(question: str) -> Asked:
    """Return what `question` asks for, by its words; unknown parts stay None or empty."""
    bare = _QUOTED.sub(" ", question)
    lower = bare.lower()
    relation, start, end = _relation(question)
    anchor, clause = _anchor(question, start, end) if relation else ("", "")
    if not anchor and (quoted := _QUOTED.search(question)):
        anchor = clause = next(group for group in quoted.groups() if group)
    main = question.replace(clause, " ") if relation and clause else bare
    main_lower = _QUOTED.sub(" ", main).lower()
    span, moment = _SPAN.search(question), _MOMENT.search(question)
    window_s: tuple[float, float] | None = None
    if span:
        window_s = (float(span.group(1)), float(span.group(2)))
    elif moment:
        window_s = (float(moment.group(1)) - 1.0, float(moment.group(1)) + 1.0)
    return Asked(
        counts=bool(_COUNTING.search(lower)) or _direction(lower) is not None,
        direction=_direction(lower),
        colour=_named(main_lower, COLOURS),
        shape=_named(main_lower, SHAPES),
        is_spoken=bool(_SPOKEN.search(main_lower)),
        is_shown=bool(_SHOWN.search(main_lower)),
        is_negated=bool(_NEGATED.search(lower)),
        relation=relation,
        anchor=anchor,
        anchor_is_spoken=bool(_SPOKEN.search(clause)) if relation else False,
        edge=_edge(main_lower),
        window_s=window_s,
    )
