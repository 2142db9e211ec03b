"""How numbers are written."""

from __future__ import annotations

import math

import pytest

from taketwo.executions.rule import METRICS
from taketwo.report.numbers import (
    change,
    count,
    dollars,
    interval,
    level,
    moment,
    of_planned,
    p_value,
    percent,
    scale_of,
    seconds,
    short_hash,
)


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        ("accuracy", 0.0733, "+7.3 pp"),
        ("accuracy", -0.0405, "−4.0 pp"),
        ("accuracy", 0.0, "0.0 pp"),
        ("accuracy", -0.0001, "0.0 pp"),
        ("latency_s", -24.154, "−24.15 s"),
        ("latency_s", 0.00421, "+0.00421 s"),
        ("turns", 0.025, "+0.03"),
        ("tokens", -15234.4, "−15,234"),
        ("cost_usd", 0.00123, "+0.00123 USD"),
    ],
)
def test_a_change_carries_its_sign_and_unit(metric: str, value: float, text: str) -> None:
    assert change(metric, value) == text  # pyright: ignore[reportArgumentType] a metric's name


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_what_is_undefined_is_never_shown_as_a_number(metric: str, value: float | None) -> None:
    shown = [
        level(metric, value),  # pyright: ignore[reportArgumentType] a metric's name
        change(metric, value),  # pyright: ignore[reportArgumentType] a metric's name
        interval(metric, value, 1.0),  # pyright: ignore[reportArgumentType] a metric's name
        seconds(value),
        dollars(value),
        percent(value),
        p_value(value),
        moment(value),
    ]

    assert not any(character.isdigit() for text in shown for character in text)


def test_a_level_that_nobody_measured_says_so() -> None:
    assert level("cost_usd", None) == "not measured"
    assert dollars(None) == "not measured"
    assert seconds(None) == "not measured"


def test_both_ends_of_an_interval_have_the_same_digits() -> None:
    assert interval("accuracy", 0.04832, 0.0982) == "[+4.8, +9.8]"
    assert interval("tokens", -0.5, 1234.0) == "[−0, +1,234]".replace("−0", "0")


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (1.0, "1.00"),
        (0.0999, "0.10"),
        (0.0949, "0.095"),
        (0.0364, "0.036"),
        (0.01645, "0.016"),
        (0.001, "0.0010"),
        (6.114e-11, "6.1 × 10⁻¹¹"),
        (0.0, "< 10⁻³⁰⁰"),
    ],
)
def test_a_probability_keeps_two_digits_and_is_never_zero(p: float, text: str) -> None:
    assert p_value(p) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.3921, "0.392 s"),
        (59.9, "59.9 s"),
        (59.97, "1 min 00 s"),
        (101, "1 min 41 s"),
        (3599.6, "1 h 00 min"),
        (7380, "2 h 03 min"),
    ],
)
def test_a_span_of_time_is_written_in_the_unit_that_fits(value: float, text: str) -> None:
    assert seconds(value) == text


def test_counts_and_shares_show_their_denominator() -> None:
    assert count(1283) == "1,283"
    assert of_planned(58, 60) == "58 / 60"
    assert percent(0.9838) == "98.4 %"
    assert dollars(0.0) == "0.00 USD"
    assert dollars(1234.5) == "1,234.50 USD"
    assert moment(12) == "12.0 s"


def test_a_hash_that_was_not_recorded_is_unavailable() -> None:
    assert short_hash("ab" * 32) == "abababababab"
    assert short_hash(None) == "unavailable"


def test_every_metric_has_a_label_of_its_own() -> None:
    assert len({scale_of(metric).label for metric in METRICS}) == len(METRICS)
