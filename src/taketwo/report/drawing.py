"""A chart that is drawn offline by Vega-Lite, for a page at two widths and as files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import altair as alt
import vl_convert

__all__ = ["NARROW", "WIDE", "Figure", "Spec"]

WIDE = 900
NARROW = 320
Spec = Mapping[str, object]  # a Vega-Lite specification
_VEGA_LITE = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A chart that can be drawn at any width, with the text that stands for it.

    `name` is a file name without suffix, `caption` is read below it, `alternative` is what it says
    to someone who cannot see it.
    """

    name: str
    caption: str
    alternative: str
    draw: Callable[[int], Spec]

    def svg(self, width: int = WIDE) -> str:
        """Return the drawing as SVG without an XML prologue, `width` pixels for the plot area."""
        return vl_convert.vegalite_to_svg(dict(self.draw(width)), vl_version=_VEGA_LITE)

    def inline(self, width: int, prefix: str) -> str:
        """Return the SVG for a page: it scales, is one image to a screen reader, and owns its ids."""
        svg = self.svg(width)
        svg = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', svg)
        svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", svg)
        size = re.search(r'<svg[^>]*? width="([\d.]+)" height="([\d.]+)"', svg)
        natural = "" if size is None else f' style="width:{float(size[1]):g}px"'
        svg = re.sub(r'(<svg[^>]*?) width="[\d.]+" height="[\d.]+"', r"\1", svg, count=1)
        return svg.replace("<svg", f'<svg aria-hidden="true" focusable="false"{natural}', 1)

    def save(self, folder: Path) -> tuple[Path, ...]:
        """Write the figure as SVG, PNG (twice the size), PDF and Vega-Lite JSON; return the files."""
        folder.mkdir(parents=True, exist_ok=True)
        spec = dict(self.draw(WIDE))
        files = tuple(folder / f"{self.name}.{suffix}" for suffix in ("svg", "png", "pdf", "json"))
        files[0].write_text(self.svg(), encoding="utf-8")
        files[1].write_bytes(vl_convert.vegalite_to_png(spec, vl_version=_VEGA_LITE, scale=2))
        files[2].write_bytes(vl_convert.vegalite_to_pdf(spec, vl_version=_VEGA_LITE))
        files[3].write_text(json.dumps(spec, indent=1), encoding="utf-8")
        return files
