from __future__ import annotations

import csv
import json
from dataclasses import replace

import polars as pl
from tests.analysis.judged_outcomes import Row, judged, outcomes_of, unjudged
from tests.plans import make_plan

from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.plan import Plan
from taketwo.executions.scoring_spec import ScoringSpec, TrajectoryScoring
from taketwo.report.blocks import Document, Folded, Prose, Section
from taketwo.report.drawing import Figure
from taketwo.report.efficiency_tables import efficiency_table, index_table
from taketwo.report.html import render_report
from taketwo.report.process_section import process_section
from taketwo.report.tables import Table, to_csv
from taketwo.scores.process_scores import AXES

SWEPT = (2, 1, 0, 1, 2)
ANCHORED = (2, 2, 2, None, 1)


def rows(**changes: object) -> list[Row]:
    """Return two arms on three questions: all judged, and one judged, one failed, one not asked."""
    more = {"attributes": json.dumps({"difficulty": "easy", "skill": ["x", "y"]}), **changes}
    other = {**more, "attributes": json.dumps({"difficulty": "hard", "skill": ["y"]})}
    return [
        judged("base", "q1", SWEPT, {"counting": "covered"}, ["ocr_error"], **more),
        judged("base", "q2", SWEPT, {"counting": "partial"}, **other),
        judged("base", "q3", ANCHORED, {"counting": "missing"}, **other),
        judged("method", "q1", ANCHORED, {"counting": "covered"}, ["counting_error"], **more),
        unjudged("method", "q2", **other),
        unjudged("method", "q3", "not_judged", **other),
    ]


def references() -> pl.DataFrame:
    row = judged("-", "q1", (2, 2, 2, 2, 1), {"counting": "covered"})
    names = ("question_id", "trajectory_score", "mc_rate", *AXES, "milestones")
    return pl.DataFrame([{name: row[name] for name in names}])


def tables_of(section: Section) -> dict[str, Table]:
    shown = [block.table if isinstance(block, Folded) else block for block in section.blocks]
    return {block.name: block for block in shown if isinstance(block, Table)}


def texts(table: Table) -> list[list[str]]:
    return [[f"{cell.text} {cell.detail}".strip() for cell in row] for row in table.rows]


def test_nothing_judged_is_a_section_without_blocks() -> None:
    assert process_section(None).blocks == ()
    assert process_section(outcomes_of([])).blocks == ()
    assert process_section(outcomes_of([unjudged("a", "q1"), unjudged("b", "q1")])).blocks == ()


def test_the_profile_shows_means_denominators_and_failures() -> None:
    table = tables_of(process_section(outcomes_of(rows())))["trajectories"]

    base, method = texts(table)
    assert base[:2] == ["K1 base", "3 / 3"]
    assert base[3].startswith("0.692")  # (0.6 + 0.6 + 0.875) / 3
    assert base[4].startswith("50.0 %")
    assert base[5:] == ["2.00", "1.33", "0.67", "1.00 n = 2", "1.67"]
    assert method[1] == "1 / 3 1 judge error\n1 not judged"
    assert method[3:] == ["0.875", "100.0 %", "2.00", "2.00", "2.00", "—", "1.00"]


def test_what_is_undefined_is_empty_in_csv_and_never_zero() -> None:
    lines = to_csv(tables_of(process_section(outcomes_of(rows())))["trajectories"]).splitlines()

    method = dict(zip(lines[0].split(","), lines[2].split(","), strict=True))
    assert method["evidence_completeness"] == ""
    assert method["n_evidence_completeness"] == "0"
    assert method["trajectory_score"] == "0.875"


def test_the_reference_stands_last_and_is_marked_as_our_reading() -> None:
    section = process_section(outcomes_of(rows()), None, references())
    tables = tables_of(section)

    row = texts(tables["trajectories"])[-1]
    assert row[0] == "curated trajectories judged as if they were an arm's: our reading"
    assert row[1:5] == ["1 judged", "—", "0.900", "100.0 %"]
    assert tables["milestone-types"].columns[-1].heading == "curated trajectories"
    (figure,) = (block for block in section.blocks if isinstance(block, Figure))
    assert "Dashed: the curated trajectories" in figure.caption


def test_tags_and_milestones_have_their_denominators() -> None:
    tables = tables_of(process_section(outcomes_of(rows())))

    assert texts(tables["failure-tags"]) == [
        ["counting error", "0.0", "100.0 dominant"],
        ["ocr error", "33.3 0.0 to 100.0\ndominant", "0.0"],
        ["dominant tag", "ocr error", "counting error"],
        ["judged trajectories", "3", "1"],
    ]
    assert "Never given: misunderstood condition, " in tables["failure-tags"].note
    assert texts(tables["milestone-types"]) == [
        ["counting", "50.0 % 0.0 % to 100.0 %\nn = 3", "100.0 % n = 1"]
    ]


def test_questions_are_broken_down_by_difficulty_and_skill() -> None:
    tables = tables_of(process_section(outcomes_of(rows())))

    assert texts(tables["trajectories-difficulty"])[1] == [
        "hard",
        "2",
        "0.738 0.000 to 1.000\nn = 2\nmilestones 25.0 %\n0.0 % to 100.0 %\naccuracy 100.0 %",
        "— n = 0\naccuracy 100.0 %",
    ]
    assert [row[:2] for row in texts(tables["trajectories-skill"])] == [["x", "1"], ["y", "3"]]
    assert "rows overlap" in tables["trajectories-skill"].note


def test_tags_that_tie_stand_on_a_line_each_since_columns_of_numbers_do_not_wrap() -> None:
    tags = ["wrong_arithmetic", "ocr_error", "premature_answer"]
    outcomes = outcomes_of([judged("a", "q1", SWEPT, {}, tags), judged("b", "q1", SWEPT, {}, tags)])

    row = tables_of(process_section(outcomes))["failure-tags"].rows[3]

    assert [cell.text for cell in row] == ["dominant tag", "ocr error,", "ocr error,"]
    assert row[1].detail == "wrong arithmetic,\npremature answer"


def test_an_arm_that_nobody_judged_has_no_dominant_tag_instead_of_none_given() -> None:
    judged_rows = [row for row in rows() if row["arm"] == "base"]
    table = tables_of(process_section(outcomes_of([*judged_rows, unjudged("method", "q1")])))[
        "failure-tags"
    ]

    assert texts(table)[1:] == [
        ["dominant tag", "ocr error", "—"],
        ["judged trajectories", "3", "0"],
    ]
    assert table.records[1]["dominant"] is None


def test_what_is_broken_down_has_its_intervals_in_csv_with_what_made_them() -> None:
    table = tables_of(process_section(outcomes_of(rows())))["trajectories-difficulty"]

    hard = list(csv.DictReader(to_csv(table).splitlines()))[2]
    assert (hard["level"], hard["arm"]) == ("hard", "base")
    assert (hard["trajectory_score_low"], hard["trajectory_score_high"]) == ("0.0", "1.0")
    assert (hard["accuracy_low"], hard["accuracy_high"]) == ("", "")
    assert hard["trajectory_score_interval"] == "paired t, 0.95"
    assert "Intervals at 95 % (paired t)" in table.note


def test_executions_stand_below_what_they_are_together() -> None:
    section = process_section(outcomes_of([*rows(), *rows(execution=2)]))
    tables = tables_of(section)

    assert [row[:2] for row in texts(tables["trajectories"])] == [
        ["base", "6 / 6"],
        ["method", "2 / 6 2 judge errors\n2 not judged"],
    ]
    assert [row[0] for row in texts(tables["trajectories-by-execution"])] == [
        "K1 base", "K1 method", "K2 base", "K2 method",
    ]  # fmt: skip


def test_the_judge_and_what_it_did_not_judge_are_named() -> None:
    plan: Plan = replace(
        make_plan(questions=()),
        scoring=ScoringSpec(trajectories=TrajectoryScoring(judge=ModelSpec(name="x/judge"))),
    )

    prose = process_section(outcomes_of(rows()), plan).blocks[0]

    assert isinstance(prose, Prose)
    assert prose.text.startswith(
        "x/judge labelled each trajectory (protocol blind, rubric standard)"
    )
    assert "Judged are 4 of 6 planned trajectories; the judge failed on 1, and 1 were not" in (
        prose.text
    )


def test_arms_with_two_factors_are_shown_as_a_grid() -> None:
    cells = [
        judged(f"{m}-{a}", "q1", SWEPT, factors=json.dumps({"agent": a, "orchestrator": m}))
        for m in ("x", "y")
        for a in ("single_turn", "ours")
    ]

    tables = tables_of(process_section(outcomes_of(cells)))

    assert {"grid-accuracy", "grid-trajectory_score"} <= set(tables)
    assert "grid-mc_rate" not in tables  # nothing had milestones
    twin = judged("twin", "q1", SWEPT, factors=json.dumps({"agent": "ours", "orchestrator": "x"}))
    refused = process_section(outcomes_of([*cells, twin]))
    assert any(
        isinstance(block, Prose) and "have the same place in the grid" in block.text
        for block in refused.blocks
    )


def test_names_from_outside_are_text_on_the_page() -> None:
    bad = "<img src=x onerror=alert(1)>"
    more = {"attributes": json.dumps({"difficulty": bad}), "tokens": 10.0}
    cells = [
        judged("a", "q1", SWEPT, {bad: "covered"}, [bad], **more),
        judged("a", "q2", SWEPT, attributes=json.dumps({"difficulty": "easy"}), tokens=10.0),
    ]

    page = render_report(
        Document(
            study="s", facts=(), marks=(), headlines=(), verdicts=(), not_known="",
            sections=(process_section(outcomes_of(cells)),),
        )
    )  # fmt: skip

    assert "<img src=x" not in page
    assert "&lt;img src=x" in page


def test_efficiency_is_shown_with_its_reason_where_there_is_none() -> None:
    cells: list[Row] = [
        {"arm": arm, "execution": 1, "question_id": "q1", "accuracy": 1.0, "tokens": tokens}
        for arm, tokens in (("a", 2e6), ("b", None))
    ]

    table = efficiency_table(outcomes_of(cells))

    assert table is not None
    assert texts(table) == [
        ["K1 a", "100.0 %", "2.00", "2,000,000", "50.00 %"],
        [
            "K1 b", "100.0 %", "not measured", "not measured",
            "— the tokens of 1 of 1 cells are not known, first question 'q1' (answered)",
        ],
    ]  # fmt: skip
    assert efficiency_table(outcomes_of(cells[1:])) is None


def test_indices_are_summed_by_arm_where_there_are_some() -> None:
    cells: list[Row] = [
        {
            "arm": "dvd", "execution": 1, "question_id": f"q{i}", "index_tokens": 500.0,
            "index_model_calls": 1.5, "index_frames": 4.0, "index_latency_s": cost,
        }
        for i, cost in enumerate((1.0, None))
    ]  # fmt: skip
    plain: Row = {"arm": "base", "execution": 1, "question_id": "q1"}

    table = index_table(outcomes_of([plain, *cells]))

    assert table is not None
    assert texts(table) == [
        ["K1 dvd", "2", "1,000", "not measured", "1.00 s in 1 / 2 cells", "3", "8"]
    ]
    assert index_table(outcomes_of([plain])) is None
