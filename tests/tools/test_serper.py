"""Search by Serper over a server of the test."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import httpx
import pytest

from taketwo.tools.serper import SerperSearch
from taketwo.tools.tool_failure import ToolFailure
from taketwo.tools.web import SearchHit

KEY = "key-of-the-test"
HITS = {
    "searchParameters": {"q": "bridge"},
    "organic": [
        {
            "title": "A  bridge",
            "link": "https://a.test/1",
            "snippet": "opened\nin 1932",
            "position": 1,
        },
        {"title": None, "link": "https://a.test/2"},
        {"title": "no link"},
        {"title": "Third", "link": "https://a.test/3", "snippet": "\ud800"},
    ],
}


class Service:
    """Gives one answer after the other and notes what it was asked."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.asked: list[httpx.Request] = []
        self.waited: list[float] = []
        self._answers = list(answers)

    def search(self) -> SerperSearch:
        return SerperSearch(KEY, transport=lambda: httpx.MockTransport(self._answer))

    async def pause(self, seconds: float) -> None:
        self.waited.append(seconds)

    async def hits(self, count: int = 5) -> Sequence[SearchHit]:
        return await self.search().search("bridge", count, pause=self.pause)

    async def failure(self) -> ToolFailure:
        with pytest.raises(ToolFailure) as raised:
            await self.hits()
        assert KEY not in str(raised.value)
        return raised.value

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def busy(**headers: str) -> httpx.Response:
    return httpx.Response(429, headers=headers)


async def test_hits_are_read_and_the_number_wanted_is_in_the_request() -> None:
    service = Service(httpx.Response(200, content=json.dumps(HITS)))

    hits = await service.hits(count=2)

    assert hits == (
        SearchHit(title="A bridge", url="https://a.test/1", snippet="opened in 1932"),
        SearchHit(title="", url="https://a.test/2", snippet=""),
    )
    (request,) = service.asked
    assert json.loads(request.content) == {"q": "bridge", "num": 2}
    assert request.headers["x-api-key"] == KEY
    assert KEY not in str(request.url)


async def test_no_hits_are_none_and_not_a_failure() -> None:
    assert await Service(httpx.Response(200, json={"organic": []})).hits() == ()
    assert await Service(httpx.Response(200, json={"searchParameters": {}})).hits() == ()


async def test_a_busy_service_is_asked_again_after_what_it_asks_for() -> None:
    service = Service(busy(**{"retry-after": "2.5"}), busy(), httpx.Response(200, json=HITS_CLEAN))

    assert len(await service.hits()) == 1
    assert service.waited == [2.5, 2.0]


HITS_CLEAN = {"organic": [{"title": "t", "link": "https://a.test/1", "snippet": "s"}]}


@pytest.mark.parametrize(
    ("header", "waited"),
    [
        ("Wed, 21 Oct 2015 07:28:00 GMT", [0.0, 2.0]),
        ("soon", [1.0, 2.0]),
        ("nan", [1.0, 2.0]),
        ("-5", [0.0, 2.0]),
        ("3600", []),
        ("Fri, 31 Dec 9999 23:59:59 GMT", []),
    ],
)
async def test_patience_is_bounded_in_attempts_and_seconds(
    header: str, waited: list[float]
) -> None:
    service = Service(busy(**{"retry-after": header}), busy(), busy())

    failure = await service.failure()

    assert (failure.code, failure.retryable) == ("rate_limited", True)
    assert service.waited == waited
    assert len(service.asked) == len(waited) + 1


@pytest.mark.parametrize(
    ("answers", "code", "retryable", "asked"),
    [
        ([httpx.Response(401)], "search_refused", False, 1),
        ([httpx.Response(403)], "search_refused", False, 1),
        ([httpx.Response(400)], "search_failed", False, 1),
        ([httpx.Response(302, headers={"location": "http://x"})], "search_failed", False, 1),
        ([httpx.Response(500)] * 3, "search_failed", True, 3),
        ([httpx.ReadTimeout("slow")], "timeout", True, 1),
        ([httpx.ConnectError("refused")], "search_failed", True, 1),
        ([httpx.Response(200, text="<html>")], "search_failed", True, 1),
        ([httpx.Response(200, json={"message": "out of credits"})], "search_failed", True, 1),
        ([httpx.Response(200, json=[1])], "search_failed", True, 1),
        ([httpx.Response(200, json={"organic": [3]})], "search_failed", True, 1),
        ([httpx.Response(200, json={"organic": {"a": 1}})], "search_failed", True, 1),
        ([httpx.Response(200, text="[" * 100_000)], "search_failed", True, 1),
        ([httpx.Response(200, content=b" " * 2_000_001)], "search_failed", True, 1),
    ],
)
async def test_what_is_no_list_of_hits_is_a_failure_and_never_no_hits(
    answers: list[httpx.Response | Exception], code: str, retryable: bool, asked: int
) -> None:
    service = Service(*answers)

    failure = await service.failure()

    assert (failure.code, failure.retryable, len(service.asked)) == (code, retryable, asked)


def test_the_key_is_not_in_the_text_of_the_search() -> None:
    make: Callable[[], object] = lambda: SerperSearch(KEY)  # noqa: E731 shorter here
    assert KEY not in repr(make())
