"""Leaving questions out of a benchmark, by a file of their ids; a file that does not fit is refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.canonical import sha256_of
from taketwo.errors import RequestError

__all__ = ["AVAILABILITY_FORMAT", "HOLDOUT_FORMAT", "named_questions", "without_questions"]

HOLDOUT_FORMAT = "taketwo.holdout/1"
AVAILABILITY_FORMAT = "taketwo.availability/1"

_LISTED = 20


def without_questions(benchmark: Benchmark, *paths: Path) -> Benchmark:
    """Return `benchmark` without the questions that files name; its version says how many and which.

    A file is a JSON list of question ids, or `{"question_ids": [...]}`, as a holdout and a frozen
    availability are. An id is that of the question, or the one that its source gave it (`raw_id`).

    Raises
    ------
    RequestError
        If a file is missing or no such list, an id is there twice or is that of no question, or
        no question is left.
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

    Raises
    ------
    RequestError
        If the file is missing or no list of ids, or an id is there twice or is that of no question.
    """
    ids = _ids(path)
    known = {
        name for question in benchmark.questions for name in (question.question_id, question.raw_id)
    }
    unknown = [name for name in ids if name not in known]
    if unknown:
        more = f" and {len(unknown) - _LISTED} more" if len(unknown) > _LISTED else ""
        raise RequestError(
            f"{path}: {len(unknown)} of {len(ids)} ids are of no question of benchmark "
            f"{benchmark.name!r}: {', '.join(map(repr, unknown[:_LISTED]))}{more}; correct or remove them"
        )
    wanted = set(ids)
    return [
        question.question_id
        for question in benchmark.questions
        if question.question_id in wanted or question.raw_id in wanted
    ]


def _is_ours(format_name: object, path: Path) -> bool:
    if format_name in {HOLDOUT_FORMAT, AVAILABILITY_FORMAT}:
        return True
    if isinstance(format_name, str) and format_name.startswith("taketwo."):
        raise RequestError(
            f"{path}: is {format_name!r}, no list of questions that this version knows "
            f"({HOLDOUT_FORMAT}, {AVAILABILITY_FORMAT})"
        )
    return False


def _ids(path: Path) -> list[str]:
    wanted = 'expected a JSON list of question ids, or {"question_ids": [...]}'
    try:
        record: object = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise RequestError(
            f"{path}: no such file of excluded questions; write it or drop exclude"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise RequestError(f"{path}: not readable ({error}); {wanted}") from error
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
            raise RequestError(f"{path}: entry {number} is {item!r}, not a text; put ids in quotes")
        ids.append(item)
    repeated = [name for name, count in Counter(ids).items() if count > 1]
    if repeated:
        raise RequestError(f"{path}: {repeated[0]!r} is there more than once; keep one")
    return ids
