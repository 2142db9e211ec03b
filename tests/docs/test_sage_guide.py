"""The library of the guide is one, and its tables say what the code has."""

from __future__ import annotations

import re
from pathlib import Path

from taketwo.agents.sage_options import SageOptions
from taketwo.tools.composition_flow import notation
from taketwo.tools.composition_forms import OPERATIONS
from taketwo.tools.library import read_library

GUIDE = (Path(__file__).parents[2] / "docs/guides/sage.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", GUIDE, flags=re.DOTALL)


def test_the_library_of_the_guide_can_be_used() -> None:
    (composition,) = read_library(BLOCKS[1], "the guide").compositions

    assert notation(composition) == "Ground -> {Extract, Transcribe} -> Analyze"


def test_every_option_stands_in_the_table() -> None:
    named = set(re.findall(r"`(\w+)`", GUIDE.split("| option |")[1].split("\n\n")[0]))

    assert set(SageOptions.model_fields) <= named


def test_every_port_and_field_of_a_primitive_stands_in_the_table() -> None:
    for name, form in OPERATIONS.items():
        row = next(line for line in GUIDE.splitlines() if line.startswith(f"| `{name}` |"))
        assert set(re.findall(r"`(\w+)`", row)) == {name, *form.ports, *form.fields}
