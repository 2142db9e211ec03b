"""One model behind a judge's name: whose labels are kept, and what is said where there are two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from taketwo.errors import InvalidResults
from taketwo.scores.judgements import Judgement, read_judgements, write_judgements
from taketwo.scores.served_models import OneServedModel, require_one_served_model

JANUARY, JUNE = "gpt-4o-2026-01-15", "gpt-4o-2026-06-01"


def judgement(key: str, **changes: Any) -> Judgement:
    fields: dict[str, Any] = {
        "key": key,
        "question_id": "q1",
        "answer": "a red door",
        "label": "correct",
        "judge": "openai/gpt-4o",
        "served_model": JANUARY,
        "prompt_sha256": "p" * 64,
        "reason": "same object",
        "created": "2026-11-29T10:00:00+00:00",
    }
    return Judgement(**(fields | changes))


def test_labels_of_one_name_and_two_served_models_are_refused_with_every_part(
    tmp_path: Path,
) -> None:
    old = [
        write_judgements(tmp_path, [judgement("k1"), judgement("k2")]),
        write_judgements(tmp_path, [judgement("k3")]),
    ]
    new = write_judgements(tmp_path, [judgement("k4", served_model=JUNE)])
    found = [*read_judgements(tmp_path).values(), judgement("k5", served_model=JUNE)]

    with pytest.raises(InvalidResults) as told:
        require_one_served_model(found, "openai/gpt-4o")

    for part in (
        f"'{JANUARY}' (3 labels, {', '.join(sorted(map(str, old)))})",
        f"'{JUNE}' (2 labels, {new}, asked just now)",
        "remove the parts of all but one of them and start again",
    ):
        assert part in str(told.value)


def test_served_models_count_for_the_judge_in_question_and_where_they_are_known() -> None:
    labels = [
        judgement("k1"),
        judgement("k2", served_model=None),
        judgement("k3", judge="other/judge", served_model="another"),
    ]

    require_one_served_model(labels, "openai/gpt-4o")


def test_the_model_of_the_labels_in_use_is_the_one_that_is_kept() -> None:
    one = OneServedModel([judgement("k0", served_model=None), judgement("k1")])
    done = [judgement("k2", served_model=JUNE), judgement("k3"), judgement("k4", served_model=None)]

    assert [item.key for item in one.kept(done)] == ["k3", "k4"]
    (reason,) = one.refused(done).values()
    assert f"served by {JUNE}, while the labels so far are by {JANUARY}" in reason


def test_of_the_first_labels_the_most_frequent_model_is_the_one() -> None:
    one = OneServedModel([])
    done = [judgement("k1", served_model=JUNE), judgement("k2"), judgement("k3")]

    assert [item.key for item in one.kept(done)] == ["k2", "k3"]
    assert [item.key for item in one.kept([judgement("k4", served_model=JUNE)])] == []
