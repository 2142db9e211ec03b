"""Tables leave the report as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from taketwo.report.tables import Cell, Column, Table, rows_of, to_csv, to_latex, to_markdown

NASTY = r"<b>$x_1$ & 50% #1 ~^{}\end{table}</b> | `rm` [a](b)"


def make_table(text: str, **changes: object) -> Table:
    fields: dict[str, object] = {
        "name": "effects",
        "caption": "Effects",
        "columns": (Column(heading="Metric"), Column(heading="K1", is_number=True)),
        "rows": rows_of([[text, Cell(text="+7.3 pp", detail="[+4.8, +9.8]")]]),
        **changes,
    }
    return Table(**fields)  # pyright: ignore[reportArgumentType] the fields of a table


def test_markdown_aligns_numbers_and_keeps_details() -> None:
    assert to_markdown(make_table("Accuracy")).splitlines() == [
        "**Effects**",
        "",
        "| Metric | K1 |",
        "| --- | ---: |",
        r"| Accuracy | \+7.3 pp \[\+4.8, \+9.8\] |",
    ]


def test_markdown_shows_markup_instead_of_obeying_it() -> None:
    line = to_markdown(make_table(NASTY + "\nsecond")).splitlines()[4]

    assert "<b>" not in line
    assert "&lt;b&gt;" in line
    assert r"\| \`rm\` \[a\]\(b\) second" in line


def test_latex_is_a_booktabs_table_with_minus_and_powers_in_math() -> None:
    table = make_table("K1 → K2", rows=rows_of([["K1 → K2", "−4.1 pp, p 6.1 × 10⁻¹¹"]]))

    assert to_latex(table).splitlines()[8:10] == [
        r"K1 $\rightarrow$ K2 & $-$4.1 pp, p 6.1 $\times$ 10$^{-11}$ \\",
        r"\bottomrule",
    ]


def test_latex_runs_no_command_from_a_cell() -> None:
    text = to_latex(make_table(NASTY))

    assert text.count(r"\end{table}") == 1
    assert r"\textbackslash{}end\{table\}" in text
    assert r"\textless{}b\textgreater{}\$x\_1\$ \& 50\% \#1 " in text


def test_csv_holds_unrounded_records_and_leaves_the_undefined_empty() -> None:
    table = make_table(
        "x",
        records=({"metric": "accuracy", "low": -0.0123456789, "p": None}, {"metric": "a", "n": 3}),
    )

    assert to_csv(table) == "metric,low,p,n\naccuracy,-0.0123456789,,\na,,,3\n"


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-2", "@sum", "\t=1"])
def test_csv_gives_a_spreadsheet_no_formula(text: str) -> None:
    rows = list(csv.reader(io.StringIO(to_csv(make_table("x", records=({"name": text},))))))

    assert rows[1] == [f"'{text}"]


def test_a_row_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="table 'effects' has 2 columns and a row of 1"):
        make_table("x", rows=rows_of([["only one"]]))


def test_saving_writes_three_files(tmp_path: Path) -> None:
    files = make_table("Accuracy", note="A note.").save(tmp_path / "tables")

    assert [path.name for path in files] == ["effects.md", "effects.tex", "effects.csv"]
    assert r"\footnotesize A note." in files[1].read_text(encoding="utf-8")
