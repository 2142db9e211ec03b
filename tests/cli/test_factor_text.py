from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
from click.testing import CliRunner
from tests.analysis.factor_grid import GRID, grid_outcomes
from tests.outcomes.imports.files import write_text
from tests.plans import make_arm, make_plan

from taketwo.benchmarks.question import Question
from taketwo.cli.audit import command
from taketwo.cli.compare import command as compare_command
from taketwo.outcomes.table import Outcomes

FACTOR = r"system:(?P<model>.*)/(?P<framework>.*)"


def _grid(path: Path) -> Path:
    lines = [
        f"{model}/{framework},{k + 1},q{q},{digit}"
        for (model, framework), runs in GRID.items()
        for k, digits in enumerate(runs)
        for q, digit in enumerate(digits)
    ]
    return write_text(path, "system,execution,item_id,score", *lines)


def test_the_tables_of_the_factors_follow_the_comparisons(tmp_path: Path) -> None:
    table = str(_grid(tmp_path / "grid.csv"))
    shown = CliRunner().invoke(command, [table, "--factor", FACTOR], catch_exceptions=False)

    text = shown.stdout
    assert text.index("small/single against") < text.index("Factors: Accuracy of 6 arms")
    lines = [
        line.split() for line in text[text.index("Levels of model by accuracy") :].splitlines()
    ]
    assert [line[:4] for line in lines[3:6]] == [
        ["large", "2", "75.0", "%"],
        ["middle", "2", "62.5", "%"],
        ["small", "2", "25.0", "%"],
    ]
    assert "0 of 3" in text
    assert text.count("that is our reading") == 1


def test_factors_can_be_columns_and_are_an_object_of_the_json(tmp_path: Path) -> None:
    lines = [
        f"{model}/{framework},{model},{framework},{k + 1},q{q},{digit}"
        for (model, framework), runs in GRID.items()
        for k, digits in enumerate(runs)
        for q, digit in enumerate(digits)
    ]
    table = write_text(tmp_path / "t.csv", "system,llm,harness,execution,item_id,score", *lines)
    arguments = [str(table), "--factor", "llm", "--factor", "harness", "--json"]

    shown = CliRunner().invoke(command, arguments, catch_exceptions=False)

    record = json.loads(shown.stdout)["factors"]
    by_name = {item["factor"]: item for item in record["factors"]}
    assert set(by_name) == {"llm", "harness"}
    assert [level["score"] for level in by_name["llm"]["ranking"]["levels"]] == [0.75, 0.625, 0.25]
    assert record["arms"]["large/agent"] == {"harness": "agent", "llm": "large"}


def test_without_factors_the_json_says_null(tmp_path: Path) -> None:
    table = str(_grid(tmp_path / "grid.csv"))
    shown = CliRunner().invoke(command, [table, "--json"], catch_exceptions=False)

    assert json.loads(shown.stdout)["factors"] is None


def test_the_report_has_the_section(tmp_path: Path) -> None:
    table, out = str(_grid(tmp_path / "grid.csv")), tmp_path / "out.html"
    arguments = [table, "--factor", FACTOR, "--report", str(out)]
    CliRunner().invoke(command, arguments, catch_exceptions=False)

    page = out.read_text(encoding="utf-8")
    assert 'id="factors"' in page
    assert "Levels of framework against each other" in page


def test_a_study_whose_arms_carry_factors_shows_them(tmp_path: Path) -> None:
    arms = tuple(
        replace(
            make_arm(f"{model}-{framework}", f"{model}-single" if framework == "agent" else None),
            factors={"model": model, "framework": framework},
        )
        for model, framework in GRID
    )
    questions = [
        Question(
            question_id=f"q{q}", video_id=f"v{q}", video_path="v.mp4", text="Which?", options=("a", "b"),
            answer_index=0,
        )
        for q in range(4)
    ]  # fmt: skip
    plan = replace(make_plan(questions=questions), arms=arms)
    (tmp_path / "plan.json").write_text(json.dumps(plan.to_json()), encoding="utf-8")
    frame = grid_outcomes(baseline=True).frame
    Outcomes(frame.with_columns(forced=pl.lit(False), attempts=pl.lit(1, pl.Int32))).write(
        tmp_path / "outcomes.parquet"
    )

    shown = CliRunner().invoke(compare_command, [str(tmp_path)], catch_exceptions=False)

    assert "Levels of framework against each other" in shown.stdout
    assert "agent − single" in shown.stdout
