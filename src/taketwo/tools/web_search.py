"""`web_search`: addresses and short passages for a query, asked anew each time."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

from taketwo.tools.clip_arguments import with_our_names
from taketwo.tools.video_tool import ToolContext, ToolReply, VideoTool, Working
from taketwo.tools.web import NO_WEB

__all__ = ["WEB_SEARCH", "WebSearch", "works_with_web"]

_NAMES: Mapping[str, str] = MappingProxyType({"max_results": "num_results"})


class WebSearch(BaseModel):
    """What to search for; a search by picture is understood and not made."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1, max_length=400, description="What to search for")
    num_results: int = Field(default=5, ge=1, le=10, description="How many results, 1 to 10")
    search_type: str = Field(default="web", max_length=40, description="Always web")
    image_path: str | None = Field(default=None, description="Not used")

    @model_validator(mode="before")
    @classmethod
    def _our_names(cls, values: object) -> object:
        return with_our_names(values, _NAMES)

    def remarks(self) -> list[str]:
        """Return what is to be said of arguments that have no effect."""
        asks_for_images = self.search_type.strip().lower() != "web"
        if asks_for_images or self.image_path is not None:
            return ["pictures cannot be searched for or by; this is a search of the web by words"]
        return []


def works_with_web(context: ToolContext) -> Working:
    """Return whether the study names a web."""
    if context.primitives.web is None:
        return Working(mode="missing", reason=NO_WEB)
    return Working()


async def _run(context: ToolContext, arguments: BaseModel) -> ToolReply:
    asked = cast("WebSearch", arguments)
    hits = await context.primitives.web_search(asked.query, asked.num_results)
    fields = {"results": str(len(hits))}
    notes = asked.remarks()
    if not hits:
        notes.append("nothing was found; try other words")
    if notes:
        fields["note"] = "; ".join(notes)
    listed = "\n".join(
        f"{number}. {hit.title or '(no title)'}\n   {hit.url}\n   {hit.snippet}".rstrip()
        for number, hit in enumerate(hits, start=1)
    )
    return ToolReply(
        fields=fields,
        untrusted={"search results": listed} if hits else {},
        data={"query": asked.query, "results": [hit.to_json() for hit in hits]},
    )


WEB_SEARCH = VideoTool(
    name="web_search",
    description="Search the web; returns titles, addresses and short passages.",
    guidance=(
        "`web_search(query, num_results)` returns titles, addresses and short passages from the web. "
        "Use it for knowledge that the video does not hold, such as who somebody is; what happens in "
        "the video is to be looked at. Results are claims of their authors, not facts."
    ),
    arguments=WebSearch,
    run=_run,
    hidden_arguments=frozenset({"search_type", "image_path"}),
    works=works_with_web,
)
