from __future__ import annotations

import itertools
from dataclasses import replace
from typing import get_args

import pytest
from tests.analysis.outcome_tables import grid, table

from taketwo.analysis.compare import compare
from taketwo.analysis.comparison import Comparison, Effect, HypothesisTest, MetricComparison
from taketwo.analysis.diagnostics import ceiling, differential_missingness, flags_of, not_known
from taketwo.analysis.pair_values import Clusters
from taketwo.analysis.sentences import TEMPLATES, sentence_of
from taketwo.analysis.spread import spread_of
from taketwo.analysis.verdict import Flag, Verdict
from taketwo.executions.rule import Rule
from taketwo.outcomes.pairing import pair
from taketwo.outcomes.table import Outcomes


@pytest.fixture
def accuracy(paper_comparison: Comparison) -> MetricComparison:
    return paper_comparison.comparisons[0].metrics["accuracy"]


def _flags(
    metric: MetricComparison,
    *,
    effects: tuple[Effect, ...] | None = None,
    shift: bool | None = True,
    clusters: Clusters | None = None,
    headline: HypothesisTest | None = None,
) -> dict[Flag, str]:
    return flags_of(
        metric="accuracy",
        verdict=metric.verdict,
        shift=shift,
        level=0.95,
        effects=effects or metric.executions,
        shifts=metric.shifts,
        omnibus=metric.omnibus,
        headline_omnibus=headline or metric.headline_omnibus,
        sensitivity=None,
        clusters=clusters,
        missingness=None,
    )


def test_a_clear_result_has_no_flag(accuracy: MetricComparison) -> None:
    assert _flags(accuracy) == {}


def test_a_reversal_whose_shift_does_not_reject_is_kept_and_flagged(
    accuracy: MetricComparison,
) -> None:
    for shift in (False, None):
        assert list(_flags(accuracy, shift=shift)) == ["SHIFT_NOT_CONFIRMED"]


@pytest.mark.parametrize(
    ("clusters", "flagged"),
    [((49, 0.05), True), ((50, 0.05), False), ((300, 0.11), True), ((300, 0.1), False)],
)
def test_few_videos_and_a_giant_one_are_flagged(
    accuracy: MetricComparison, clusters: tuple[int, float], flagged: bool
) -> None:
    found = Clusters(n=clusters[0], largest_share=clusters[1], hold_several=True)
    questions = Clusters(n=clusters[0], largest_share=clusters[1], hold_several=False)

    assert ("FEW_CLUSTERS" in _flags(accuracy, clusters=found)) is flagged
    assert "FEW_CLUSTERS" not in _flags(accuracy, clusters=questions)


def _right(of_20: int) -> list[float]:
    return [1.0] * of_20 + [0.0] * (20 - of_20)


@pytest.mark.parametrize(
    ("static", "dynamic", "reason"),
    [
        (18, 19, "baseline and method have 90.0% and 95.0% in K1, 90.0% and 95.0% in K2 right"),
        (17, 20, None),
        (20, 17, None),
    ],
)
def test_both_arms_near_the_ceiling_are_flagged(
    static: int, dynamic: int, reason: str | None
) -> None:
    outcomes = grid({
        ("static", 1): _right(static),
        ("static", 2): _right(static),
        ("dynamic", 1): _right(dynamic),
        ("dynamic", 2): _right(dynamic),
    })

    for alignment in ("blocked", "arbitrary"):
        found = compare(
            outcomes, Rule(primary=("accuracy",)), study="s", seed=1, alignment=alignment
        )
        told = found.comparisons[0].metrics["accuracy"].flag_reasons.get("CEILING")
        assert (told is None) == (reason is None)
        if reason is not None and alignment == "blocked":
            assert told is not None
            assert told.startswith(reason)


def test_one_execution_at_the_ceiling_is_named() -> None:
    told = ceiling("accuracy", {"K1": (0.95, 0.99), "K2": (0.899, 0.99)})

    assert told.startswith("baseline and method have 95.0% and 99.0% in K1 right: little is left")


def test_other_metrics_have_no_ceiling() -> None:
    assert ceiling("turns", {"K1": (9.0, 9.0)}) == ""


def test_tests_that_disagree_with_the_headline_are_named(accuracy: MetricComparison) -> None:
    first, second = accuracy.executions
    second = replace(second, low=-0.05, high=0.001)

    reason = _flags(accuracy, effects=(first, second))["BORDERLINE"]

    assert reason == "decided otherwise than the headline by K2: percentile bootstrap"


def test_a_shift_that_only_one_of_the_two_tests_sees_is_borderline(
    accuracy: MetricComparison,
) -> None:
    weak = HypothesisTest(method="CR2", p=0.02, p_holm=0.08)

    assert "shift: the test by question" in _flags(accuracy, headline=weak)["BORDERLINE"]


def test_every_verdict_has_a_sentence_with_the_numbers_in_it(accuracy: MetricComparison) -> None:
    assert set(TEMPLATES) == set(get_args(Verdict))
    for verdict in get_args(Verdict):
        sentence = sentence_of(
            "accuracy", "dynamic", "static", accuracy.executions, accuracy.omnibus, verdict
        )
        assert sentence.startswith("dynamic minus static: +7.3 pp in K1, −4.1 pp in K2:")
        assert sentence.endswith(".")


def test_the_paper_s_attenuation_reads_as_one(paper_comparison: Comparison) -> None:
    sentence = paper_comparison.comparisons[0].metrics["primitive_ops"].sentence

    assert sentence == (
        "dynamic minus static: +0.99 primitive operations in K1, +0.02 primitive operations in "
        "K2 (interval covers zero): supported at first, no longer supported in the last "
        "execution, and the change itself is established (shift Holm-adjusted p = 3.3 × 10⁻¹⁴)."
    )


def test_what_is_not_known_depends_on_the_number_of_executions() -> None:
    assert "Run a second execution" in (not_known(1) or "")
    assert (not_known(3) or "").startswith("3 executions can show that an effect moved")
    assert not_known(4) is None


def test_spread_of_three_effects_has_a_chi_square_interval(accuracy: MetricComparison) -> None:
    """For effects 1, 2, 3: s = 1, 95 % interval sqrt(2 / 7.3778) to sqrt(2 / 0.050636)."""
    first = accuracy.executions[0]
    spread = spread_of([replace(first, execution=k, effect=float(k), se=0.5) for k in (1, 2, 3)])

    assert spread.s_k == pytest.approx(1.0)
    assert spread.note == "2 df, 95 % interval 0.521 to 6.28"
    assert (spread.swing, spread.between) == (2.0, (3, 1))
    assert spread.ratio == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("failing", "told"),
    [
        (1, "K2: 1 failed cell of 'dynamic' against 0 of 'static'; at their worst they could undo"),
        (9, "K2: 9 failed cells of 'dynamic' against 0 of 'static' (p = 0.0020, McNemar mid-p)"),
    ],
)
def test_failed_cells_are_counted_in_one_and_in_several(failing: int, told: str) -> None:
    paired = pair(_with_failures(failing), Rule(primary=("accuracy",), missing="as-wrong"))

    reason = differential_missingness(paired, "accuracy", "dynamic", level=0.95)

    assert reason is not None
    assert reason.startswith(told)


def test_each_metric_has_its_own_reason_of_differential_missingness() -> None:
    rule = Rule(primary=("accuracy", "turns"), missing="as-wrong")
    few, many = pair(_with_failures(1), rule), pair(_with_failures(9), rule)

    assert differential_missingness(few, "turns", "dynamic", level=0.95) is None
    assert differential_missingness(many, "turns", "dynamic", level=0.95) == (
        "K2: 9 cells that failed or without a value of turns of 'dynamic' against 0 of 'static' "
        "(p = 0.0020, McNemar mid-p)"
    )


def _with_failures(failing: int) -> Outcomes:
    """Return 20 questions on which the arms are equally often right; some cells of dynamic failed in K2."""
    rows: list[dict[str, object]] = []
    for arm, k, q in itertools.product(("static", "dynamic"), (1, 2), range(20)):
        row: dict[str, object] = {
            "arm": arm, "execution": k, "question_id": f"q{q:02d}", "video_id": f"v{q}",
            "accuracy": float(q % 2), "turns": 2.0,
        }  # fmt: skip
        if arm == "dynamic" and k == 2 and q < failing:
            row |= {
                "accuracy": None, "turns": None, "run_status": "agent_error",
                "score_status": "not_judged",
            }  # fmt: skip
        rows.append(row)
    return table(rows)
