"""An agent that asks the web of its study, for tests."""

from __future__ import annotations

from taketwo.agents.answer import Answer
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.tools.toolbox import Toolbox

__all__ = ["searches"]


async def searches(question: VisibleQuestion, toolbox: Toolbox) -> Answer:
    """Answer with what the first page says that a search finds, as the visible tools give it."""
    shown = {tool.name for tool in toolbox.working_tools()}
    if "web_search" not in shown:
        return Answer(status="abstained", text="no web")
    found = await toolbox.run_call("web_search", {"query": "grey bridge opened", "num_results": 1})
    address = str(found.reply.data["results"][0]["url"])  # type: ignore[index, call-overload]
    page = await toolbox.run_call("parse_website", {"url": address})
    return Answer(status="abstained", text=str(page.reply.data["content"]))


searches.roles = ()  # type: ignore[attr-defined]
searches.tools = ("web_search", "parse_website")  # type: ignore[attr-defined]
