from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest
from tests.analysis.run_tables import drawn, runs

from taketwo.analysis.compare import compare
from taketwo.analysis.comparison import Comparison, MetricComparison
from taketwo.analysis.run_supports import run_supports
from taketwo.errors import InvalidResults, UnpairedCells
from taketwo.executions.rule import Rule
from taketwo.outcomes.table import Outcomes
from taketwo.report.document import Sources, build_document
from taketwo.stats.paired import mean_test

RULE = Rule(primary=("accuracy",))


def _compare(outcomes: Outcomes, rule: Rule = RULE, **options: object) -> Comparison:
    return compare(outcomes, rule, study="s", seed=1, alignment="arbitrary", **options)  # type: ignore[arg-type]


def _accuracy(outcomes: Outcomes, rule: Rule = RULE) -> MetricComparison:
    return _compare(outcomes, rule).comparisons[0].metrics["accuracy"]


@pytest.mark.parametrize("clustered", [False, True])
def test_support_of_all_pairs_is_that_of_each_pair_by_itself(clustered: bool) -> None:
    rng = np.random.default_rng(1)
    method = (rng.random((40, 4)) < [0.9, 0.6, 0.5, 0.1]).astype(float)
    baseline = (rng.random((40, 3)) < [0.5, 0.5, 0.9]).astype(float)
    method[:, 3] = baseline[:, 0]
    cluster = rng.integers(0, 12, 40) if clustered else None

    found = run_supports(method, baseline, cluster=cluster, level=0.95)

    expected = []
    for a, b in product(range(4), range(3)):
        test = mean_test(method[:, a] - baseline[:, b], cluster=cluster)
        expected.append(int(np.sign(test.estimate)) if test.is_supported else 0)
    assert list(found) == expected
    assert {-1, 0, 1} == set(found)


@pytest.mark.parametrize("per_video", [1, 4])
def test_nothing_depends_on_which_run_is_called_which(per_video: int) -> None:
    arms = drawn(2, {"static": (0.4, 3), "dynamic": (0.6, 5)})
    turned = {"static": arms["static"][:, [2, 0, 1]], "dynamic": arms["dynamic"][:, ::-1]}

    first = _accuracy(runs(arms, per_video=per_video))
    again = _accuracy(runs(turned, per_video=per_video))

    assert again.verdict == first.verdict
    assert again.pairs == first.pairs
    assert again.sentence == first.sentence
    for name in ("omnibus", "headline_omnibus"):
        one, two = getattr(first, name), getattr(again, name)
        assert (two.p, two.statistic, two.df1) == pytest.approx((one.p, one.statistic, one.df1))
    assert again.average is not None
    assert first.average is not None
    assert again.average.low == pytest.approx(first.average.low)


def test_two_runs_of_an_arm_are_tested_without_a_sign() -> None:
    arms = drawn(3, {"static": (0.4, 2), "dynamic": (0.6, 2)})
    turned = {name: cells[:, ::-1] for name, cells in arms.items()}

    assert _accuracy(runs(arms)) == _accuracy(runs(turned))


def test_arms_may_have_different_numbers_of_runs() -> None:
    metric = _accuracy(runs(drawn(4, {"static": (0.4, 1), "dynamic": (0.6, 4)})))

    assert metric.pairs is not None
    assert metric.pairs.n == 4
    assert [arm.executions for arm in metric.arms] == [1, 4]
    assert metric.arms[0].reason == "arm 'static' has one run: whether its runs differ is not known"
    assert metric.omnibus is not None
    assert "in the arm with several runs" in metric.omnibus.method
    assert metric.statements.effect_vs_reexecution.value is None


def test_one_run_of_each_arm_is_a_single_execution() -> None:
    comparison = _compare(runs(drawn(5, {"static": (0.4, 1), "dynamic": (0.6, 1)})))
    metric = comparison.comparisons[0].metrics["accuracy"]

    assert metric.verdict == "single_execution"
    assert metric.undefined["omnibus"] == "each arm has one run"
    assert comparison.comparisons[0].counts is None
    assert "have one run: whether another would give the same is not known" in (
        comparison.not_known or ""
    )


def test_the_shift_is_holm_over_the_two_arms_own_runs() -> None:
    arms = drawn(6, {"static": (0.4, 3), "dynamic": (0.5, 3)}, n=200)
    arms["dynamic"][:, 2] = np.random.default_rng(9).random(200) < 0.9
    metric = _accuracy(runs(arms))

    own = [arm.omnibus.p for arm in metric.arms if arm.omnibus and arm.omnibus.p is not None]
    assert metric.omnibus is not None
    assert metric.omnibus.p == pytest.approx(min(1.0, 2 * min(own)))
    assert metric.statements.shift.value == "shift"
    assert metric.arms[1].omnibus is not None
    assert metric.arms[1].omnibus.p_holm == metric.omnibus.p


def test_a_clear_effect_is_reproduced_and_above_noise() -> None:
    metric = _accuracy(runs(drawn(7, {"static": (0.2, 4), "dynamic": (0.8, 4)}, n=200)))

    assert metric.verdict == "no_shift_detected"
    assert metric.statements.effect_vs_reexecution.value == "above_noise"
    assert metric.pairs is not None
    assert (metric.pairs.supported_positive, metric.pairs.n) == (16, 16)
    assert metric.executions == ()
    assert "16 of 16 pairs of runs support the method as better" in metric.sentence


def test_arms_that_do_not_differ_are_below_noise() -> None:
    metric = _accuracy(runs(drawn(8, {"static": (0.5, 4), "dynamic": (0.5, 4)}, n=200)))

    assert metric.verdict in {"unsupported", "not_reproduced"}
    assert metric.statements.effect_vs_reexecution.value == "below_noise"


def test_the_average_effect_is_the_difference_of_the_arms_means() -> None:
    arms = drawn(10, {"static": (0.3, 2), "dynamic": (0.5, 5)})
    metric = _accuracy(runs(arms))

    assert metric.average is not None
    assert metric.average.effect == pytest.approx(arms["dynamic"].mean() - arms["static"].mean())
    assert metric.average.low is not None
    assert metric.average.se_executions is not None
    assert metric.average.method == "Welch over runs and paired t"


def test_a_question_that_some_run_lacks_leaves_with_the_pattern_of_cells() -> None:
    full = runs(drawn(11, {"static": (0.3, 2), "dynamic": (0.5, 3)}))
    frame = full.frame
    gone = (frame["question_id"].is_in(["q001", "q002"])) & (frame["arm"] == "dynamic") & (
        frame["execution"] == 3
    )  # fmt: skip
    absent = (frame["question_id"] == "q005") & (frame["arm"] == "static")

    population = _compare(Outcomes(frame.filter(~gone & ~absent))).population

    assert (population.n_union, population.n_matched) == (60, 57)
    assert [(p.cells, p.n) for p in population.patterns] == [
        (("dynamic in K3: no row",), 2),
        (("static: no row",), 1),
    ]


def test_no_common_question_is_an_error_with_the_chain() -> None:
    arms = drawn(12, {"static": (0.3, 1), "dynamic": (0.5, 1)}, n=4)
    frame = runs(arms).frame
    apart = frame.filter(
        ((frame["arm"] == "static") & frame["question_id"].is_in(["q000", "q001"]))
        | ((frame["arm"] == "dynamic") & frame["question_id"].is_in(["q002", "q003"]))
    )

    with pytest.raises(UnpairedCells, match="no question is in every run of every arm"):
        _compare(Outcomes(apart))


def test_all_pairs_of_arms_are_adjusted_over_the_comparisons() -> None:
    arms = drawn(13, {"a": (0.3, 3), "b": (0.5, 3), "c": (0.7, 3)})
    comparison = _compare(runs(arms, baseline=None), pairs="all")

    assert [(p.baseline, p.method) for p in comparison.comparisons] == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]
    tests = [p.metrics["accuracy"].omnibus for p in comparison.comparisons]
    raw = [t.p for t in tests if t and t.p is not None]
    adjusted = [t.p_holm_arms for t in tests if t and t.p_holm_arms is not None]
    assert min(adjusted) == pytest.approx(min(1.0, 3 * min(raw)))
    assert Comparison.from_json(json.loads(json.dumps(comparison.to_json()))) == comparison


def test_one_arm_cannot_be_compared() -> None:
    with pytest.raises(InvalidResults, match="there is one arm only, 'a'"):
        _compare(runs(drawn(14, {"a": (0.3, 2)}), baseline=None), pairs="all")


def test_the_report_shows_runs_and_no_executions() -> None:
    comparison = _compare(runs(drawn(15, {"static": (0.2, 3), "dynamic": (0.8, 3)})))
    document = build_document(Sources(comparison=comparison))

    assert document.tables[0].caption == (
        "Effect of dynamic against static over runs that were not made together"
    )
    assert ("Runs of each arm", "3, not made together") in document.facts
