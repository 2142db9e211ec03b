from __future__ import annotations

import re
from pathlib import Path

from taketwo.benchmarks.catalog import BENCHMARK_NAMES
from taketwo.benchmarks.verification import UNVERIFIED, unverified


def test_loaders_written_by_documentation_say_so_and_others_do_not() -> None:
    says = "read by its documentation, unverified against the data"

    assert {name: unverified(name) for name in BENCHMARK_NAMES} == {
        "agentvidbench": says,
        "demo": None,
        "local": None,
        "minerva": says,
        "real_clips": None,
        "rendered": None,
        "sage_bench": says,
        "video_mme": says,
    }


def test_the_guide_marks_the_same_benchmarks() -> None:
    guide = (Path(__file__).parents[2] / "docs/guides/benchmarks.md").read_text("utf-8")

    marked = re.findall(r"^\| `(\w+)` \|.*\| no: from its documentation \|$", guide, re.MULTILINE)

    assert set(marked) == UNVERIFIED
