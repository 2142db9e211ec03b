"""An audit of the judges on a terminal: numbers, what is in none, and what they rest on."""

from __future__ import annotations

from taketwo.cli.audit_text import audit_lines
from taketwo.scores.judge_audit.audit_findings import (
    NOT_PROBED,
    AuditCase,
    AuditFinding,
    JudgeAudit,
    JudgeUse,
)


def audit() -> JudgeAudit:
    skipped = AuditCase(
        check="ablation",
        question_id="q1",
        subject="",
        what=f"{NOT_PROBED}none of its milestones is covered",
        before="",
        after="",
    )
    return JudgeAudit(
        judge="opus",
        rubric="standard",
        protocol="blind",
        design="quick",
        findings=(
            AuditFinding(
                check="separation",
                subject="opus",
                measure="AUC of the trajectory score, correct above incorrect",
                value=None,
                n=0,
                reason="one class is empty",
            ),
            AuditFinding(
                check="ablation",
                subject="opus",
                measure="mean drop",
                value=0.25,
                n=3,
                published=0.41,
            ),
        ),
        cases=(skipped, skipped),
        failures={"ablation": 2},
        causes={"ablation": {"opus: no \x1b[2Jobject": 2}},
        uses=(
            JudgeUse(
                judge="opus", judgements=12, served=("opus-4",), input_tokens=1000, output_tokens=90
            ),
        ),
        probed_arm="dvd",
    )


def test_published_ranges_skipped_and_failed_ones_and_models_are_on_the_terminal() -> None:
    text = "\n".join(audit_lines(audit()))

    assert "probes are made of runs of dvd, the arm that it scores best" in text
    assert "0.93 to 0.98" in text
    assert "  2 not probed: none of its milestones is covered" in text
    assert "  ablation: 2\n    opus: no [U+001B][2Jobject (2)" in text
    assert text.endswith(
        "what it rests on\n  opus (served: opus-4): 12 judgements, 1,000 tokens in, 90 out"
    )
