"""The second look of AVP: closer, and at what the last report calls its key evidence.

The published reviewer is blind and can stop on one confident observation that is wrong; counting is
what it most often gets wrong (AgentVidBench, arXiv 2609.21386, Table 18). One more look at the
decisive seconds costs little beside a look over a video.
"""

from __future__ import annotations

from taketwo.agents.avp_plans import without_fixed
from taketwo.benchmarks.canonical import JsonValue
from taketwo.media.video import VideoInfo
from taketwo.tools.avp_controls import ObservationSettings, most_frames
from taketwo.tools.avp_evidence import Observation, ObservationLog
from taketwo.tools.avp_spans import MAX_FPS, Span, sampled, shown_spans
from taketwo.tools.video_tool import Resolution

__all__ = ["second_look"]

_MARGIN_S = 1.0
_LEAST_FPS = 2.0
_SIZES: tuple[Resolution, ...] = ("low", "medium", "high")


def second_look(
    log: ObservationLog, settings: ObservationSettings, video: VideoInfo
) -> dict[str, JsonValue] | None:
    """Return the arguments of a closer look at what decided, or None where there is none to be had.

    It covers the key evidence of the last report that has some, with a second more on both sides,
    at medium resolution and at twice the rate of that look, at least 2 and at most 5 frames a
    second, as far as these are not fixed. A look that would show neither more frames a second nor
    larger ones is none.
    """
    last = next((item for item in reversed(log.observations) if item.evidence), None)
    if last is None or settings.fixed.is_full_video:
        return None
    around = [[item.start_s - _MARGIN_S, item.end_s + _MARGIN_S] for item in last.evidence]
    spans = shown_spans(around, video.duration_s).spans
    fps = settings.fixed.fps or min(MAX_FPS, max(_LEAST_FPS, 2 * last.fps))
    if not _is_closer(last, spans, fps, settings, video):
        return None
    look: dict[str, JsonValue] = {
        "description": "Look again, closely, at what decided",
        "load_mode": "region",
        "regions": [list(span) for span in spans],
        "fps": fps,
        "spatial_token_rate": "medium",
    }
    return {**without_fixed(look, settings.fixed), "independent": True}


def _is_closer(
    last: Observation,
    spans: tuple[Span, ...],
    fps: float,
    settings: ObservationSettings,
    video: VideoInfo,
) -> bool:
    resolution = settings.fixed.resolution or "medium"
    sample = sampled(spans, fps, most_frames(settings, video, resolution))
    is_larger = _SIZES.index(resolution) > _SIZES.index(last.resolution)
    return is_larger or sample.fps > last.fps
