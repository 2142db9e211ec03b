"""What an agent says that it will ask of its models in one cell, before anything is paid."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

from taketwo.errors import RequestError

__all__ = ["ExpectedWork"]


@dataclass(frozen=True, kw_only=True)
class ExpectedWork:
    """The work of one cell as an agent expects it: rough numbers for orientation, except the most.

    Parameters
    ----------
    turns
        Generations of the orchestrator.
    visible_calls
        Tool calls that the orchestrator issues.
    observer_calls
        Generations of the observer, whoever asks for them, the index left out.
    observer_frames
        Pictures in one generation of the observer.
    orchestrator_frames
        Pictures that the orchestrator is sent, over all its turns.
    orchestrator_frames_per_s, orchestrator_frames_most
        Further ones by the length of the video in seconds, at most so many in a cell.
    transcriptions
        How often the speech of the whole video is asked for; it is made once a cell.
    index_calls_per_minute
        Generations of the observer that index one minute of video.
    index_frames
        Pictures in one of them.
    index_is_shared
        Whether an index is made once for each video, arm and execution; else each cell makes one.
    calls_most
        The most generations of one cell that the agent's construction allows, index and
        transcription left out; None is what the limits allow.

    Raises
    ------
    RequestError
        If a number is negative or none.

    Examples
    --------
    >>> ExpectedWork(turns=6, observer_calls=3, calls_most=9).calls
    9
    """

    turns: float = 1
    visible_calls: float = 0
    observer_calls: float = 0
    observer_frames: float = 0
    orchestrator_frames: float = 0
    orchestrator_frames_per_s: float = 0
    orchestrator_frames_most: float | None = None
    transcriptions: float = 0
    index_calls_per_minute: float = 0
    index_frames: float = 0
    index_is_shared: bool = False
    calls_most: int | None = None

    def __post_init__(self) -> None:
        for name, value in self.to_json().items():
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise RequestError(
                    f"the expected work of an agent has {name} {value!r}; it must be 0 or more"
                )

    @property
    def calls(self) -> float:
        """Return the generations of one cell, index and transcription left out."""
        return self.turns + self.observer_calls

    def to_json(self) -> dict[str, float | bool | None]:
        """Return the numbers by name."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    @classmethod
    def from_json(cls, record: Mapping[str, float | bool | None]) -> ExpectedWork:
        """Read what `to_json` wrote."""
        return cls(**record)  # pyright: ignore[reportArgumentType] names and values as written
