"""Known values of the REPAIR paper, recomputed from the reconstructed tables (tests/data/README.md)."""

from __future__ import annotations

import pytest

from taketwo.analysis.comparison import Comparison, MetricComparison

STEP = 1 / 1283


@pytest.fixture
def accuracy(paper_comparison: Comparison) -> MetricComparison:
    return paper_comparison.comparisons[0].metrics["accuracy"]


def test_effects_and_discordant_questions_are_the_paper_s(accuracy: MetricComparison) -> None:
    first, second = accuracy.executions

    assert [round(100 * e.effect, 2) for e in (first, second)] == [7.33, -4.05]
    assert [(e.mcnemar.gained, e.mcnemar.lost) for e in (first, second) if e.mcnemar] == [
        (183, 89),
        (91, 143),
    ]
    assert [round(100 * first.baseline_mean, 2), round(100 * first.method_mean, 2)] == [
        60.80,
        68.12,
    ]


def test_the_shift_and_its_t_are_the_paper_s(accuracy: MetricComparison) -> None:
    shift = accuracy.shifts[0]

    assert shift.estimate == pytest.approx(146 / 1283)
    assert shift.test.statistic == pytest.approx(6.597172681075978, rel=1e-9)
    assert shift.test.df2 == pytest.approx(1282)
    assert shift.test.p == pytest.approx(6.114344353777046e-11, rel=1e-9)
    assert shift.t_interval.low == pytest.approx(0.07995607955, rel=1e-9)
    assert shift.t_interval.high == pytest.approx(0.14763550268, rel=1e-9)
    assert shift.sign_flip.p == pytest.approx(6.755152e-11, rel=1e-6)
    assert shift.sign_flip.mid_p == pytest.approx(5.1925e-11, rel=1e-4)


def test_mcnemar_is_exact_and_the_paper_s_values_are_the_corrected_ones(
    accuracy: MetricComparison,
) -> None:
    tables = [e.mcnemar for e in accuracy.executions] + [m.mcnemar for m in accuracy.movements]

    assert [t.exact_p for t in tables if t] == pytest.approx(
        [1.2369747288533553e-08, 8.192915951599144e-04, 2.2734740883e-04, 1.1011501991448981e-06],
        rel=1e-9,
    )
    assert [t.corrected_p for t in tables if t] == pytest.approx(
        [1.7108694121977863e-08, 8.561456864e-04, 2.4071585738e-04, 1.2874629568e-06], rel=1e-9
    )


def test_exact_percentile_bounds_are_lattice_points(accuracy: MetricComparison) -> None:
    first, second = accuracy.executions
    shift = accuracy.shifts[0]

    assert [first.low, first.high] == pytest.approx([62 * STEP, 126 * STEP], rel=1e-9)
    assert [second.low, second.high] == pytest.approx([-82 * STEP, -22 * STEP], rel=1e-9)
    assert [shift.low, shift.high] == pytest.approx([103 * STEP, 189 * STEP], rel=1e-9)
    assert [first.se, second.se] == pytest.approx(
        [0.0126907961778802, 0.01186906855736879], rel=1e-9
    )


def test_components_and_the_next_execution_are_the_known_ones(accuracy: MetricComparison) -> None:
    variation = accuracy.variation
    assert variation is not None
    parts, following = variation.components, variation.next_execution

    assert parts.tau == pytest.approx(0.07953599, rel=1e-6)
    assert [parts.tau_low, parts.tau_high] == pytest.approx([0.03371940, 2.567146], rel=1e-6)
    assert parts.question == pytest.approx(0.0545, abs=5e-5)
    assert [following.low, following.high] == pytest.approx([-1.23583, 1.26857], abs=1e-5)
    assert following.p_reversal == pytest.approx(0.447611, abs=5e-7)
    assert "optimistic at 2 executions" in following.note
    assert "the interval needs 4 executions" in following.note
    assert variation.single_run_coverage == pytest.approx(0.23, abs=0.01)


def test_the_three_statements_are_kept_apart(accuracy: MetricComparison) -> None:
    found = accuracy.statements

    assert found.effect_vs_reexecution.value == "below_noise"
    assert found.shift.value == "shift"
    assert (found.configuration.value, found.configuration.reason) == (
        None,
        "no manifest of the executions was given: what ran is not known",
    )


def test_bootstrap_bounds_are_within_two_questions_of_the_published_ones(
    accuracy: MetricComparison,
) -> None:
    first, second = accuracy.executions
    shift = accuracy.shifts[0]
    found = [first.low, first.high, second.low, second.high, shift.low, shift.high]
    published = [0.0483, 0.0990, -0.0639, -0.0179, 0.0803, 0.1481]

    assert found == pytest.approx(published, abs=2 * STEP)
    assert first.se == pytest.approx(0.01269, abs=3e-4)
    assert second.se == pytest.approx(0.01187, abs=3e-4)


def test_clustered_intervals_are_those_computed_independently(accuracy: MetricComparison) -> None:
    """By 922 videos: [4.81, 9.81], [-6.43, -1.67], [7.95, 14.85] points."""
    items = [*accuracy.executions, *accuracy.shifts]
    bounds = [(i.clustered.low, i.clustered.high) for i in items if i.clustered]

    for found, expected in zip(
        bounds, [(0.0481, 0.0981), (-0.0643, -0.0167), (0.0795, 0.1485)], strict=True
    ):
        assert found == pytest.approx(expected, abs=2 * STEP)
    assert accuracy.headline == "cluster percentile bootstrap"
    assert accuracy.n_clusters == 922


def test_tango_intervals_are_the_known_ones(accuracy: MetricComparison) -> None:
    bounds = [(e.tango.low, e.tango.high) for e in accuracy.executions if e.tango]

    assert bounds[0] == pytest.approx((0.04849048, 0.09842669), abs=5e-9)
    assert bounds[1] == pytest.approx((-0.06405853, -0.01729819), abs=5e-9)


def test_both_arms_moved_and_their_movements_make_the_shift(accuracy: MetricComparison) -> None:
    static, dynamic = accuracy.movements

    assert (static.arm, dynamic.arm) == ("static", "dynamic")
    assert (static.gained, static.lost, dynamic.gained, dynamic.lost) == (164, 103, 108, 193)
    assert [round(100 * (m.churn or 0), 2) for m in (static, dynamic)] == [20.81, 23.46]
    assert [round(100 * m.re, 2) for m in (static, dynamic)] == [4.75, -6.63]
    assert [round(100 * (m.net_share or 0)) for m in (static, dynamic)] == [23, 28]
    assert static.re - dynamic.re == pytest.approx(accuracy.shifts[0].estimate)


def test_spread_over_executions_is_descriptive_and_6_6_times_the_standard_error(
    accuracy: MetricComparison,
) -> None:
    assert accuracy.s_k == pytest.approx(0.080465775567604, rel=1e-9)
    assert accuracy.s_k_note == "1 df, descriptive"
    assert accuracy.ratio_to_se == pytest.approx(6.6, abs=0.15)
    assert accuracy.swing == pytest.approx(146 / 1283)
    assert accuracy.swing_between == (1, 2)
    assert accuracy.reversal is not None
    assert accuracy.reversal.p == pytest.approx(3.3076e-4, rel=1e-4)
    assert accuracy.headline_reversal is not None
    assert accuracy.headline_reversal.p == pytest.approx(3.43e-4, rel=0.01)


def test_five_metrics_get_the_published_verdicts_and_adjusted_p(
    paper_comparison: Comparison,
) -> None:
    metrics = paper_comparison.comparisons[0].metrics

    assert {name: (m.verdict, m.paper_label) for name, m in metrics.items()} == {
        "accuracy": ("directional_reversal", "Direction reversal"),
        "turns": ("magnitude_shift", "Sign stable, magnitude shifts"),
        "visible_calls": ("magnitude_shift", "Sign stable, magnitude shifts"),
        "primitive_ops": ("attenuation", "Attenuates to null"),
        "latency_s": ("directional_reversal", "Direction reversal"),
    }
    adjusted = [m.omnibus.p_holm for m in metrics.values() if m.omnibus]
    assert adjusted[0] == pytest.approx(1.834e-10, rel=1e-3)
    assert adjusted == pytest.approx([1.83e-10, 3.64e-2, 3.29e-2, 2.20e-13, 1.02e-19], rel=5e-3)
    assert not any(m.flags for m in metrics.values())


def test_sign_is_preserved_in_three_of_five_and_supported_in_two(
    paper_comparison: Comparison,
) -> None:
    counts = paper_comparison.comparisons[0].counts

    assert counts is not None
    assert (counts.of, counts.declared) == (5, 5)
    assert (counts.sign_preserved, counts.supported_sign_preserved, counts.shifted) == (3, 2, 5)
