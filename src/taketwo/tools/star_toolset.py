"""The tools of STAR in the order in which they are offered; the first of a kind is the fallback."""

from __future__ import annotations

from taketwo.tools.star_counting import Detector, object_tracking_tool
from taketwo.tools.star_extraction import FRAME_EXTRACTION, TEMPORAL_GROUNDING
from taketwo.tools.star_frame_answers import IMAGE_CAPTION, IMAGE_QUESTION_ANSWERING
from taketwo.tools.star_grid import IMAGE_GRID_QA, IMAGE_GRID_SELECT
from taketwo.tools.star_reading import TEXT_READING, TRANSCRIPT
from taketwo.tools.star_spans import TEMPORAL_QA, TEMPORAL_REFERRING
from taketwo.tools.star_tool import StarTool
from taketwo.tools.star_web import WEB_SEARCH
from taketwo.tools.star_zoom import PATCH_ZOOM

__all__ = ["star_tools"]


def star_tools(
    *, published_only: bool = False, detector: Detector | None = None
) -> tuple[StarTool, ...]:
    """Return the tools: the ten of the published loop, and those for words and the web.

    Parameters
    ----------
    published_only
        Leave out what the published loop does not have: text in frames, speech, web.
    detector
        What counts things; without one the observer estimates.
    """
    published = (
        FRAME_EXTRACTION,
        TEMPORAL_GROUNDING,
        TEMPORAL_QA,
        TEMPORAL_REFERRING,
        IMAGE_GRID_SELECT,
        IMAGE_QUESTION_ANSWERING,
        IMAGE_GRID_QA,
        PATCH_ZOOM,
        object_tracking_tool(detector),
        IMAGE_CAPTION,
    )
    return published if published_only else (*published, TEXT_READING, TRANSCRIPT, WEB_SEARCH)
