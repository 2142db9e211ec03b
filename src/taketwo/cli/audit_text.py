"""An audit of the judges as lines on a terminal."""

from __future__ import annotations

from collections import Counter

from taketwo.cli.text_table import text_table
from taketwo.scores.judge_audit.audit_findings import CHECKS, AuditFinding, JudgeAudit

__all__ = ["audit_lines"]


def audit_lines(audit: JudgeAudit) -> list[str]:
    """Return the findings by check, then what was not done and what failed."""
    lines = [
        f"judge of trajectories: {audit.judge} ({audit.rubric}, {audit.protocol}; design {audit.design})"
    ]
    for check in CHECKS:
        found = [item for item in audit.findings if item.check == check]
        if found:
            skipped = Counter(
                case.what.removeprefix("not probed: ")
                for case in audit.cases
                if case.check == check and case.what.startswith("not probed: ")
            )
            lines += ["", check, text_table(_HEADINGS, [_row(item) for item in found])]
            lines += [f"  {count} not probed: {why}" for why, count in skipped.most_common(5)]
    if audit.not_done:
        lines += ["", "not done"]
        lines += [f"  {check}: {reason}" for check, reason in audit.not_done.items()]
    if audit.failures:
        lines += ["", "not scored by the judge, and in no number"]
        lines += [f"  {check}: {count}" for check, count in audit.failures.items()]
    return lines


_HEADINGS = ("of", "measure", "value", "95 % interval", "n", "published", "remark")


def _row(item: AuditFinding) -> tuple[str, ...]:
    has_interval = item.low is not None and item.high is not None
    return (
        item.subject,
        item.measure,
        "-" if item.value is None else f"{item.value:.3f}",
        f"[{item.low:.3f}, {item.high:.3f}]" if has_interval else "-",
        f"{item.n}",
        "" if item.published is None else f"{item.published:g}",
        (item.reason or item.note)[:80],
    )
