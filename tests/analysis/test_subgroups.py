from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.analysis.outcome_tables import DATA, grid, paper

from taketwo.analysis.compare import compare
from taketwo.analysis.comparison import Comparison
from taketwo.auditing import audit
from taketwo.cli.comparison_text import comparison_text
from taketwo.errors import InvalidResults, UnknownName
from taketwo.executions.rule import Rule
from taketwo.outcomes.table import Outcomes
from taketwo.report.variation_tables import subgroups_tables

FACTORS = ("format", "modality", "difficulty", "duration")
RULE = Rule(primary=("accuracy",))


def _paper() -> Outcomes:
    """Return the reconstructed paper with its question factors as attributes."""
    wide = pl.read_csv(DATA / "repair_paper_accuracy.csv").select("question_id", *FACTORS)
    texts = [
        (row["question_id"], json.dumps({name: row[name] for name in FACTORS}))
        for row in wide.iter_rows(named=True)
    ]
    levels = pl.DataFrame(texts, schema=["question_id", "levels"], orient="row")
    frame = paper().frame.join(levels, on="question_id", how="left")
    return Outcomes(frame.with_columns(attributes=pl.col("levels")).drop("levels"))


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(_paper(), RULE, study="s", seed=1, by=FACTORS)


def test_all_eleven_levels_of_the_paper_change_sign(comparison: Comparison) -> None:
    tables = comparison.comparisons[0].metrics["accuracy"].subgroups

    assert [table.factor for table in tables] == list(FACTORS)
    assert (sum(t.changing_sign for t in tables), sum(t.of for t in tables)) == (11, 11)
    sizes = {level.level: level.n for table in tables for level in table.levels}
    assert sorted(sizes.values()) == sorted([586, 697, 932, 75, 276, 385, 322, 526, 50, 681, 602])


def test_weighted_subgroup_effects_sum_to_the_total(comparison: Comparison) -> None:
    metric = comparison.comparisons[0].metrics["accuracy"]

    for table in metric.subgroups:
        assert sum(level.n for level in table.levels) == metric.n
        for k, effect in enumerate(metric.executions):
            total = sum(level.n * level.effects[k] for level in table.levels)
            assert total / metric.n == pytest.approx(effect.effect)


def test_one_test_says_whether_the_shift_differs_between_levels(comparison: Comparison) -> None:
    table = comparison.comparisons[0].metrics["accuracy"].subgroups[0]

    assert table.tested == "shift"
    assert table.interaction.p is not None
    assert 0 < table.interaction.p < 1
    assert table.interaction.levels == 2


def test_the_population_account_compares_shares(comparison: Comparison) -> None:
    shares = {(s.factor, s.level): s for s in comparison.population.subgroups}

    assert len(shares) == 11
    assert all(s.n_union == s.n_matched for s in shares.values())
    assert sum(s.share_matched for s in shares.values()) == pytest.approx(4)


def test_an_unknown_factor_is_named_with_near_ones() -> None:
    with pytest.raises(UnknownName, match="did you mean 'modality'"):
        compare(_paper(), RULE, study="s", seed=1, by=("modalty",))


def test_a_question_without_a_level_is_refused() -> None:
    frame = _paper().frame
    first = frame["question_id"].sort()[0]
    holed = frame.with_columns(
        attributes=pl.when(pl.col("question_id") != first).then(pl.col("attributes"))
    )

    with pytest.raises(InvalidResults, match=f"1 of 1283 questions have no level of 'format', first '{first}'"):  # fmt: skip
        compare(Outcomes(holed), RULE, study="s", seed=1, by=("format",))


def test_a_question_with_two_levels_is_refused() -> None:
    frame = _paper().frame
    first = frame["question_id"].sort()[0]
    other = frame.with_columns(
        attributes=pl
        .when((pl.col("question_id") == first) & (pl.col("execution") == 2))
        .then(pl.lit('{"format": "essay"}'))
        .otherwise(pl.col("attributes"))
    )

    with pytest.raises(InvalidResults, match="a question has one level of a subgroup factor"):
        compare(Outcomes(other), RULE, study="s", seed=1, by=("format",))


SKILLS: tuple[list[str], ...] = (["see", "count"], ["see"], [], ["count", "hear"])


def _with_skills(*lists: object) -> Outcomes:
    """Return 40 questions of two executions, whose skills go round."""
    values = {
        ("static", 1): [0.0] * 40,
        ("static", 2): [0.0] * 40,
        ("dynamic", 1): [1.0, 0.0, 0.0, 1.0] * 10,
        ("dynamic", 2): [0.0, 1.0, 0.0, 0.0] * 10,
    }
    frame = grid(values).frame
    texts = [
        (f"q{number:03d}", json.dumps({"skill": lists[number % len(lists)]}))
        for number in range(40)
    ]
    levels = pl.DataFrame(texts, schema=["question_id", "levels"], orient="row")
    joined = frame.join(levels, on="question_id", how="left")
    return Outcomes(joined.with_columns(attributes=pl.col("levels")).drop("levels"))


def test_a_question_with_several_levels_counts_under_each() -> None:
    found = compare(_with_skills(*SKILLS), RULE, study="s", seed=1, by=("skill",))

    (table,) = found.comparisons[0].metrics["accuracy"].subgroups
    assert table.overlap
    assert {level.level: (level.n, *level.effects) for level in table.levels} == {
        "count": (20, 1.0, 0.0),
        "hear": (10, 1.0, 0.0),
        "see": (20, 0.5, 0.5),
    }
    assert table.interaction.p is None
    assert table.interaction.permutation_p is not None
    assert table.interaction.permutation_p < 0.05
    shares = {share.level: share.share_union for share in found.population.subgroups}
    assert shares == {"count": 0.5, "hear": 0.25, "see": 0.5}


def test_overlapping_levels_say_so_in_the_tables_and_survive_json() -> None:
    found = compare(_with_skills(*SKILLS), RULE, study="s", seed=1, by=("skill",))

    (shown,) = subgroups_tables(found.comparisons[0])
    text = comparison_text(found)
    assert "A question counts under each of its levels: rows overlap" in shown.note
    assert "(permutation)" in shown.note
    assert "by permutation (a question counts under each of its levels: rows overlap" in text
    assert Comparison.from_json(found.to_json()) == found


def test_levels_that_divide_the_questions_do_not_overlap(comparison: Comparison) -> None:
    assert not any(t.overlap for t in comparison.comparisons[0].metrics["accuracy"].subgroups)


def test_lists_and_single_levels_of_one_factor_are_refused() -> None:
    with pytest.raises(
        InvalidResults, match="'skill' is a list of levels for 'q000' and a single one for 'q001'"
    ):
        compare(_with_skills(["see"], "see"), RULE, study="s", seed=1, by=("skill",))


def test_runs_that_were_not_made_together_take_several_levels_too() -> None:
    found = compare(
        _with_skills(*SKILLS), RULE, study="s", seed=1, by=("skill",), alignment="arbitrary"
    )

    (table,) = found.comparisons[0].metrics["accuracy"].subgroups
    assert {level.level: level.n for level in table.levels} == {"count": 20, "hear": 10, "see": 20}
    assert table.overlap


def test_an_audit_of_our_own_table_takes_several_levels_too(tmp_path: Path) -> None:
    frame = _with_skills(*SKILLS).frame.with_columns(forced=pl.lit(value=False), attempts=1)
    Outcomes(frame.cast({"attempts": pl.Int32})).write(tmp_path / "outcomes.parquet")

    found = audit(tmp_path / "outcomes.parquet", by=("skill",))

    (table,) = found.comparison.comparisons[0].metrics["accuracy"].subgroups
    assert {level.level: level.n for level in table.levels} == {"count": 20, "hear": 10, "see": 20}
