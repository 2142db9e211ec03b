"""What an audit of a judge of trajectories found, as tables: findings beside published ones, single cases."""

from __future__ import annotations

from collections.abc import Sequence

from taketwo.report.numbers import UNDEFINED, count, decimal_text, dollars, is_number
from taketwo.report.tables import Cell, Column, Record, Table, rows_of
from taketwo.report.untrusted import harmless
from taketwo.scores.judge_audit.audit_findings import AuditCase, AuditFinding, JudgeUse
from taketwo.scores.judge_audit.judge_agreement import PUBLISHED_RANGES

__all__ = ["audit_cases_table", "audit_findings_table", "audit_uses_table"]

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


def audit_uses_table(name: str, uses: Sequence[JudgeUse]) -> Table | None:
    """Return what the numbers of an audit rest on and took; None where no judge is known."""
    if not uses:
        return None
    rows: list[list[str | Cell]] = [
        [
            item.judge,
            Cell(
                text=", ".join(item.served) or "not reported",
                tone="warn" if len(item.served) > 1 else "" if item.served else "quiet",
            ),
            count(item.judgements),
            UNDEFINED if item.input_tokens is None else count(item.input_tokens),
            UNDEFINED if item.output_tokens is None else count(item.output_tokens),
            UNDEFINED if item.cost_usd is None else dollars(item.cost_usd),
        ]
        for item in uses
    ]
    records: list[Record] = [
        {
            "judge": item.judge,
            "served": ", ".join(item.served),
            "judgements": item.judgements,
            "input_tokens": item.input_tokens,
            "output_tokens": item.output_tokens,
            "cost_usd": item.cost_usd,
        }
        for item in uses
    ]
    numbers = ("Judgements", "Input tokens", "Output tokens", "Cost")
    return Table(
        name=name,
        caption="What the audit rests on",
        columns=(
            Column(heading="Judge asked for"),
            Column(heading="Served"),
            *(Column(heading=heading, is_number=True) for heading in numbers),
        ),
        rows=rows_of(rows),
        note=(
            "Distinct judgements behind the numbers below, whenever they were made; replies that gave none "
            "are in no count of tokens. A dash: the provider does not say, or there is no price. Two served "
            "models under one name are two judges that were mixed."
        ),
        records=tuple(records),
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
