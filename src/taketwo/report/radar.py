"""The profile of each arm over the five axes of the trajectory judge, drawn as a star."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, cast

import altair as alt

from taketwo.analysis.process import AXIS_METRICS, ArmProfile, Measured
from taketwo.executions.rule import MOST, Metric
from taketwo.report.drawing import WIDE, Figure, Spec
from taketwo.report.numbers import level, scale_of
from taketwo.report.palette import PALETTE, style
from taketwo.report.process_tables import REFERENCE
from taketwo.scores.process_scores import AXES

__all__ = ["MOST_STARS", "RadarMark", "radar_chart", "radar_figure"]

_COLOURS = tuple(
    PALETTE[name] for name in ("method", "baseline", "gained", "lost", "fault", "limit")
)
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
MOST_STARS = 24
_REACH = 1.3
_RINGS = (0.5, 1.0)
_Side = Literal["left", "center", "right"]
_SIDES: tuple[_Side, ...] = ("left", "center", "right")
_DASHED = "dashed: curated human paths, judged like a run"


@dataclass(frozen=True, kw_only=True)
class RadarMark:
    """A profile: the share of its most (0 to 1) on each axis, None where the axis has no mean."""

    arm: str
    shares: Mapping[str, float | None]


def radar_figure(
    profiles: Sequence[ArmProfile], reference: Mapping[Metric, Measured] | None = None
) -> Figure | None:
    """Return the profiles of the arms, None where no axis has a mean, or there are more than 24 arms."""
    measured = [(profile.arm, _means(profile.measures)) for profile in profiles]
    shown = [(arm, means) for arm, means in measured if _known(means)]
    if not shown or len(shown) > MOST_STARS:
        return None
    line = None if reference is None else _means(reference)
    if line is not None and not _sides(_mark(REFERENCE, line)):
        line = None
    says = [f"{arm}: {_in_words(means)}" for arm, means in shown]
    if line is not None:
        says.append(f"{REFERENCE}, dashed: {_in_words(line)}")
    dashed = (
        ""
        if line is None
        else " Dashed: the curated trajectories of the questions, judged as if they were an arm's; "
        "that this is the human reference is our reading."
    )
    names = ", ".join(f"{_short(axis)} {scale_of(axis).label.lower()}" for axis in AXIS_METRICS)
    return radar_chart(
        [_mark(arm, means) for arm, means in shown],
        None if line is None else _mark(REFERENCE, line),
        name="trajectory-axes",
        caption=(
            f"Means of the axes, 0 in the middle, 2 on the rim: {names}. Where an axis has no mean "
            f"the line has a gap.{dashed}"
        ),
        says=f"Radar chart. {'; '.join(says)}.",
    )


def _means(measures: Mapping[Metric, Measured]) -> Mapping[Metric, float | None]:
    return {axis: measures[axis].value for axis in AXIS_METRICS}


def _known(means: Mapping[Metric, float | None]) -> bool:
    return any(value is not None for value in means.values())


def _short(axis: Metric) -> str:
    return AXES[axis][1]


def _in_words(means: Mapping[Metric, float | None]) -> str:
    return ", ".join(
        f"{_short(axis)} {'no mean' if value is None else level(axis, value)}"
        for axis, value in means.items()
    )


def _mark(arm: str, means: Mapping[Metric, float | None]) -> RadarMark:
    return RadarMark(
        arm=arm,
        shares={
            _short(axis): None if value is None else value / MOST[axis]
            for axis, value in means.items()
        },
    )


def radar_chart(
    marks: Sequence[RadarMark],
    reference: RadarMark | None,
    *,
    name: str,
    caption: str,
    says: str,
) -> Figure:
    """Return the profiles in one star, or in a star each where there are more than six.

    Where a reference is drawn the figure itself says what is dashed, for it is shown without its
    caption as well.
    """
    note = _note(reference)

    def draw(width: int) -> Spec:
        if len(marks) <= len(_COLOURS):
            size = min(360, width - 60)
            star = _star(marks, reference, size=size, title=note, has_legend=True)
            return {**star.to_dict(), "config": style().to_dict()}
        columns = 4 if width >= WIDE else 2
        size = width // columns - 30
        stars = [
            _star([mark], reference, size=size, title=mark.arm, has_legend=False) for mark in marks
        ]
        chart = alt.concat(
            *stars,
            columns=columns,
            spacing={"row": 18, "column": 18},
            title=alt.Undefined if note is None else note,
        )
        return {**chart.to_dict(), "config": style().to_dict()}

    return Figure(name=name, caption=caption, alternative=says, draw=draw)


def _note(reference: RadarMark | None) -> alt.TitleParams | None:
    if reference is None or not _sides(reference):
        return None
    return alt.TitleParams(
        text=_DASHED,
        orient="bottom",
        fontSize=11,
        fontWeight="normal",
        color=PALETTE["muted"],
    )


def _star(
    marks: Sequence[RadarMark],
    reference: RadarMark | None,
    *,
    size: int,
    title: str | alt.TitleParams | None,
    has_legend: bool,
) -> alt.LayerChart:
    axes = tuple(marks[0].shares)
    layers = [*_web(axes)]
    if reference is not None and _sides(reference):
        layers.append(_dashed(reference))
    arms = [mark.arm for mark in marks]
    colour = alt.Color(
        "arm:N",
        scale=alt.Scale(domain=arms, range=list(_COLOURS[: len(arms)])),
        legend=alt.Legend(title=None, orient="top", columns=2) if has_legend else None,
    )
    shape = alt.Shape(
        "arm:N",
        scale=alt.Scale(domain=arms, range=list(_SHAPES[: len(arms)])),
        legend=alt.Legend(title=None, orient="top", columns=2) if has_legend else None,
    )
    sides = [side for mark in marks for side in _sides(mark)]
    if sides:
        lines = alt.Chart(alt.InlineData(values=sides)).mark_rule(strokeWidth=2)
        layers.append(_sloping(lines).encode(color=colour))
    points = alt.Chart(alt.InlineData(values=[p for mark in marks for p in _points(mark)]))
    layers.append(
        points.mark_point(size=50, filled=True, opacity=1).encode(
            x=_x(), y=_y(), color=colour, shape=shape
        )
    )
    layered = alt.layer(
        *layers, width=size, height=size, title=alt.Undefined if title is None else title
    )
    return cast("alt.LayerChart", layered)


def _web(axes: Sequence[str]) -> list[alt.Chart]:
    """Return the rings of 1 and 2 points, a spoke per axis, and their names."""
    around = [*range(len(axes)), 0]
    rings = [
        _segment(_at(a, len(axes), ring), _at(b, len(axes), ring))
        for ring in _RINGS
        for a, b in pairwise(around)
    ]
    spokes = [_segment((0.0, 0.0), _at(a, len(axes), 1.0)) for a in range(len(axes))]
    names = [
        {"label": axis, **_named_point(_at(a, len(axes), 1.12))} for a, axis in enumerate(axes)
    ]
    steps = [{"label": f"{2 * ring:g}", "x": 0.05, "y": ring - 0.06} for ring in (0.0, *_RINGS)]
    web = alt.Chart(alt.InlineData(values=[*rings, *spokes]))
    scale = alt.Chart(alt.InlineData(values=steps))
    return [
        _sloping(web.mark_rule(color=PALETTE["rule"], strokeWidth=1)),
        *(_names([name for name in names if _side(name["x"]) == side], side) for side in _SIDES),
        scale.mark_text(fontSize=10, color=PALETTE["muted"], align="left").encode(
            x=_x(), y=_y(), text="label:N"
        ),
    ]


def _side(x: float | str) -> _Side:
    """Return how the name of an axis is set, so that it stands outside the web and off its points."""
    across = float(x)
    return "center" if abs(across) < 0.1 else "left" if across > 0 else "right"


def _names(names: Sequence[Mapping[str, float | str]], side: _Side) -> alt.Chart:
    labels = alt.Chart(alt.InlineData(values=list(names)))
    marks = labels.mark_text(fontSize=12, color=PALETTE["ink"], align=side)
    return marks.encode(x=_x(), y=_y(), text="label:N")


def _dashed(reference: RadarMark) -> alt.Chart:
    line = alt.Chart(alt.InlineData(values=_sides(reference)))
    return _sloping(line.mark_rule(color=PALETTE["ink"], strokeWidth=1.5, strokeDash=[5, 4]))


def _sides(mark: RadarMark) -> list[dict[str, float | str]]:
    """Return the lines between neighbouring axes that both have a mean: elsewhere there is a gap."""
    shares = list(mark.shares.values())
    found: list[dict[str, float | str]] = []
    for a, b in pairwise([*range(len(shares)), 0]):
        first, second = shares[a], shares[b]
        if first is not None and second is not None:
            ends = _segment(_at(a, len(shares), first), _at(b, len(shares), second))
            found.append({"arm": mark.arm, **ends})
    return found


def _points(mark: RadarMark) -> list[dict[str, float | str]]:
    n = len(mark.shares)
    return [
        {"arm": mark.arm, "axis": axis, "share": share, **_named_point(_at(a, n, share))}
        for a, (axis, share) in enumerate(mark.shares.items())
        if share is not None
    ]


def _at(axis: int, axes: int, share: float) -> tuple[float, float]:
    """Return where a share of an axis lies; the first axis points up, the others follow clockwise."""
    angle = 2 * math.pi * axis / axes
    return share * math.sin(angle), share * math.cos(angle)


def _named_point(point: tuple[float, float]) -> dict[str, float | str]:
    return {"x": point[0], "y": point[1]}


def _segment(start: tuple[float, float], end: tuple[float, float]) -> dict[str, float | str]:
    return {"x": start[0], "y": start[1], "x2": end[0], "y2": end[1]}


def _sloping(line: alt.Chart) -> alt.Chart:
    """Place lines by both of their ends."""
    return line.encode(x=_x(), y=_y(), x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"))


def _x() -> alt.X:
    return alt.X("x:Q", scale=alt.Scale(domain=[-_REACH, _REACH], nice=False), axis=None)


def _y() -> alt.Y:
    return alt.Y("y:Q", scale=alt.Scale(domain=[-_REACH, _REACH], nice=False), axis=None)
