"""What an audit of a judge of trajectories found, as tables: findings beside published ones, single cases."""

from __future__ import annotations

from collections.abc import Sequence

from taketwo.report.numbers import UNDEFINED, count, decimal_text, is_number
from taketwo.report.tables import Cell, Column, Record, Table, rows_of
from taketwo.report.untrusted import harmless
from taketwo.scores.judge_audit.audit_findings import AuditCase, AuditFinding
from taketwo.scores.judge_audit.judge_agreement import PUBLISHED_RANGES

__all__ = ["audit_cases_table", "audit_findings_table"]

_MOST_CASES = 40
_CASE_TEXT = 400
_DECIMALS = 3


def audit_findings_table(
    name: str, caption: str, findings: Sequence[AuditFinding], *, note: str = ""
) -> Table:
    """Return findings of an audit with interval, numbers of runs and questions, and the published value."""
    rows: list[list[str | Cell]] = []
    for item in findings:
        on = "" if item.clusters is None else f"on {item.clusters:,} questions"
        remark = "; ".join(part for part in (item.reason or "", item.note) if part)
        rows.append([
            Cell(text=item.measure, detail=item.subject),
            Cell(text=_number(item.value), detail=_ends(item.low, item.high))
            if item.value is not None
            else Cell(text=UNDEFINED, tone="quiet"),
            Cell(text=count(item.n), detail=on),
            _published(item),
            remark,
        ])
    return Table(
        name=name,
        caption=caption,
        columns=(
            Column(heading="What"),
            Column(heading="Value [95 %]", is_number=True),
            Column(heading="n", is_number=True),
            Column(heading="Published", is_number=True),
            Column(heading="Remarks"),
        ),
        rows=rows_of(rows),
        note=note,
        records=tuple(_finding_record(item) for item in findings),
    )


def _finding_record(item: AuditFinding) -> Record:
    low, high = PUBLISHED_RANGES.get((item.check, item.measure), (None, None))
    return {
        "check": item.check,
        "subject": item.subject,
        "measure": item.measure,
        "value": item.value,
        "low": item.low,
        "high": item.high,
        "n": item.n,
        "questions": item.clusters,
        "published": item.published,
        "published_low": low,
        "published_high": high,
        "reason": item.reason,
        "note": item.note,
    }


def audit_cases_table(name: str, caption: str, cases: Sequence[AuditCase]) -> Table | None:
    """Return single trajectories of an audit, before and after; None where there is none.

    Texts of models are cut at 400 characters here; `judge-audit-<design>.json` has them in full.
    """
    if not cases:
        return None
    more = len(cases) - _MOST_CASES
    return Table(
        name=name,
        caption=caption,
        columns=tuple(Column(heading=text) for text in ("Question", "What", "Before", "After")),
        rows=rows_of([
            [
                Cell(text=case.question_id, detail=case.subject),
                harmless(case.what, _CASE_TEXT),
                harmless(case.before, _CASE_TEXT),
                harmless(case.after, _CASE_TEXT),
            ]
            for case in cases[:_MOST_CASES]
        ]),
        note=f"{more:,} more stand in the file of the audit." if more > 0 else "",
    )


def _published(item: AuditFinding) -> str:
    ends = PUBLISHED_RANGES.get((item.check, item.measure))
    if ends is not None:
        return f"{ends[0]:.2f} to {ends[1]:.2f}"
    return UNDEFINED if item.published is None else _number(item.published)


def _number(value: float | None) -> str:
    return decimal_text(value, _DECIMALS) if is_number(value) else UNDEFINED


def _ends(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"[{_number(low)}, {_number(high)}]"
