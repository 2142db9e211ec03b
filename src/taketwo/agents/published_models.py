"""What the code of AgentVidBench does by the name of a model, as far as presets repeat it.

Names are full ones, `provider/model` or `provider/organisation/model`, in any case.
"""

from __future__ import annotations

from collections.abc import Mapping

from taketwo.benchmarks.canonical import JsonValue
from taketwo.tools.role_model import ModelRole

__all__ = [
    "planner_sampling",
    "sees_50_frames",
    "takes_native_video",
    "takes_temperature",
    "writes_calls",
]

_WRITING_CALLS = ("qwen", "gemma")
_SEEING_50_FRAMES = ("gpt-5", "claude")
_WITHOUT_TEMPERATURE = ("gpt-5", "o1", "o3", "o4", "claude-opus-4-7", "claude-opus-4.7")
_NATIVE_PROVIDERS = ("gemini-video", "vllm-video")


def writes_calls(model: str) -> bool:
    """Return whether the published planner of this name writes its tool calls as text.

    Examples
    --------
    >>> writes_calls("vllm/Qwen/Qwen3.5-27B"), writes_calls("google/gemini-2.5-pro")
    (True, False)
    """
    return _is_of(model, _WRITING_CALLS)


def sees_50_frames(model: str) -> bool:
    """Return whether the published single turn gives this model 50 frames, not one a second."""
    return _is_of(model, _SEEING_50_FRAMES)


def takes_temperature(model: str) -> bool:
    """Return whether the service of this model accepts a temperature; reasoning models refuse it."""
    return not _is_of(model, _WITHOUT_TEMPERATURE)


def takes_native_video(model: str) -> bool:
    """Return whether the provider of this model is one of ours that sends whole videos."""
    return model.lower().split("/", 1)[0] in _NATIVE_PROVIDERS


def planner_sampling(model: str) -> Mapping[ModelRole, Mapping[str, JsonValue]]:
    """Return temperature 0 for the orchestrator, where its service accepts a temperature."""
    return {"orchestrator": {"temperature": 0.0}} if takes_temperature(model) else {}


def _is_of(model: str, families: tuple[str, ...]) -> bool:
    return any(part.startswith(families) for part in model.lower().split("/")[1:])
