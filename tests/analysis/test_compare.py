from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.analysis.outcome_tables import grid, paper, table

from taketwo.analysis.compare import compare
from taketwo.analysis.comparison import Comparison, MetricComparison
from taketwo.errors import InvalidResults, UnpairedCells
from taketwo.executions.rule import Rule
from taketwo.outcomes.table import Outcomes

ACCURACY = Rule(primary=("accuracy",))


def _compare(outcomes: Outcomes, rule: Rule = ACCURACY, **options: object) -> Comparison:
    return compare(outcomes, rule, study="s", seed=1, draws=500, **options)  # type: ignore[arg-type]


def _accuracy(comparison: Comparison) -> MetricComparison:
    return comparison.comparisons[0].metrics["accuracy"]


def _random(seed: int, n: int = 40, executions: int = 2) -> Outcomes:
    rng = np.random.default_rng(seed)
    cells = {(a, k): None for k in range(1, executions + 1) for a in ("static", "dynamic")}
    return grid(
        {cell: (rng.random(n) < 0.6).astype(float).tolist() for cell in cells},
        turns={cell: rng.integers(1, 9, n).tolist() for cell in cells},
        latency_s={cell: rng.lognormal(size=n).tolist() for cell in cells},
    )


@pytest.mark.parametrize("executions", [2, 3])
def test_the_order_of_the_rows_does_not_matter(executions: int) -> None:
    outcomes = _random(3, executions=executions)
    shuffled = Outcomes(outcomes.frame.sample(fraction=1, shuffle=True, seed=5))

    assert _compare(shuffled) == _compare(outcomes)


def test_swapping_the_arms_negates_effects_and_keeps_p_and_verdict() -> None:
    outcomes = _random(4)
    swapped = Outcomes(
        outcomes.frame.with_columns(
            pl.when(pl.col("arm") == "static").then(pl.lit("static")).alias("baseline"),
            pl
            .when(pl.col("arm") == "static")
            .then(pl.lit("dynamic"))
            .otherwise(pl.lit("static"))
            .alias("arm"),
        )
    )
    swapped = Outcomes(
        swapped.frame.with_columns(
            pl.when(pl.col("arm") == "dynamic").then(pl.lit("static")).alias("baseline")
        )
    )
    for name, there in _compare(outcomes).comparisons[0].metrics.items():
        back = _compare(swapped).comparisons[0].metrics[name]
        assert [e.effect for e in back.executions] == [-e.effect for e in there.executions]
        assert back.shifts[0].estimate == -there.shifts[0].estimate
        assert back.executions[0].low == pytest.approx(-(there.executions[0].high or 0))
        assert back.shifts[0].test.p == there.shifts[0].test.p
        assert back.shifts[0].sign_flip.p == there.shifts[0].sign_flip.p
        assert back.verdict == there.verdict
        assert back.s_k == pytest.approx(there.s_k)


def test_swapping_the_executions_negates_the_shift_and_nothing_else() -> None:
    outcomes = _random(5)
    swapped = Outcomes(
        outcomes.frame.with_columns(execution=(3 - pl.col("execution")).cast(pl.Int32))
    )
    there, back = _accuracy(_compare(outcomes)), _accuracy(_compare(swapped))

    assert back.shifts[0].estimate == -there.shifts[0].estimate
    assert back.shifts[0].headline.low == -(there.shifts[0].headline.high or 0)
    assert back.shifts[0].test.p == there.shifts[0].test.p
    assert [e.effect for e in back.executions] == [e.effect for e in there.executions][::-1]
    assert back.s_k == there.s_k


def test_shifts_of_three_executions_add_up_and_get_their_own_holm() -> None:
    metric = _accuracy(_compare(_random(6, executions=3)))
    by_pair = {(s.earlier, s.later): s for s in metric.shifts}

    assert list(by_pair) == [(1, 2), (1, 3), (2, 3)]
    assert by_pair[1, 3].estimate == pytest.approx(by_pair[1, 2].estimate + by_pair[2, 3].estimate)
    assert metric.omnibus is not None
    assert metric.omnibus.method == "repeated-measures ANOVA, Greenhouse-Geisser"
    assert metric.s_k_note.startswith("2 df, 95 % interval")
    assert metric.reversal is not None
    assert metric.reversal.method == "Gail-Simon"
    smallest = min(s.test.p or 1 for s in metric.shifts)
    assert min(s.test.p_holm or 1 for s in metric.shifts) == pytest.approx(min(1, 3 * smallest))


def test_one_execution_gives_a_single_run_table_and_says_what_is_not_known() -> None:
    comparison = _compare(_random(7, executions=1))
    metric = _accuracy(comparison)

    assert metric.verdict == "single_execution"
    assert len(metric.executions) == 1
    assert (metric.shifts, metric.omnibus, metric.s_k, metric.swing) == ((), None, None, None)
    assert comparison.comparisons[0].counts is None
    assert comparison.not_known is not None
    assert (
        "whether direction or size of an effect would reproduce is not known"
        in comparison.not_known
    )
    assert "whether it would happen again is not known" in metric.sentence


def test_an_execution_that_has_not_started_is_left_out_and_said() -> None:
    outcomes = _random(8)
    started = Outcomes(
        outcomes.frame.with_columns(
            pl
            .when(pl.col("execution") == 2)
            .then(pl.lit("not_run"))
            .otherwise("run_status")
            .alias("run_status"),
            pl.when(pl.col("execution") == 1).then(pl.col("accuracy")).alias("accuracy"),
        )
    )

    comparison = _compare(started)

    assert comparison.executions == (1,)
    assert comparison.not_as_planned == ("execution K2 has not run",)
    assert _accuracy(comparison).verdict == "single_execution"


def test_a_metric_nobody_reports_is_not_measured_and_counts_in_the_family() -> None:
    rule = Rule(primary=("accuracy", "turns", "cost_usd"))
    pair = _compare(_random(9), rule).comparisons[0]
    missing = {m.metric: m for m in pair.not_measured}

    assert missing["cost_usd"].reason == "no cell reports it"
    assert missing["cost_usd"].primary
    assert "cost_usd" not in pair.metrics
    p = sorted(pair.metrics[m].omnibus.p for m in ("accuracy", "turns"))  # type: ignore[union-attr]
    adjusted = sorted(pair.metrics[m].omnibus.p_holm for m in ("accuracy", "turns"))  # type: ignore[union-attr]
    assert adjusted[0] == pytest.approx(min(1, 3 * p[0]))
    assert pair.counts is not None
    assert (pair.counts.of, pair.counts.declared) == (2, 3)


def test_scores_of_trajectories_that_nobody_judged_say_so() -> None:
    pair = _compare(_random(9)).comparisons[0]
    missing = {m.metric: m.reason for m in pair.not_measured}

    assert missing["trajectory_score"] == "no judge has scored a trajectory"
    assert missing["reasoning_faithfulness"] == "no judge has scored a trajectory"


def test_a_metric_outside_the_family_is_not_adjusted() -> None:
    metric = _compare(_random(9)).comparisons[0].metrics["turns"]

    assert not metric.primary
    assert metric.omnibus is not None
    assert metric.omnibus.p is not None
    assert metric.omnibus.p_holm is None


def test_a_metric_one_arm_does_not_report_says_where() -> None:
    outcomes = _random(10)
    tokens = pl.when((pl.col("arm") == "static") | (pl.col("execution") == 2)).then(100.0)
    frame = outcomes.frame.with_columns(tokens.alias("tokens"))

    missing = {m.metric: m for m in _compare(Outcomes(frame)).comparisons[0].not_measured}

    assert missing["tokens"].reason == "no cell reports it for dynamic in K1"


def test_questions_without_a_value_of_one_metric_leave_that_metric_only() -> None:
    outcomes = _random(11)
    gone = (pl.col("question_id") == "q004") & (pl.col("arm") == "dynamic")
    frame = outcomes.frame.with_columns(pl.when(~gone).then(pl.col("turns")).alias("turns"))

    metrics = _compare(Outcomes(frame)).comparisons[0].metrics

    assert metrics["turns"].n == 39
    assert metrics["turns"].dropped == ("q004",)
    assert metrics["accuracy"].n == 40
    assert metrics["accuracy"].dropped == ()


def test_identical_arms_are_unsupported_with_the_reason_and_no_nan() -> None:
    same = [1.0, 0.0, 1.0, 1.0]
    outcomes = grid({(a, k): same for k in (1, 2) for a in ("static", "dynamic")})

    comparison = _compare(outcomes)
    metric = _accuracy(comparison)

    assert metric.verdict == "unsupported"
    assert metric.flags == ("ZERO_VARIANCE",)
    assert (metric.executions[0].headline.low, metric.executions[0].headline.high) == (0, 0)
    assert metric.omnibus is not None
    assert (metric.omnibus.p, metric.omnibus.statistic) == (1, None)
    assert metric.executions[0].mcnemar is not None
    assert metric.executions[0].mcnemar.exact_p == 1
    assert metric.ratio_to_se is None
    assert Comparison.from_json(comparison.to_json()) == comparison


def test_a_constant_gain_on_few_questions_is_not_certain() -> None:
    outcomes = grid({
        (a, k): [float(a == "dynamic")] * 4 for k in (1, 2) for a in ("static", "dynamic")
    })

    metric = _accuracy(_compare(outcomes))

    assert [e.supported for e in metric.executions] == [False, False]
    assert metric.verdict == "unsupported"
    assert "ZERO_VARIANCE" in metric.flags


def test_one_question_is_not_testable() -> None:
    outcomes = grid({
        ("static", 1): [0],
        ("dynamic", 1): [1],
        ("static", 2): [0],
        ("dynamic", 2): [1],
    })

    metric = _accuracy(_compare(outcomes))

    assert metric.verdict == "not_testable"
    assert metric.executions[0].effect == 1
    assert metric.executions[0].headline.reason == "1 question has no variance"
    assert (metric.executions[0].low, metric.executions[0].se) == (None, None)


def test_all_questions_on_one_video_are_not_testable_and_say_why() -> None:
    one_video = Outcomes(_random(12).frame.with_columns(video_id=pl.lit("only")))

    metric = _accuracy(_compare(one_video))

    assert metric.verdict == "not_testable"
    assert metric.executions[0].headline.low is None
    assert "found 40 questions on 1 video" in (metric.executions[0].headline.reason or "")
    assert metric.executions[0].t_interval.low is not None
    assert metric.omnibus is not None
    assert metric.omnibus.p is not None
    assert metric.headline_omnibus is not None
    assert metric.headline_omnibus.p is None


@pytest.mark.parametrize(("cluster", "headline"), [("video", "CR2"), ("question", "paired t")])
def test_the_rule_s_cluster_decides_the_headline(cluster: str, headline: str) -> None:
    frame = _random(13).frame.with_columns(pl.col("question_id").str.slice(0, 3).alias("video_id"))
    rule = replace(ACCURACY, cluster=cluster)  # type: ignore[arg-type]

    metric = _accuracy(_compare(Outcomes(frame), rule))

    assert metric.headline == headline
    assert ("FEW_CLUSTERS" in metric.flags) is (cluster == "video")
    assert metric.n_clusters == (4 if cluster == "video" else 40)
    assert (metric.executions[0].clustered is None) is (cluster == "question")


def test_a_declared_margin_is_the_only_way_to_equivalent() -> None:
    n = 400
    rng = np.random.default_rng(1)
    static = (rng.random(n) < 0.3).astype(float)
    dynamic = np.maximum(static, (rng.random(n) < 0.6).astype(float))
    again = dynamic.copy()
    again[:4] = 1 - again[:4]
    cells = {
        ("static", 1): static,
        ("dynamic", 1): dynamic,
        ("static", 2): static,
        ("dynamic", 2): again,
    }
    outcomes = grid({k: v.tolist() for k, v in cells.items()})

    assert _accuracy(_compare(outcomes)).verdict == "no_shift_detected"
    wide = _accuracy(_compare(outcomes, replace(ACCURACY, margins={"accuracy": 0.05})))
    narrow = _accuracy(_compare(outcomes, replace(ACCURACY, margins={"accuracy": 0.001})))
    assert wide.verdict == "equivalent"
    assert wide.equivalence is not None
    assert wide.equivalence.level == pytest.approx(0.9)
    assert narrow.verdict == "no_shift_detected"


def test_chance_opposite_signs_of_many_executions_are_not_called_a_reversal() -> None:
    rng = np.random.default_rng(0)
    n = 200
    cells: dict[tuple[str, int], list[float]] = {}
    for k in range(1, 11):
        static = np.zeros(n)
        dynamic = np.zeros(n)
        lead = {3: 14, 7: -14}.get(k, 0)
        changed = rng.permutation(n)[:40]
        static[changed[: 20 - lead // 2]] = 1
        dynamic[changed[20 - lead // 2 :]] = 1
        cells["static", k], cells["dynamic", k] = static.tolist(), dynamic.tolist()

    metric = _accuracy(_compare(grid(cells)))

    assert {e.support for e in metric.executions} == {-1, 0, 1}
    assert metric.reversal is not None
    assert metric.reversal.p is not None
    assert metric.reversal.p > 0.05
    assert metric.verdict == "opposite_signs_not_confirmed"


def test_two_methods_share_their_baseline_and_are_each_a_comparison() -> None:
    rows = _random(14).frame
    third = rows.filter(pl.col("arm") == "dynamic").with_columns(arm=pl.lit("agentic"))

    comparison = _compare(Outcomes(pl.concat([rows, third])))

    assert [(c.baseline, c.method) for c in comparison.comparisons] == [
        ("static", "agentic"),
        ("static", "dynamic"),
    ]
    assert comparison.comparisons[0].metrics["accuracy"].executions == (
        comparison.comparisons[1].metrics["accuracy"].executions
    )


def test_a_table_without_a_baseline_cannot_be_compared() -> None:
    frame = _random(15).frame.with_columns(baseline=pl.lit(None, pl.String))

    with pytest.raises(
        InvalidResults, match="none of the arms 'dynamic', 'static' names a baseline"
    ):
        _compare(Outcomes(frame))


FAILED = {"run_status": "provider_error", "score_status": "not_judged", "accuracy": None}


def _with_failures(count: int, arm: str = "dynamic", n: int = 20) -> Outcomes:
    rows = []
    for k in (1, 2):
        for name in ("static", "dynamic"):
            for q in range(n):
                row = {"arm": name, "execution": k, "question_id": f"q{q:03d}", "turns": 2.0}
                row["accuracy"] = float((q + (name == "dynamic") * k) % 3 > 0)
                rows.append({**row, **FAILED} if name == arm and k == 2 and q < count else row)
    return table(rows)


def test_failed_cells_are_refused_unless_the_rule_says_what_they_mean() -> None:
    with pytest.raises(UnpairedCells, match="3 of 80 planned cells have no score"):
        _compare(_with_failures(3))


def test_failed_cells_as_wrong_count_zero_and_have_bounds_and_a_mark() -> None:
    comparison = _compare(_with_failures(3), missing="as-wrong")
    second = _accuracy(comparison).executions[1]

    assert comparison.not_as_planned == (
        "failed cells are treated as 'as-wrong'; the rule fixed 'refuse' beforehand",
    )
    assert second.n == 20
    assert second.worst_case is not None
    assert second.worst_case.n_failed == 3
    assert second.worst_case.low == pytest.approx(second.effect)
    assert second.worst_case.high == pytest.approx(second.effect + 3 / 20)
    assert comparison.comparisons[0].metrics["turns"].dropped == ("q000", "q001", "q002")


def test_dropped_questions_leave_every_cell_and_are_listed_with_the_cell_that_cost_them() -> None:
    comparison = _compare(_with_failures(2), replace(ACCURACY, missing="drop-question"))

    assert comparison.not_as_planned == ()
    assert {e.n for e in _accuracy(comparison).executions} == {18}
    assert comparison.population.n_matched == 18
    step = comparison.population.losses[1]
    assert (step.n_before, step.n_after) == (20, 18)
    assert step.lost[0].question_id == "q000"
    assert step.lost[0].cells == ("dynamic in K2: provider_error",)


def test_failures_of_one_arm_are_flagged_with_their_counts() -> None:
    metric = _accuracy(_compare(_with_failures(9), missing="drop-question"))

    assert "DIFFERENTIAL_MISSINGNESS" in metric.flags
    assert (
        "K2: 9 failed cells of 'dynamic' against 0 of 'static'"
        in (metric.flag_reasons["DIFFERENTIAL_MISSINGNESS"])
    )


def test_missing_hard_cells_do_not_help() -> None:
    """An agent that dies on what it would get wrong: as-wrong and bounds do not reward it."""
    rng = np.random.default_rng(2)
    rows = []
    for k in (1, 2):
        for q in range(200):
            right = bool(rng.random() < 0.5)
            for arm in ("static", "dynamic"):
                row = {
                    "arm": arm,
                    "execution": k,
                    "question_id": f"q{q:03d}",
                    "accuracy": float(right),
                }
                dies = arm == "dynamic" and not right and rng.random() < 0.5
                rows.append({**row, **FAILED} if dies else row)
    metric = _accuracy(_compare(table(rows), missing="as-wrong"))

    assert [e.effect for e in metric.executions] == [0, 0]
    assert all(e.worst_case and e.worst_case.low == 0 for e in metric.executions)
    assert "DIFFERENTIAL_MISSINGNESS" in metric.flags


def test_a_video_that_is_gone_is_a_loss_of_availability_and_no_failure() -> None:
    frame = _random(16).frame.with_columns(
        availability=pl
        .when((pl.col("question_id") == "q007") & (pl.col("execution") == 2))
        .then(pl.lit("missing"))
        .otherwise(pl.col("availability"))
    )
    comparison = _compare(Outcomes(frame))
    population = comparison.population

    assert (population.n_union, population.n_matched) == (40, 39)
    assert population.losses[0].lost[0].cells == ("dynamic in K2: missing", "static in K2: missing")
    assert {e.n for e in _accuracy(comparison).executions} == {39}
    last = population.cells[-1]
    assert (last.execution, last.n_planned, last.n_present, last.n_failed) == (2, 40, 39, 0)
    assert last.run_statuses == {"answered": 39, "video missing": 1}
    sensitivity = _accuracy(comparison).sensitivity
    assert sensitivity is not None
    assert sensitivity.ns == (40, 39)


def test_questions_per_execution_keep_what_each_execution_has() -> None:
    frame = _random(16).frame.with_columns(
        availability=pl
        .when((pl.col("question_id") == "q007") & (pl.col("execution") == 2))
        .then(pl.lit("missing"))
        .otherwise(pl.col("availability"))
    )

    metric = _accuracy(_compare(Outcomes(frame), replace(ACCURACY, population="per-execution")))

    assert [e.n for e in metric.executions] == [40, 39]
    assert metric.shifts[0].n == 39


def test_a_verdict_that_hangs_on_the_matching_is_flagged() -> None:
    """K1 alone has 60 questions with a clear gain on those that K2 lost."""
    rows = []
    for q in range(60):
        for k in (1, 2):
            gone = k == 2 and q >= 20
            for arm in ("static", "dynamic"):
                right = float(q >= 20 if arm == "dynamic" else q % 10 == 0 and q < 20)
                row = {"arm": arm, "execution": k, "question_id": f"q{q:03d}", "accuracy": right}
                rows.append({**row, "availability": "missing", "accuracy": None} if gone else row)

    metric = _accuracy(_compare(table(rows)))

    assert metric.executions[0].effect < 0
    assert metric.sensitivity is not None
    assert (metric.sensitivity.effects[0] or 0) > 0
    assert "MATCHING_SENSITIVE" in metric.flags


def test_1283_questions_and_five_metrics_take_under_three_seconds_of_cpu() -> None:
    outcomes = paper()
    start = time.process_time()

    compare(outcomes, Rule(), study="s", seed=1)

    assert time.process_time() - start < 3


def test_three_executions_on_videos_are_tested_by_video() -> None:
    frame = _random(17, executions=3).frame.with_columns(
        video_id=pl.col("question_id").str.slice(3, 1)
    )

    metric = _accuracy(_compare(Outcomes(frame)))

    assert metric.n_clusters == 10
    assert metric.omnibus is not None
    assert metric.headline_omnibus is not None
    assert metric.headline_omnibus.method == "CR2 Wald, Hotelling scaling"
    assert metric.headline_omnibus.df1 == 2
    assert metric.headline_omnibus.df2 == pytest.approx(8)
    assert metric.headline_omnibus.p_holm == metric.headline_omnibus.p
    assert metric.omnibus.df2 != metric.headline_omnibus.df2


def test_three_executions_on_one_video_are_not_testable() -> None:
    frame = _random(17, executions=3).frame.with_columns(video_id=pl.lit("only"))
    rule = replace(ACCURACY, margins={"accuracy": 0.1})

    metric = _accuracy(_compare(Outcomes(frame), rule))

    assert metric.verdict == "not_testable"
    assert metric.headline_omnibus is not None
    assert "on 1 video" in (metric.headline_omnibus.reason or "")
    assert metric.equivalence is not None
    assert (metric.equivalence.passed, metric.equivalence.low) == (False, None)


def test_a_study_without_judgements_still_compares_what_it_cost() -> None:
    frame = _random(18).frame.with_columns(
        score_status=pl.lit("not_judged"), accuracy=pl.lit(None, pl.Float64)
    )

    pair = _compare(Outcomes(frame)).comparisons[0]

    assert list(pair.metrics) == ["turns", "latency_s"]
    reasons = {m.metric: m.reason for m in pair.not_measured}
    assert reasons["accuracy"] == "no answer has been judged; judge them: taketwo score STUDY"
