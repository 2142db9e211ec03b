from __future__ import annotations

import pytest

from taketwo.agents.preset import Preset
from taketwo.agents.published_models import (
    planner_sampling,
    sees_50_frames,
    takes_native_video,
    takes_temperature,
    writes_calls,
)


@pytest.mark.parametrize(
    ("model", "writes", "sees_50", "video", "temperature"),
    [
        ("openai/gpt-5", False, True, False, False),
        ("openai/gpt-5-mini", False, True, False, False),
        ("openai/o3", False, False, False, False),
        ("openai/gpt-4o", False, False, False, True),
        ("anthropic/claude-opus-4-7", False, True, False, False),
        ("anthropic/claude-sonnet-4-5", False, True, False, True),
        ("google/gemini-2.5-pro", False, False, False, True),
        ("gemini-video/gemini-2.5-pro", False, False, True, True),
        ("vllm-video/Qwen/Qwen3.5-27B", True, False, True, True),
        ("vllm/google/gemma-4-31b-it", True, False, False, True),
        ("qwen-server/llama-4", False, False, False, True),
        ("", False, False, False, True),
    ],
)
def test_what_follows_from_the_name_of_a_model(
    model: str, writes: bool, sees_50: bool, video: bool, temperature: bool
) -> None:
    assert writes_calls(model) is writes
    assert sees_50_frames(model) is sees_50
    assert takes_native_video(model) is video
    assert takes_temperature(model) is temperature
    assert planner_sampling(model) == (
        {"orchestrator": {"temperature": 0.0}} if temperature else {}
    )


def test_what_follows_from_the_name_is_added_to_a_presets_sampling() -> None:
    preset = Preset(
        summary="",
        source="",
        sampling={"orchestrator": {"top_p": 0.9}, "observer": {"temperature": 0.5}},
        sampling_by_model=planner_sampling,
    )

    assert preset.sampling_for("google/gemini-2.5-pro") == {
        "orchestrator": {"top_p": 0.9, "temperature": 0.0},
        "observer": {"temperature": 0.5},
    }
    assert preset.sampling_for("openai/gpt-5")["orchestrator"] == {"top_p": 0.9}
    assert preset.sampling_for(None)["orchestrator"] == {"top_p": 0.9}
