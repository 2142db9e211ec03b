"""What of a message is an instruction and what is data, by the fences around untrusted text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["CLOSE", "OPEN", "Fenced", "fenced", "unfenced"]

OPEN = re.compile(r"^\s*<<<UNTRUSTED\b[ \t]*(.*?)\s*$")
CLOSE = re.compile(r"^\s*>>>UNTRUSTED\b.*$")


@dataclass(frozen=True, kw_only=True)
class Fenced:
    """A text between two markers and the name that the opening one gives it, in lower case."""

    name: str
    text: str


def unfenced(text: str) -> str:
    """Return `text` without what is fenced as data."""
    kept: list[str] = []
    depth = 0
    for line in text.splitlines():
        if OPEN.match(line):
            depth += 1
        elif CLOSE.match(line):
            depth = max(0, depth - 1)
        elif depth == 0:
            kept.append(line)
    return "\n".join(kept)


def fenced(text: str) -> Iterator[Fenced]:
    """Yield the fenced parts of `text` in order; a fence inside another one belongs to the outer."""
    name, kept, depth = "", [""], 0
    for line in text.splitlines():
        if opened := OPEN.match(line):
            if depth == 0:
                name, kept = opened.group(1).lower(), []
            depth += 1
        elif CLOSE.match(line):
            depth = max(0, depth - 1)
            if depth == 0:
                yield Fenced(name=name, text="\n".join(kept))
                kept = []
        elif depth > 0:
            kept.append(line)
    if depth > 0:
        yield Fenced(name=name, text="\n".join(kept))
