"""What is known of the judges, as a section: numbers beside published ones, reasons, escaped cases."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from statsmodels.stats.inter_rater import fleiss_kappa

from taketwo.analysis.judges import judge_robustness
from taketwo.executions.rule import Rule
from taketwo.report.blocks import Definitions, Document, Folded, Heading, Prose, Section
from taketwo.report.html import render_report
from taketwo.report.judge_tables import (
    AnswerJudges,
    JudgedPair,
    JudgeNoise,
    OptionAgainstJudge,
    UngradableAnswers,
)
from taketwo.report.judges_section import CHECK_TEXTS, judges_section
from taketwo.report.tables import Table, to_csv
from taketwo.scores.judge_audit.audit_findings import (
    CHECKS,
    NOT_PROBED,
    AuditCase,
    AuditFinding,
    JudgeAudit,
    JudgeUse,
)

NASTY = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u202etxt\x00"
AREA = "AUC of the trajectory score, correct above incorrect"


def document_of(section: Section) -> Document:
    return Document(
        study="s",
        facts=(),
        marks=(),
        headlines=(),
        verdicts=(),
        not_known="",
        sections=(section,),
    )


def tables_of(section: Section) -> dict[str, Table]:
    found = document_of(section).tables
    named = {table.name: table for table in found}
    assert len(named) == len(found), "two tables would be saved under one name"
    return named


def texts(table: Table) -> list[list[str]]:
    return [[f"{cell.text} {cell.detail}".strip() for cell in row] for row in table.rows]


def labels(seed: int = 1) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    rates = np.array([[0.4, 0.7], [0.7, 0.4]])
    return (rng.random((200, 2, 2)) < rates).astype(np.float64)


def turned(labels: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same labels, those of the first 10 questions the other way round."""
    found = labels.copy()
    found[:10] = 1 - found[:10]
    return found


def audit(**changes: object) -> JudgeAudit:
    fields: dict[str, object] = {
        "judge": "anthropic/claude-opus-4-7",
        "rubric": "standard",
        "protocol": "blind",
        "findings": (
            AuditFinding(
                check="separation", subject="opus", measure="gap, correct minus incorrect",
                value=0.4123, low=0.31, high=0.52, n=40, clusters=20, published=0.47,
            ),
            AuditFinding(
                check="separation", subject="opus", measure=AREA, value=None, n=0, clusters=0,
                reason="one class is empty",
            ),
            AuditFinding(
                check="humans", subject="humans and opus", measure="Pearson r, task understanding",
                value=-0.25, n=12, clusters=6, published=0.39, note="90 % are 2",
            ),
            AuditFinding(
                check="humans", subject="rater-1 and rater-2",
                measure="Cohen's kappa, plain, task understanding", value=0.5, n=12, clusters=6,
            ),
        ),
        "cases": (
            AuditCase(
                check="injection", question_id="q1", subject="asks for a score", what=NASTY,
                before="0.5", after=NASTY + "x" * 900,
            ),
        ),
        "design": "quick",
        "not_done": {"references": "no question has an explanation"},
        "failures": {"ablation": 3, "rubrics": 0},
        **changes,
    }  # fmt: skip
    return JudgeAudit(**fields)  # pyright: ignore[reportArgumentType] the fields of an audit


def answers() -> AnswerJudges:
    first = labels()
    table = judge_robustness(
        {"a": first, "b": turned(first)}, Rule(primary=("accuracy",)), primary="a", seed=1
    )
    return AnswerJudges(
        pairs=(
            JudgedPair(method="dvd", baseline="single", table=table),
            JudgedPair(method="avp", baseline="single", table=None, reason="one judge only"),
        ),
        noise=(
            JudgeNoise(judge="a", repeats=3, answers=80, split=4),
            JudgeNoise(judge="b", repeats=1, answers=80, split=0),
        ),
        options=(
            OptionAgainstJudge(
                judge="a", both_right=50, option_only=3, judge_only=1, both_wrong=46
            ),
        ),
        ungradable=(
            UngradableAnswers(arm="dvd", execution=1, right=30, scored=40, ungradable=10),
            UngradableAnswers(arm="dvd", execution=2, right=0, scored=0, ungradable=0),
        ),
        extractor="google/flash",
        extractor_uses=1,
        served={"a": ("a-1", "a-2"), "b": ()},
    )


def test_nothing_known_is_an_empty_section() -> None:
    assert judges_section([], None).blocks == ()
    assert judges_section((), AnswerJudges()).blocks == ()
    assert judges_section((), None).anchor == "judges"


def test_a_finding_stands_with_interval_numbers_and_the_published_value() -> None:
    tables = tables_of(judges_section([audit()], None))

    assert texts(tables["judge-audit-1-separation"]) == [
        ["gap, correct minus incorrect opus", "0.412 [0.310, 0.520]", "40 on 20 questions", "0.470", ""],
        [f"{AREA} opus", "—", "0 on 0 questions", "0.93 to 0.98", "one class is empty"],
    ]  # fmt: skip


def test_axes_with_a_published_number_stand_in_front_and_others_are_folded() -> None:
    section = judges_section([audit()], None)
    tables = tables_of(section)

    assert texts(tables["judge-audit-1-humans"]) == [
        [
            "Pearson r, task understanding humans and opus", "−0.250", "12 on 6 questions", "0.390",
            "90 % are 2",
        ],
    ]  # fmt: skip
    folded = {block.table.name for block in section.blocks if isinstance(block, Folded)}
    assert "judge-audit-1-humans-axes" in folded


def test_the_records_keep_unrounded_numbers_and_leave_the_undefined_empty() -> None:
    table = tables_of(judges_section([audit()], None))["judge-audit-1-separation"]

    rows = list(csv.DictReader(io.StringIO(to_csv(table))))

    assert (rows[0]["value"], rows[0]["published"]) == ("0.4123", "0.47")
    assert (rows[1]["value"], rows[1]["reason"]) == ("", "one class is empty")
    assert (rows[1]["published_low"], rows[1]["published_high"]) == ("0.93", "0.98")


def test_the_page_says_how_much_the_audit_looked_at() -> None:
    blocks = judges_section([audit()], None).blocks

    assert any(
        isinstance(block, Prose) and block.text.startswith("Design of the audit: quick. ")
        for block in blocks
    )


def test_what_was_not_done_and_not_scored_is_said_with_the_reason() -> None:
    section = judges_section([audit()], None)

    (found,) = [block for block in section.blocks if isinstance(block, Definitions)]
    assert found.items == (
        (
            "Not done: What the judge is given as the reference",
            "no question has an explanation",
        ),
        (
            "Not scored: Does the judge notice missing evidence?",
            "3 trajectories without a judgement; they are in no number.",
        ),
    )


def test_trajectories_that_were_not_probed_are_counted_by_reason_and_hide_no_other() -> None:
    skipped = AuditCase(
        check="ablation", question_id="q", subject="", what=f"{NOT_PROBED}none is covered",
        before="", after="",
    )  # fmt: skip
    other = replace(skipped, what=f"{NOT_PROBED}no judgement")
    looked = AuditCase(
        check="ablation", question_id="q7", subject="M1", what="M1 taken out", before="b", after="a"
    )

    section = judges_section([audit(cases=(*[skipped] * 44, other, looked))], None)

    table = tables_of(section)["judge-audit-1-ablation-cases"]
    assert [row[0].text for row in table.rows] == ["q7"]
    (found,) = [block for block in section.blocks if isinstance(block, Definitions)]
    assert (
        "Not probed: Does the judge notice missing evidence?",
        "none is covered (44); no judgement (1)",
    ) in found.items


def test_failures_say_why_and_whose_they_are() -> None:
    causes = {"ablation": {f"opus: {NASTY}": 2, "gpt: timeout": 1}}

    section = judges_section([audit(causes=causes)], None)

    (found,) = [block for block in section.blocks if isinstance(block, Definitions)]
    text = dict(found.items)["Not scored: Does the judge notice missing evidence?"]
    assert text.startswith("3 trajectories without a judgement; they are in no number. opus: ")
    assert text.endswith("(2); gpt: timeout (1)")
    assert "\u202e" not in text


def test_what_an_audit_rests_on_stands_before_its_numbers() -> None:
    uses = (
        JudgeUse(
            judge="opus", judgements=1200, served=("opus-a", "opus-b"), input_tokens=5_000_000,
            output_tokens=9_000, cost_usd=12.5,
        ),
        JudgeUse(judge="gpt", judgements=0),
    )  # fmt: skip

    section = judges_section([audit(uses=uses, probed_arm="dvd")], None)

    table = tables_of(section)["judge-audit-1-judges"]
    assert texts(table) == [
        ["opus", "opus-a, opus-b", "1,200", "5,000,000", "9,000", "12.50 USD"],
        ["gpt", "not reported", "0", "—", "—", "—"],
    ]
    assert table.rows[0][1].tone == "warn"
    assert next(block for block in section.blocks if isinstance(block, Table)) is table
    words = " ".join(block.text for block in section.blocks if isinstance(block, Prose))
    assert "start from runs of dvd, the arm that the judge scores best." in words


def test_texts_of_models_are_shown_and_do_nothing() -> None:
    section = judges_section([audit()], None)
    page = render_report(document_of(section))
    table = tables_of(section)["judge-audit-1-injection-cases"]

    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "\u202e" not in page
    assert "[U+202E]txt[U+0000]" in page
    assert "more characters]" in table.rows[0][3].text
    assert len(table.rows[0][3].text) < 500


def test_many_cases_are_cut_and_counted() -> None:
    case = AuditCase(
        check="ablation", question_id="q", subject="s", what="w", before="b", after="a"
    )

    tables = tables_of(judges_section([audit(cases=(case,) * 45)], None))

    table = tables["judge-audit-1-ablation-cases"]
    assert len(table.rows) == 40
    assert table.note == "5 more stand in the file of the audit."


def test_two_audits_have_tables_of_different_names() -> None:
    section = judges_section([audit(), audit(judge="openai/gpt-5", protocol="published")], None)

    assert {"judge-audit-1-separation", "judge-audit-2-separation"} <= set(tables_of(section))
    headings = [block.text for block in section.blocks if isinstance(block, Heading)]
    assert headings == [
        "Judge of trajectories: anthropic/claude-opus-4-7",
        "Judge of trajectories: openai/gpt-5",
    ]
    words = " ".join(block.text for block in section.blocks if isinstance(block, Prose))
    assert "Protocol: published (it is told the name of the system)." in words


def test_every_check_has_a_heading_and_a_way_to_read_it() -> None:
    assert list(CHECK_TEXTS) == list(CHECKS)


def test_the_comparison_stands_under_each_judge() -> None:
    first = labels()
    effect = 100 * (first[:, 1, 0] - first[:, 0, 0]).mean()

    table = tables_of(judges_section([], answers()))["judges-dvd-single"]
    rows = texts(table)

    assert rows[0][0] == "a primary, labelled 200 questions"
    assert rows[0][1].startswith(f"{effect:+.1f} pp [".replace("-", "−"))
    assert [row[4] for row in rows] == ["directional reversal", "directional reversal"]
    assert rows[1][5] == "95.0 %"  # 10 of 200 questions turned around in all four cells
    assert rows[0][5:] == ["—", "—"]
    assert "2 of 2 judges give the primary judge's verdict" in table.note
    counts = np.stack([2 - (sums := (first + turned(first)).ravel()), sums], axis=1)
    kappa = fleiss_kappa(counts, method="fleiss")
    assert f"Fleiss' kappa over all judges: {kappa:.3f} [" in table.note


def test_a_pair_without_a_table_says_why() -> None:
    section = judges_section([], answers())

    words = [block.text for block in section.blocks if isinstance(block, Prose)]
    assert words == [
        "avp against single is not compared under further judges: one judge only.",
        "google/flash was asked which option a reply means 1 time.",
    ]


def test_noise_is_a_share_of_answers_that_were_labelled_again() -> None:
    table = tables_of(judges_section([], answers()))["judge-noise"]

    assert texts(table) == [
        ["a", "3", "80", "4", "5.0 %"],
        ["b", "1", "80", "—", "— labelled once only"],
    ]


def test_options_and_judge_are_counted_against_each_other() -> None:
    table = tables_of(judges_section([], answers()))["judge-options"]

    assert texts(table) == [["a", "100", "50", "3", "1", "46", "4.0 %"]]


def test_ungradable_answers_are_shown_under_both_readings() -> None:
    table = tables_of(judges_section([], answers()))["judge-ungradable"]

    # 30 of 40, or 30 of 50; no cell at all has no accuracy
    assert texts(table) == [
        ["dvd K1", "10", "50", "75.0 %", "60.0 %"],
        ["dvd K2", "0", "0", "—", "—"],
    ]


def test_two_models_under_one_judges_name_are_marked() -> None:
    table = tables_of(judges_section([], answers()))["judge-served"]

    assert [(row[1].text, row[1].tone) for row in table.rows] == [
        ("a-1, a-2", "warn"),
        ("not reported", "quiet"),
    ]


@pytest.mark.parametrize("with_answers", [True, False])
def test_the_section_is_part_of_a_page(with_answers: bool) -> None:
    section = judges_section([audit()], answers() if with_answers else None)

    page = render_report(document_of(section))

    assert 'id="judges"' in page
    assert ("Judges of answers" in page) is with_answers
