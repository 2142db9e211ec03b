from __future__ import annotations

import json
from pathlib import Path

import pytest

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.catalog import load_benchmark
from taketwo.errors import RequestError


def _load(folder: Path, excluded: object, *, exclude: bool = True) -> Benchmark:
    rows = [
        {"question_id": name, "text": "What?", "video_path": "v.mp4", "answer": "this"}
        for name in ("q1", "q2", "a/b")
    ]
    (folder / "q.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    if excluded is not None:
        text = excluded if isinstance(excluded, str) else json.dumps(excluded)
        (folder / "holdout.json").write_text(text, encoding="utf-8")
    named = {"exclude": "holdout.json"} if exclude else {}
    return load_benchmark({"name": "local", "path": "q.jsonl", **named}, base=folder)


@pytest.mark.parametrize("excluded", [["q1", "a/b"], {"question_ids": ["a/b", "q1"]}])
def test_questions_of_the_list_are_left_out_and_the_version_counts_them(
    excluded: object, tmp_path: Path
) -> None:
    all_of_them = _load(tmp_path, None, exclude=False)
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


@pytest.mark.parametrize(
    "excluded",
    [
        [],
        {"question_ids": []},
        {"format": "taketwo.holdout/1", "question_ids": []},
        {"format": "taketwo.availability/1", "question_ids": [], "available": []},
    ],
)
def test_a_list_without_ids_is_refused(excluded: object, tmp_path: Path) -> None:
    with pytest.raises(
        RequestError, match=r"holdout\.json: names no question; give the ids, or drop the file"
    ):
        _load(tmp_path, excluded)


def test_a_frozen_list_that_lost_nothing_leaves_nothing_out(tmp_path: Path) -> None:
    frozen = {
        "format": "taketwo.availability/1",
        "question_ids": [],
        "available": [{"question_id": "q1"}],
    }

    assert _load(tmp_path, frozen) == _load(tmp_path, None, exclude=False)


def test_a_list_of_another_benchmark_is_refused(tmp_path: Path) -> None:
    drawn = {"format": "taketwo.holdout/1", "benchmark": "other", "question_ids": ["q1"]}

    with pytest.raises(
        RequestError, match=r"holdout\.json: was made of benchmark 'other', not of 'local'; "
    ):
        _load(tmp_path, drawn)


@pytest.mark.parametrize("made_of", ["0123456789ab", "0123456789ab without 2 excluded (aa)", 7])
def test_a_list_of_another_version_is_refused_with_both_named(
    made_of: object, tmp_path: Path
) -> None:
    version = _load(tmp_path, None, exclude=False).version
    drawn = {
        "format": "taketwo.availability/1",
        "benchmark": "local",
        "benchmark_version": made_of,
        "question_ids": ["q1"],
    }

    with pytest.raises(RequestError) as caught:
        _load(tmp_path, drawn)

    assert f"of version {made_of!r} of benchmark 'local', not of {version!r}" in str(caught.value)


def test_lists_of_a_version_and_of_what_another_list_left_of_it_fit_together(
    tmp_path: Path,
) -> None:
    whole = _load(tmp_path, None, exclude=False)
    left = _load(tmp_path, ["q1"])
    for name, made_of, excluded in (("h", whole, "q1"), ("a", left, "q2")):
        (tmp_path / f"{name}.json").write_text(
            json.dumps({
                "format": "taketwo.holdout/1",
                "benchmark": "local",
                "benchmark_version": made_of.version,
                "question_ids": [excluded],
            }),
            "utf-8",
        )

    found = load_benchmark(
        {"name": "local", "path": "q.jsonl", "exclude": ["h.json", "a.json"]}, base=tmp_path
    )

    assert [question.raw_id for question in found.questions] == ["a/b"]


@pytest.mark.parametrize(
    ("raw_ids", "what"),
    [
        ({"q2": "q1"}, "'q1' is the id of question 'q1' and the raw_id of question 'q2'"),
        (
            {"q1": "s", "q2": "s"},
            "'s' is the raw_id of question 'q1' and the raw_id of question 'q2'",
        ),
    ],
)
def test_an_id_of_two_questions_is_refused(
    raw_ids: dict[str, str], what: str, tmp_path: Path
) -> None:
    rows = [
        {"question_id": name, "text": "What?", "video_path": "v.mp4", "answer": "this"}
        | ({"raw_id": raw_ids[name]} if name in raw_ids else {})
        for name in ("q1", "q2", "q3")
    ]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    (tmp_path / "ids.json").write_text(json.dumps([what[1 : what.index("'", 1)]]), "utf-8")

    with pytest.raises(RequestError, match=f"{what}; "):
        load_benchmark({"name": "local", "path": "q.jsonl", "exclude": "ids.json"}, base=tmp_path)
