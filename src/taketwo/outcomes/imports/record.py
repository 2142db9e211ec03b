"""What was read out of other people's results: the rows, and the account of how they were understood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import polars as pl

from taketwo.benchmarks.canonical import JsonValue
from taketwo.outcomes.imports.options import Alignment

__all__ = [
    "FAILED",
    "ROW_SCHEMA",
    "STATUSES",
    "UNANSWERED",
    "Aside",
    "ExecutionSource",
    "ImportedResults",
    "Reading",
    "SourceFile",
    "Status",
]

Status = Literal[
    "scored",
    "abstained",
    "unparsed",
    "limit",
    "agent_error",
    "provider_error",
    "media_error",
    "not_run",
    "ungradable",
    "judge_error",
    "not_judged",
    "no_video",
]
STATUSES: tuple[Status, ...] = (
    "scored",
    "abstained",
    "unparsed",
    "limit",
    "agent_error",
    "provider_error",
    "media_error",
    "not_run",
    "ungradable",
    "judge_error",
    "not_judged",
    "no_video",
)
UNANSWERED: tuple[Status, ...] = ("abstained", "unparsed", "limit")
"""Without an answer, by the system's own doing: an accuracy of 0, other metrics as measured."""

FAILED: tuple[Status, ...] = tuple(
    status for status in STATUSES if status != "scored" and status not in UNANSWERED
)
"""Nobody can say what the cell is worth: never a value, never wrong."""

ROW_SCHEMA: Mapping[str, pl.DataType] = {
    "system": pl.String(),
    "execution": pl.String(),
    "question_id": pl.String(),
    "metric": pl.String(),
    "value": pl.Float64(),
    "status": pl.String(),
    "cluster": pl.String(),
    "subgroups": pl.String(),
    "detail": pl.String(),
    "source": pl.String(),
    "place": pl.String(),
}
"""One row per system, execution, question and metric. `execution` is the source's own name of it,
`subgroups` JSON of factor and level, `detail` what the source says of an error, `source` and `place`
the file and where in it."""


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """A file that was read: path, size in bytes, hash of its bytes, and what it was recognised as."""

    path: Path
    size_bytes: int
    sha256: str
    format: str


@dataclass(frozen=True, kw_only=True)
class Aside:
    """Something that was not used: what, how many, why, and the first instance."""

    what: str
    count: int
    why: str
    first: str


@dataclass(frozen=True, kw_only=True)
class ExecutionSource:
    """An execution of a system: its number in our tables, the source's name of it, and its size."""

    system: str
    number: int
    name: str
    n_questions: int
    sources: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How the files were understood; shown before any number.

    `statuses` counts cells by system and status, absent cells of the full grid among them as
    `not_run`. `asides` is everything that was found and not used. `alignment` says whether
    executions of equal number were run together (`blocked`), and `alignment_reason` how we know.
    """

    formats: tuple[str, ...]
    files: tuple[SourceFile, ...]
    systems: tuple[str, ...]
    executions: tuple[ExecutionSource, ...]
    n_questions: int
    n_common: int
    metrics: tuple[str, ...]
    n_clusters: int | None
    cluster_source: str
    statuses: Mapping[str, Mapping[str, int]]
    alignment: Alignment
    alignment_reason: str
    asides: tuple[Aside, ...] = ()
    notes: tuple[str, ...] = ()

    def executions_of(self, system: str) -> tuple[ExecutionSource, ...]:
        """Return the executions of a system, by number."""
        return tuple(item for item in self.executions if item.system == system)

    def text(self) -> str:
        """Return the account for a terminal."""
        return "\n".join(_printable(line) for line in self._lines())

    def _lines(self) -> list[str]:
        return [
            f"Read as {', '.join(self.formats)}",
            *(
                f"  {f.path}  ({f.size_bytes:,} bytes, sha256 {f.sha256[:12]})"
                for f in self.files[:8]
            ),
            *([f"  and {len(self.files) - 8} more files"] if len(self.files) > 8 else []),
            f"Metrics: {', '.join(self.metrics)}",
            f"Questions: {self.n_questions}, of which {self.n_common} in every execution of every "
            "system",
            f"Clusters: {self._clusters()}",
            f"Systems: {len(self.systems)}",
            *(line for system in self.systems for line in self._system(system)),
            f"Alignment of executions: {self.alignment} ({self.alignment_reason})",
            *self._not_used(),
            *(f"Note: {note}" for note in self.notes),
        ]

    def _clusters(self) -> str:
        if self.n_clusters is None:
            return f"none, every question by itself ({self.cluster_source})"
        return f"{self.n_clusters} ({self.cluster_source})"

    def _system(self, system: str) -> list[str]:
        own = self.executions_of(system)
        names = ", ".join(
            f"K{item.number}" if item.name in {f"K{item.number}", str(item.number)}
            else f"K{item.number} = {item.name}"
            for item in own[:12]
        )  # fmt: skip
        more = f" and {len(own) - 12} more" if len(own) > 12 else ""
        counts = ", ".join(f"{count} {name}" for name, count in self.statuses[system].items())
        plural = "execution" if len(own) == 1 else "executions"
        return [f"  {system}: {len(own)} {plural} ({names}{more})", f"    cells: {counts}"]

    def _not_used(self) -> list[str]:
        if not self.asides:
            return ["Not used: nothing, every row is accounted for above"]
        return [
            "Not used:",
            *(f"  {a.count} {a.what}: {a.why}; first {a.first}" for a in self.asides),
        ]

    def to_json(self) -> dict[str, JsonValue]:
        """Return the account as JSON."""
        return {
            "formats": list(self.formats),
            "files": [
                {
                    "path": str(file.path),
                    "size_bytes": file.size_bytes,
                    "sha256": file.sha256,
                    "format": file.format,
                }
                for file in self.files
            ],
            "systems": list(self.systems),
            "executions": [
                {
                    "system": item.system,
                    "number": item.number,
                    "name": item.name,
                    "n_questions": item.n_questions,
                    "sources": list(item.sources),
                }
                for item in self.executions
            ],
            "n_questions": self.n_questions,
            "n_common": self.n_common,
            "metrics": list(self.metrics),
            "n_clusters": self.n_clusters,
            "cluster_source": self.cluster_source,
            "statuses": {system: dict(counts) for system, counts in self.statuses.items()},
            "alignment": self.alignment,
            "alignment_reason": self.alignment_reason,
            "not_used": [
                {"what": a.what, "count": a.count, "why": a.why, "first": a.first}
                for a in self.asides
            ],
            "notes": list(self.notes),
        }


def _printable(line: str) -> str:
    """Return a line without control characters: names come from files that nobody vouches for."""
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line
    )


@dataclass(frozen=True, kw_only=True)
class ImportedResults:
    """Rows of `ROW_SCHEMA` and the account of them.

    `numbers` is the number of an execution by system and name. `factors` are the levels of the
    systems' factors. `baselines` is the baseline of a system where the source itself names one.
    """

    rows: pl.DataFrame
    reading: Reading
    numbers: Mapping[tuple[str, str], int]
    factors: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    baselines: Mapping[str, str] = field(default_factory=dict[str, str])

    def to_polars(self) -> pl.DataFrame:
        """Return the rows."""
        return self.rows
