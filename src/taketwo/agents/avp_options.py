"""The options of AVP, what follows from them, and its presets."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict, Field

from taketwo.agents.preset import Preset
from taketwo.agents.published_models import planner_sampling
from taketwo.benchmarks.canonical import JsonValue
from taketwo.tools.avp_controls import ObservationSettings
from taketwo.tools.budget import Limits
from taketwo.tools.expected_work import ExpectedWork
from taketwo.tools.fixed_controls import FixedControls
from taketwo.tools.role_model import ModelRole
from taketwo.tools.video_tool import Resolution

__all__ = ["AVP_PRESETS", "AvpOptions"]

_TOKENS = 40_000


class AvpOptions(BaseModel):
    """How the loop works.

    `faithful` keeps the published behaviour where it changes results and is not a mere fault. Three
    options follow from it unless they are given: `transcript` (the speech of what is shown is put
    before the observer), `second_look` (a closer look before the first stop) and
    `observation_tokens` (a look is bounded by the tokens its pictures are estimated to take, 40,000;
    0 bounds it by `frames_low` and `frames_medium`). All three are off where `faithful`.

    `fixed_fps` (frames per second), `fixed_resolution` and `full_video` take a control out of the
    planner's hands. `asks` is how often a reply that does not fit its form is sent back.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    faithful: bool = False
    rounds: int = Field(default=3, ge=1, le=20)
    threshold: float = Field(default=0.7, ge=0, le=1)
    frames_low: int = Field(default=512, ge=2, le=4096)
    frames_medium: int = Field(default=128, ge=2, le=4096)
    observation_tokens: int | None = Field(default=None, ge=0)
    transcript: bool | None = None
    second_look: bool | None = None
    asks: int = Field(default=2, ge=0, le=5)
    fixed_fps: float | None = Field(default=None, gt=0, le=60)
    fixed_resolution: Resolution | None = None
    full_video: bool = False

    @property
    def hears(self) -> bool:
        """Return whether the observer reads what is said."""
        return not self.faithful if self.transcript is None else self.transcript

    @property
    def looks_twice(self) -> bool:
        """Return whether there is a second look before the first stop."""
        return not self.faithful if self.second_look is None else self.second_look

    @property
    def most_frames(self) -> int:
        """Return the most frames of one look, whatever its resolution."""
        return max(self.frames_low, self.frames_medium)

    @property
    def fixed_controls(self) -> FixedControls:
        """Return the controls that are not the planner's."""
        return FixedControls(
            fps=self.fixed_fps,
            resolution=self.fixed_resolution,
            is_full_video=self.full_video,
        )

    def observation(self) -> ObservationSettings:
        """Return how a look works."""
        tokens = self.observation_tokens
        if tokens is None:
            tokens = 0 if self.faithful else _TOKENS
        return ObservationSettings(
            frames_low=self.frames_low,
            frames_medium=self.frames_medium,
            tokens=tokens,
            with_transcript=self.hears,
            with_goal=not self.faithful,
            asks=self.asks,
            fixed=self.fixed_controls,
        )

    def limits(self) -> Limits:
        """Return what the loop can use at most: a plan and a look a round, and a review or the answer."""
        again = 1 if self.looks_twice and self.rounds > 1 else 0
        return Limits(
            turns=(2 * self.rounds + again) * (self.asks + 1), visible_calls=self.rounds + again
        )

    def work(self) -> ExpectedWork:
        """Return what a cell asks of the models: two rounds as a rule, a second look where there is one."""
        looks = min(2, self.rounds) + (1 if self.looks_twice and self.rounds > 1 else 0)
        most = self.limits()
        reports = (most.visible_calls or 0) * (self.asks + 1)
        return ExpectedWork(
            turns=2 * looks if self.rounds > 1 else 2,
            visible_calls=looks,
            observer_calls=looks,
            observer_frames=min(64, self.most_frames),
            transcriptions=1 if self.hears else 0,
            calls_most=(most.turns or 0) + reports,
        )


_SHIPPED = "SalesforceAIResearch/ActiveVideoPerception at a2b6f28"
_BENCHMARKED = "AgentVidBench, arXiv 2609.21386"
# Published clips carry their sound; frames do not, so the speech stands in for it.
_PUBLISHED: Mapping[str, JsonValue] = MappingProxyType({"faithful": True, "transcript": True})

_OBSERVING: Mapping[ModelRole, Mapping[str, JsonValue]] = MappingProxyType({
    "observer": {"temperature": 0.0}
})


def _ablation(summary: str, **fixed: JsonValue) -> Preset:
    return Preset(
        summary=summary,
        source=f"{_BENCHMARKED}, Table 2, there with google/gemini-2.5-pro in all roles",
        options={**_PUBLISHED, **fixed},
        sampling=_OBSERVING,
        sampling_by_model=planner_sampling,
    )


AVP_PRESETS: Mapping[str, Preset] = MappingProxyType({
    "default": Preset(
        summary="The loop with its corrections.",
        source="our own choice",
        options={"faithful": False},
    ),
    "published": Preset(
        summary="The loop as its authors ship it, with the frames of their example configuration.",
        source=f"{_SHIPPED}, example configuration",
        options={**_PUBLISHED, "frames_low": 2048, "frames_medium": 512},
    ),
    "agentvidbench": Preset(
        summary="As compared in AgentVidBench: the main agent is the arm's, the observer is fixed.",
        source=f"{_BENCHMARKED}, 4.1; frames of a look are the defaults of {_SHIPPED}",
        options=_PUBLISHED,
        models={"observer": "google/gemini-2.5-pro"},
        sampling=_OBSERVING,
        sampling_by_model=planner_sampling,
    ),
    "full": _ablation("All three controls are the planner's."),
    "fps-1": _ablation("One frame a second in each look.", fixed_fps=1.0),
    "resolution-low": _ablation("Low resolution in each look.", fixed_resolution="low"),
    "resolution-medium": _ablation("Medium resolution in each look.", fixed_resolution="medium"),
    "full-interval": _ablation("The whole video in each look.", full_video=True),
})
"""Settings that an arm can name; those of Table 2 differ from `full` by one control each."""
