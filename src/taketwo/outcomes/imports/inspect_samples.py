"""The samples of inspect logs: one record each, out of its summary or the sample itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from taketwo.errors import InvalidResults
from taketwo.executions.log_json import Json, part, text, whole
from taketwo.outcomes.imports.record import Status
from taketwo.outcomes.imports.sources import as_record, text_of

__all__ = ["Sample", "ScoreRow", "choose_samples", "samples_in"]

ScoreRow = tuple[str | None, object, Status]
"""Metric (None: all of them), value as written, and status."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A sample in one epoch: what it was, how it ended, and its scores as written."""

    path: Path
    place: str
    sample_id: str
    epoch: int
    uuid: str | None
    written_scores: Json
    metadata: Mapping[str, object]
    error: str | None
    limit: str | None
    is_completed: bool

    @property
    def detail(self) -> str | None:
        """Return what the log says of how the sample ended, if anything."""
        return self.error or (f"limit: {self.limit}" if self.limit else None)

    @property
    def is_scored(self) -> bool:
        """Return whether it ended without an error and with a score."""
        return self.error is None and bool(self.written_scores)

    def scores(self) -> Iterator[ScoreRow]:
        """Yield a row per score; of a sample that failed, one row for all of them.

        A sample that reached a limit and was scored has that score. A score of several values is
        one metric for each of them, named `scorer.value`.
        """
        if self.error is not None:
            yield None, None, "agent_error"
        elif not self.written_scores:
            ended: Status = "limit" if self.limit else "not_judged"
            yield None, None, ended if self.is_completed else "not_run"
        for scorer, score in self.written_scores.items() if self.error is None else ():
            value = cast("Json", score).get("value") if isinstance(score, Mapping) else score
            if isinstance(value, Mapping):
                for name, one in cast("Json", value).items():
                    yield f"{scorer}.{name}", one, "scored"
            elif isinstance(value, list):
                for index, one in enumerate(cast("list[object]", value)):
                    yield f"{scorer}.{index}", one, "scored"
            else:
                yield scorer, value, "scored"


def samples_in(path: Path, found: Sequence[tuple[str, object]]) -> tuple[Sample, ...]:
    """Return the samples of (place, record).

    Raises
    ------
    InvalidResults
        If a record has no id or no epoch.
    """
    return tuple(_sample(path, place, record) for place, record in found)


def _sample(path: Path, place: str, record: object) -> Sample:
    fields = as_record(record)
    sample_id = text_of(fields.get("id"))
    epoch = whole(fields, "epoch")
    if sample_id is None or epoch is None:
        raise InvalidResults(f"{path}, {place}: a sample without id or epoch")
    completed = fields.get("completed")
    return Sample(
        path=path,
        place=place,
        sample_id=sample_id,
        epoch=epoch,
        uuid=text(fields, "uuid"),
        written_scores=part(fields, "scores"),
        metadata=part(fields, "metadata"),
        error=_error(fields.get("error")),
        limit=text(fields, "limit") or text(part(fields, "limit"), "type"),
        is_completed=completed is not False,
    )


def _error(written: object) -> str | None:
    if written is None or written == "":
        return None
    if isinstance(written, str):
        return written
    return text(written, "message") or "error"


def choose_samples(samples: Sequence[Sample]) -> tuple[Sample, ...]:
    """Return one record per sample and epoch out of the tries of a run, the earlier tries first.

    A scored record stands; one that failed gives way to a later one.

    Raises
    ------
    InvalidResults
        If two tries scored the same sample differently.
    """
    chosen: dict[tuple[str, int], Sample] = {}
    for sample in samples:
        key = (sample.sample_id, sample.epoch)
        held = chosen.get(key)
        if held is None or not held.is_scored:
            chosen[key] = sample
        elif sample.is_scored and _written(sample) != _written(held):
            raise InvalidResults(
                f"sample {sample.sample_id!r} epoch {sample.epoch} has two different scores in one "
                f"run:\n  {held.path}, {held.place}\n  {sample.path}, {sample.place}\n"
                "  leave one of the two logs out"
            )
    return tuple(chosen.values())


def _written(sample: Sample) -> str:
    values = {
        name: cast("Json", score).get("value") if isinstance(score, Mapping) else score
        for name, score in sample.written_scores.items()
    }
    return json.dumps(values, sort_keys=True)
