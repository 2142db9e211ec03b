"""The public names are those that the reference documents, and each can be had."""

from __future__ import annotations

import re
from pathlib import Path

import taketwo
from taketwo.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]


def test_every_exported_name_can_be_had_and_has_a_documentation() -> None:
    for name in taketwo.__all__:
        assert getattr(taketwo, name).__doc__, name


def test_the_exported_names_are_those_of_the_reference() -> None:
    page = (ROOT / "docs/reference/python.md").read_text("utf-8")

    assert sorted(re.findall(r"^## `(\w+)`$", page, re.MULTILINE)) == sorted(taketwo.__all__)


def test_no_exported_name_is_also_a_module_of_the_package() -> None:
    modules = {path.stem for path in (ROOT / "src/taketwo").iterdir()}

    assert not modules & set(taketwo.__all__)


def test_every_command_has_help_with_an_example_and_exit_statuses() -> None:
    page = (ROOT / "docs/reference/commands.md").read_text("utf-8")

    for name in COMMANDS:
        section = page.split(f"## `taketwo {name}`")[1].split("\n## ")[0]
        assert "Exit status" in section, name
        assert "Example" in section, name
