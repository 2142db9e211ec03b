"""Tables that are read on the page and leave it as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from taketwo.report.untrusted import harmless

__all__ = ["Cell", "Column", "Record", "Table", "rows_of", "to_csv", "to_latex", "to_markdown"]

Record = Mapping[str, str | int | float | bool | None]


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column: its heading, and whether it holds numbers (set to the right, tabular figures)."""

    heading: str
    is_number: bool = False


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What a cell shows: `text`, and below it in small print `detail`.

    `tone` sets a cell apart where its content asks for attention: `warn` for what departs from the
    plan or could not be had, `quiet` for what is not there.
    """

    text: str
    detail: str = ""
    tone: Literal["", "warn", "quiet"] = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table with the caption that says what it shows.

    The first column names the row. `records` are the same facts as unrounded numbers, one mapping
    per line, for CSV; without them CSV holds what is shown. `name` is a file name without suffix.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    records: tuple[Record, ...] = field(default=())

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(
                    f"table {self.name!r} has {len(self.columns)} columns and a row of {len(row)}"
                )

    def save(self, folder: Path) -> tuple[Path, ...]:
        """Write the table as Markdown, LaTeX and CSV; return the files."""
        folder.mkdir(parents=True, exist_ok=True)
        written: list[Path] = []
        for suffix, text in (
            ("md", to_markdown(self)),
            ("tex", to_latex(self)),
            ("csv", to_csv(self)),
        ):
            path = folder / f"{self.name}.{suffix}"
            path.write_text(text, encoding="utf-8", newline="\n")
            written.append(path)
        return tuple(written)


def to_markdown(table: Table) -> str:
    """Return the table as a Markdown pipe table, its caption above and its note below.

    HTML and Markdown in the cells are escaped: a cell shows its characters and does nothing.
    """
    head = [_markdown(column.heading) for column in table.columns]
    rule = ["---:" if column.is_number else "---" for column in table.columns]
    body = [[_markdown(_joined(cell)) for cell in row] for row in table.rows]
    lines = [f"| {' | '.join(line)} |" for line in (head, rule, *body)]
    note = ["", _markdown(table.note)] if table.note else []
    return "\n".join([f"**{_markdown(table.caption)}**", "", *lines, *note, ""])


def to_latex(table: Table) -> str:
    r"""Return the table as a LaTeX `table` with booktabs rules; every special character escaped.

    The text compiles with pdfLaTeX (signs and superscripts become math), needs `booktabs`, and
    holds no command that came from a cell. Characters outside Latin scripts are kept as they are
    and need XeLaTeX or LuaLaTeX.
    """
    spec = "".join("r" if column.is_number else "l" for column in table.columns)
    head = " & ".join(_latex(column.heading) for column in table.columns)
    body = [" & ".join(_latex(_joined(cell)) for cell in row) + r" \\" for row in table.rows]
    note = [rf"\par\smallskip\footnotesize {_latex(table.note)}"] if table.note else []
    return "\n".join([
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex(table.caption)}}}",
        rf"\label{{tab:{table.name}}}",
        rf"\begin{{tabular}}{{{spec}}}",
        r"\toprule",
        rf"{head} \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        *note,
        r"\end{table}",
        "",
    ])


def to_csv(table: Table) -> str:
    """Return the unrounded records of the table as CSV; an undefined number is an empty field.

    Text that a spreadsheet would run as a formula gets a leading apostrophe.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    if table.records:
        names = list(dict.fromkeys(name for record in table.records for name in record))
        writer.writerow(names)
        for record in table.records:
            writer.writerow([_csv(record.get(name)) for name in names])
    else:
        writer.writerow([_csv(column.heading) for column in table.columns])
        for row in table.rows:
            writer.writerow([_csv(_joined(cell)) for cell in row])
    return buffer.getvalue()


def rows_of(rows: Sequence[Sequence[str | Cell]]) -> tuple[tuple[Cell, ...], ...]:
    """Return rows of cells, plain text taken as it is."""
    return tuple(
        tuple(cell if isinstance(cell, Cell) else Cell(text=cell) for cell in row) for row in rows
    )


def _joined(cell: Cell) -> str:
    return f"{cell.text} {cell.detail}".strip()


_MARKDOWN_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~$^])")


def _markdown(text: str) -> str:
    line = harmless(text).replace("\n", " ")
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN_SPECIAL.sub(r"\\\1", line)


_LATEX: Mapping[str, str] = MappingProxyType({
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    "[": "{[}",
    "]": "{]}",
    "-": "{-}",
    "\n": " ",
    "\u2212": "$-$",
    "\u00d7": r"$\times$",
    "\u2014": "---",
    "\u2013": "--",
    "\u2192": r"$\rightarrow$",
    "\u00b1": r"$\pm$",
    "\u0394": r"$\Delta$",
    "\u00a0": "~",
    "\u202f": r"\,",
    "\u2026": r"\ldots{}",
    "\ufffd": "?",
})
_SUPERSCRIPTS = re.compile("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_PLAIN_DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def _latex(text: str) -> str:
    parts: list[str] = []
    end = 0
    clean = harmless(text)
    for match in _SUPERSCRIPTS.finditer(clean):
        parts.append(_latex_characters(clean[end : match.start()]))
        parts.append(f"$^{{{match[0].translate(_PLAIN_DIGITS)}}}$")
        end = match.end()
    return "".join(parts) + _latex_characters(clean[end:])


def _latex_characters(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def _csv(value: str | float | bool | None) -> str | float | bool | None:
    if not isinstance(value, str):
        return value
    clean = harmless(value)
    return f"'{clean}" if clean.startswith(("=", "+", "-", "@", "\t")) else clean
