"""The star of the five axes shows the means, leaves gaps where there is none, and needs no network."""

from __future__ import annotations

from typing import cast
from xml.etree import ElementTree as ET

import pytest
from tests.analysis.judged_outcomes import judged, outcomes_of, unjudged

from taketwo.analysis.process import ArmProfile, Measured, process_profiles
from taketwo.executions.rule import Metric
from taketwo.report.drawing import NARROW, WIDE, Figure
from taketwo.report.radar import radar_figure

FULL = (2, 1, 0, 1, 2)
GAP = (2, 2, 2, None, 1)


def profiles(*arms: tuple[str, tuple[int | None, ...]]) -> tuple[ArmProfile, ...]:
    return process_profiles(outcomes_of([judged(arm, "q1", axes) for arm, axes in arms]))


def reference(*axes: int | None) -> dict[Metric, Measured]:
    (profile,) = profiles(("reference", axes))
    return dict(profile.measures)


def drawn(figure: Figure | None) -> Figure:
    assert figure is not None
    return figure


def rows_of(figure: Figure, *fields: str, width: int = WIDE) -> list[dict[str, object]]:
    datasets = cast("dict[str, list[dict[str, object]]]", figure.draw(width)["datasets"])
    return [row for rows in datasets.values() for row in rows if set(fields) <= set(row)]


def words_of(figure: Figure, width: int) -> str:
    """Return the text that is drawn."""
    root = ET.fromstring(figure.svg(width))  # noqa: S314 our own drawing
    return " ".join(item.text or "" for item in root.iter() if item.tag.endswith("text"))


def test_each_axis_is_a_share_of_two() -> None:
    figure = drawn(radar_figure(profiles(("a", FULL))))

    shares = {row["axis"]: row["share"] for row in rows_of(figure, "axis")}

    assert shares == {"TU": 1.0, "ECov": 0.5, "EG": 0.0, "ECom": 0.5, "RF": 1.0}


def test_the_first_axis_points_up_and_zero_lies_in_the_middle() -> None:
    figure = drawn(radar_figure(profiles(("a", FULL))))

    places = {row["axis"]: (row["x"], row["y"]) for row in rows_of(figure, "axis")}

    assert places["TU"] == pytest.approx((0.0, 1.0))
    assert places["EG"] == pytest.approx((0.0, 0.0))
    # clockwise: cos and sin of 72 degrees, halfway out
    assert places["ECov"] == pytest.approx((0.4755, 0.1545), abs=1e-4)


def test_an_axis_without_a_mean_is_a_gap_and_not_a_zero() -> None:
    figure = drawn(radar_figure(profiles(("full", FULL), ("gap", GAP))))

    lines = [row["arm"] for row in rows_of(figure, "arm", "x2")]
    points = {row["axis"] for row in rows_of(figure, "arm", "axis") if row["arm"] == "gap"}

    assert (lines.count("full"), lines.count("gap")) == (5, 3)
    assert points == {"TU", "ECov", "EG", "RF"}
    assert "gap: TU 2.00, ECov 2.00, EG 2.00, ECom no mean, RF 1.00" in figure.alternative


def test_the_reference_is_dashed_and_marked_as_our_reading() -> None:
    with_line = drawn(radar_figure(profiles(("a", FULL)), reference(2, 2, 2, 2, 2)))
    without = drawn(radar_figure(profiles(("a", FULL))))

    assert "stroke-dasharray" in with_line.svg()
    assert "stroke-dasharray" not in without.svg()
    assert "is our reading" in with_line.caption
    assert "our reading" not in without.caption
    assert "curated trajectories, dashed: TU 2.00" in with_line.alternative


@pytest.mark.parametrize("arms", [2, 8])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_figure_itself_says_what_is_dashed_where_a_reference_is_drawn(
    arms: int, width: int
) -> None:
    found = profiles(*((f"arm{i}", FULL) for i in range(arms)))
    says = "dashed: curated human paths, judged like a run"

    assert words_of(drawn(radar_figure(found, reference(*FULL))), width).count(says) == 1
    assert "dashed" not in words_of(drawn(radar_figure(found)), width)


def test_what_has_no_dashed_line_is_not_called_dashed() -> None:
    points_only = reference(2, None, 2, None, None)

    assert "dashed" not in words_of(drawn(radar_figure(profiles(("a", FULL)), points_only)), WIDE)


def test_arms_without_a_judged_trajectory_are_not_drawn() -> None:
    found = process_profiles(outcomes_of([judged("a", "q1", FULL), unjudged("b", "q1")]))

    assert {row["arm"] for row in rows_of(drawn(radar_figure(found)), "axis")} == {"a"}
    assert radar_figure(found[1:]) is None


@pytest.mark.parametrize("arms", [2, 8])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_it_is_svg_of_the_width_of_the_page_without_anything_outside(arms: int, width: int) -> None:
    many = tuple((f"<script>{i}</script>", GAP) for i in range(arms))
    figure = drawn(radar_figure(profiles(*many), reference(*GAP)))

    text = figure.svg(width)

    root = ET.fromstring(text)  # noqa: S314 our own drawing
    assert root.tag.endswith("svg")
    assert float(root.attrib["width"]) <= width + 40
    assert not [item for item in root.iter() if item.tag.endswith(("script", "image", "use"))]


def test_many_arms_have_a_star_each() -> None:
    figure = drawn(radar_figure(profiles(*((f"arm{i}", FULL) for i in range(7)))))

    assert len(cast("list[object]", figure.draw(WIDE)["concat"])) == 7
    assert figure.draw(NARROW)["columns"] == 2
    assert radar_figure(profiles(*((f"arm{i}", FULL) for i in range(25)))) is None
