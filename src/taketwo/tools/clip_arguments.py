"""Arguments that name a part of the question's own video, in our words and in those of SAGE's tools.

A path that a model names is never opened: there is one video in a cell, and it is that one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from types import MappingProxyType
from typing import cast

from pydantic import Field, model_validator

from taketwo.tools.video_tool import ToolContext, Window

__all__ = ["HIDDEN_PATH", "WINDOW_NAMES", "ClipArguments", "names_own_video", "with_our_names"]

WINDOW_NAMES: Mapping[str, str] = MappingProxyType({
    "timestamp_start": "start_time",
    "timestamp_end": "end_time",
    "start": "start_time",
    "end": "end_time",
})
"""Our names of the arguments of a window by other ones."""

HIDDEN_PATH = frozenset({"video_path"})
_OWN = frozenset({"video", "video.mp4", "the video"})


def with_our_names(values: object, names: Mapping[str, str]) -> object:
    """Return arguments in which other names are replaced by ours; what is no mapping stays.

    Raises
    ------
    ValueError
        If an argument is given under two names.
    """
    if not isinstance(values, Mapping):
        return values
    given = dict(cast("Mapping[str, object]", values))
    for other, ours in names.items():
        if other not in given:
            continue
        value = given.pop(other)
        if value is None:
            continue
        if given.get(ours) is not None:
            raise ValueError(f"give {ours} or {other}, not both")
        given[ours] = value
    return given


class ClipArguments(Window):
    """A part of the video; `video_path` is taken for what it means, and never opened."""

    video_path: str | None = Field(
        default=None, description="Not needed: there is one video, the question's own"
    )

    @model_validator(mode="before")
    @classmethod
    def _our_names(cls, values: object) -> object:
        return with_our_names(values, WINDOW_NAMES)

    def path_remarks(self, context: ToolContext) -> list[str]:
        """Return what is to be said about a path that names something else than the video."""
        if self.video_path is None or names_own_video(self.video_path, context):
            return []
        return ["video_path was ignored: there is one video here, the question's own"]


def names_own_video(path: str, context: ToolContext) -> bool:
    """Return whether a path can only mean the question's own video."""
    own = context.primitives.media.path
    name = PurePath(path.strip().replace("\\", "/")).name
    return name.lower() in _OWN or name in {own.name, own.stem}
