"""A recorded web: read, hashed, searched and never left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from taketwo.errors import DataError, RequestError
from taketwo.tools.open_web import open_web
from taketwo.tools.page_fetch import PageFetcher
from taketwo.tools.serper import SerperSearch
from taketwo.tools.tool_failure import ToolFailure
from taketwo.tools.web_corpus import corpus_sha256, read_corpus

PAGES = [
    {
        "url": "https://bridges.test/grey",
        "title": "The grey bridge",
        "text": "A bridge over the bay.\nIt was opened in 1932 by the mayor.\nIt is painted grey.",
    },
    {
        "url": "https://bridges.test/red",
        "title": "The red bridge",
        "html": "<html><body><article><h1>Red</h1><p>"
        + "This bridge was painted red in 1950, says the plate. " * 8
        + "</p></article></body></html>",
    },
    {"url": "https://cats.test/", "title": "Cats", "text": "A cat sleeps most of the day."},
]


def written(folder: Path, *pages: dict[str, str], name: str = "pages.jsonl") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(page) for page in pages) + "\n\n", encoding="utf-8")
    return path


async def no_pause(seconds: float) -> None:
    raise AssertionError(f"waited {seconds} s")


async def test_the_best_page_comes_first_with_the_line_that_fits(tmp_path: Path) -> None:
    corpus = read_corpus(written(tmp_path, *PAGES))

    first, second = await corpus.search(
        "when was the grey bridge opened by the mayor", 5, pause=no_pause
    )

    assert (first.title, first.url) == ("The grey bridge", "https://bridges.test/grey")
    assert first.snippet == "It was opened in 1932 by the mayor."
    assert second.url == "https://bridges.test/red"
    assert len(second.snippet) <= 300
    assert len(await corpus.search("bridge", 1, pause=no_pause)) == 1


@pytest.mark.parametrize("query", ["zeppelin", "", "?!", "\ud800", "x" * 100_000])
async def test_a_query_that_fits_nothing_finds_nothing(tmp_path: Path, query: str) -> None:
    assert await read_corpus(written(tmp_path, *PAGES)).search(query, 5, pause=no_pause) == ()


@pytest.mark.parametrize(
    "url",
    [
        "https://bridges.test/red",
        "http://BRIDGES.test/red/",
        " https://bridges.test/red#part",
        "bridges.test/red",
    ],
)
async def test_a_recorded_page_is_found_by_its_address(tmp_path: Path, url: str) -> None:
    page = await read_corpus(written(tmp_path, *PAGES)).page(url)

    assert (page.url, page.title) == ("https://bridges.test/red", "The red bridge")
    assert "painted red in 1950" in page.text


@pytest.mark.parametrize(
    "url", ["https://bridges.test/blue", "", "file:///etc/passwd", "https://example.org/", "/"]
)
async def test_nothing_else_is_ever_fetched(tmp_path: Path, url: str) -> None:
    with pytest.raises(ToolFailure, match="is not among the 3 recorded pages") as raised:
        await read_corpus(written(tmp_path, *PAGES)).page(url)

    assert raised.value.code == "page_not_found"


def test_the_hash_is_that_of_the_content_however_it_is_laid_out(tmp_path: Path) -> None:
    one = written(tmp_path / "a", *PAGES)
    written(tmp_path / "b", *PAGES[2:], name="x/cats.jsonl")
    written(tmp_path / "b", *PAGES[:2][::-1], name="more.jsonl")
    single = tmp_path / "c" / "one.json"
    single.parent.mkdir()
    single.write_text(json.dumps(PAGES[0], indent=2), encoding="utf-8")
    changed = written(tmp_path / "d", *PAGES[:2], {**PAGES[2], "text": "A cat sleeps all day."})

    assert corpus_sha256(one) == corpus_sha256(tmp_path / "b") == read_corpus(one).sha256
    assert len(read_corpus(tmp_path / "c")) == 1
    assert corpus_sha256(changed) != corpus_sha256(one)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "no recorded page here"),
        ("not json\n", r"pages\.jsonl:1: no recorded page"),
        ('{"url": "https://a.test"}\n', "give either text or html"),
        ('{"url": "https://a.test", "text": "a", "html": "b"}\n', "give either text or html"),
        ('\n{"text": "a"}\n', r"pages\.jsonl:2: no recorded page: url: Field required"),
        ('{"url": "", "text": "a"}\n', "url: String should have at least 1 character"),
        ('{"url": "https://a.test", "text": 3}\n', "text: Input should be a valid string"),
        ("[" * 5000 + "\n", "no recorded page"),
        (
            '{"url": "https://a.test/", "text": "a"}\n{"url": "http://a.test", "text": "b"}\n',
            r"pages\.jsonl:2: the address 'http://a\.test' is there twice",
        ),
    ],
)
def test_a_file_that_is_no_corpus_is_refused_with_its_line(
    tmp_path: Path, lines: str, message: str
) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_text(lines, encoding="utf-8")

    with pytest.raises(DataError, match=message):
        read_corpus(path)


def test_a_path_that_is_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no recorded web here"):
        read_corpus(tmp_path / "none")


def test_other_recorded_pages_than_the_planned_ones_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, *PAGES)

    assert open_web("corpus", path=path, sha256=corpus_sha256(path)).search is not None
    with pytest.raises(RequestError, match="planned 000000000000, now "):
        open_web("corpus", path=path, sha256="0" * 64)
    with pytest.raises(RequestError, match="needs their place"):
        open_web("corpus")


def test_a_live_search_needs_its_key_before_any_cell() -> None:
    with pytest.raises(RequestError, match="needs a key in SERPER_API_KEY, which is not set"):
        open_web("serper", environ={"SERPER_API_KEY": " "})

    web = open_web("serper", environ={"SERPER_API_KEY": "k"})

    assert isinstance(web.search, SerperSearch)
    assert isinstance(web.pages, PageFetcher)
    assert isinstance(open_web("ddgs", environ={}).pages, PageFetcher)


def test_without_a_reader_of_html_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("taketwo.tools.page_text.find_spec", lambda name: None)

    with pytest.raises(RequestError, match=r"needs trafilatura.*pip install 'taketwo\[web\]'"):
        open_web("ddgs", environ={})
    with pytest.raises(RequestError, match="needs trafilatura"):
        read_corpus(written(tmp_path, *PAGES))
    assert len(read_corpus(written(tmp_path, PAGES[0]))) == 1
