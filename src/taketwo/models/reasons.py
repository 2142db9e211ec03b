"""The sentences in which an offline model says why: quotes of evidence, never more than it has."""

from __future__ import annotations

from collections.abc import Sequence

from taketwo.models.asked import Asked
from taketwo.models.conversation import Conversation, Evidence
from taketwo.models.sought import body_of
from taketwo.models.timeline import asked_window, inside
from taketwo.models.video_lines import CountLine, TextLine, WordsLine, count_text, when

__all__ = ["deciding_lines", "intent", "quoted", "quoted_evidence", "reason_for"]

_SHOWN_LINES = 4  # evidence lines that a reason quotes at most

Line = CountLine | TextLine | WordsLine


def quoted(line: Line) -> str:
    """Return a line of evidence with its times."""
    body = (
        count_text(line.count, line.colour, line.shape)
        if isinstance(line, CountLine)
        else line.text
    )
    return f"{when(line.start_s, line.end_s)} {body}"


def quoted_evidence(evidence: Evidence) -> list[str]:
    """Return all evidence, a line each in order of time, as `lines_in` reads it back."""
    lines: list[Line] = [*evidence.texts, *evidence.counts, *evidence.speech, *evidence.notes]
    return [
        f"{when(line.start_s, line.end_s)} {body_of(line)}"
        for line in sorted(lines, key=lambda line: line.start_s)
    ]


def deciding_lines(asked: Asked, conversation: Conversation) -> Sequence[Line]:
    """Return the evidence in the stretch that the question points to, else all of its kind."""
    evidence = conversation.evidence
    window = asked_window(asked, evidence, conversation.duration_s)
    lines: list[Line] = []
    if asked.counts:
        lines += [
            line
            for line in evidence.counts
            if asked.colour in {None, line.colour} and asked.shape in {None, line.shape}
        ]
    else:
        lines += [*evidence.texts, *evidence.speech, *evidence.notes]
    return [line for line in lines if inside(line, window)] or lines


def reason_for(asked: Asked, conversation: Conversation, chosen: str) -> str:
    """Return why `chosen` is the answer; where nothing was found, that it is a guess."""
    near = deciding_lines(asked, conversation)
    if not near:
        return f"No evidence decides; {chosen!r} is a guess."
    return f"{chosen!r} agrees best with: {'; '.join(map(quoted, near[:_SHOWN_LINES]))}."


def intent(asked: Asked) -> str:
    """Return what a question asks for, in a sentence."""
    kind = "something that is said" if asked.is_spoken else "something that is seen"
    if asked.counts:
        what = " ".join(part for part in (asked.colour, f"{asked.shape or 'thing'}s") if part)
        kind = f"a change in the number of {what}" if asked.direction else f"the number of {what}"
    parts = [f"It asks for {kind}"]
    if asked.is_negated:
        parts.append("by what is not there")
    if asked.edge:
        parts.append(f"at the {'beginning' if asked.edge == 'first' else 'end'}")
    if asked.relation:
        parts.append(f"{asked.relation} {asked.anchor!r}" if asked.anchor else asked.relation)
    if asked.window_s:
        parts.append(f"between {asked.window_s[0]:.1f} s and {asked.window_s[1]:.1f} s")
    return ", ".join(parts) + "."
