"""Writing the report: one HTML file without script or network, and its tables and figures as files."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from taketwo.media.store import write_atomically
from taketwo.report.blocks import Document
from taketwo.report.drawing import NARROW, WIDE, Figure
from taketwo.report.frame_album import FrameAlbum
from taketwo.report.numbers import moment
from taketwo.report.palette import DARK, PALETTE
from taketwo.report.untrusted import harmless

__all__ = ["render_report", "write_figures", "write_report", "write_tables"]

_LIMIT = 4000


def write_report(document: Document, out: Path, *, frames: Path | None = None) -> Path:
    """Write the report as one self-contained HTML file; return its path.

    Parameters
    ----------
    out
        The file; it appears whole or not at all.
    frames
        The study's frame store; without it the page names the frames but shows none. At most
        1.5 MB of images go into the page.
    """
    write_atomically(out, render_report(document, frames=frames).encode("utf-8"))
    return out


def render_report(document: Document, *, frames: Path | None = None) -> str:
    """Return the page of `write_report`.

    Everything that came from models, tools, files or questions is escaped, and the page forbids
    scripts and every load from elsewhere by its own content security policy.
    """
    album = FrameAlbum(frames)
    prefixes = (f"f{number}" for number in itertools.count())

    def drawing(figure: Figure) -> Mapping[str, Markup]:
        return _drawing(figure, next(prefixes))

    environment = Environment(
        loader=PackageLoader("taketwo.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalized,
    )
    environment.filters["moment"] = moment
    environment.tests["of_kind"] = lambda block, kind: type(block).__name__ == kind
    return environment.get_template("report.html.jinja").render(
        document=document,
        picture=album.picture,
        drawing=drawing,
        palette=PALETTE,
        dark=DARK,
        version=_version(),
    )


def _finalized(value: object) -> object:
    """Make every printed string harmless, unless it is markup of ours."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return value if value.startswith("data:image/jpeg;base64,") else harmless(value, _LIMIT)
    return value


def _drawing(figure: Figure, prefix: str) -> Mapping[str, Markup]:
    # The drawing comes from Vega, which escapes the texts in it; ids are made unique per drawing.
    return {
        "wide": Markup(figure.inline(WIDE, f"{prefix}w")),  # noqa: S704 Vega's own SVG
        "narrow": Markup(figure.inline(NARROW, f"{prefix}n")),  # noqa: S704 Vega's own SVG
    }


def _version() -> str:
    try:
        return version("taketwo")
    except PackageNotFoundError:
        return "unknown version"


def write_tables(document: Document, folder: Path) -> tuple[Path, ...]:
    """Write every table as Markdown, LaTeX and CSV into `folder`; return the files."""
    return tuple(path for table in document.tables for path in table.save(folder))


def write_figures(document: Document, folder: Path) -> tuple[Path, ...]:
    """Write every figure as SVG, PNG, PDF and Vega-Lite JSON into `folder`; return the files."""
    return tuple(path for figure in document.figures for path in figure.save(folder))
