"""What judging took, who judges, and judges that labelled a part only, as a reader of the report sees them."""

from __future__ import annotations

from dataclasses import replace

from tests.plans import make_plan
from tests.scored_study import choice, opened

from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.scoring_spec import ScoringSpec, TrajectoryScoring
from taketwo.report.judge_tables import JudgedPair, robustness_table
from taketwo.report.judge_use_tables import JudgeCost, PartJudge, costs_table, parts_table
from taketwo.report.resources import models_table
from taketwo.report.tables import Table


def texts(table: Table | None) -> list[list[str]]:
    assert table is not None
    return [[f"{cell.text} {cell.detail}".strip() for cell in row] for row in table.rows]


def test_what_is_not_known_of_a_cost_is_a_dash_and_never_0() -> None:
    table = costs_table([
        JudgeCost(
            judge="a/b", what="answers", labels=1200, input_tokens=4000, output_tokens=60, usd=0.5
        ),
        JudgeCost(
            judge="c/d", what="trajectories", labels=3, input_tokens=None, output_tokens=9, usd=None
        ),
    ])

    rows = texts(table)
    assert rows[0][:4] == ["a/b answers", "1,200", "4,000", "60"]
    assert "0.5" in rows[0][4]
    assert rows[1] == ["c/d trajectories", "3", "—", "9", "—"]
    assert costs_table([]) is None


def test_a_judge_of_a_part_stands_beside_the_one_that_counts_on_the_same_cells() -> None:
    part = PartJudge(
        judge="old",
        primary="new",
        arm="dvd",
        execution=1,
        cells=8,
        right=2,
        primary_right=4,
        same=6,
    )

    assert texts(parts_table([part])) == [
        ["old against new", "dvd K1", "8", "25.0 %", "50.0 %", "75.0 %"]
    ]
    assert parts_table([]) is None


def test_all_judges_of_the_plan_are_named_and_sampled_at_temperature_0() -> None:
    scoring = ScoringSpec(
        judges=(ModelSpec(name="b/two"),),
        extractor=ModelSpec(name="c/three"),
        trajectories=TrajectoryScoring(
            judge=ModelSpec(name="d/four"), judges=(ModelSpec(name="e/five"),)
        ),
    )
    plan = make_plan(questions=[choice(1), opened(1)], judge=ModelSpec(name="a/one"))

    rows = texts(models_table(replace(plan, scoring=scoring)))

    assert [row[1:] for row in rows if row[0] == "all"] == [
        ["judge", "a/one", "temperature 0.0"],
        ["further judge", "b/two", "temperature 0.0"],
        ["extractor", "c/three", "temperature 0.0"],
        ["judge of trajectories", "d/four", "temperature 0.0"],
        ["further judge of trajectories", "e/five", "temperature 0.0"],
    ]


def test_a_pair_that_nobody_else_labelled_has_no_table() -> None:
    pair = JudgedPair(method="m", baseline="b", table=None, left_out={"x": "it labelled nothing"})

    assert robustness_table(pair) is None
