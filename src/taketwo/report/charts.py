"""The kinds of chart in the report, drawn offline by Vega-Lite for a page, a phone and paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar, cast

import altair as alt

from taketwo.executions.trajectory import RunStatus
from taketwo.report.drawing import WIDE, Figure, Spec
from taketwo.report.palette import PALETTE, style

__all__ = [
    "EffectMark",
    "LevelMark",
    "StatusMark",
    "TransitionMark",
    "decomposition_chart",
    "effects_chart",
    "statuses_chart",
    "transitions_chart",
]


_STATUS_COLOURS: Mapping[RunStatus, str] = {
    "answered": PALETTE["kept_right"],
    "abstained": PALETTE["kept_wrong"],
    "unparsed": PALETTE["muted"],
    "limit": PALETTE["limit"],
    "agent_error": PALETTE["lost"],
    "provider_error": PALETTE["fault"],
    "media_error": PALETTE["baseline"],
    "not_run": PALETTE["rule"],
}

_TRANSITION_COLOURS: Mapping[str, str] = {
    "right in both": PALETTE["kept_right"],
    "gained": PALETTE["gained"],
    "lost": PALETTE["lost"],
    "wrong in both": PALETTE["kept_wrong"],
}


@dataclass(frozen=True, kw_only=True)
class EffectMark:
    """An effect in one execution, in shown units, with its interval."""

    panel: str
    row: str
    estimate: float
    low: float | None
    high: float | None
    is_supported: bool


@dataclass(frozen=True, kw_only=True)
class LevelMark:
    """The mean of an arm in one execution, in shown units."""

    panel: str
    arm: str
    role: Literal["baseline", "method"]
    execution: str
    value: float


@dataclass(frozen=True, kw_only=True)
class TransitionMark:
    """How many questions of an arm kept or changed their correctness between two executions."""

    arm: str
    kept_right: int
    gained: int
    lost: int
    kept_wrong: int


@dataclass(frozen=True, kw_only=True)
class StatusMark:
    """How many cells of an arm in one execution ended in a status."""

    row: str
    status: RunStatus
    cells: int


_SIGNED = "datum.value === 0 ? '0' : datum.label"
_Mark = TypeVar("_Mark", EffectMark, LevelMark)


def effects_chart(marks: Sequence[EffectMark], *, name: str, caption: str, says: str) -> Figure:
    """Return the forest plot: a panel per metric, a row per execution, interval and zero line.

    A filled point is an effect whose interval excludes zero, an open one is not.
    """

    def draw(width: int) -> Spec:
        columns = 2 if width >= WIDE else 1
        panels = [
            _forest_panel(_of(marks, panel), panel, width // columns - (70 if columns > 1 else 30))
            for panel in _in_order(mark.panel for mark in marks)
        ]
        return _styled(alt.concat(*panels, columns=columns, spacing={"row": 22, "column": 40}))

    return Figure(name=name, caption=caption, alternative=says, draw=draw)


def _forest_panel(marks: Sequence[EffectMark], panel: str, width: int) -> alt.LayerChart:
    rows = _in_order(mark.row for mark in marks)
    values = [
        {
            "row": mark.row,
            "estimate": mark.estimate,
            "low": mark.estimate if mark.low is None else mark.low,
            "high": mark.estimate if mark.high is None else mark.high,
            "supported": mark.is_supported,
        }
        for mark in marks
    ]
    base = alt.Chart(alt.InlineData(values=values)).encode(
        y=alt.Y("row:N", sort=rows, title=None, axis=alt.Axis(domain=False, ticks=False))
    )
    zero = (
        alt
        .Chart(alt.InlineData(values=[{"zero": 0}]))
        .mark_rule(color=PALETTE["ink"], strokeWidth=1)
        .encode(x=alt.X("zero:Q"))
    )
    lines = base.mark_rule(color=PALETTE["method"], strokeWidth=2).encode(
        x=alt.X(
            "low:Q",
            title=None,
            axis=alt.Axis(tickCount=5, format="+,~r", labelExpr=_SIGNED),
            scale=alt.Scale(padding=12),  # no interval may end on the edge and look cut
        ),
        x2="high:Q",
    )
    points = base.mark_point(
        size=70, filled=True, opacity=1, stroke=PALETTE["method"], strokeWidth=2
    ).encode(
        x="estimate:Q",
        fill=alt.Fill(
            "supported:N",
            legend=None,
            scale=alt.Scale(domain=[True, False], range=[PALETTE["method"], PALETTE["paper"]]),
        ),
    )
    return _layer(zero, lines, points, width=width, height=26 * len(rows), title=panel)


def decomposition_chart(
    marks: Sequence[LevelMark], *, name: str, caption: str, says: str
) -> Figure:
    """Return a small slope chart per metric: the mean of each arm over the executions."""

    def draw(width: int) -> Spec:
        columns = 3 if width >= WIDE else 2
        panels = [
            _slope_panel(_of(marks, panel), panel, width // columns - 62)
            for panel in _in_order(mark.panel for mark in marks)
        ]
        return _styled(
            alt.concat(*panels, columns=columns, spacing={"row": 56, "column": 60}, bounds="flush")
        )

    return Figure(name=name, caption=caption, alternative=says, draw=draw)


def _slope_panel(marks: Sequence[LevelMark], panel: str, width: int) -> alt.LayerChart:
    values = [{"arm": mark.arm, "execution": mark.execution, "value": mark.value} for mark in marks]
    arms = _in_order(mark.arm for mark in marks)
    roles = {mark.arm: mark.role for mark in marks}
    colour = alt.Color(
        "arm:N",
        scale=alt.Scale(domain=arms, range=[PALETTE[roles[arm]] for arm in arms]),
        legend=alt.Legend(title=None, orient="top"),
    )
    shape = alt.Shape(
        "arm:N",
        scale=alt.Scale(
            domain=arms,
            range=["square" if roles[arm] == "baseline" else "circle" for arm in arms],
        ),
        legend=alt.Legend(title=None, orient="top"),
    )
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X(
            "execution:N",
            sort=_in_order(mark.execution for mark in marks),
            title=None,
            axis=alt.Axis(labelAngle=0, domain=False, ticks=False, labelPadding=6),
            scale=alt.Scale(padding=0.35),
        ),
        y=alt.Y(
            "value:Q",
            title=None,
            scale=alt.Scale(zero=False, padding=8),
            axis=alt.Axis(tickCount=4, domain=False, ticks=False, grid=True, format=",~r"),
        ),
        color=colour,
    )
    lines = base.mark_line(strokeWidth=2)
    points = base.mark_point(size=55, filled=True, opacity=1).encode(shape=shape)
    return _layer(lines, points, width=width, height=110, title=panel)


def transitions_chart(
    marks: Sequence[TransitionMark], *, name: str, caption: str, says: str
) -> Figure:
    """Return a stacked bar per arm: right in both executions, gained, lost, wrong in both."""
    values = [
        {"arm": mark.arm, "order": order, "change": change, "questions": questions}
        for mark in marks
        for order, (change, questions) in enumerate(
            zip(
                _TRANSITION_COLOURS,
                (mark.kept_right, mark.gained, mark.lost, mark.kept_wrong),
                strict=True,
            )
        )
    ]
    return Figure(
        name=name,
        caption=caption,
        alternative=says,
        draw=lambda width: _stacked(values, "arm", "change", _TRANSITION_COLOURS, width),
    )


def statuses_chart(marks: Sequence[StatusMark], *, name: str, caption: str, says: str) -> Figure:
    """Return a stacked bar per arm and execution: how its cells ended."""
    present = {mark.status for mark in marks if mark.cells}
    colours = {
        status.replace("_", " "): colour
        for status, colour in _STATUS_COLOURS.items()
        if status in present
    }
    order = list(colours)
    values = [
        {
            "row": mark.row,
            "order": order.index(mark.status.replace("_", " ")),
            "status": mark.status.replace("_", " "),
            "questions": mark.cells,
        }
        for mark in marks
        if mark.cells
    ]
    return Figure(
        name=name,
        caption=caption,
        alternative=says,
        draw=lambda width: _stacked(values, "row", "status", colours, width),
    )


def _stacked(
    values: Sequence[Mapping[str, str | int]],
    row: str,
    part: str,
    colours: Mapping[str, str],
    width: int,
) -> Spec:
    rows = _in_order(str(value[row]) for value in values)
    total = max(
        (sum(int(v["questions"]) for v in values if v[row] == name) for name in rows), default=1
    )
    base = alt.Chart(alt.InlineData(values=[dict(value) for value in values])).encode(
        y=alt.Y(f"{row}:N", sort=rows, title=None, axis=alt.Axis(domain=False, ticks=False)),
        order=alt.Order("order:Q"),
    )
    bars = base.mark_bar(stroke=PALETTE["paper"], strokeWidth=1.5, height=20).encode(
        x=alt.X(
            "questions:Q",
            stack="zero",
            title="questions",
            scale=alt.Scale(domain=[0, total], nice=False),
            axis=alt.Axis(tickCount=5, format="d", tickMinStep=1),
        ),
        color=alt.Color(
            f"{part}:N",
            sort=list(colours),
            scale=alt.Scale(domain=list(colours), range=list(colours.values())),
            legend=alt.Legend(
                title=None, orient="top", columns=8 if width >= WIDE else 2, symbolType="square"
            ),
        ),
    )
    # A label needs about 22 px; narrower segments are read from the table below the figure.
    room = total * 22 / (width - 110)
    labels = (
        base
        .transform_stack(
            stack="questions", as_=["x0", "x1"], groupby=[row], sort=[alt.SortField("order")]
        )
        .transform_calculate(middle="(datum.x0 + datum.x1) / 2")
        .transform_filter(f"datum.questions >= {room:.6f}")
    )
    plate = labels.mark_text(
        fontSize=11, fontWeight="bold", stroke=PALETTE["paper"], strokeWidth=3, strokeJoin="round"
    ).encode(x="middle:Q", text="questions:Q")
    text = labels.mark_text(fontSize=11, fontWeight="bold", color=PALETTE["ink"]).encode(
        x="middle:Q", text="questions:Q"
    )
    return _styled(_layer(bars, plate, text, width=width - 110, height=30 * len(rows), title=None))


def _layer(*charts: alt.Chart, width: int, height: int, title: str | None) -> alt.LayerChart:
    layered = alt.layer(
        *charts, width=width, height=height, title=alt.Undefined if title is None else title
    )
    return cast("alt.LayerChart", layered)


def _styled(chart: alt.LayerChart | alt.ConcatChart) -> Spec:
    return {**chart.to_dict(), "config": style().to_dict()}


def _of(marks: Sequence[_Mark], panel: str) -> list[_Mark]:
    return [mark for mark in marks if mark.panel == panel]


def _in_order(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
