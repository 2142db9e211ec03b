"""The page is one file, says the verdict first, marks reservations and trusts nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from tests.report.small_study import Study, make_study

from taketwo.executions.manifest_record import Manifest
from taketwo.outcomes.table import Outcomes
from taketwo.report.blocks import Document, Mark
from taketwo.report.document import Sources, build_document
from taketwo.report.frame_album import FrameAlbum
from taketwo.report.html import render_report, write_figures, write_report, write_tables

NASTY = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u202etxt\x00"


class Page(HTMLParser):
    """What a browser would find in the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def count(self, tag: str) -> int:
        return sum(found == tag for found, _ in self.tags)


@pytest.fixture(scope="module")
def document(study: Study) -> Document:
    return build_document(study.sources())


def only(document: Document, anchor: str) -> Document:
    sections = tuple(section for section in document.sections if section.anchor == anchor)
    return replace(document, sections=sections)


@pytest.fixture(scope="module")
def page(study: Study, document: Document) -> str:
    return render_report(document, frames=study.frames)


def test_the_verdict_comes_first(page: str) -> None:
    text = page[page.index("</head>") :]

    assert text.index('<p class="verdict"') < text.index("<table")
    assert re.search(
        r"The accuracy result did not survive re\u2011execution: video_react minus single_turn is "
        r"\+\d+\.\d pp in K1 and [−+]?\d+\.\d pp in K2",
        text,
    )


def test_sections_stand_in_their_order(document: Document) -> None:
    assert [section.anchor for section in document.sections] == [
        "effects",
        "transitions",
        "arms",
        "variation",
        "denominators",
        "limits",
        "cells",
        "manifest",
    ]


def test_nothing_is_loaded_and_nothing_runs(page: str) -> None:
    found = Page(page)
    sources = [value for _, attrs in found.tags for name, value in attrs.items() if name == "src"]

    assert found.count("script") == found.count("link") == found.count("iframe") == 0
    assert sources
    assert all(str(value).startswith("data:image/jpeg;base64,") for value in sources)
    assert not re.search(r"@import|url\((?!#)", page)
    assert "default-src 'none'" in page
    assert not [name for _, attrs in found.tags for name in attrs if name.startswith("on")]


def test_a_study_of_60_questions_stays_under_3_megabytes(page: str) -> None:
    assert len(page.encode()) < 3_000_000


def test_images_never_exceed_their_budget(study: Study) -> None:
    album = FrameAlbum(study.frames, budget=8_000)
    hashes = sorted(path.stem for path in study.frames.rglob("*.jpg"))

    shown = [album.picture(sha256) for sha256 in hashes]

    assert 0 < sum(len(picture.uri) for picture in shown) <= 8_000
    assert shown[-1].reason == "left out to keep the page small"


def test_every_figure_image_and_table_is_named_for_those_who_cannot_see(page: str) -> None:
    found = Page(page)

    assert all(attrs.get("alt") for tag, attrs in found.tags if tag == "img")
    assert all(attrs.get("aria-label") for _, attrs in found.tags if attrs.get("role") == "img")
    assert found.count("table") == found.count("caption") > 8
    assert found.count("h1") == 1
    assert ("html", {"lang": "en"}) in found.tags


def test_numbers_are_those_of_the_comparison(study: Study, page: str) -> None:
    accuracy = study.compare().comparisons[0].metrics["accuracy"]
    first = accuracy.executions[0]

    assert f"+{100 * first.effect:.1f} pp" in page
    assert f"{100 * first.baseline_mean:.1f} % → {100 * first.method_mean:.1f} %" in page
    assert "59 / 60" in page
    assert "not measured" in page
    assert "Perception only" in page


def test_what_is_not_available_is_never_called_the_same(page: str) -> None:
    assert "unavailable" in page
    assert "1 of 1 tool calls with equal arguments returned something else in K2 than in K1" in page


def test_a_study_of_a_benchmark_that_is_near_its_ceiling_says_so(study: Study) -> None:
    long = [
        replace(item, question=replace(item.question, attributes={"duration": "long"}))
        for item in study.plan.questions
    ]
    plan = replace(study.plan, benchmark="video_mme", questions=tuple(long))

    document = build_document(Sources(comparison=study.compare(), plan=plan))
    other = build_document(Sources(comparison=study.compare(), plan=study.plan))

    (mark,) = [mark for mark in document.marks if mark.label == "saturation expected"]
    assert "60 of 60 questions are of Video-MME's long videos" in mark.reasons[0]
    assert "saturation expected" not in {mark.label for mark in other.marks}


@pytest.mark.parametrize("name", ["video_mme", "minerva"])
def test_a_benchmark_whose_loader_has_not_seen_the_data_is_marked_in_the_facts(
    name: str, study: Study
) -> None:
    plan = replace(study.plan, benchmark=name, benchmark_version="1")

    facts = dict(build_document(Sources(comparison=study.compare(), plan=plan)).facts)
    own = dict(build_document(Sources(comparison=study.compare(), plan=study.plan)).facts)

    assert facts["Benchmark"] == (
        f"{name} 1 (read by its documentation, unverified against the data)"
    )
    assert "unverified" not in own["Benchmark"]


def test_marks_stand_on_top_on_every_section_and_in_the_header_of_print(study: Study) -> None:
    earlier, later = study.manifests
    changed = replace(later.fixed[0], sha256=("f" * 64,))
    drifted: Manifest = replace(later, fixed=(changed, *later.fixed[1:]))
    sources = replace(
        study.sources(),
        manifests=(earlier, drifted),
        comparison=study.compare(missing="drop-question"),
        marks=(Mark(label="incomplete", reasons=("K2 has 3 cells left",)),),
    )

    document = build_document(sources)
    page = render_report(document)

    assert [mark.label for mark in document.marks] == [
        "not as planned",
        "drift allowed",
        "incomplete",
    ]
    top = page[page.index("<aside") : page.index("</aside>")]
    assert "benchmark differs between K1 and K2" in top
    assert "the rule fixed &#39;as-wrong&#39; beforehand" in top
    for label in ("not as planned", "drift allowed", "incomplete"):
        assert page.count(f'<span class="reservation">{label}</span>') == len(document.sections)
    assert '@top-center { content: "not as planned, drift allowed, incomplete";' in page


def test_without_reservations_there_is_no_mark(page: str) -> None:
    assert "<aside" not in page
    assert "@top-center" not in page


def test_one_execution_gets_its_table_and_what_is_not_known(tmp_path: Path) -> None:
    study = make_study(tmp_path, questions=12, executions=1)

    page = render_report(build_document(study.sources()), frames=study.frames)

    assert "In the one execution, video_react minus single_turn in accuracy is" in page
    assert "Whether a second execution would agree is not known." in page
    assert "Effects of one execution" in page
    assert "Shift K1" not in page
    assert "Which arm moved" not in page


def test_a_comparison_alone_makes_a_report(study: Study) -> None:
    document = build_document(Sources(comparison=study.compare()))

    assert [section.anchor for section in document.sections] == [
        "effects",
        "transitions",
        "arms",
        "variation",
        "denominators",
    ]
    assert "<h1" in render_report(document)


def test_text_from_outside_is_shown_and_does_nothing(study: Study) -> None:
    first = study.plan.questions[0]
    question = replace(
        first.question, text=NASTY + "x" * 1_000_000, options=(NASTY, "b", "c", "d\u202e")
    )
    plan = replace(
        study.plan, questions=(replace(first, question=question), *study.plan.questions[1:])
    )
    trajectories = [
        replace(
            item,
            reasoning=NASTY,
            events=tuple(
                replace(
                    event, name=NASTY, arguments={NASTY: NASTY * 1000}, result=NASTY, error=NASTY
                )
                if event.kind == "tool"
                else event
                for event in item.events
            ),
        )
        for item in study.trajectories
    ]
    frame = study.outcomes.frame.with_columns(
        answer_text=pl.lit(NASTY), failure=pl.lit(NASTY), accuracy=pl.col("accuracy")
    )
    sources = replace(
        study.sources(), plan=plan, trajectories=trajectories, outcomes=Outcomes(frame)
    )

    document = build_document(sources)
    page = "".join(
        render_report(only(document, anchor), frames=study.frames)
        for anchor in ("cells", "denominators")
    )

    found = Page(page)
    assert found.count("script") == 0
    assert not [name for _, attrs in found.tags for name in attrs if name.startswith("on")]
    assert "\u202e" not in page
    assert "\x00" not in page
    assert "[U+202E]txt[U+0000]" in page
    assert "more characters]" in page
    assert len(page.encode()) < 3_000_000


def test_a_frame_that_does_not_match_its_hash_or_is_missing_is_not_shown(
    study: Study, document: Document, tmp_path: Path
) -> None:
    for path in study.frames.rglob("*.jpg"):
        copy = tmp_path / path.parent.name / path.name
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(path.read_bytes() + b"edited")

    cells = only(document, "cells")
    edited = render_report(cells, frames=tmp_path)

    assert "damaged" in edited
    assert "<img" not in edited
    assert "not in the frame store" in render_report(cells, frames=None)


def test_a_hash_that_is_a_path_reads_no_file(study: Study) -> None:
    trajectories = [
        replace(
            item,
            events=tuple(
                replace(event, media_sha256=("../../../../etc/passwd",))
                if event.kind == "model"
                else event
                for event in item.events
            ),
        )
        for item in study.trajectories
    ]

    document = build_document(replace(study.sources(), trajectories=trajectories))
    page = render_report(only(document, "cells"), frames=study.frames)

    assert "root:" not in page
    assert "not in the frame store" in page


def test_the_same_sources_give_the_same_page(study: Study, page: str) -> None:
    assert render_report(build_document(study.sources()), frames=study.frames) == page


def test_report_tables_and_figures_are_written(
    study: Study, document: Document, tmp_path: Path
) -> None:
    out = write_report(document, tmp_path / "report.html", frames=study.frames)
    tables = write_tables(document, tmp_path / "tables")
    figures = write_figures(document, tmp_path / "figures")

    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert len(tables) == 3 * len(document.tables)
    assert len({path.name for path in tables}) == len(tables)
    assert len(figures) == 4 * len(document.figures) == 16
    text = (tmp_path / "tables" / "metrics-video_react-single_turn.csv").read_text("utf-8")
    assert text.startswith("metric,unit,primary,quantity,execution,n,baseline_mean,method_mean,")
