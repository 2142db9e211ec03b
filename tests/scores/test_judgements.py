from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from taketwo.benchmarks.question import Milestone, Question
from taketwo.errors import InvalidResults
from taketwo.scores.judgements import (
    Judgement,
    Label,
    answer_string,
    judge_noise,
    judgement_key,
    read_judgements,
    write_judgements,
)

CAFE = "caf\u00e9"
CAFE_APART = "cafe\u0301"


def judgement(key: str = "k1", label: Label = "correct", **changes: Any) -> Judgement:
    fields: dict[str, Any] = {
        "key": key,
        "question_id": "q1",
        "answer": "a red door",
        "label": label,
        "judge": "openai/gpt-4o",
        "served_model": "gpt-4o-2026-01-15",
        "prompt_sha256": "p" * 64,
        "reason": "same object",
        "created": "2026-11-29T10:00:00+00:00",
    }
    return Judgement(**(fields | changes))


def question(**changes: Any) -> Question:
    fields: dict[str, Any] = {
        "question_id": "q1",
        "text": "What is it?",
        "video_id": "v",
        "video_path": "v.mp4",
        "answer_text": "a cat",
    }
    return Question(**(fields | changes))


def key(answer: str = "a door", **changes: Any) -> str:
    fields: dict[str, Any] = {"question": question(), "judge": "j", "prompt_sha256": "p"}
    return judgement_key(answer=answer, **(fields | changes))


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    write_judgements(tmp_path, [judgement("k1"), judgement("k2", "ungradable")])
    write_judgements(tmp_path, [judgement("k3", "incorrect", repeat=2)])

    found = read_judgements(tmp_path)

    assert {key: one.label for key, one in found.items()} == {
        "k1": "correct",
        "k2": "ungradable",
        "k3": "incorrect",
    }
    assert found["k1"] == judgement("k1")
    assert found["k3"].repeat == 2


def test_a_judgement_knows_the_part_it_was_read_from(tmp_path: Path) -> None:
    path = write_judgements(tmp_path, [judgement("k1")])

    assert read_judgements(tmp_path)["k1"].part == str(path)


def test_nothing_to_write_writes_nothing(tmp_path: Path) -> None:
    assert write_judgements(tmp_path, []) is None
    assert list(tmp_path.iterdir()) == []


def test_a_part_from_before_repeats_and_tokens_is_read_as_the_first_without_any(
    tmp_path: Path,
) -> None:
    row = asdict(judgement("old"))
    del row["repeat"], row["input_tokens"], row["output_tokens"], row["part"]
    pl.DataFrame([row]).write_parquet(tmp_path / "part-old.parquet")
    write_judgements(tmp_path, [judgement("new", repeat=1, input_tokens=300, output_tokens=20)])

    found = read_judgements(tmp_path)

    assert {
        name: (one.repeat, one.input_tokens, one.output_tokens) for name, one in found.items()
    } == {
        "old": (0, None, None),
        "new": (1, 300, 20),
    }


def test_of_two_labels_of_one_answer_the_first_counts_wherever_it_lies(tmp_path: Path) -> None:
    first = replace(judgement("k", "incorrect"), created="2026-01-01T00:00:00+00:00")
    later = replace(judgement("k", "correct"), created="2026-01-02T00:00:00+00:00")
    for name, order in (("a", [first, later]), ("b", [later, first])):
        for item in order:
            write_judgements(tmp_path / name, [item])

    assert {read_judgements(tmp_path / name)["k"].label for name in ("a", "b")} == {"incorrect"}


def test_of_labels_of_the_same_second_it_does_not_matter_who_reads(tmp_path: Path) -> None:
    for name, labels in (("a", ("correct", "incorrect")), ("b", ("incorrect", "correct"))):
        for label in labels:
            write_judgements(tmp_path / name, [judgement("k", label)])

    assert len({read_judgements(tmp_path / name)["k"].label for name in ("a", "b")}) == 1


def test_half_a_character_in_a_reason_loses_no_label(tmp_path: Path) -> None:
    write_judgements(tmp_path, [replace(judgement("k", "correct"), reason="\ud83d")])

    assert read_judgements(tmp_path)["k"].reason == "?"


def test_a_folder_whose_name_looks_like_a_pattern_is_read(tmp_path: Path) -> None:
    for name in ("st[1]", "a*b"):
        write_judgements(tmp_path / name, [judgement("k", "correct")])

        assert read_judgements(tmp_path / name)["k"].label == "correct"


def test_two_studies_that_judged_the_same_answer_alike_share_a_folder(tmp_path: Path) -> None:
    write_judgements(tmp_path, [judgement("k1", created="2026-01-01")])
    write_judgements(tmp_path, [judgement("k1", created="2026-02-02"), judgement("k2")])

    assert sorted(read_judgements(tmp_path)) == ["k1", "k2"]
    assert len(list(tmp_path.iterdir())) == 2


def test_every_part_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "part-a.parquet").write_bytes(b"not parquet")
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "part-b.parquet")
    row = asdict(judgement()) | {"repeat": "first"}
    del row["part"]
    pl.DataFrame([row]).write_parquet(tmp_path / "part-c.parquet")
    pl.DataFrame([row | {"repeat": 0}, row | {"repeat": 0, "key": None}]).write_parquet(
        tmp_path / "part-d.parquet"
    )
    write_judgements(tmp_path, [judgement("k1")])

    with pytest.raises(InvalidResults) as told:
        read_judgements(tmp_path)

    lines = str(told.value).splitlines()
    assert "part-a.parquet: not readable as judgements" in lines[0]
    assert "part-b.parquet: not a part of judgements: its columns are ['a']" in str(told.value)
    assert "part-c.parquet: not a part of judgements: its column 'repeat' holds String" in str(
        told.value
    )
    assert "part-d.parquet: not a part of judgements: its column 'key' is empty in row 2" in str(
        told.value
    )
    assert lines[-1] == "remove them and score again"


def test_a_label_that_is_none_is_refused(tmp_path: Path) -> None:
    write_judgements(tmp_path, [judgement(label="maybe")])  # type: ignore[arg-type]

    with pytest.raises(InvalidResults, match="label 'maybe' is none of correct, incorrect"):
        read_judgements(tmp_path)


def test_answers_share_a_key_where_only_composition_and_outer_space_differ() -> None:
    assert answer_string(f" {CAFE_APART}\n") == CAFE
    assert key(CAFE) == key(f"\t{CAFE_APART} ")
    assert key("a red door") != key("A red door")
    assert key("a red door") != key("a  red door")
    assert key("x\u00b2") != key("x2")


@pytest.mark.parametrize(
    "change",
    [
        {"question_id": "other"},
        {"video_id": "other", "video_path": "other.mp4", "video_duration_s": 3.0},
        {"attributes": {"difficulty": "hard"}, "skills": ("counting",)},
        {"milestones": (Milestone(milestone_id="M1", text="Find it."),), "explanation": "So."},
    ],
)
def test_what_the_judge_is_not_shown_leaves_the_key_alone(change: dict[str, Any]) -> None:
    assert key(question=question(**change)) == key()


@pytest.mark.parametrize(
    "change",
    [
        {"question": question(text="Who is it?")},
        {"question": question(answer_text="a dog")},
        {"question": question(accepted_answers=("a tom",))},
        {"question": question(options=("a cat", "a dog"), answer_index=0)},
        {"judge": "another"},
        {"prompt_sha256": "another"},
        {"repeat": 1},
    ],
)
def test_whatever_a_label_may_depend_on_makes_another_key(change: dict[str, Any]) -> None:
    assert key(**change) != key()


def test_the_true_option_is_part_of_the_key() -> None:
    first, second = (question(options=("a", "b"), answer_index=index) for index in (0, 1))

    assert key(question=first) != key(question=second)


def test_noise_is_the_share_of_answers_whose_labels_are_not_all_the_same() -> None:
    labels = [
        *(judgement(repeat=repeat) for repeat in range(3)),
        *(
            judgement(label="correct" if repeat else "incorrect", repeat=repeat, answer="a door")
            for repeat in range(3)
        ),
        *(judgement(repeat=repeat, question_id="q2") for repeat in range(3)),
        *(judgement(repeat=repeat, question_id="q3", label="ungradable") for repeat in range(3)),
    ]

    noise = judge_noise(labels)

    assert (noise.n, noise.split, noise.share) == (4, 1, 0.25)


def test_an_answer_that_was_judged_once_says_nothing_about_noise() -> None:
    noise = judge_noise([judgement(), judgement(question_id="q2")])

    assert (noise.n, noise.split, noise.share) == (0, 0, None)


def test_noise_of_two_judges_is_not_their_disagreement() -> None:
    one, other = judgement(), replace(judgement(label="incorrect"), judge="other/judge")

    assert judge_noise([one, other]).n == 0
