"""What STAR knows, as its planner and its summariser read it: the frame store, and the log of calls.

In the published code only what a tool writes into the frame store reaches the planner, and only the
answers of single frames reach the summariser: the text that most tools return reaches neither.
`faithful` keeps that; otherwise the log goes to both.
"""

from __future__ import annotations

from collections.abc import Sequence

from taketwo.tools.fencing import fence
from taketwo.tools.star_frames import Observation, StarState
from taketwo.tools.star_known import answer_lines, description_lines

__all__ = ["calls_block", "has_evidence", "store_block", "summary_evidence"]

_CALLS_SHOWN = 8
_OUTPUT_SHOWN = 800
_MOST_CHARACTERS = 24_000


def store_block(name: str, lines: Sequence[str]) -> str:
    """Return lines of the frame store, fenced, at most 24,000 characters of them."""
    text = "\n".join(lines)
    if not text:
        return "none yet"
    if len(text) <= _MOST_CHARACTERS:
        return fence(name, text)
    cut = f"(cut: {_MOST_CHARACTERS} of {len(text)} characters are shown)"
    return f"{fence(name, text[:_MOST_CHARACTERS])}\n{cut}"


def calls_block(log: Sequence[Observation], *, faithful: bool) -> str:
    """Return the calls so far as the planner sees them.

    `faithful` shows name, kind and input of all; otherwise the last 8 also have what they returned,
    800 characters each.
    """
    if not log:
        return "none yet"
    first = 0 if faithful else max(0, len(log) - _CALLS_SHOWN)
    shown = [_call(item, most=None if faithful else _OUTPUT_SHOWN) for item in log[first:]]
    if first:
        shown.insert(0, f"({first} earlier calls are left out)")
    return "\n\n".join(shown)


def has_evidence(state: StarState, *, faithful: bool) -> bool:
    """Return whether there is anything for the summariser to sum up."""
    answered = any(frame.answers for frame in state.frames.all)
    return answered or (not faithful and bool(state.log))


def summary_evidence(state: StarState, *, faithful: bool) -> str:
    """Return all evidence for the final answer: the answers of frames, and unless `faithful` the rest."""
    frames = state.frames.all
    parts = [f"Answers of single frames:\n{store_block('answers', answer_lines(frames))}"]
    if not faithful:
        described = store_block("descriptions", description_lines(frames))
        calls = "\n\n".join(_call(item, most=_MOST_CHARACTERS) for item in state.log) or "none"
        parts += [f"Descriptions of frames:\n{described}", f"What each call returned:\n{calls}"]
    return "\n\n".join(parts)


def _call(item: Observation, *, most: int | None) -> str:
    """Return one call, with up to `most` characters of its result, or without it."""
    lines = [f"Call {item.step}: {item.tool} ({item.kind})", fence("tool_input", item.input)]
    if most is None:
        return "\n".join(lines)
    if item.ranges:
        looked = ", ".join(f"{start:.1f}-{end:.1f} s" for start, end in item.ranges)
        lines.append(f"Looked at: {looked}")
    lines.append(fence("result", item.output[:most]))
    if len(item.output) > most:
        lines.append(f"(cut: {most} of {len(item.output)} characters are shown)")
    return "\n".join(lines)
