from __future__ import annotations

import json
from pathlib import Path

import pytest

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.catalog import load_benchmark
from taketwo.errors import RequestError


def _load(folder: Path, excluded: object) -> Benchmark:
    rows = [
        {"question_id": name, "text": "What?", "video_path": "v.mp4", "answer": "this"}
        for name in ("q1", "q2", "a/b")
    ]
    (folder / "q.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    if excluded is not None:
        text = excluded if isinstance(excluded, str) else json.dumps(excluded)
        (folder / "holdout.json").write_text(text, encoding="utf-8")
    return load_benchmark(
        {"name": "local", "path": "q.jsonl", "exclude": "holdout.json"}, base=folder
    )


@pytest.mark.parametrize("excluded", [["q1", "a/b"], {"question_ids": ["a/b", "q1"]}])
def test_questions_of_the_list_are_left_out_and_the_version_counts_them(
    excluded: object, tmp_path: Path
) -> None:
    all_of_them = _load(tmp_path, [])
    some = _load(tmp_path, excluded)

    assert len(all_of_them.questions) == 3
    assert [question.question_id for question in some.questions] == ["q2"]
    assert some.version.startswith(f"{all_of_them.version} without 2 excluded (")
    assert some.fingerprint != all_of_them.fingerprint


def test_another_list_is_another_version(tmp_path: Path) -> None:
    assert _load(tmp_path, ["q1"]).version != _load(tmp_path, ["q2"]).version


@pytest.mark.parametrize(
    ("excluded", "message"),
    [
        (None, r"holdout\.json: no such file of excluded questions; write it or drop exclude"),
        (
            ["q1", "q9", "q8"],
            r"2 of 3 ids are of no question of benchmark 'local': 'q9', 'q8'; correct",
        ),
        (["q1", "q2", "a/b"], "leaves no question of benchmark 'local'"),
        (["q1", "q1"], "'q1' is there more than once; keep one"),
        ([1], "entry 1 is 1, not a text; put ids in quotes"),
        ({"ids": ["q1"]}, "has 'ids'; expected a JSON list of question ids, or"),
        (
            {"format": "taketwo.holdout/2", "question_ids": ["q1"]},
            "is 'taketwo.holdout/2', no list of questions that this version knows",
        ),
        ({"format": "taketwo.plan/1", "question_ids": ["q1"]}, "is 'taketwo.plan/1', no list"),
        ({"format": "other", "question_ids": ["q1"]}, "has 'format', 'question_ids'; expected"),
        ({"format": "taketwo.holdout/1"}, "has 'format'; expected a JSON list"),
        ("7", "found int; expected a JSON list of question ids"),
        ("[", r"not readable \(.*\); expected a JSON list"),
        ("[" * 100_000, r"not readable \(.*\); expected a JSON list"),
    ],
)
def test_a_list_that_does_not_fit_is_refused(
    excluded: object, message: str, tmp_path: Path
) -> None:
    with pytest.raises(RequestError, match=message):
        _load(tmp_path, excluded)


def test_every_benchmark_takes_a_list(tiny: Benchmark, folder: Path) -> None:
    first = tiny.questions[0].question_id
    path = folder.parent / "left-out.json"
    path.write_text(json.dumps([first]), encoding="utf-8")
    spec = {"seed": 3, "videos": 2, "questions": 12, "open_questions": 2, "exclude": path.name}

    found = load_benchmark({"name": "rendered", "folder": folder.name, **spec}, base=folder.parent)

    assert found.questions == tiny.questions[1:]


def test_several_lists_are_left_out_together(tmp_path: Path) -> None:
    both = _load(tmp_path, ["q1", "a/b"])
    (tmp_path / "one.json").write_text('["q1"]', encoding="utf-8")
    (tmp_path / "other.json").write_text(
        '{"format": "taketwo.holdout/1", "seed": 3, "question_ids": ["a/b", "q1"]}', "utf-8"
    )

    found = load_benchmark(
        {"name": "local", "path": "q.jsonl", "exclude": ["one.json", "other.json"]}, base=tmp_path
    )

    assert found == both


def test_an_empty_list_changes_nothing(tmp_path: Path) -> None:
    _load(tmp_path, [])

    assert _load(tmp_path, []) == load_benchmark(
        {"name": "local", "path": "q.jsonl"}, base=tmp_path
    )
