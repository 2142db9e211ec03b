"""Which option an ambiguous reply means, as a model read it: what is asked, and what was read, on disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import cast

import polars as pl

from taketwo.benchmarks.canonical import sha256_of, sha256_of_text
from taketwo.benchmarks.question import Question
from taketwo.scores.judgement_parts import keep_first, read_parts, write_part
from taketwo.scores.judgements import answer_string

__all__ = [
    "EXTRACTOR_SHA256",
    "ExtractRequest",
    "Extraction",
    "extractor_prompt",
    "read_extractions",
    "write_extractions",
]

_SCHEMA: Mapping[str, pl.DataType] = {
    "key": pl.String(),
    "question_id": pl.String(),
    "text_sha256": pl.String(),
    "option_index": pl.Int64(),
    "extractor": pl.String(),
    "served_model": pl.String(),
    "prompt_sha256": pl.String(),
    "reason": pl.String(),
    "created": pl.String(),
    "input_tokens": pl.Int64(),
    "output_tokens": pl.Int64(),
}


def extractor_prompt() -> str:
    """Return the instructions of the extractor."""
    folder = resources.files("taketwo.scores") / "prompts"
    return (folder / "answer_extractor.txt").read_text("utf-8")


EXTRACTOR_SHA256 = sha256_of_text(extractor_prompt())


@dataclass(frozen=True, kw_only=True)
class ExtractRequest:
    """An ambiguous reply to a question with options."""

    question: Question
    text: str

    def key(self, extractor: str) -> str:
        """Return the key of its extraction by `extractor`: question, options and text, never the truth."""
        return sha256_of({
            "question": self.question.text,
            "options": list(self.question.options),
            "text": answer_string(self.text),
            "extractor": extractor,
            "prompt": EXTRACTOR_SHA256,
        })


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """Which option a reply commits itself to, as `extractor` read it; None is to no single one.

    Tokens are those of the reading, all replies together; None where the provider reports none.
    """

    key: str
    question_id: str
    text_sha256: str
    option_index: int | None
    extractor: str
    prompt_sha256: str
    reason: str
    created: str
    served_model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


def write_extractions(folder: Path, extractions: Iterable[Extraction]) -> Path | None:
    """Add a part to the extractions in `folder`; returns its path, None where there is nothing to write."""
    rows = [asdict(extraction) for extraction in extractions]
    return write_part(folder, "extractions", rows, _SCHEMA)


def read_extractions(folder: Path) -> Mapping[str, Extraction]:
    """Read all parts of the extractions in `folder`, by key; of several readings the first counts.

    Raises
    ------
    InvalidResults
        If a part cannot be read.
    """
    found: dict[str, Extraction] = {}
    rows = read_parts(
        folder,
        "extractions",
        _SCHEMA,
        "extractions",
        optional=("input_tokens", "output_tokens"),
        nullable=("served_model", "option_index"),
    )
    for _, row in rows:
        extraction = Extraction(**cast("dict[str, str]", dict(row)))  # pyright: ignore[reportArgumentType] the kinds were checked
        keep_first(found, extraction, lambda item: item.option_index)
    return found
