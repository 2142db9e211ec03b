"""The documents: links lead somewhere, the demo's study is the example, and nothing names a machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_to_a_file(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)
    relative = [target for target in targets if "://" not in target]

    assert [target for target in relative if not (page.parent / target).exists()] == []


def test_every_page_can_be_reached_from_the_index_or_the_readme() -> None:
    named = (ROOT / "README.md").read_text("utf-8") + (ROOT / "docs/index.md").read_text("utf-8")
    pages = [
        page
        for folder in ("guides", "concepts", "reference")
        for page in (ROOT / "docs" / folder).glob("*.md")
    ]

    assert [page.name for page in pages if page.name not in named] == []


def test_the_readme_names_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text("utf-8")

    assert "make demo" in text
    assert "make test" in text


def test_the_example_study_is_the_demo() -> None:
    packaged = (ROOT / "src/taketwo/demonstration.yaml").read_text("utf-8")

    assert (ROOT / "studies/demo.yaml").read_text("utf-8") == packaged


def test_a_decision_has_a_question_bad_sides_and_what_would_change_it() -> None:
    for page in sorted((ROOT / "docs/adr").glob("[0-9]*.md")):
        text = page.read_text("utf-8")
        for part in ("Question", "Decision", "Bad sides", "What would change our mind"):
            assert part in text, f"{page.name}: {part}"
