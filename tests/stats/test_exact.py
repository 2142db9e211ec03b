from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from tests.stats.paper_tables import accuracy_effects, accuracy_factor, five_metrics

from taketwo.stats.atoms import atoms_of_values, grid_step
from taketwo.stats.cluster import cluster_sums
from taketwo.stats.convolution import fourier_sum, grid_sum
from taketwo.stats.exact import exact_mean, exact_percentile, exact_ratio
from taketwo.stats.resampling import bootstrap_means, percentile_intervals

SEEDS = st.integers(0, 2**32 - 1)
LEVELS = (0.5, 0.8, 0.95)


def _brute_ends(means: NDArray[np.float64], level: float) -> tuple[float, float]:
    """Return the ends over all N^N resamples: P(<= low) and P(>= high) reach the tail."""
    tail = (1 - level) / 2 * len(means)
    ordered = np.sort(means)
    place = int(np.ceil(tail - 1e-9)) - 1
    return float(ordered[place]), float(ordered[::-1][place])


def _all_resamples(n: int) -> NDArray[np.int64]:
    return np.array(list(product(range(n), repeat=n)))


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("kind", ["whole", "quarters", "any"])
def test_equals_the_quantiles_of_all_resamples(n: int, kind: str) -> None:
    for seed in range(6):
        rng = np.random.default_rng((seed, n))
        values = {
            "whole": rng.integers(-3, 4, n).astype(float),
            "quarters": rng.integers(0, 5, n) / 4,
            "any": rng.normal(size=n),
        }[kind]
        means = values[_all_resamples(n)].mean(axis=1)
        for level in LEVELS:
            found = exact_mean(values, level=level)

            assert (found.low, found.high) == pytest.approx(_brute_ends(means, level), abs=1e-9)
            assert found.se == pytest.approx(means.std(), abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_videos_equal_the_quantiles_of_all_resamples_of_videos(n: int) -> None:
    for seed in range(8):
        rng = np.random.default_rng((seed, n, 1))
        sizes = rng.integers(1, 5, n)
        sums = rng.normal(size=n) * sizes
        every = _all_resamples(n)
        means = sums[every].sum(axis=1) / sizes[every].sum(axis=1)
        video = np.repeat(np.arange(n), sizes)
        values = np.repeat(sums / sizes, sizes)
        for level in LEVELS:
            found = exact_ratio(cluster_sums(values, video), level=level)[0]

            assert found.method == "enumeration"
            assert (found.low, found.high) == pytest.approx(_brute_ends(means, level), abs=1e-9)


def test_the_cdf_on_a_grid_is_exact_to_twelve_digits() -> None:
    """Oracle: repeated plain convolution of Python integers."""
    values = np.repeat([-2.0, 0.0, 1.0, 5.0], [2, 5, 3, 1])
    n, weights = len(values), {-2: 2, 0: 5, 1: 3, 5: 1}
    sums = {0: 1}
    for _ in range(n):
        added: dict[int, int] = {}
        for total, ways in sums.items():
            for value, times in weights.items():
                added[total + value] = added.get(total + value, 0) + ways * times
        sums = added
    found = grid_sum(atoms_of_values(values))

    assert found is not None
    cdf = np.cumsum(found.masses)
    running = 0
    for total in sorted(sums):
        running += sums[total]
        place = round((total - found.first) / found.step)
        assert cdf[place] == pytest.approx(running / n**n, abs=1e-12)


@pytest.mark.parametrize("n", [1_283, 10_000_000])
def test_the_grid_keeps_twelve_digits_at_any_number_of_questions(n: int) -> None:
    """One value in ten is 1: the sum is binomial."""
    ones = n // 10
    atoms = atoms_of_values(np.array([0.0, 1.0]))
    counted = type(atoms)(
        n=n,
        values=atoms.values,
        counts=np.array([n - ones, ones], float),
        variances=np.zeros(2),
        step=1.0,
    )
    found = grid_sum(counted)

    assert found is not None
    at = found.first + np.arange(len(found.masses))
    exact = stats.binom.cdf(at, n, ones / n)
    assert np.abs(np.cumsum(found.masses) - exact).max() < 5e-12


def test_the_paper_s_percentile_intervals() -> None:
    d = accuracy_effects()
    columns = np.column_stack([d, d[:, 0] - d[:, 1]])

    k1, k2, shift = exact_percentile(columns)

    for found, low, high in ((k1, 62, 126), (k2, -82, -22), (shift, 103, 189)):
        assert found.method == "lattice"
        assert found.low == pytest.approx(low / 1283, rel=1e-12)
        assert found.high == pytest.approx(high / 1283, rel=1e-12)
    assert 100 * (k1.se or 0) == pytest.approx(1.26907961778802, rel=1e-9)
    assert 100 * (k2.se or 0) == pytest.approx(1.186906855736879, rel=1e-9)


def test_the_paper_s_interval_over_videos() -> None:
    d = accuracy_effects()

    found = exact_percentile(d[:, 0] - d[:, 1], cluster=accuracy_factor("video_id_synthetic"))[0]

    assert found.n == 922
    assert (100 * (found.low or 0), 100 * (found.high or 0)) == pytest.approx(
        (8.006, 14.782), abs=6e-4
    )


def test_other_values_agree_with_half_a_million_draws() -> None:
    values = np.random.default_rng(0).lognormal(0, 1.2, 300)
    found = exact_mean(values)
    rng = np.random.default_rng(1)
    means = np.concatenate([
        values[rng.integers(300, size=(10_000, 300))].mean(axis=1) for _ in range(50)
    ])

    assert found.method == "characteristic function"
    ends = np.quantile(means, [0.025, 0.975])
    assert found.se is not None
    assert np.array([found.low, found.high]) == pytest.approx(ends, abs=0.01 * found.se)


def test_videos_agree_with_drawn_ones() -> None:
    rng = np.random.default_rng(4)
    video = np.sort(rng.integers(60, size=240))
    values = rng.normal(size=240) + video % 3
    clusters = cluster_sums(values, video)
    drawn = percentile_intervals(bootstrap_means(clusters, draws=200_000, rng=rng))[0]

    found = exact_ratio(clusters)[0]

    assert found.se == pytest.approx(drawn.se, rel=0.02)
    assert (found.low, found.high) == pytest.approx((drawn.low, drawn.high), abs=0.02 * drawn.se)


def test_an_outlier_of_300_deviations_takes_more_frequencies_not_a_wrong_answer() -> None:
    values = np.append(np.random.default_rng(2).normal(size=99), 300.0)
    found = exact_mean(values)
    rng = np.random.default_rng(3)
    means = np.concatenate([
        values[rng.integers(100, size=(20_000, 100))].mean(axis=1) for _ in range(20)
    ])

    series = fourier_sum(atoms_of_values(values))
    assert len(series.terms) > 100
    assert series.smoothing == 0
    assert found.se is not None
    ends = np.quantile(means, [0.025, 0.975])
    assert np.array([found.low, found.high]) == pytest.approx(ends, abs=0.02 * found.se)


def test_few_irregular_values_are_smoothed_a_little_and_say_so() -> None:
    values = np.array([0.0, 1.0, np.sqrt(2), np.pi, np.e, 10.0, 31.4, 100.1, 1000.7])
    found = exact_mean(values)
    rng = np.random.default_rng(3)
    means = values[rng.integers(9, size=(400_000, 9))].mean(axis=1)

    assert found.low is not None
    assert found.high is not None
    assert found.se is not None
    assert 0 < found.smoothing < 0.005
    slack = 4 * found.smoothing * found.se
    assert np.mean(means <= found.low - slack) <= 0.026
    assert np.mean(means <= found.low + slack) >= 0.024
    assert np.mean(means >= found.high + slack) <= 0.026
    assert np.mean(means >= found.high - slack) >= 0.024


def test_bins_give_what_all_values_give() -> None:
    values = np.random.default_rng(5).lognormal(0, 1.5, 25_000) - 2
    binned = exact_mean(values)
    series = fourier_sum(atoms_of_values(values)).tails(0.025)

    assert binned.method == "binned characteristic function"
    assert binned.se is not None
    assert binned.se == pytest.approx(values.std() / np.sqrt(25_000), rel=1e-9)
    assert np.array([binned.low, binned.high]) == pytest.approx(
        np.array(series) / 25_000, abs=1e-7 * binned.se
    )


@given(seed=SEEDS, n=st.integers(2, 60), whole=st.booleans(), grouped=st.booleans())
def test_the_order_of_questions_does_not_matter_to_the_last_bit(
    seed: int, n: int, whole: bool, grouped: bool
) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(-3, 4, n).astype(float) if whole else rng.normal(size=n)
    video = np.append(rng.integers(max(2, n // 3), size=n - 1), 99) if grouped else None
    order = rng.permutation(n)
    first = exact_percentile(values, cluster=video)
    moved = exact_percentile(values[order], cluster=None if video is None else video[order])

    assert moved == first


@given(seed=SEEDS, n=st.integers(2, 40), whole=st.booleans())
def test_swapped_arms_mirror_the_interval(seed: int, n: int, whole: bool) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(-2, 3, n).astype(float) if whole else rng.lognormal(size=n)
    found, mirrored = exact_mean(values), exact_mean(-values)

    assert mirrored.low == pytest.approx(-(found.high or 0), rel=1e-7, abs=1e-9)
    assert mirrored.high == pytest.approx(-(found.low or 0), rel=1e-7, abs=1e-9)
    assert mirrored.se == pytest.approx(found.se)


@given(seed=SEEDS, n=st.integers(9, 40), shift=st.floats(-5, 5), factor=st.floats(0.1, 10))
def test_moving_and_scaling_values_moves_and_scales_the_interval(
    seed: int, n: int, shift: float, factor: float
) -> None:
    values = np.random.default_rng(seed).normal(size=n)
    found, moved = exact_mean(values), exact_mean(factor * values + shift)

    assert moved.low == pytest.approx(factor * (found.low or 0) + shift, abs=1e-6 * factor)
    assert moved.high == pytest.approx(factor * (found.high or 0) + shift, abs=1e-6 * factor)


@given(seed=SEEDS, n=st.integers(2, 40), whole=st.booleans())
def test_intervals_are_nested_in_the_level_and_inside_the_values(
    seed: int, n: int, whole: bool
) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(-2, 3, n).astype(float) if whole else rng.standard_t(2, size=n)
    inner, outer = exact_mean(values, level=0.8), exact_mean(values, level=0.99)
    slack = 1e-9 + 5 * outer.smoothing * (outer.se or 0)

    assert outer.low is not None
    assert outer.high is not None
    assert outer.low - slack <= (inner.low or 0) <= (inner.high or 0) + slack
    assert (inner.high or 0) <= outer.high + slack
    assert values.min() - slack <= outer.low
    assert outer.high <= values.max() + slack


@given(seed=SEEDS, copies=st.integers(2, 4))
def test_questions_asked_again_on_their_own_videos_add_nothing(seed: int, copies: int) -> None:
    values = np.random.default_rng(seed).normal(size=30)
    once = exact_mean(values)

    again = exact_percentile(np.tile(values, copies), cluster=np.tile(np.arange(30), copies))[0]

    assert again.se == pytest.approx(once.se)
    assert (again.low, again.high) == pytest.approx((once.low, once.high), abs=1e-8)


def test_duplicating_the_data_divides_the_standard_error_by_the_root() -> None:
    values = np.random.default_rng(1).normal(size=50)

    assert exact_mean(np.tile(values, 4)).se == pytest.approx((exact_mean(values).se or 0) / 2)


def test_draws_come_within_their_error_of_the_exact_interval() -> None:
    columns = five_metrics()
    drawn = percentile_intervals(
        bootstrap_means(
            cluster_sums(columns, np.arange(len(columns))),
            draws=20_000,
            rng=np.random.default_rng(6),
        )
    )
    for found, other in zip(exact_percentile(columns), drawn, strict=True):
        # density of a normal at its 2.5 % point gives the error of a drawn quantile
        error = np.sqrt(0.025 * 0.975 / 20_000) / stats.norm.pdf(1.96) * other.se
        assert found.low == pytest.approx(other.low, abs=4 * error + 1 / 1283)
        assert found.high == pytest.approx(other.high, abs=4 * error + 1 / 1283)


def test_several_columns_are_the_columns_by_themselves() -> None:
    columns = five_metrics()[:, :5]

    assert exact_percentile(columns) == tuple(exact_mean(column) for column in columns.T)


def test_videos_of_one_question_each_are_questions() -> None:
    values = np.random.default_rng(0).normal(size=20)

    assert exact_percentile(values, cluster=np.arange(20)[::-1]) == exact_percentile(values)


@pytest.mark.parametrize("value", [0.0, 0.25, -7.0, 1e12])
def test_equal_values_give_a_point_and_say_that_nothing_varies(value: float) -> None:
    found = exact_mean(np.full(5, value))

    assert (found.low, found.high, found.se) == (value, value, 0)
    assert found.is_degenerate
    assert found.reason == "no value differs from the others"


def test_videos_with_equal_means_give_a_point() -> None:
    found = exact_percentile(np.full(6, 0.5), cluster=np.array([0, 0, 0, 1, 1, 2]))[0]

    assert (found.low, found.high, found.is_degenerate) == (0.5, 0.5, True)
    assert found.reason == "no video's mean differs"


def test_one_question_and_one_video_have_no_interval() -> None:
    one = exact_mean(np.array([0.3]))
    video = exact_percentile(np.array([0.3, 0.5]), cluster=np.zeros(2, dtype=np.int64))[0]

    assert (one.estimate, one.low, one.reason) == (0.3, None, "1 question has no variance")
    assert (video.estimate, video.low, video.reason) == (0.4, None, "1 video has no variance")


def test_one_giant_video_still_has_an_interval() -> None:
    rng = np.random.default_rng(3)
    video = np.concatenate([np.zeros(500, int), np.arange(1, 21)])
    found = exact_percentile(rng.normal(size=520), cluster=video)[0]

    assert found.low is not None
    assert found.high is not None
    assert found.low < found.estimate < found.high


def test_tiny_and_huge_values_in_one_column_keep_their_scale() -> None:
    values = np.concatenate([np.full(50, 1e-9), np.full(50, 2e-9)])
    small = exact_mean(values)
    large = exact_mean(values * 1e21)

    assert small.low == pytest.approx(1.4e-9, rel=1e-9)
    assert large.low == pytest.approx(1.4e12, rel=1e-9)
    mixed = exact_mean(np.array([1e-9] * 30 + [1e12] * 30 + [5.5] * 30))
    assert mixed.low is not None
    assert 0.2e12 < mixed.low < 0.3e12


def test_large_numbers_that_hardly_differ_lose_no_digits() -> None:
    base = np.random.default_rng(9).integers(0, 5, 200).astype(float)

    found, moved = exact_mean(base), exact_mean(base + 2.0**50)

    assert (moved.low or 0) - 2.0**50 == pytest.approx(found.low, abs=0.25)


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ([0.0, 1.0], 1.0),
        ([-6.0, 3.0, 12.0], 9.0),
        ([0.0, 0.25, 1.0], 0.25),
        ([0.1, 0.3, 0.6], 0.1),
        ([0.0, 1 / 3, 2 / 3, 1.0], 1 / 3),
        ([0.0, 2.5, 4.0], 0.5),
    ],
)
def test_the_grid_is_the_largest_one(values: list[float], step: float) -> None:
    assert grid_step(np.array(values)) == pytest.approx(step)


def test_values_without_a_grid_have_none() -> None:
    assert grid_step(np.array([0.0, 1.0, np.sqrt(2)])) is None
    assert grid_step(np.array([1.0])) is None


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="needs finite values, got 0 rows"):
        exact_percentile(np.zeros((0, 2)))
    with pytest.raises(ValueError, match="needs finite values, got 2 rows"):
        exact_mean(np.array([1.0, np.nan]))
    with pytest.raises(ValueError, match="between 0 and 1, got 95"):
        exact_mean(np.array([1.0, 2.0]), level=95)
