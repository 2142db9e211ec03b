"""Leaving questions out of a benchmark, by a file of their ids; a file that does not fit is refused."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import cast

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.canonical import sha256_of
from taketwo.errors import RequestError

__all__ = ["without_questions"]

_LISTED = 20


def without_questions(benchmark: Benchmark, path: Path) -> Benchmark:
    """Return `benchmark` without the questions that a file names; its version says how many and which.

    The file is a JSON list of question ids, or `{"question_ids": [...]}`. An id is that of the
    question, or the one that its source gave it (`raw_id`).

    Raises
    ------
    RequestError
        If the file is missing or no such list, an id is there twice or is that of no question, or
        no question is left.
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
    kept = tuple(
        question
        for question in benchmark.questions
        if question.question_id not in wanted and question.raw_id not in wanted
    )
    if not kept:
        raise RequestError(f"{path}: leaves no question of benchmark {benchmark.name!r}")
    gone = len(benchmark.questions) - len(kept)
    if not gone:
        return benchmark
    left_out = sorted({q.question_id for q in benchmark.questions} - {q.question_id for q in kept})
    version = f"{benchmark.version} without {gone} excluded ({sha256_of(left_out)[:12]})"
    return replace(benchmark, version=version, questions=kept)


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
        if set(fields) != {"question_ids"}:
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
