"""Where in the video a question points, and what was counted there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from taketwo.models.asked import Asked
from taketwo.models.conversation import Conversation, Evidence
from taketwo.models.video_lines import CountLine, TextLine, WordsLine
from taketwo.models.words import content_words, likeness, number_in, overlap

__all__ = ["anchor_line", "asked_window", "counted", "inside"]

_FOUND = 0.5  # share of the anchor that a line must hold
_REACH_S = 6.0  # how far "after" and "before" reach where nothing else bounds them
_EDGE = 0.2  # share of the video that "the beginning" and "the end" mean

Span = tuple[float, float]


def anchor_line(asked: Asked, evidence: Evidence) -> TextLine | WordsLine | None:
    """Return the line that says or shows what the question fixes its place by, else None."""
    if not asked.anchor:
        return None
    spoken: list[TextLine | WordsLine] = [*evidence.speech, *evidence.notes]
    shown: list[TextLine | WordsLine] = [*evidence.texts, *evidence.shapes]
    best: TextLine | WordsLine | None = None
    best_score = _FOUND
    wanted = content_words(asked.anchor)
    for line in spoken + shown if asked.anchor_is_spoken else shown + spoken:
        score = max(
            overlap(wanted, content_words(line.text)), likeness(line.text, asked.anchor) * 0.9
        )
        if score > best_score or (best is None and score >= _FOUND):
            best, best_score = line, score
    return best


def asked_window(asked: Asked, evidence: Evidence, duration_s: float | None) -> Span | None:
    """Return the stretch (seconds) that a question points to, None where it is the whole video.

    "After" a line reaches from its end to the next speech, at least 2 s and at most 6 s; "before"
    mirrors that; "while" is the line itself with a second on both sides where it is speech.
    """
    if asked.window_s is not None:
        return asked.window_s
    end_s = duration_s if duration_s is not None else max(evidence.end_s, 1.0)
    line = anchor_line(asked, evidence)
    if line is not None:
        slack = 1.0 if isinstance(line, WordsLine) else 0.0
        if asked.relation == "after":
            following = [
                other.start_s for other in evidence.speech if other.start_s > line.end_s + 2
            ]
            return line.end_s, min([line.end_s + _REACH_S, *following])
        if asked.relation == "before":
            return max(0.0, line.start_s - _REACH_S), line.start_s
        return max(0.0, line.start_s - slack), line.end_s + slack
    if asked.counts and asked.direction is None and asked.edge is not None:
        share = _EDGE * end_s
        return (0.0, share) if asked.edge == "first" else (end_s - share, end_s)
    return None


def inside(line: CountLine | TextLine | WordsLine, window: Span | None) -> bool:
    """Return whether `line` touches `window`; everything touches None."""
    return window is None or (line.start_s <= window[1] and line.end_s >= window[0])


def _totals(lines: Sequence[CountLine], window: Span | None) -> dict[int, float]:
    """Return weight by number of shapes, summed over `lines` at each second where one starts or ends."""
    kept = [line for line in lines if inside(line, window)]
    low, high = window or (0.0, float("inf"))
    moments = sorted({
        min(max(time_s, low), high) for line in kept for time_s in (line.start_s, line.end_s)
    })
    weights: dict[int, float] = defaultdict(float)
    for number, moment in enumerate(moments):
        active = [line for line in kept if line.start_s <= moment <= line.end_s]
        if not active:
            continue
        lasting = moments[number + 1] - moment if number + 1 < len(moments) else 0.0
        trust = min(line.confidence for line in active)
        weights[_number_seen(active)] += (min(lasting, 5.0) + 0.5) * trust
    return dict(weights)


def _number_seen(lines: Sequence[CountLine]) -> int:
    """Return the sum over colours and kinds; of two looks at one kind, the one that found more counts.

    Shapes that overlap hide one another, so that the larger number is nearer to the truth.
    """
    most: dict[tuple[str, str], int] = {}
    for line in lines:
        kind = (line.colour, line.shape)
        most[kind] = max(most.get(kind, 0), line.count)
    return sum(most.values())


def _spoken_numbers(asked: Asked, evidence: Evidence) -> dict[int, float]:
    """Return the numbers in the speech, weighted by the words that their line shares with the target."""
    target = content_words(f"{asked.colour or ''} {asked.shape or ''}")
    weights: dict[int, float] = defaultdict(float)
    for line in evidence.speech:
        number = number_in(line.text)
        if number is not None:
            weights[number] += 0.1 + overlap(target, content_words(line.text))
    return dict(weights)


def _shares(weights: Mapping[int, float]) -> dict[int, float]:
    total = sum(weights.values())
    return {number: weight / total for number, weight in weights.items()}


def counted(asked: Asked, conversation: Conversation) -> Mapping[int, float]:
    """Return the weight (summing to 1) of each number that the evidence supports; empty for none.

    For a change it is the most supported number in the last fifth of the video minus that in the
    first fifth, positive where it goes the way that the question names. Where the question is what
    was said, numbers in the speech count and not those in the picture.
    """
    evidence = conversation.evidence
    lines = [
        line
        for line in evidence.counts
        if asked.colour in {None, line.colour} and asked.shape in {None, line.shape}
    ]
    if asked.is_spoken and (said := _spoken_numbers(asked, evidence)):
        return _shares(said)
    if not evidence.counts and not evidence.texts:
        return {}
    if asked.direction is not None:
        end_s = conversation.duration_s or max(evidence.end_s, 1.0)
        early = _totals(lines, (0.0, _EDGE * end_s))
        late = _totals(lines, (end_s * (1 - _EDGE), end_s))
        change = _most(late) - _most(early)
        return {-change if asked.direction == "fewer" else change: 1.0}
    weights = _totals(lines, asked_window(asked, evidence, conversation.duration_s))
    return _shares(weights) if weights else {0: 1.0}


def _most(weights: Mapping[int, float]) -> int:
    return max(weights, key=lambda number: weights[number]) if weights else 0
