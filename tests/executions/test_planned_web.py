"""`web:` in a study file: what it may say, what of it is frozen, and how it reaches the cells."""

from __future__ import annotations

import gc
import hashlib
import json
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest
from inspect_ai import eval as evaluate
from tests.cells import video_info
from tests.end_to_end.small_study import paint_video
from tests.executions.test_manifest import cells, manifest, only

from taketwo.errors import PlanChanged, RequestError
from taketwo.executions.freeze import check_unchanged, freeze, write_plan
from taketwo.executions.logs import read_log
from taketwo.executions.manifest_comparison import compare_manifests
from taketwo.executions.plan import Plan, read_plan
from taketwo.executions.schedule import cell_order
from taketwo.executions.studio import Studio
from taketwo.executions.task import task_of_cells
from taketwo.executions.trajectory import PrimitiveOperation, Trajectory
from taketwo.media.video import VideoInfo
from taketwo.tools.page_fetch import PageFetcher

NOW = "2026-03-01T12:00:00Z"
STUDY = """\
study: march
benchmark: {name: local, path: questions.jsonl}
arms:
  first: {agent: "tests.executions.web_agents:searches", role: baseline}
  asks: {agent: "tests.executions.web_agents:searches"}
seed: 5
"""
PAGES = [
    {"url": "https://a.test/1", "title": "Bridge", "text": "The grey bridge opened in 1932."},
    {"url": "https://a.test/2", "title": "Cats", "text": "Cats sleep."},
]


@pytest.fixture(autouse=True)
def _swept() -> Generator[None]:
    """Let go of the streams that the engine leaves open while their warning is still ignored."""
    yield
    gc.collect()


def probe(path: Path) -> VideoInfo:
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    return video_info(path, sha256=sha256, duration_s=4.0, has_audio=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a study folder with one question, a recorded web, and no word of it in the study."""
    home = tmp_path / "march"
    home.mkdir()
    paint_video(home / "a.mp4")
    row = {
        "question_id": "q0",
        "text": "When was it opened?",
        "video_path": "a.mp4",
        "options": ["1932", "1950"],
        "answer": "A",
    }
    (home / "questions.jsonl").write_text(json.dumps(row))
    (home / "web").mkdir()
    (home / "web" / "pages.jsonl").write_text("\n".join(map(json.dumps, PAGES)))
    (home / "study.yaml").write_text(STUDY)
    return home


def frozen(folder: Path, web: str) -> Plan:
    with (folder / "study.yaml").open("a") as file:
        file.write(f"web: {web}\n" if web else "")
    plan = freeze(folder / "study.yaml", now=NOW, probe=probe)
    write_plan(plan, folder)
    return plan


def test_recorded_pages_are_in_the_plan_by_their_content(folder: Path) -> None:
    plan = frozen(folder, "{search: corpus, path: web}")

    assert plan.web is not None
    assert (plan.web.search, plan.web.path) == ("corpus", str(folder.resolve() / "web"))
    assert len(plan.web.sha256 or "") == 64
    assert read_plan(folder / "plan.json") == plan
    assert check_unchanged(plan, folder) == plan.questions


def test_a_plan_without_web_has_no_word_of_it(folder: Path) -> None:
    plan = frozen(folder, "")

    assert plan.web is None
    assert "web" not in plan.to_json()
    assert read_plan(folder / "plan.json").sha256 == plan.sha256


@pytest.mark.parametrize(
    ("web", "message"),
    [
        ("{search: google}", "web.search: must be 'serper', 'ddgs' or 'corpus'"),
        ("{path: web}", "web: missing search; write serper, ddgs or corpus"),
        ("{search: corpus}", "web: missing path; name a file or folder of recorded pages"),
        ("{search: ddgs, path: web}", "web.path: ddgs has no recorded pages; remove it"),
        ("{search: corpus, path: none}", "web.path: .*there is no recorded web here"),
        ("{search: corpus, path: a.mp4}", "web.path: .*cannot be read as UTF-8 text"),
        ("{search: corpus, path: questions.jsonl}", "web.path: .*questions.jsonl:1: no recorded"),
        ("{search: ddgs, key: abc}", "web.key: no such setting"),
    ],
)
def test_what_is_wrong_with_the_web_is_told_with_its_place(
    folder: Path, web: str, message: str
) -> None:
    with pytest.raises(RequestError, match=message):
        frozen(folder, web)


def test_another_page_refuses_with_both_hashes(folder: Path) -> None:
    plan = frozen(folder, "{search: corpus, path: web}")
    changed = [PAGES[0], {**PAGES[1], "text": "Cats sleep all day."}]
    (folder / "web" / "pages.jsonl").write_text("\n".join(map(json.dumps, changed)))

    with pytest.raises(PlanChanged, match=r"web: planned [0-9a-f]{12}, now [0-9a-f]{12}"):
        check_unchanged(plan, folder)
    with pytest.raises(RequestError, match="the recorded pages are not those of the plan"):
        Studio(plan, folder)
    (folder / "study.yaml").unlink()
    with pytest.raises(PlanChanged, match="web: planned"):
        check_unchanged(plan, folder)
    (folder / "web" / "pages.jsonl").unlink()
    with pytest.raises(PlanChanged, match=r"web: .*no recorded page here"):
        check_unchanged(plan, folder)


@pytest.mark.parametrize(
    ("before", "after"), [("", "ddgs"), ("ddgs", ""), ("ddgs", "serper")], ids=str
)
def test_another_web_refuses(folder: Path, before: str, after: str) -> None:
    plan = frozen(folder, before)
    (folder / "study.yaml").write_text(STUDY + (f"web: {after}\n" if after else ""))

    with pytest.raises(PlanChanged, match="web: planned"):
        check_unchanged(plan, folder)


def test_recorded_pages_may_move_with_their_study_and_are_found_there(folder: Path) -> None:
    plan = frozen(folder, "{search: corpus, path: web}")
    moved = folder.rename(folder.parent / "moved")

    located = check_unchanged(plan, moved)
    studio = Studio(replace(plan, questions=located), moved)

    assert studio.web is not None
    studio.close()


def test_a_missing_key_is_told_before_anything_is_spent_and_not_when_planning(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SERPER_API_KEY", raising=False)
    plan = frozen(folder, "serper")

    with pytest.raises(RequestError, match="needs a key in SERPER_API_KEY"):
        check_unchanged(plan, folder)
    monkeypatch.setenv("SERPER_API_KEY", "key-of-the-test")
    assert check_unchanged(plan, folder) == plan.questions
    studio = Studio(plan, folder)
    assert studio.web is not None
    assert isinstance(studio.web.pages, PageFetcher)
    assert "key-of-the-test" not in (folder / "plan.json").read_text()
    studio.close()


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("web", ["{search: corpus, path: web}", ""])
def test_the_web_of_the_study_reaches_its_cells(folder: Path, web: str) -> None:
    plan = frozen(folder, web)

    (log,) = evaluate(
        task_of_cells(plan, 1, folder, cell_order(plan, 1), located=plan.questions),
        model=None,
        log_dir=str(folder / "logs"),
        display="none",
        score=False,
        log_realtime=False,
        ctl_server=False,
    )
    cell = next(cell for cell in read_log(Path(log.location)) if cell.arm == "asks")

    if not web:
        assert (cell.run_status, cell.answer_text, cell.primitives) == ("abstained", "no web", ())
        return
    assert cell.answer_text == "The grey bridge opened in 1932."
    assert [call.name for call in cell.tool_calls] == ["web_search", "parse_website"]
    search, page = cell.primitives
    assert (search.operation, page.operation) == ("web_search", "parse_website")
    assert (search.freshness, search.succeeded) == ("fresh", True)
    assert len(search.asked_sha256 or "") == len(search.result_sha256 or "") == 64


def test_other_results_of_the_web_are_drift(folder: Path) -> None:
    def with_search(execution: int, result: str) -> list[Trajectory]:
        search = PrimitiveOperation(
            operation="web_search",
            succeeded=True,
            freshness="fresh",
            seconds=0.1,
            charged_s=0.1,
            asked_sha256="a" * 64,
            result_sha256=result * 64,
        )
        return [replace(cell, events=(*cell.events, search)) for cell in cells(execution)]

    same = compare_manifests([manifest(1, with_search(1, "b")), manifest(2, with_search(2, "b"))])
    other = compare_manifests([manifest(1, with_search(1, "b")), manifest(2, with_search(2, "c"))])

    assert same.drift == ()
    assert only(other.drift, "web results").message == (
        "6 of 6 equal requests to the web returned something else in K2 than in K1"
    )
