"""STAR's search of the web: for what the picture shows but does not explain."""

from __future__ import annotations

from taketwo.tools.star_tool import StarTool, asked_of, star_tool
from taketwo.tools.video_tool import ToolContext, ToolReply, Working
from taketwo.tools.web import NO_WEB

__all__ = ["WEB_SEARCH"]

_HITS = 5
_LONGEST_QUERY = 400
_MOST_CHARACTERS = 6000


async def _search(context: ToolContext, text: str) -> ToolReply:
    query = asked_of(text, "the words to search for")[:_LONGEST_QUERY]
    hits = await context.primitives.web_search(query, _HITS)
    lines = [f"{hit.title}: {hit.snippet} ({hit.url})" for hit in hits]
    untrusted = {"hits": "\n".join(lines)[:_MOST_CHARACTERS]} if lines else {}
    return ToolReply(fields={"hits": str(len(hits))}, untrusted=untrusted)


def _reaches(context: ToolContext) -> Working:
    if context.primitives.web is None:
        return Working(mode="missing", reason=NO_WEB)
    return Working()


WEB_SEARCH: StarTool = star_tool(
    name="web-search-tool",
    kind="spatial",
    does=(
        "Searches the web for knowledge about something that was seen or read, such as whom a name "
        "belongs to. It knows nothing of this video."
    ),
    takes="the words to search for.",
    run=_search,
    works=_reaches,
)
