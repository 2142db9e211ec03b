from __future__ import annotations

import json

import pytest

from taketwo.analysis.comparison import Comparison
from taketwo.errors import InvalidResults


def test_a_comparison_survives_json_without_loss(paper_comparison: Comparison) -> None:
    text = json.dumps(paper_comparison.to_json(), allow_nan=False)

    assert Comparison.from_json(json.loads(text)) == paper_comparison


def test_json_names_the_executions_of_a_shift_from_and_to(paper_comparison: Comparison) -> None:
    record = json.loads(json.dumps(paper_comparison.to_json()))
    shift = record["comparisons"][0]["metrics"]["accuracy"]["shifts"][0]

    assert record["format"] == "taketwo.comparison/1"
    assert (shift["from"], shift["to"]) == (1, 2)


def test_a_newer_format_is_refused(paper_comparison: Comparison) -> None:
    record = {**paper_comparison.to_json(), "format": "taketwo.comparison/2"}

    with pytest.raises(InvalidResults, match=r"format 'taketwo\.comparison/2' cannot be read"):
        Comparison.from_json(record)


def test_a_record_with_a_hole_says_where(paper_comparison: Comparison) -> None:
    record = {**paper_comparison.to_json()}
    del record["seed"]

    with pytest.raises(InvalidResults, match="1 unusable fields, first seed: Field required"):
        Comparison.from_json(record)
