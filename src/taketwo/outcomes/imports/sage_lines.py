"""The rows of a SAGE file, read to its end: what is broken in it is collected."""

from __future__ import annotations

import math
from typing import cast

from taketwo.errors import InvalidResults
from taketwo.executions.log_json import Json
from taketwo.outcomes.imports.sources import Line, Source, json_of, line_fault

__all__ = ["sage_lines"]

_WORDS = (
    "question", "answer", "correct_answer", "full_answer", "is_correct", "evaluation_reasoning",
    "ques_type", "difficulty", "modality", "path", "video_path",
)  # fmt: skip


def sage_lines(source: Source, faults: list[str]) -> list[Line]:
    """Return the objects of a file of JSON Lines or of one JSON list, in their order.

    Unlike `Source.lines` it goes on after a line that cannot be read, half of one that a run left
    when it was cut off for instance; each is added to `faults` with file and line. A NaN where words
    are expected, as tables write what is not there, is null.
    """
    try:
        written = source.text
        is_list = written.lstrip()[:1] == "["
        whole = cast("list[object]", source.json()) if is_list else []
    except InvalidResults as error:
        faults.append(str(error))
        return []
    listed: list[tuple[str, object]] = [
        (f"item {at}", record) for at, record in enumerate(whole, start=1)
    ]
    for at, line in enumerate([] if is_list else written.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            listed.append((f"line {at}", json_of(line)))
        except (ValueError, RecursionError) as error:
            faults.append(f"{source.path}, line {at}: {line_fault(error)}")
    faults += [
        f"{source.path}, {place}: a {type(record).__name__}, expected an object"
        for place, record in listed
        if not isinstance(record, dict)
    ]
    return [
        Line(place=place, record=_without_nan(cast("Json", record)))
        for place, record in listed
        if isinstance(record, dict)
    ]


def _without_nan(record: Json) -> Json:
    is_nan = {
        name: isinstance(value := record.get(name), float) and math.isnan(value) for name in _WORDS
    }
    if not any(is_nan.values()):
        return record
    return {name: None if is_nan.get(name) else value for name, value in record.items()}
