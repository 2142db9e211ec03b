"""An audit of the judges as lines on a terminal."""

from __future__ import annotations

from collections import Counter

from taketwo.cli.text_table import text_table
from taketwo.report.numbers import dollars
from taketwo.report.untrusted import harmless
from taketwo.scores.judge_audit.audit_findings import CHECKS, AuditFinding, JudgeAudit, JudgeUse
from taketwo.scores.judge_audit.judge_agreement import PUBLISHED_RANGES

__all__ = ["audit_lines"]

_MOST_CAUSES, _CAUSE = 5, 200


def audit_lines(audit: JudgeAudit) -> list[str]:
    """Return the findings by check, then what was not done and what failed."""
    lines = [
        f"judge of trajectories: {audit.judge} ({audit.rubric}, {audit.protocol}; design {audit.design})"
    ]
    if audit.probed_arm:
        lines.append(f"probes are made of runs of {audit.probed_arm}, the arm that it scores best")
    for check in CHECKS:
        found = [item for item in audit.findings if item.check == check]
        if found:
            skipped = Counter(
                case.unprobed for case in audit.cases if case.check == check and case.unprobed
            )
            lines += ["", check, text_table(_HEADINGS, [_row(item) for item in found])]
            lines += [f"  {count} not probed: {why}" for why, count in skipped.most_common(5)]
    if audit.not_done:
        lines += ["", "not done"]
        lines += [f"  {check}: {reason}" for check, reason in audit.not_done.items()]
    if audit.failures:
        lines += ["", "not scored by the judge, and in no number"]
        for check, count in audit.failures.items():
            lines.append(f"  {check}: {count}")
            causes = Counter(audit.causes.get(check, {})).most_common(_MOST_CAUSES)
            lines += [f"    {harmless(cause, _CAUSE)} ({times})" for cause, times in causes]
    if audit.uses:
        lines += ["", "what it rests on", *(f"  {_use(item)}" for item in audit.uses)]
    return lines


def _use(item: JudgeUse) -> str:
    served = ", ".join(item.served) or "not reported"
    tokens = (
        "tokens not reported"
        if item.input_tokens is None or item.output_tokens is None
        else f"{item.input_tokens:,} tokens in, {item.output_tokens:,} out"
    )
    cost = "" if item.cost_usd is None else f", {dollars(item.cost_usd)}"
    return f"{item.judge} (served: {served}): {item.judgements:,} judgements, {tokens}{cost}"


_HEADINGS = ("of", "measure", "value", "95 % interval", "n", "published", "remark")


def _row(item: AuditFinding) -> tuple[str, ...]:
    has_interval = item.low is not None and item.high is not None
    return (
        item.subject,
        item.measure,
        "-" if item.value is None else f"{item.value:.3f}",
        f"[{item.low:.3f}, {item.high:.3f}]" if has_interval else "-",
        f"{item.n}",
        _published(item),
        (item.reason or item.note)[:80],
    )


def _published(item: AuditFinding) -> str:
    ends = PUBLISHED_RANGES.get((item.check, item.measure))
    if ends is not None:
        return f"{ends[0]:.2f} to {ends[1]:.2f}"
    return "" if item.published is None else f"{item.published:g}"
