"""Leaving questions out of a benchmark, by a file of their ids; a file that does not fit is refused."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.canonical import sha256_of
from taketwo.errors import RequestError

__all__ = ["AVAILABILITY_FORMAT", "HOLDOUT_FORMAT", "named_questions", "without_questions"]

HOLDOUT_FORMAT = "taketwo.holdout/1"
AVAILABILITY_FORMAT = "taketwo.availability/1"

_LISTED = 20
_LEFT_OUT = re.compile(r"( without [0-9]+ excluded \([0-9a-f]+\))+$")


def without_questions(benchmark: Benchmark, *paths: Path) -> Benchmark:
    """Return `benchmark` without the questions that files name; its version says how many and which.

    A file is a JSON list of question ids, or `{"question_ids": [...]}`, as a holdout and a frozen
    availability are. An id is that of the question, or the one that its source gave it (`raw_id`).

    Raises
    ------
    RequestError
        If a file does not fit (see `named_questions`), or no question is left.
    """
    wanted = {name for path in paths for name in named_questions(benchmark, path)}
    kept = tuple(question for question in benchmark.questions if question.question_id not in wanted)
    if not kept:
        told = ", ".join(map(str, paths))
        raise RequestError(f"{told}: leaves no question of benchmark {benchmark.name!r}")
    if not wanted:
        return benchmark
    version = (
        f"{benchmark.version} without {len(wanted)} excluded ({sha256_of(sorted(wanted))[:12]})"
    )
    return replace(benchmark, version=version, questions=kept)


def named_questions(benchmark: Benchmark, path: Path) -> Sequence[str]:
    """Return the ids of the questions that a file names, in the order of the benchmark.

    A file that says which benchmark and version it was made of must be of these. What another list
    left of a version counts as that version.

    Raises
    ------
    RequestError
        If the file is missing or no list of ids, names none, or was made of another benchmark or
        version, or an id is there twice, is that of no question, or that of several.
    """
    listed = _listed(path)
    _require_same_benchmark(benchmark, listed, path)
    ids = listed.ids
    bearers = _bearers(benchmark)
    unknown = [name for name in ids if name not in bearers]
    if unknown:
        more = f" and {len(unknown) - _LISTED} more" if len(unknown) > _LISTED else ""
        raise RequestError(
            f"{path}: {len(unknown)} of {len(ids)} ids are of no question of benchmark "
            f"{benchmark.name!r}: {', '.join(f'{name!r:.80}' for name in unknown[:_LISTED])}{more}; correct or remove them"
        )
    ambiguous = next((name for name in ids if len(bearers[name]) > 1), None)
    if ambiguous is not None:
        both = " and ".join(
            f"the {what} of question {question_id!r}"
            for question_id, what in bearers[ambiguous].items()
        )
        raise RequestError(
            f"{path}: {ambiguous!r:.80} is {both}; name by its id the question that is meant, and change "
            "its raw_id in the question file where the two are the same"
        )
    wanted = {question_id for name in ids for question_id in bearers[name]}
    return [
        question.question_id for question in benchmark.questions if question.question_id in wanted
    ]


def _bearers(benchmark: Benchmark) -> Mapping[str, Mapping[str, str]]:
    """Return by id which questions bear it, and as what."""
    found: dict[str, dict[str, str]] = {}
    for question in benchmark.questions:
        if question.raw_id is not None:
            found.setdefault(question.raw_id, {})[question.question_id] = "raw_id"
    for question in benchmark.questions:
        own = found.get(question.question_id, {})
        found[question.question_id] = {question.question_id: "id"} | {
            name: what for name, what in own.items() if name != question.question_id
        }
    return found


def _require_same_benchmark(benchmark: Benchmark, listed: _Listed, path: Path) -> None:
    remedy = (
        "make the list anew, or write its ids as a plain list where you know that they mean the same "
        "questions"
    )
    if listed.benchmark is not None and listed.benchmark != benchmark.name:
        raise RequestError(
            f"{path}: was made of benchmark {listed.benchmark!r:.80}, not of {benchmark.name!r}; {remedy}"
        )
    version = listed.version
    if version is None or (
        isinstance(version, str) and _whole(version) == _whole(benchmark.version)
    ):
        return
    raise RequestError(
        f"{path}: was made of version {version!r:.80} of benchmark {benchmark.name!r}, not of "
        f"{benchmark.version!r}; {remedy}"
    )


def _whole(version: str) -> str:
    """Return the version of a benchmark before questions were left out."""
    return _LEFT_OUT.sub("", version)


def _is_ours(format_name: object, path: Path) -> bool:
    if format_name in {HOLDOUT_FORMAT, AVAILABILITY_FORMAT}:
        return True
    if isinstance(format_name, str) and format_name.startswith("taketwo."):
        raise RequestError(
            f"{path}: is {format_name!r:.80}, no list of questions that this version knows "
            f"({HOLDOUT_FORMAT}, {AVAILABILITY_FORMAT})"
        )
    return False


@dataclass(frozen=True, kw_only=True)
class _Listed:
    """What a file lists, and what it says that it was made of; None where it does not say."""

    ids: Sequence[str]
    benchmark: object
    version: object


def _listed(path: Path) -> _Listed:
    wanted = 'expected a JSON list of question ids, or {"question_ids": [...]}'
    try:
        record: object = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise RequestError(
            f"{path}: no such file of excluded questions; write it or drop exclude"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise RequestError(f"{path}: not readable ({error}); {wanted}") from error
    fields: dict[str, object] = {}
    if isinstance(record, dict):
        fields = cast("dict[str, object]", record)
        is_ours = _is_ours(fields.get("format"), path)
        if "question_ids" not in fields or not (is_ours or len(fields) == 1):
            raise RequestError(
                f"{path}: has {', '.join(map(repr, fields)) or 'no fields'}; {wanted}"
            )
        record = fields["question_ids"]
    if not isinstance(record, list):
        raise RequestError(f"{path}: found {type(record).__name__}; {wanted}")
    ids: list[str] = []
    for number, item in enumerate(cast("list[object]", record), start=1):
        if not isinstance(item, str):
            raise RequestError(
                f"{path}: entry {number} is {item!r:.80}, not a text; put ids in quotes"
            )
        ids.append(item)
    repeated = [name for name, count in Counter(ids).items() if count > 1]
    if repeated:
        raise RequestError(f"{path}: {repeated[0]!r:.80} is there more than once; keep one")
    # A frozen availability says what is there: where nothing is lost, it rightly names no other.
    if not ids and not fields.get("available"):
        raise RequestError(f"{path}: names no question; give the ids, or drop the file")
    return _Listed(
        ids=ids, benchmark=fields.get("benchmark"), version=fields.get("benchmark_version")
    )
