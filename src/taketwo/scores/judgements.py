"""Judgements: a label for the content of an answer, whoever gave it and whenever."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, cast

import polars as pl

from taketwo.benchmarks.canonical import sha256_of
from taketwo.benchmarks.question import Question
from taketwo.errors import InvalidResults
from taketwo.scores.judgement_parts import keep_first, read_parts, write_part

__all__ = [
    "JudgeNoise",
    "Judgement",
    "Label",
    "ScoreStatus",
    "answer_string",
    "judge_noise",
    "judgement_key",
    "read_judgements",
    "write_judgements",
]

Label = Literal["correct", "incorrect", "ungradable"]
ScoreStatus = Literal["scored", "ungradable", "judge_error", "not_judged"]
_LABELS: tuple[Label, ...] = ("correct", "incorrect", "ungradable")
_SCHEMA: Mapping[str, pl.DataType] = {
    "key": pl.String(),
    "question_id": pl.String(),
    "answer": pl.String(),
    "label": pl.String(),
    "judge": pl.String(),
    "served_model": pl.String(),
    "prompt_sha256": pl.String(),
    "reason": pl.String(),
    "created": pl.String(),
    "repeat": pl.Int64(),
    "input_tokens": pl.Int64(),
    "output_tokens": pl.Int64(),
}
_LATER = ("repeat", "input_tokens", "output_tokens")
"""Columns that parts of earlier versions lack."""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What a judge said of an answer; `key` is the hash of what it was asked, arm and execution apart.

    `repeat` counts the judgements of one answer from 0. Tokens are those of the judging, all replies
    together; None where the provider reports none. `part` is the file that it was read from, None
    for one that was made just now.
    """

    key: str
    question_id: str
    answer: str
    label: Label
    judge: str
    prompt_sha256: str
    reason: str
    created: str
    served_model: str | None = None
    repeat: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    part: str | None = field(default=None, compare=False, repr=False)


def answer_string(text: str) -> str:
    """Return the string that is judged: `text` in Unicode's composed form (NFC), without white space around.

    Only forms that no reader can tell apart become one. Case, compatibility forms and inner white
    space stay, since a judge may read them as a difference.
    """
    return unicodedata.normalize("NFC", text).strip()


def judgement_key(
    *, question: Question, answer: str, judge: str, prompt_sha256: str, repeat: int = 0
) -> str:
    """Return the key of a judgement: all that the judge is shown, who judges, and which repeat it is.

    Of the question count its text, options and truth, not its id, video or attributes: the same
    question in another study shares its labels.
    """
    return sha256_of({
        "question": question.text,
        "options": list(question.options),
        "truth": {
            "index": question.answer_index,
            "text": question.answer_text,
            "accepted": list(question.accepted_answers),
        },
        "answer": answer_string(answer),
        "judge": judge,
        "prompt": prompt_sha256,
        "repeat": repeat,
    })


def write_judgements(folder: Path, judgements: Iterable[Judgement]) -> Path | None:
    """Add a part to the pooled labels in `folder`; returns its path, None where there is nothing to write."""
    rows = [asdict(judgement) for judgement in judgements]
    for row in rows:
        del row["part"]
    return write_part(folder, "part", rows, _SCHEMA)


def read_judgements(folder: Path) -> Mapping[str, Judgement]:
    """Read all parts of the pooled labels in `folder`, by key.

    Parts from before answers were judged repeatedly have no repeat: theirs is 0; those from before
    tokens were kept have none. Where two processes
    asked at once, the label that was given first counts.

    Raises
    ------
    InvalidResults
        If a part cannot be read or a label is unknown. All rows are looked at; the message has the
        first ten problems.
    """
    found: dict[str, Judgement] = {}
    problems: list[str] = []
    rows = read_parts(
        folder, "part", _SCHEMA, "judgements", optional=_LATER, nullable=("served_model",)
    )
    for path, row in rows:
        values = {**row, "repeat": row["repeat"] or 0, "part": str(path)}
        judgement = Judgement(**cast("dict[str, str]", values))  # pyright: ignore[reportArgumentType] the kinds were checked
        if judgement.label not in _LABELS:
            problems.append(f"{path}: label {judgement.label!r} is none of {', '.join(_LABELS)}")
            continue
        keep_first(found, judgement, lambda item: item.label)
    if problems:
        more = f"\nand {len(problems) - 10} more" if len(problems) > 10 else ""
        raise InvalidResults("\n".join(problems[:10]) + more)
    return found


@dataclass(frozen=True, kw_only=True)
class JudgeNoise:
    """How often a judge contradicts itself: `split` of `n` answers got labels that are not all the same.

    `share` is split / n, 0 to 1; None where no answer was judged more than once.
    """

    n: int
    split: int

    @property
    def share(self) -> float | None:
        """Return the share of the answers whose labels differ."""
        return self.split / self.n if self.n else None


def judge_noise(judgements: Iterable[Judgement]) -> JudgeNoise:
    """Count the answers whose repeated judgements are not unanimous.

    Repeats are asked at temperature 0 like every judgement, so this is the noise that a provider has
    where it promises none; a judge that samples would add its own. Answers with one label say
    nothing about noise and are left out.

    Parameters
    ----------
    judgements
        Those in use. An answer is told apart by question id, string, judge and instructions.
    """
    labels: dict[tuple[str, str, str, str], dict[int, Label]] = defaultdict(dict)
    for one in judgements:
        answer = (one.question_id, answer_string(one.answer), one.judge, one.prompt_sha256)
        labels[answer][one.repeat] = one.label
    repeated = [set(given.values()) for given in labels.values() if len(given) > 1]
    return JudgeNoise(n=len(repeated), split=sum(len(given) > 1 for given in repeated))
