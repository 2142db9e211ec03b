"""The published settings of the single turn."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from taketwo.agents.preset import Preset
from taketwo.agents.published_models import planner_sampling, sees_50_frames, takes_native_video
from taketwo.benchmarks.canonical import JsonValue

__all__ = ["SINGLE_TURN_PRESETS"]

_PAPER = "AgentVidBench, arXiv 2609.21386"


def _published(orchestrator: str) -> Mapping[str, JsonValue]:
    if sees_50_frames(orchestrator):
        return {"frames": 50}
    return {"fps": 1.0, "native_video": takes_native_video(orchestrator)}


SINGLE_TURN_PRESETS: Mapping[str, Preset] = MappingProxyType({
    "published": Preset(
        summary=(
            "50 frames for GPT-5 and Claude, one a second for others, as video where the provider "
            "sends video."
        ),
        source=f"{_PAPER}, 4.1",
        options_by_model=_published,
        sampling_by_model=planner_sampling,
    ),
    "matched-50": Preset(
        summary="50 frames for every model.",
        source=f"{_PAPER}, H.1 and Table 23; the single turns of Table 24 as well",
        options={"frames": 50},
        sampling_by_model=planner_sampling,
    ),
})
"""Settings that an arm can name."""
