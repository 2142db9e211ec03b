"""The manifest of an execution: what was held fixed, by hash, and what could only be observed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, cast

from taketwo.benchmarks.canonical import JsonValue, canonical_json
from taketwo.errors import ForeignLog
from taketwo.executions.plan import Availability
from taketwo.media.store import write_atomically

__all__ = [
    "FORMAT",
    "PLANNED_PROMPT",
    "WEB_KEY",
    "Attempt",
    "CellIdentity",
    "Finding",
    "FixedPart",
    "Manifest",
    "Observed",
    "read_manifest",
]

FORMAT = "taketwo.manifest/1"

PLANNED_PROMPT = "planned system prompt as sent"
"""What the name of a part begins with that is a template of the plan, sent without any filling."""

WEB_KEY = "web:"
"""What the key of an observation begins with where it is a request to the web."""

CellAvailability = Availability | Literal["stopped"]
"""Whether a video was there; `stopped` is a cell that its stopped execution did not run."""

FindingKind = Literal["refusal", "drift", "flag", "unavailable"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something that an audit found: what, where, and how often."""

    kind: FindingKind
    check: str
    message: str
    arm: str | None = None
    role: str | None = None
    count: int = 1


@dataclass(frozen=True, kw_only=True)
class FixedPart:
    """One thing that is held fixed, by the hashes of what was used; several where a role has several.

    `name` says what it is (`system prompt as sent`, `limits`, ...). Empty `sha256` is not captured.
    """

    name: str
    arm: str | None = None
    role: str | None = None
    sha256: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Observed:
    """What one role of an arm was seen to be; empty is not reported."""

    arm: str
    role: str
    served_models: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()
    calls: int = 0
    retries: int = 0


@dataclass(frozen=True, kw_only=True)
class CellIdentity:
    """What identifies one cell's run: its video, its first request, and all that it said.

    `said_sha256` covers the texts and the calls of the models; equal ones are the same trajectory.
    """

    arm: str
    question_id: str
    run_status: str
    availability: CellAvailability
    log: str | None = None
    attempts: int = 0
    started: str | None = None
    first_role: str | None = None
    first_request_sha256: str | None = None
    video_sha256: str | None = None
    said_sha256: str | None = None


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One start of an execution: its log by hash, and how it ended.

    `loop_lag_p99_s` is the 99th percentile of how late the event loop was, in seconds; None is
    not measured.
    """

    log: str
    sha256: str
    status: str
    created: str | None
    code_sha256: str | None
    packages: Mapping[str, str] = field(default_factory=dict[str, str])
    loop_lag_p99_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What one execution held fixed, what it could only observe, and what an audit of it found.

    `response_ids` are hashes of model name and response id. `observations` map the hash of a tool
    call (arm, question, name, arguments), or of a request to the web, to the hash of its result.
    `is_sampled` names the arms in which equal trajectories would be a surprise: some role is sampled
    at a temperature other than 0. `speech_sources` say who heard the speech that cells used.
    """

    study: str
    plan_sha256: str
    execution: int
    fixed: tuple[FixedPart, ...]
    observed: tuple[Observed, ...]
    cells: tuple[CellIdentity, ...]
    attempts: tuple[Attempt, ...]
    findings: tuple[Finding, ...]
    response_ids: tuple[str, ...] = ()
    observations: Mapping[str, str] = field(default_factory=dict[str, str])
    is_sampled: tuple[str, ...] = ()
    speech_sources: tuple[str, ...] = ()

    def to_json(self) -> dict[str, JsonValue]:
        """Return the manifest as it stands in `manifest.json`."""
        return {"format": FORMAT, **cast("dict[str, JsonValue]", asdict(self))}

    @classmethod
    def from_json(cls, record: Mapping[str, JsonValue]) -> Manifest:
        """Read what `to_json` wrote."""

        def rows(name: str) -> list[dict[str, str]]:
            return cast("list[dict[str, str]]", record[name])

        return cls(
            study=cast("str", record["study"]),
            plan_sha256=cast("str", record["plan_sha256"]),
            execution=cast("int", record["execution"]),
            fixed=tuple(
                FixedPart(**{**row, "sha256": tuple(row["sha256"])})  # pyright: ignore[reportArgumentType] written by to_json
                for row in rows("fixed")
            ),
            observed=tuple(
                Observed(
                    **{
                        **row,
                        "served_models": tuple(row["served_models"]),
                        "fingerprints": tuple(row["fingerprints"]),
                    }  # pyright: ignore[reportArgumentType] written by to_json
                )
                for row in rows("observed")
            ),
            cells=tuple(CellIdentity(**row) for row in rows("cells")),  # pyright: ignore[reportArgumentType] written by to_json
            attempts=tuple(Attempt(**row) for row in rows("attempts")),  # pyright: ignore[reportArgumentType] written by to_json
            findings=tuple(Finding(**row) for row in rows("findings")),  # pyright: ignore[reportArgumentType] written by to_json
            response_ids=tuple(cast("list[str]", record["response_ids"])),
            observations=cast("Mapping[str, str]", record["observations"]),
            is_sampled=tuple(cast("list[str]", record["is_sampled"])),
            speech_sources=tuple(cast("list[str]", record.get("speech_sources", []))),
        )

    def write(self, path: Path) -> None:
        """Write the manifest; the file appears whole or not at all.

        Raises
        ------
        HarnessError
            If it cannot be written.
        """
        write_atomically(path, canonical_json(json.loads(json.dumps(self.to_json()))))


def read_manifest(path: Path) -> Manifest:
    """Read a `manifest.json`.

    Raises
    ------
    ForeignLog
        If it is missing, not JSON, of a newer version, or lacks a field.
    """
    try:
        record = cast("dict[str, JsonValue]", json.loads(path.read_bytes()))
        match = re.fullmatch(r"taketwo\.manifest/(\d+)", str(record.get("format")))
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise ForeignLog(f"{path}: no readable manifest ({error}); make it with: run") from error
    if match is None or int(match[1]) > 1:
        raise ForeignLog(f"{path}: format is {record.get('format')!r}, this reader knows {FORMAT}")
    try:
        return Manifest.from_json(record)
    except (KeyError, TypeError) as error:
        raise ForeignLog(f"{path}: the manifest lacks or garbles a field ({error!r})") from error
