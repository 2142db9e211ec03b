from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from taketwo.errors import InvalidResults
from taketwo.scores.judgements import (
    Judgement,
    Label,
    judgement_key,
    normalised_answer,
    read_judgements,
    write_judgements,
)


def judgement(key: str = "k1", label: Label = "correct") -> Judgement:
    return Judgement(
        key=key,
        question_id="q1",
        answer="a red door",
        label=label,
        judge="openai/gpt-4o",
        served_model="gpt-4o-2026-01-15",
        prompt_sha256="p" * 64,
        reason="same object",
        created="2026-11-29T10:00:00+00:00",
    )


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    write_judgements(tmp_path, [judgement("k1"), judgement("k2", "ungradable")])
    write_judgements(tmp_path, [judgement("k3", "incorrect")])

    found = read_judgements(tmp_path)

    assert {key: one.label for key, one in found.items()} == {
        "k1": "correct",
        "k2": "ungradable",
        "k3": "incorrect",
    }
    assert found["k1"] == judgement("k1")


def test_nothing_to_write_writes_nothing(tmp_path: Path) -> None:
    assert write_judgements(tmp_path, []) is None
    assert list(tmp_path.iterdir()) == []


def test_contradicting_labels_of_one_answer_are_refused(tmp_path: Path) -> None:
    write_judgements(tmp_path, [judgement("k1", "correct")])
    write_judgements(tmp_path, [judgement("k1", "incorrect")])

    with pytest.raises(InvalidResults, match=r"'a red door' to 'q1' has two labels of one judge"):
        read_judgements(tmp_path)


def test_a_part_that_is_not_parquet_is_named(tmp_path: Path) -> None:
    (tmp_path / "part-x.parquet").write_bytes(b"not parquet")

    with pytest.raises(InvalidResults, match=r"part-x\.parquet: not readable as judgements"):
        read_judgements(tmp_path)


def test_a_table_of_something_else_is_refused(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "part-x.parquet")

    with pytest.raises(InvalidResults, match="not a part of judgements"):
        read_judgements(tmp_path)


def test_equal_answers_share_a_key_whatever_their_spacing_and_case() -> None:
    def key(answer: str, judge: str = "j") -> str:
        return judgement_key(question_sha256="q", answer=answer, judge=judge, prompt_sha256="p")

    assert key("A  red\ndoor ") == key("a red door")
    assert key("a red door") != key("a red doors")
    assert key("a red door") != key("a red door", judge="other")
    assert normalised_answer("Ｒｅｄ  1st") == "red 1st"
