"""The published settings of Video-ReAct, and the ablations of its controls."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from taketwo.agents.preset import Preset
from taketwo.agents.published_models import planner_sampling, writes_calls
from taketwo.benchmarks.canonical import JsonValue
from taketwo.tools.role_model import ModelRole

__all__ = ["VIDEO_REACT_PRESETS"]

_PAPER = "AgentVidBench, arXiv 2609.21386"
_CODE = "krafton-ai/agentvidbench"
_OBSERVER = "google/gemini-2.5-pro"
# A look of the publication has no cap of its own; this many frames of medium size still fit one request.
_OPTIONS: Mapping[str, JsonValue] = MappingProxyType({
    "observer_sees_question": True,
    "max_frames": 256,
})
_OBSERVING: Mapping[ModelRole, Mapping[str, JsonValue]] = MappingProxyType({
    "observer": {"temperature": 0.0}
})
_THINKING: Mapping[ModelRole, Mapping[str, JsonValue]] = MappingProxyType({
    "observer": {"temperature": 0.0, "reasoning_tokens": 8192}
})


def _by_model(orchestrator: str) -> Mapping[str, JsonValue]:
    return {"call_form": "text" if writes_calls(orchestrator) else "native"}


def _ablation(summary: str, **fixed: JsonValue) -> Preset:
    return Preset(
        summary=summary,
        source=f"{_PAPER}, Table 2, there with {_OBSERVER} in both roles",
        options={**_OPTIONS, **fixed},
        options_by_model=_by_model,
        sampling=_OBSERVING,
        sampling_by_model=planner_sampling,
    )


VIDEO_REACT_PRESETS: Mapping[str, Preset] = MappingProxyType({
    "agentvidbench": Preset(
        summary="As compared in AgentVidBench: the planner is the arm's, the observer is fixed.",
        source=f"{_PAPER}, 4.1 and appendix E; thinking budget of the observer from {_CODE}",
        options=_OPTIONS,
        options_by_model=_by_model,
        models={"observer": _OBSERVER},
        sampling=_THINKING,
        sampling_by_model=planner_sampling,
    ),
    "table-24": Preset(
        summary="The observer that STAR and DVD are aligned with; here the published one as it is.",
        source=f"{_PAPER}, Table 24, there with Qwen3.5-27B and Gemma-4-31B as planners",
        options=_OPTIONS,
        options_by_model=_by_model,
        models={"observer": _OBSERVER},
        sampling=_THINKING,
        sampling_by_model=planner_sampling,
    ),
    "full": _ablation("All three controls are the planner's."),
    "fps-1": _ablation("One frame a second in each look.", fixed_fps=1.0),
    "resolution-low": _ablation("Low resolution in each look.", fixed_resolution="low"),
    "resolution-medium": _ablation("Medium resolution in each look.", fixed_resolution="medium"),
    "full-interval": _ablation("The whole video in each look.", full_video=True),
})
"""Settings that an arm can name; those of Table 2 differ from `full` by one control each."""
