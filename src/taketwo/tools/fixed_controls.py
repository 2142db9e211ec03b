"""Controls of looking that a study takes out of the planner's hands, as in an ablation.

A fixed control vanishes from what the planner is shown, and naming it anyway is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from taketwo.tools.video_tool import Resolution

__all__ = ["FREE_CONTROLS", "Control", "FixedControls"]

Control = Literal["fps", "resolution", "interval"]


@dataclass(frozen=True, kw_only=True)
class FixedControls:
    """What is fixed of each look at the video; None and False leave the control to the planner.

    `fps` are frames per second, more than 0 and finite; `resolution` is the size of the frames;
    `is_full_video` makes each look cover the whole video.

    Raises
    ------
    ValueError
        If `fps` is not finite or not more than 0.
    """

    fps: float | None = None
    resolution: Resolution | None = None
    is_full_video: bool = False

    def __post_init__(self) -> None:
        if self.fps is not None and not 0 < self.fps < float("inf"):
            raise ValueError(f"a fixed fps must be finite and more than 0, found {self.fps!r}")

    @property
    def fixed(self) -> tuple[Control, ...]:
        """Return the controls that are fixed, in the order fps, resolution, interval."""
        chosen: tuple[tuple[Control, bool], ...] = (
            ("fps", self.fps is not None),
            ("resolution", self.resolution is not None),
            ("interval", self.is_full_video),
        )
        return tuple(control for control, is_fixed in chosen if is_fixed)

    def describe(self) -> str:
        """Return what is fixed in words, as in `fps 1, resolution low`; `nothing` where nothing is."""
        said = [
            *([] if self.fps is None else [f"fps {self.fps:g}"]),
            *([] if self.resolution is None else [f"resolution {self.resolution}"]),
            *(["the whole video"] if self.is_full_video else []),
        ]
        return ", ".join(said) or "nothing"


FREE_CONTROLS = FixedControls()
"""Nothing is fixed."""
