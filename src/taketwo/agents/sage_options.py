"""The options of SAGE, and the tools that follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from taketwo.agents.called_in_text import CallForm
from taketwo.errors import TaketwoError
from taketwo.tools.library import Library, library_of
from taketwo.tools.video_tool import Resolution, VideoTool

__all__ = ["SAGE_TOOLS", "SageOptions", "sage_tools"]

SAGE_TOOLS = (
    "analyze",
    "extract_video_parts",
    "ground_event",
    "parse_website",
    "transcribe_speech",
    "web_search",
)
"""The visible tools of Static-SAGE, one for each primitive (Table 1)."""


class SageOptions(BaseModel):
    """How the agent works.

    `library` names a library of composite tools, gives its path, or holds it; without one the agent
    is Static-SAGE. A path starts at the study file, else at the working directory, and is read once,
    when the study is planned: the plan holds what was in it.
    `context_frames` are shown in the first look, at most one a second. `max_steps` are turns of the
    reasoner. `history_results` newest results are shown to it, and `media_frames` of their newest
    frames. `asks` is how often a reply that cannot be used is sent back, in each step.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    library: str | dict[str, object] | None = None
    context_frames: int = Field(default=64, ge=1, le=64)
    max_steps: int = Field(default=10, ge=1, le=200)
    history_results: int = Field(default=10, ge=1, le=200)
    media_frames: int = Field(default=8, ge=0, le=64)
    calls_per_turn: int = Field(default=8, ge=1, le=32)
    call_form: CallForm = "native"
    asks: int = Field(default=2, ge=0, le=5)
    resolution: Resolution = "medium"
    max_frames: int = Field(default=64, ge=1, le=512)
    observer_sees_question: bool = False

    @field_validator("library")
    @classmethod
    def _holds_what_a_path_names(
        cls, value: str | dict[str, object] | None, info: ValidationInfo
    ) -> str | dict[str, object] | None:
        if value is None:
            return None
        try:
            library = library_of(value, folder=_folder(info))
        except TaketwoError as error:
            raise ValueError(str(error)) from error
        is_name = isinstance(value, str) and value == library.name
        return value if is_name else cast("dict[str, object]", library.to_json())

    @property
    def composites(self) -> Library | None:
        """Return the library, read."""
        return None if self.library is None else library_of(self.library)


def sage_tools(options: SageOptions) -> tuple[str | VideoTool, ...]:
    """Return the primitives, and the composite tools where there is a library."""
    library = options.composites
    return (*SAGE_TOOLS, *(() if library is None else library.tools()))


def _folder(info: ValidationInfo) -> Path | None:
    """Return the folder of the study file, where the options come from one."""
    context = cast("Mapping[str, object] | None", info.context)
    folder = None if context is None else context.get("folder")
    return folder if isinstance(folder, Path) else None
