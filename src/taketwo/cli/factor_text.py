"""The factors of many arms as plain text: the report's tables, for a terminal."""

from __future__ import annotations

from taketwo.analysis.comparison import FactorFinding, FactorFindings
from taketwo.cli.text_table import text_table
from taketwo.report.factor_tables import (
    factors_sentence,
    levels_table,
    ranking_table,
    settings_table,
)
from taketwo.report.tables import Cell, Table

__all__ = ["factors_text"]

_MOST_SETTINGS = 24


def factors_text(findings: FactorFindings) -> str:
    """Return the tables of every factor; many settings are counted and left to report and JSON.

    A note that several tables share stands below the first.
    """
    parts = [f"Factors: {factors_sentence(findings)}"]
    told: set[str] = set()
    for finding in findings.factors:
        for part in _factor(finding, findings):
            if isinstance(part, str):
                parts.append(part)
                continue
            note = "" if part.note in told else f"\n  {part.note}"
            told.add(part.note)
            parts.append(f"{part.caption}\n{_shown(part)}{note}")
    return "\n\n".join(parts)


def _factor(finding: FactorFinding, findings: FactorFindings) -> list[Table | str]:
    parts: list[Table | str] = [ranking_table(finding, findings)]
    parts.extend(f"  {finding.factor}: not compared: {reason}" for reason in finding.not_compared)
    compared, settings = levels_table(finding, findings), settings_table(finding)
    if compared is not None:
        parts.append(compared)
    if settings is not None:
        count = len(settings.rows)
        many = f"{settings.caption}: {count} rows, in the report and with --json"
        parts.append(settings if count <= _MOST_SETTINGS else many)
    return parts


def _shown(table: Table) -> str:
    rows = [[_joined(cell) for cell in row] for row in table.rows]
    return text_table([column.heading for column in table.columns], rows)


def _joined(cell: Cell) -> str:
    if not cell.detail:
        return cell.text
    return f"{cell.text} {cell.detail}" if cell.detail[0] == "[" else f"{cell.text} ({cell.detail})"
