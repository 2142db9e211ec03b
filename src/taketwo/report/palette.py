"""Colours and type of the charts; the page finds the same colours and darkens them at night."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import altair as alt

__all__ = ["DARK", "FONT", "PALETTE", "style"]

FONT = "Helvetica, Arial, Liberation Sans, sans-serif"

# Okabe and Ito (2008), colour universal design, darkened to 3:1 on white; the page's style sheet
# finds these exact values in the drawings and gives each its counterpart in the dark scheme.
PALETTE: Mapping[str, str] = MappingProxyType({
    "ink": "#1b1f23",
    "muted": "#5b646d",
    "rule": "#d5dade",
    "paper": "#fdfdfc",
    "method": "#0063a3",
    "baseline": "#8a6d00",
    "gained": "#00805c",
    "lost": "#c24e00",
    "kept_right": "#8fb3cc",
    "kept_wrong": "#c9ced3",
    "fault": "#a3386f",
    "limit": "#d9a300",
})

DARK: Mapping[str, str] = MappingProxyType({
    "ink": "#e6e8ea",
    "muted": "#a3abb3",
    "rule": "#3a4149",
    "paper": "#15181b",
    "method": "#62b0ea",
    "baseline": "#d9b84a",
    "gained": "#3dba93",
    "lost": "#f08a4b",
    "kept_right": "#4a7391",
    "kept_wrong": "#4b5259",
    "fault": "#d877ad",
    "limit": "#e6b93a",
})


def style() -> alt.Config:
    """Return the look that all charts share."""
    return alt.Config(
        font=FONT,
        background="transparent",
        padding=2,
        aria=False,
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(
            labelColor=PALETTE["muted"],
            titleColor=PALETTE["muted"],
            titleFontWeight="normal",
            domainColor=PALETTE["muted"],
            tickColor=PALETTE["muted"],
            gridColor=PALETTE["rule"],
            labelFontSize=11,
            titleFontSize=11,
            labelLimit=160,
        ),
        axisX=alt.AxisConfig(grid=False),
        axisY=alt.AxisConfig(labelColor=PALETTE["ink"], labelFontSize=12, grid=False),
        title=alt.TitleConfig(
            anchor="start",
            frame="group",
            color=PALETTE["ink"],
            fontSize=12,
            fontWeight="bold",
            offset=6,
        ),
        legend=alt.LegendConfig(labelColor=PALETTE["ink"], labelFontSize=12, symbolSize=90),
    )
