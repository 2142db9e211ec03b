"""The options of STAR, what it may spend with them, and its presets."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from taketwo.agents.preset import Preset
from taketwo.agents.published_models import planner_sampling
from taketwo.benchmarks.canonical import JsonValue
from taketwo.tools.budget import Limits
from taketwo.tools.expected_work import ExpectedWork
from taketwo.tools.role_model import ModelRole
from taketwo.tools.video_tool import Resolution

__all__ = ["STAR_PRESETS", "StarOptions"]

_FINAL_TURNS = 2
"""The summariser, and the generalist where its reply cannot be read."""


class StarOptions(BaseModel):
    """How the loop works.

    `max_tools` bounds the tool calls. `frames` become visible at the start, and never more than
    `max_frames` in all; `resolution` is their size. `faithful` keeps the published flow of
    information: results of tools reach neither planner nor summariser unless a tool writes them into
    the frame store, of which the summariser reads the answers only; tools that the publication does
    not have are left out, and a tool that is not on offer is replaced without asking again.
    `observer_sees_question` puts the question and its options before the observer as well; without
    it the observer knows what the planner tells it. `asks` is how often a reply outside its form is
    sent back.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_tools: int = Field(default=6, ge=0, le=40)
    frames: int = Field(default=16, ge=1, le=256)
    max_frames: int = Field(default=64, ge=1, le=256)
    resolution: Resolution = "medium"
    faithful: bool = False
    observer_sees_question: bool = False
    asks: int = Field(default=2, ge=0, le=5)

    @model_validator(mode="after")
    def _start_within_cap(self) -> Self:
        if self.frames > self.max_frames:
            raise ValueError(
                f"frames {self.frames} is more than max_frames {self.max_frames}; raise max_frames"
            )
        return self

    def limits(self) -> Limits:
        """Return what the loop can use at most: a decision a tool, asked again, and the answer."""
        decisions = self.max_tools * (self.asks + 1)
        return Limits(turns=decisions + _FINAL_TURNS + self.asks, visible_calls=self.max_tools)

    def work(self) -> ExpectedWork:
        """Return what one cell is expected to ask of the models.

        Half of the calls ask all visible frames, in batches of 8; the others ask the observer twice.
        """
        batches = -(-self.frames // 8)
        return ExpectedWork(
            turns=self.max_tools + 1,
            visible_calls=self.max_tools,
            observer_calls=self.max_tools / 2 * (batches + 1),
            observer_frames=8,
            transcriptions=0 if self.faithful else 0.5,
        )


_BENCHMARKED = "AgentVidBench, arXiv 2609.21386"
_SHIPPED = "fansunqi/VideoTool at 0a8353c, the alternating loop"
_PUBLISHED: Mapping[str, JsonValue] = MappingProxyType({
    "faithful": True,
    "max_tools": 6,
    "frames": 16,
})

_OBSERVING: Mapping[ModelRole, Mapping[str, JsonValue]] = MappingProxyType({
    "observer": {"temperature": 0.0}
})

STAR_PRESETS: Mapping[str, Preset] = MappingProxyType({
    "default": Preset(
        summary="The loop with its corrections: what tools say is read, also text, speech and web.",
        source="our own choice",
        options={"faithful": False},
    ),
    "published": Preset(
        summary="The loop as its authors ship it; the observer stands in for their local models.",
        source=f"{_SHIPPED}; {_BENCHMARKED}, 4.1, where the main agent is the arm's",
        options=_PUBLISHED,
        models={"observer": "openai/gpt-4o"},
        sampling=_OBSERVING,
        sampling_by_model=planner_sampling,
    ),
    "table-24": Preset(
        summary="The shipped loop with the tools' models replaced by Gemini 2.5 Pro.",
        source=f"{_BENCHMARKED}, H.2, Table 24",
        options=_PUBLISHED,
        models={"observer": "google/gemini-2.5-pro"},
        sampling=_OBSERVING,
        sampling_by_model=planner_sampling,
    ),
})
"""Settings that an arm can name."""
