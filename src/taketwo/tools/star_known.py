"""What is known of STAR's visible frames, as lines for prompts: descriptions, and answers by question."""

from __future__ import annotations

from collections.abc import Sequence

from taketwo.tools.star_frames import WHOLE, VisibleFrame, timed_lines

__all__ = ["answer_lines", "description_lines", "frames_line"]


def description_lines(frames: Sequence[VisibleFrame]) -> list[str]:
    """Return the notes on `frames`: a heading for each sort of note, then its lines by time."""
    said: dict[str, list[tuple[float, str]]] = {}
    for frame in frames:
        for name, note in frame.notes.items():
            said.setdefault(name.removesuffix(f" of {WHOLE}"), []).append((frame.time_s, note))
    return _under_headings(said)


def answer_lines(frames: Sequence[VisibleFrame]) -> list[str]:
    """Return the answers of `frames`: a heading for each question, then its lines by time.

    An answer that is about an enlarged patch says so.
    """
    said: dict[str, list[tuple[float, str]]] = {}
    for frame in frames:
        for answer in frame.answers:
            view = "" if answer.view == WHOLE else f" (enlarged part: {answer.view})"
            question = f"Asked: {' '.join(answer.question.split())}"
            said.setdefault(question, []).append((frame.time_s, answer.answer + view))
    return _under_headings(said)


def frames_line(frames: Sequence[VisibleFrame]) -> str:
    """Return how many frames are visible and at which seconds, those outside the focus apart."""
    inside = [frame for frame in frames if frame.in_focus]
    outside = [frame for frame in frames if not frame.in_focus]
    line = f"{len(inside)} frames are visible, at {_times(inside)} s."
    if outside:
        line += f" {len(outside)} more are kept outside the focus, at {_times(outside)} s."
    enlarged = [f"{frame.time_s:.1f} s ({frame.view})" for frame in inside if frame.crop]
    if enlarged:
        line += f" Enlarged parts stand in for the frames at {', '.join(enlarged)}."
    return line


def _times(frames: Sequence[VisibleFrame]) -> str:
    return ", ".join(f"{frame.time_s:.1f}" for frame in frames)


def _under_headings(said: dict[str, list[tuple[float, str]]]) -> list[str]:
    lines: list[str] = []
    for heading, entries in said.items():
        lines += [heading, *(f"  {line}" for line in timed_lines(entries))]
    return lines
