"""What a report is made of, before any file format: marks, blocks, sections, the document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from taketwo.report.cells import Case
from taketwo.report.drawing import Figure
from taketwo.report.headlines import Headline
from taketwo.report.tables import Table

__all__ = [
    "Block",
    "Cases",
    "Definitions",
    "Document",
    "Folded",
    "Heading",
    "Mark",
    "MarkLabel",
    "Prose",
    "Section",
]

MarkLabel = Literal[
    "not as planned",
    "drift allowed",
    "single execution",
    "incomplete",
    "reconstruction",
    "saturation expected",
]


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A reservation that stands on every page: its label, and why it is there."""

    label: MarkLabel
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Prose:
    """A paragraph."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Heading:
    """A heading inside a section (one comparison out of several)."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Definitions:
    """Terms and what they mean."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Folded:
    """A table that most readers need not see; opened by a click, always open in print."""

    summary: str
    table: Table


@dataclass(frozen=True, kw_only=True)
class Cases:
    """Questions in full."""

    cases: tuple[Case, ...]


Block = Prose | Heading | Definitions | Table | Figure | Folded | Cases


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the report under one heading."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, kw_only=True)
class Document:
    """The whole report; `facts` are the few things that identify the study, shown under its title."""

    study: str
    facts: tuple[tuple[str, str], ...]
    marks: tuple[Mark, ...]
    headlines: tuple[Headline, ...]
    verdicts: tuple[tuple[str, str], ...]
    not_known: str
    sections: tuple[Section, ...]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return every table, folded ones included, in order."""
        found: list[Table] = []
        for block in self._blocks():
            if isinstance(block, Table):
                found.append(block)
            elif isinstance(block, Folded):
                found.append(block.table)
        return tuple(found)

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Return every figure, in order."""
        return tuple(block for block in self._blocks() if isinstance(block, Figure))

    def _blocks(self) -> Iterable[Block]:
        for section in self.sections:
            yield from section.blocks
