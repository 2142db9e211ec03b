"""How well each answer option agrees with the evidence, by words, times, order and counts."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from taketwo.models.asked import Asked
from taketwo.models.conversation import Conversation
from taketwo.models.shapes import COLOURS
from taketwo.models.timeline import anchor_line, asked_window, counted, inside
from taketwo.models.video_lines import TextLine, WordsLine
from taketwo.models.words import content_words, likeness, number_in, overlap

__all__ = ["chances", "draw", "open_candidates", "score_options"]

# Log-odds of an option that agrees wholly over one that does not agree at all, at temperature 1.
_EVIDENCE_WEIGHT = 5.0
_MENTIONED = 0.6  # likeness from which on a line counts as holding an option
_FALLS = re.compile(r"\b(falls?|fewer|less|decreas\w+|drops?|loses?|shrinks?)\b", re.IGNORECASE)
_OTHER_COLOURS = ("black", "white", "grey", "pink", "brown")

Line = TextLine | WordsLine


def score_options(
    asked: Asked, conversation: Conversation, options: Sequence[str]
) -> tuple[float, ...]:
    """Return the agreement (0..1) of each option with the evidence; all 0 where nothing is known."""
    if asked.counts:
        return _by_number(asked, conversation, options)
    evidence = conversation.evidence
    spoken: list[Line] = [*evidence.speech]
    shown: list[Line] = [*evidence.texts, *evidence.notes, *evidence.shapes]
    lines = sorted(
        spoken if asked.is_spoken and spoken else shown + spoken, key=lambda line: line.start_s
    )
    if not lines:
        return tuple(0.0 for _ in options)
    sequences = [re.split(r"\s*(?:,|;|->|→|\bthen\b)\s*", option) for option in options]
    if all(len(items) > 1 for items in sequences) and len({len(s) for s in sequences}) == 1:
        return tuple(_in_order(items, lines) for items in sequences)
    if asked.is_negated:
        return tuple(1.0 - max(likeness(option, line.text) for line in lines) for option in options)
    if asked.relation in {"after", "before"} and (anchor := anchor_line(asked, evidence)):
        return tuple(_beside(option, anchor, lines, options, asked) for option in options)
    if asked.edge is not None:
        return _by_edge(options, lines, last=asked.edge == "last")
    window = asked_window(asked, evidence, conversation.duration_s)
    near = [line for line in lines if inside(line, window)] or lines
    return tuple(_by_words(option, near, conversation.question) for option in options)


def _by_number(
    asked: Asked, conversation: Conversation, options: Sequence[str]
) -> tuple[float, ...]:
    weights = counted(asked, conversation)
    if not weights:
        return tuple(0.0 for _ in options)
    is_signed = any(_FALLS.search(option) for option in options)
    if asked.direction == "difference" and not is_signed:
        weights = {abs(number): weight for number, weight in weights.items()}
    best = max(weights, key=lambda number: weights[number])
    scores: list[float] = []
    for option in options:
        number = number_in(option)
        if number is not None and _FALLS.search(option):
            number = -number
        if number is None:
            scores.append(0.0)
        else:
            near = math.exp(-abs(number - best))
            scores.append(0.7 * weights.get(number, 0.0) + 0.3 * near)
    return tuple(scores)


def _first_time(text: str, lines: Sequence[Line]) -> float | None:
    return next((line.start_s for line in lines if likeness(text, line.text) >= _MENTIONED), None)


def _in_order(items: Sequence[str], lines: Sequence[Line]) -> float:
    """Return the share of neighbouring items whose first mentions come in the order given."""
    times_s = [_first_time(item, lines) for item in items]
    pairs = list(pairwise(times_s))
    right = [
        earlier is not None and later is not None and earlier < later for earlier, later in pairs
    ]
    return sum(right) / len(pairs)


def _beside(
    option: str, anchor: Line, lines: Sequence[Line], options: Sequence[str], asked: Asked
) -> float:
    """Return how near an option's mention follows (or precedes) the anchor: 1, 1/2, 1/3, ..."""
    if asked.relation == "after":
        side = [line for line in lines if line.start_s > anchor.start_s]
    else:
        side = [line for line in reversed(lines) if line.start_s < anchor.start_s]
    passed: set[str] = set()
    for line in side:
        agreement = likeness(option, line.text)
        if agreement >= _MENTIONED:
            return agreement / (1 + len(passed))
        passed |= {other for other in options if likeness(other, line.text) >= _MENTIONED}
    return 0.0


def _by_edge(options: Sequence[str], lines: Sequence[Line], *, last: bool) -> tuple[float, ...]:
    """Return 1 for the option that is mentioned first (or last), less for each one before it."""
    times_s = [_first_time(option, lines) for option in options]
    known = sorted({time_s for time_s in times_s if time_s is not None}, reverse=last)
    return tuple(0.0 if time_s is None else 1.0 / (1 + known.index(time_s)) for time_s in times_s)


def _by_words(option: str, lines: Sequence[Line], question: str) -> float:
    """Return the best agreement with a line, lines that share words with the question counting more."""
    wanted = content_words(question) - content_words(option)
    best = 0.0
    for line in lines:
        agreement = likeness(option, line.text)
        if agreement > 0:
            context = overlap(wanted, content_words(line.text))
            best = max(best, 0.7 * agreement + 0.3 * context * agreement)
    return best


def open_candidates(asked: Asked, conversation: Conversation) -> tuple[str, ...]:
    """Return what an open question could be answered with: numbers, colours or lines of evidence."""
    if asked.counts:
        signed = counted(asked, conversation)
        return tuple(dict.fromkeys(str(abs(number)) for number in signed))
    evidence = conversation.evidence
    if re.search(r"\bcolou?r\b", conversation.question, re.IGNORECASE):
        return (*COLOURS, *_OTHER_COLOURS)
    spoken = [line.text for line in evidence.speech]
    shown = [line.text for line in (*evidence.texts, *evidence.notes)]
    known = spoken if asked.is_spoken and spoken else shown + spoken
    anchor = anchor_line(asked, evidence)
    return tuple(text for text in dict.fromkeys(known) if anchor is None or text != anchor.text)


def chances(
    scores: Sequence[float], temperature: float
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the probability of each option: softmax of 5 x score / temperature.

    At temperature 0 the best options share all of it.
    """
    values = np.asarray(scores, dtype=np.float64)
    if temperature <= 0:
        best = (values >= values.max() - 1e-12).astype(np.float64)
        return best / best.sum()
    logits = _EVIDENCE_WEIGHT * (values - values.max()) / temperature
    weights = np.exp(logits)
    return weights / weights.sum()


def draw(scores: Sequence[float], temperature: float, rng: np.random.Generator) -> int:
    """Return the index of one option drawn by `chances`; only ties are random at temperature 0."""
    return int(rng.choice(len(scores), p=chances(scores, temperature)))
