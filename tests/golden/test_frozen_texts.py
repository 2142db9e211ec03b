from __future__ import annotations

import difflib

import pytest
from tests.golden.rendered import FOLDER, documents

_WRITE = "python -m tests.golden.rendered"


@pytest.mark.parametrize("name", sorted(documents()))
def test_prompts_and_tool_texts_are_those_that_were_reviewed(name: str) -> None:
    path = FOLDER / name
    assert path.is_file(), f"{name} was never frozen; run {_WRITE} and review it"

    frozen, now = path.read_text(encoding="utf-8"), documents()[name]

    change = "\n".join(difflib.unified_diff(frozen.splitlines(), now.splitlines(), lineterm=""))
    assert frozen == now, f"{name} changed; if that was meant, run {_WRITE}:\n{change}"


def test_nothing_is_frozen_that_no_longer_exists() -> None:
    assert {path.name for path in FOLDER.glob("*.md")} == set(documents())
