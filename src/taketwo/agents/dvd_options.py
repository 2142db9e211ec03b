"""The options of Deep Video Discovery, what it may spend with them, and its presets."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from taketwo.agents.called_in_text import CallForm
from taketwo.agents.preset import Preset
from taketwo.errors import RequestError
from taketwo.tools.budget import Limits
from taketwo.tools.clip_index import FRAMES_PER_S
from taketwo.tools.dvd_frame_inspect import MOST_FRAMES
from taketwo.tools.dvd_tools import dvd_tools
from taketwo.tools.expected_work import ExpectedWork
from taketwo.tools.text_search import SearchKind, search_kind
from taketwo.tools.video_index_build import IndexSettings
from taketwo.tools.video_tool import VideoTool

__all__ = ["DVD_PRESETS", "DvdOptions"]


class DvdOptions(BaseModel):
    """How the video is indexed and how the loop works.

    `clip_seconds` is the length of a clip of the index: 10 in the published code, 5 in the paper.
    `turns` are those of the orchestrator, the last of which is for `finish`; the published code has
    3 by default and 15 in its benchmark. `top_k` is how many clips a search returns where the
    orchestrator does not say. `search` is how clips are found: `bm25` by words, `embeddings` by
    meaning, `auto` by meaning where the extra is installed; it is resolved when a plan is frozen.
    `lite` indexes the speech alone and has no tool that sees. `call_form` is how the orchestrator
    calls tools: as its provider does, or in text.

    `faithful` keeps the end of the published loop: the last turn asks for `finish` and leaves the
    model its choice, and nothing is asked again. `charge_index` books an equal share of the cost of
    the index on each of its cells, on their budgets as well.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    clip_seconds: float = Field(default=10.0, ge=1, le=120)
    turns: int = Field(default=15, ge=1, le=200)
    top_k: int = Field(default=16, ge=1, le=300)
    search: Literal["auto", "bm25", "embeddings"] = Field(default="auto", validate_default=True)
    lite: bool = False
    call_form: CallForm = "native"
    faithful: bool = False
    charge_index: bool = False

    @field_validator("search")
    @classmethod
    def _resolved(
        cls, value: Literal["auto", "bm25", "embeddings"]
    ) -> Literal["auto", "bm25", "embeddings"]:
        try:
            return search_kind(value)
        except RequestError as error:
            raise ValueError(str(error)) from error

    @property
    def search_kind(self) -> SearchKind:
        """Return how clips are found."""
        return search_kind(self.search)

    @property
    def index_settings(self) -> IndexSettings:
        """Return how the video is indexed."""
        return IndexSettings(
            clip_s=self.clip_seconds,
            described=not self.lite,
            search=self.search_kind,
            charged=self.charge_index,
        )

    @property
    def asks(self) -> int:
        """Return how often a last turn without a readable answer is repeated."""
        return 0 if self.faithful else 1

    def tools(self) -> tuple[VideoTool, ...]:
        """Return the tools that the orchestrator sees."""
        return dvd_tools(top_k=self.top_k, lite=self.lite)

    def limits(self) -> Limits:
        """Return what the loop can use at most; how many calls a turn makes is not bounded."""
        return Limits(turns=self.turns + self.asks)

    def work(self) -> ExpectedWork:
        """Return what one cell is expected to ask of the models: one call a turn, most of them looks."""
        turns = min(self.turns, 8)
        calls = max(0, turns - 1)
        return ExpectedWork(
            turns=turns,
            visible_calls=calls,
            observer_calls=min(calls, 1) if self.lite else 0.7 * calls,
            observer_frames=0 if self.lite else 0.7 * MOST_FRAMES,
            transcriptions=0,
            index_calls_per_minute=0 if self.lite else 60 / self.clip_seconds,
            index_frames=0 if self.lite else FRAMES_PER_S * self.clip_seconds,
            index_is_shared=True,
        )


_SHIPPED = "microsoft/DeepVideoDiscovery at 6e0247a"
_PUBLISHED: Mapping[str, bool | int] = MappingProxyType({
    "faithful": True,
    "clip_seconds": 10,
    "turns": 15,
    "top_k": 16,
})

DVD_PRESETS: Mapping[str, Preset] = MappingProxyType({
    "default": Preset(
        summary="The loop with its corrections: a last turn that ends in an answer.",
        source="our own choice",
        options={"faithful": False},
    ),
    "published": Preset(
        summary="The loop as its authors ship it, with the turns of their benchmark script.",
        source=f"{_SHIPPED}, there with o3 as orchestrator and text-embedding-3-large as search",
        options=_PUBLISHED,
        models={"observer": "openai/gpt-4.1-mini"},
    ),
    "paper": Preset(
        summary="As published, with the clips of 5 seconds that the paper has.",
        source=f"Deep Video Discovery, arXiv 2505.18079; else {_SHIPPED}",
        options={**_PUBLISHED, "clip_seconds": 5},
    ),
    "table-24": Preset(
        summary="As published, with Gemini 2.5 Pro as the model that describes and inspects.",
        source="AgentVidBench, arXiv 2609.21386, H.2, Table 24; planners Qwen3.5-27B, Gemma-4-31B",
        options=_PUBLISHED,
        models={"observer": "google/gemini-2.5-pro"},
    ),
})
"""Settings that an arm can name."""
