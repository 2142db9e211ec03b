from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.cells import LogTail
from tests.tools.star_cells import call, star_cell

from taketwo.tools.tool_failure import ToolFailure
from taketwo.tools.web import Pause, SearchHit, Web, WebPage

SEARCH = "web-search-tool"


class Recorded:
    """A web with one hit, or one that fails."""

    def __init__(self, *hits: SearchHit, fails: bool = False) -> None:
        self.hits = hits
        self.fails = fails
        self.asked: list[tuple[str, int]] = []

    async def search(self, query: str, count: int, *, pause: Pause) -> Sequence[SearchHit]:
        self.asked.append((query, count))
        if self.fails:
            raise ToolFailure("search_failed", "the search is down", retryable=True)
        return self.hits

    async def page(self, url: str) -> WebPage:
        raise NotImplementedError


async def test_hits_are_untrusted_text_and_one_operation(tmp_path: Path) -> None:
    web = Recorded(SearchHit(title="Exit", url="https://exit.example", snippet="a way out"))
    box = star_cell(tmp_path)
    box.primitives.web = Web(search=web, pages=web)
    log = LogTail()

    result = await call(box, SEARCH, "exit sign")

    assert web.asked == [("exit sign", 5)]
    assert result.reply.untrusted == {"hits": "Exit: a way out (https://exit.example)"}
    assert [event["operation"] for event in log.of("primitive")] == ["web_search"]


async def test_no_hits_and_a_failing_search_are_told_apart(tmp_path: Path) -> None:
    box = star_cell(tmp_path)
    box.primitives.web = Web(search=Recorded(), pages=Recorded())
    nothing = await call(box, SEARCH, "exit sign")
    box.primitives.web = Web(search=Recorded(fails=True), pages=Recorded())

    failed = await call(box, SEARCH, "exit sign")

    assert nothing.reply.fields == {"hits": "0"}
    assert failed.failure is not None
    assert failed.failure.code == "search_failed"
    assert box.failure is None


async def test_a_study_without_web_has_no_search(tmp_path: Path) -> None:
    box = star_cell(tmp_path)

    result = await call(box, SEARCH, "exit sign")

    assert SEARCH not in {tool.name for tool in box.working_tools()}
    assert "the study names no web" in result.message.text
