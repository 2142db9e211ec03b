"""What was held fixed between executions and what was not, as tables, from their manifests."""

from __future__ import annotations

from collections.abc import Sequence

from taketwo.executions.manifest_comparison import ManifestComparison
from taketwo.executions.manifest_record import Finding, Manifest
from taketwo.executions.plan import Plan
from taketwo.report.numbers import UNDEFINED, count, short_hash
from taketwo.report.tables import Cell, Column, Record, Table, rows_of
from taketwo.report.untrusted import harmless

__all__ = ["attempts_table", "findings_table", "fixed_table", "frozen_table", "observed_table"]

_UNAVAILABLE = "unavailable"


def fixed_table(manifests: Sequence[Manifest]) -> Table:
    """Return every held-fixed part with its hashes in each execution, and whether they agree.

    A part that was not captured is `unavailable`, never the same.
    """
    hashes: dict[tuple[str, str, str], dict[int, tuple[str, ...]]] = {}
    for manifest in manifests:
        for part in manifest.fixed:
            key = (part.name, part.arm or "", part.role or "")
            hashes.setdefault(key, {})[manifest.execution] = part.sha256
    executions = [manifest.execution for manifest in manifests]
    rows: list[list[Cell | str]] = []
    records: list[Record] = []
    for (name, arm, role), by_execution in hashes.items():
        found = [by_execution.get(k, ()) for k in executions]
        where = ", ".join(part for part in (arm, role) if part) or "all arms"
        rows.append([
            Cell(text=name, detail=harmless(where, 100)),
            *map(_hashes_cell, found),
            _agreement(found),
        ])
        records += [
            {"part": name, "arm": arm, "role": role, "execution": k, "sha256": " ".join(values)}
            for k, values in zip(executions, found, strict=True)
        ]
    return Table(
        name="held-fixed",
        caption="Held fixed, by hash of what was really used",
        columns=(
            Column(heading="Part"),
            *(Column(heading=f"K{k}") for k in executions),
            Column(heading="Between executions"),
        ),
        rows=rows_of(rows),
        note=(
            "First 12 digits of SHA-256. Where a role was sent several versions in the course of a "
            "conversation, the first is shown with the number of others."
        ),
        records=tuple(records),
    )


def _hashes_cell(values: tuple[str, ...]) -> Cell:
    if not values:
        return Cell(text=_UNAVAILABLE, tone="quiet")
    more = len(values) - 1
    return Cell(text=short_hash(min(values)), detail=f"and {more} more" if more else "")


def _agreement(found: Sequence[tuple[str, ...]]) -> Cell:
    if len(found) < 2:
        return Cell(text="one execution only", tone="quiet")
    if not all(found):
        return Cell(text=_UNAVAILABLE, tone="quiet")
    sets = [set(values) for values in found]
    if all(values == sets[0] for values in sets):
        return Cell(text="same")
    largest = max(sets, key=len)
    if all(values <= largest for values in sets):
        return Cell(text="same", detail="some versions were not needed in each execution")
    return Cell(text="differs", tone="warn")


def observed_table(manifests: Sequence[Manifest]) -> Table:
    """Return what could only be observed: served models and fingerprints, by arm and role."""
    rows = [
        [
            f"K{manifest.execution} {item.arm}",
            item.role,
            _reported(item.served_models),
            _reported(item.fingerprints),
            count(item.calls),
            count(item.retries),
        ]
        for manifest in manifests
        for item in manifest.observed
    ]
    return Table(
        name="observed",
        caption="Observed, cannot be held fixed",
        columns=(
            Column(heading="Execution, arm"),
            Column(heading="Role"),
            Column(heading="Served model"),
            Column(heading="Fingerprint"),
            Column(heading="Calls", is_number=True),
            Column(heading="Retries", is_number=True),
        ),
        rows=rows_of(rows),
    )


def _reported(values: tuple[str, ...]) -> Cell:
    if not values:
        return Cell(text=_UNAVAILABLE, tone="quiet")
    return Cell(text=harmless(", ".join(values), 200))


def findings_table(found: ManifestComparison) -> Table | None:
    """Return what differs, drifted, deserves notice or was not recorded; None where nothing did."""
    groups: tuple[tuple[str, tuple[Finding, ...]], ...] = (
        ("differs", found.refusals),
        ("drift", found.drift),
        ("notice", found.flags),
        (_UNAVAILABLE, found.unavailable),
    )
    rows = [
        [
            Cell(text=label, tone="warn" if label == "differs" else ""),
            finding.check,
            harmless(finding.message, 600),
        ]
        for label, findings in groups
        for finding in findings
    ]
    if not rows:
        return None
    return Table(
        name="drift",
        caption="Differences, drift, and what is not available",
        columns=(Column(heading="Kind"), Column(heading="Check"), Column(heading="Finding")),
        rows=rows_of(rows),
        note="What nobody recorded is unavailable; it is never taken to be the same.",
    )


def attempts_table(manifests: Sequence[Manifest]) -> Table:
    """Return every start of every execution with its log by hash."""
    rows = [
        [
            f"K{manifest.execution} {attempt.log}",
            attempt.status,
            attempt.created or UNDEFINED,
            short_hash(attempt.sha256),
            short_hash(attempt.code_sha256),
        ]
        for manifest in manifests
        for attempt in manifest.attempts
    ]
    headings = ("Log", "Ended as", "Started", "Log hash", "Code hash")
    return Table(
        name="attempts",
        caption="Logs of the executions",
        columns=tuple(Column(heading=heading) for heading in headings),
        rows=rows_of(rows),
    )


def frozen_table(plan: Plan) -> Table:
    """Return what identifies the plan: hashes, seed, concurrency and package versions."""
    packages = ", ".join(f"{name} {version}" for name, version in sorted(plan.packages.items()))
    rows = [
        ["Plan", plan.sha256],
        ["Benchmark", f"{plan.benchmark} {plan.benchmark_version}, {plan.benchmark_sha256}"],
        ["Code of Take Two", plan.code_sha256],
        ["Seed", str(plan.seed)],
        ["Cells at once", f"{plan.cells}, {plan.connections} connections per model"],
        ["Retries", f"{plan.retries} per request, {plan.timeout_s:g} s each"],
        ["Prices", f"as of {plan.prices_date}" if plan.prices_date else "none given"],
        ["Packages", packages or _UNAVAILABLE],
    ]
    return Table(
        name="frozen",
        caption="Frozen before the first call",
        columns=(Column(heading="What"), Column(heading="Value")),
        rows=rows_of([[name, harmless(value, 2000)] for name, value in rows]),
    )
