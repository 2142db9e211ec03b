"""Judgements: a label for the content of an answer, whoever gave it and whenever."""

from __future__ import annotations

import io
import unicodedata
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from taketwo.benchmarks.canonical import sha256_of
from taketwo.errors import InvalidResults
from taketwo.media.store import write_atomically

__all__ = [
    "Judgement",
    "Label",
    "ScoreStatus",
    "judgement_key",
    "normalised_answer",
    "read_judgements",
    "write_judgements",
]

Label = Literal["correct", "incorrect", "ungradable"]
ScoreStatus = Literal["scored", "ungradable", "judge_error", "not_judged"]
_LABELS: tuple[Label, ...] = ("correct", "incorrect", "ungradable")
_SCHEMA = {
    name: pl.String()
    for name in (
        "key",
        "question_id",
        "answer",
        "label",
        "judge",
        "served_model",
        "prompt_sha256",
        "reason",
        "created",
    )
}


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What a judge said of an answer; `key` is the hash of what it was asked, arm and execution apart."""

    key: str
    question_id: str
    answer: str
    label: Label
    judge: str
    prompt_sha256: str
    reason: str
    created: str
    served_model: str | None = None


def normalised_answer(text: str) -> str:
    """Return `text` with compatibility forms, case and runs of white space made one.

    Nothing that could carry meaning is removed, so that two answers share a key only where any
    judge must give both the same label.
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def judgement_key(*, question_sha256: str, answer: str, judge: str, prompt_sha256: str) -> str:
    """Return the key of a judgement: identical answers to one question share it in all arms and executions."""
    return sha256_of({
        "question": question_sha256,
        "answer": normalised_answer(answer),
        "judge": judge,
        "prompt": prompt_sha256,
    })


def write_judgements(folder: Path, judgements: Iterable[Judgement]) -> Path | None:
    """Add a part to the pooled labels in `folder`; returns its path, None where there is nothing to write."""
    rows = [asdict(judgement) for judgement in judgements]
    if not rows:
        return None
    buffer = io.BytesIO()
    pl.DataFrame(rows, schema=_SCHEMA).write_parquet(buffer)
    path = folder / f"part-{uuid.uuid4().hex}.parquet"
    write_atomically(path, buffer.getvalue())
    return path


def read_judgements(folder: Path) -> Mapping[str, Judgement]:
    """Read all parts of the pooled labels in `folder`, by key.

    Raises
    ------
    InvalidResults
        If a part cannot be read, or two parts give the same key different labels.
    """
    found: dict[str, Judgement] = {}
    for path in sorted(folder.glob("part-*.parquet")):
        try:
            frame = pl.read_parquet(path)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InvalidResults(
                f"{path}: not readable as judgements ({error}); remove it and score again"
            ) from error
        if set(frame.columns) != set(_SCHEMA):
            raise InvalidResults(
                f"{path}: not a part of judgements: its columns are {frame.columns}"
            )
        for row in frame.iter_rows(named=True):
            judgement = Judgement(**row)
            if judgement.label not in _LABELS:
                raise InvalidResults(
                    f"{path}: label {judgement.label!r} is none of {', '.join(_LABELS)}"
                )
            earlier = found.setdefault(judgement.key, judgement)
            if earlier.label != judgement.label:
                raise InvalidResults(
                    f"{path}: the answer {judgement.answer[:60]!r} to {judgement.question_id!r} has two labels "
                    f"of one judge, {earlier.label!r} and {judgement.label!r}; remove the part that is wrong"
                )
    return found
