"""Search by ddgs, whose engines are replaced: nothing leaves the machine."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping, Sequence
from types import ModuleType

import pytest

from taketwo.errors import RequestError
from taketwo.tools import ddgs_search
from taketwo.tools.ddgs_search import DdgsSearch
from taketwo.tools.tool_failure import ToolFailure
from taketwo.tools.web import SearchHit


async def no_pause(seconds: float) -> None:
    raise AssertionError(f"waited {seconds} s")


class DDGSException(Exception):
    pass


class RatelimitException(DDGSException):
    pass


class TimeoutException(DDGSException):
    pass


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Put a package in the place of ddgs that gives what the list holds, or raises it."""
    answers: list[object] = []

    class DDGS:
        def __init__(self, timeout: int) -> None:
            assert timeout > 0

        def text(self, query: str, max_results: int) -> object:
            assert threading.current_thread() is not threading.main_thread()
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

    package, faults = ModuleType("ddgs"), ModuleType("ddgs.exceptions")
    package.DDGS = DDGS  # type: ignore[attr-defined]
    faults.DDGSException = DDGSException  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ddgs", package)
    monkeypatch.setitem(sys.modules, "ddgs.exceptions", faults)
    return answers


async def test_hits_are_read_and_rows_without_an_address_left_out(engines: list[object]) -> None:
    rows: Sequence[Mapping[str, object]] = [
        {"title": "A  bridge", "href": "https://a.test/1", "body": "opened\nin 1932"},
        {"title": "no address", "body": "x"},
        {"title": "B", "href": "https://a.test/2", "body": None},
    ]
    engines.append(rows)

    hits = await DdgsSearch().search("bridge", 3, pause=no_pause)

    assert hits == (
        SearchHit(title="A bridge", url="https://a.test/1", snippet="opened in 1932"),
        SearchHit(title="B", url="https://a.test/2", snippet=""),
    )


@pytest.mark.parametrize("answer", [[], DDGSException("No results found.")])
async def test_no_hits_are_none(engines: list[object], answer: object) -> None:
    engines.append(answer)

    assert await DdgsSearch().search("bridge", 3, pause=no_pause) == ()


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RatelimitException("202"), "rate_limited"),
        (TimeoutException("timed out"), "timeout"),
        (DDGSException("engine broke: secret"), "search_failed"),
    ],
)
async def test_a_fault_of_the_engines_is_a_typed_error(
    engines: list[object], error: Exception, code: str
) -> None:
    engines.append(error)

    with pytest.raises(ToolFailure) as raised:
        await DdgsSearch().search("bridge", 3, pause=no_pause)

    assert (raised.value.code, raised.value.retryable) == (code, True)
    assert "secret" not in raised.value.message


def test_without_the_package_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ddgs_search, "find_spec", lambda name: None)

    with pytest.raises(RequestError, match=r"pip install 'taketwo\[web\]'"):
        ddgs_search.require_ddgs()
