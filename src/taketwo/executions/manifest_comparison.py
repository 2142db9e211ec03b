"""Comparing the manifests of several executions of one study.

What must be equal and is not is a refusal; what cannot be held is drift, a flag, or, where nobody
recorded it, unavailable: never `same`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from taketwo.executions.manifest_record import PLANNED_PROMPT, WEB_KEY, Finding, FixedPart, Manifest

__all__ = ["ManifestComparison", "compare_manifests"]

_SEVERAL = frozenset({"system prompt as sent", "tool block as sent"})


@dataclass(frozen=True, kw_only=True)
class ManifestComparison:
    """What several executions of one study do not have in common.

    `refusals` are held-fixed parts that differ; with any, the executions are not comparable.
    `drift` is what changed and cannot be held, `flags` what a reader should know, `unavailable`
    what nobody recorded.
    """

    refusals: tuple[Finding, ...]
    drift: tuple[Finding, ...]
    flags: tuple[Finding, ...]
    unavailable: tuple[Finding, ...]


def compare_manifests(manifests: Sequence[Manifest]) -> ManifestComparison:
    """Compare the executions of a study, each with the one before it, and all for shared answers."""
    findings = [finding for manifest in manifests for finding in manifest.findings]
    for earlier, later in pairwise(sorted(manifests, key=lambda item: item.execution)):
        findings += _fixed_differs(earlier, later)
        findings += _cells_differ(earlier, later)
        findings += _observed_differs(earlier, later)
        findings += _observations_differ(earlier, later)
        findings += _said_again(earlier, later)
    findings += _shared_responses(manifests)
    findings += _served_by_several(manifests)

    def of_kind(kind: str) -> tuple[Finding, ...]:
        return tuple(finding for finding in findings if finding.kind == kind)

    return ManifestComparison(
        refusals=of_kind("refusal"),
        drift=of_kind("drift"),
        flags=of_kind("flag"),
        unavailable=of_kind("unavailable"),
    )


def _where(part: FixedPart) -> str:
    arm = "" if part.arm is None else f"arm {part.arm!r}, "
    return arm + ("" if part.role is None else f"role {part.role}: ")


def _fixed_differs(earlier: Manifest, later: Manifest) -> list[Finding]:
    """Compare the held-fixed parts; a role that was sent a subset of the same hashes is the same.

    Of prompts and tool blocks an agent may have several, for its steps and for its last turn, and an
    execution needs some of them only. Where each execution sent one that the other did not, and
    both sent others alike, that is a flag; the plan and the code are compared by hash besides.
    """
    before = {(part.name, part.arm, part.role): part for part in earlier.fixed}
    findings: list[Finding] = []
    for part in later.fixed:
        old = before.get((part.name, part.arm, part.role))
        label = f"K{earlier.execution} and K{later.execution}"
        if old is None and part.name.startswith((PLANNED_PROMPT, "source of speech")):
            continue  # only one of the two executions had a use for that template, or for speech
        if old is None or not old.sha256 or not part.sha256:
            findings.append(
                Finding(
                    kind="unavailable",
                    check=part.name,
                    arm=part.arm,
                    role=part.role,
                    message=f"{_where(part)}{part.name}: not captured in both of {label}",
                )
            )
            continue
        gone, new = set(old.sha256) - set(part.sha256), set(part.sha256) - set(old.sha256)
        if gone and new:
            is_in_part = part.name in _SEVERAL and bool(set(old.sha256) & set(part.sha256))
            findings.append(
                Finding(
                    kind="flag" if is_in_part else "refusal",
                    check=part.name,
                    arm=part.arm,
                    role=part.role,
                    message=(
                        f"{_where(part)}{part.name} differs between {label}: "
                        f"{min(gone)[:12]} became {min(new)[:12]}"
                    ),
                )
            )
    return findings


def _cells_differ(earlier: Manifest, later: Manifest) -> list[Finding]:
    before = {(cell.arm, cell.question_id): cell for cell in earlier.cells}
    changed: dict[tuple[str, str, str], list[tuple[str, str, str]]] = {}
    uncaptured = 0
    for cell in later.cells:
        old = before.get((cell.arm, cell.question_id))
        if old is None:
            continue
        for name, was, now in (
            ("video", old.video_sha256, cell.video_sha256),
            ("first request", old.first_request_sha256, cell.first_request_sha256),
        ):
            if was is None or now is None:
                ran = old.first_role is not None and cell.first_role is not None
                uncaptured += int(name == "first request" and ran)
            elif was != now:
                role = cell.first_role or "none"
                changed.setdefault((name, cell.arm, role), []).append((cell.question_id, was, now))
    label = f"K{earlier.execution} and K{later.execution}"
    findings = [
        Finding(
            kind="refusal",
            check=name,
            arm=arm,
            role=role,
            count=len(cases),
            message=(
                f"arm {arm!r}, role {role}: the {name} of {len(cases)} questions differs between "
                f"{label}; first {cases[0][0]!r}: {cases[0][1][:12]} became {cases[0][2][:12]}"
            ),
        )
        for (name, arm, role), cases in sorted(changed.items())
    ]
    if uncaptured:
        findings.append(
            Finding(
                kind="unavailable",
                check="first request",
                count=uncaptured,
                message=f"the first request of {uncaptured} cells is not captured in both of {label}",
            )
        )
    return findings


def _observed_differs(earlier: Manifest, later: Manifest) -> list[Finding]:
    before = {(item.arm, item.role): item for item in earlier.observed}
    findings: list[Finding] = []
    for item in later.observed:
        old = before.get((item.arm, item.role))
        if old is None:
            continue
        for check, was, now in (
            ("served model", old.served_models, item.served_models),
            ("fingerprint", old.fingerprints, item.fingerprints),
        ):
            label = f"K{earlier.execution} and K{later.execution}"
            where = f"arm {item.arm!r}, role {item.role}: {check}"
            if not was or not now:
                message, kind = f"{where} is not reported in both of {label}", "unavailable"
            elif was != now:
                message = (
                    f"{where} was {', '.join(was)} in K{earlier.execution}, then {', '.join(now)}"
                )
                kind = "drift"
            else:
                continue
            findings.append(
                Finding(kind=kind, check=check, arm=item.arm, role=item.role, message=message)
            )
    return findings


def _observations_differ(earlier: Manifest, later: Manifest) -> list[Finding]:
    common = set(earlier.observations) & set(later.observations)
    web = {key for key in common if key.startswith(WEB_KEY)}
    findings: list[Finding] = []
    for check, keys, what in (
        ("observations", common - web, "tool calls with equal arguments"),
        ("web results", web, "equal requests to the web"),
    ):
        other = sum(earlier.observations[key] != later.observations[key] for key in keys)
        if other:
            message = (
                f"{other} of {len(keys)} {what} returned something else "
                f"in K{later.execution} than in K{earlier.execution}"
            )
            findings.append(Finding(kind="drift", check=check, count=other, message=message))
    return findings


def _said_again(earlier: Manifest, later: Manifest) -> list[Finding]:
    """Flag arms that are sampled and still said exactly the same in most of their cells."""
    before = {(cell.arm, cell.question_id): cell.said_sha256 for cell in earlier.cells}
    findings: list[Finding] = []
    for arm in later.is_sampled:
        pairs = [
            (before.get((arm, cell.question_id)), cell.said_sha256)
            for cell in later.cells
            if cell.arm == arm
        ]
        both = [(was, now) for was, now in pairs if was is not None and now is not None]
        same = sum(was == now for was, now in both)
        if both and same == len(both):
            findings.append(
                Finding(
                    kind="flag",
                    check="identical trajectories",
                    arm=arm,
                    count=same,
                    message=(
                        f"arm {arm!r}: all {same} trajectories of K{later.execution} are those of "
                        f"K{earlier.execution} word for word, although it is sampled"
                    ),
                )
            )
    return findings


def _shared_responses(manifests: Sequence[Manifest]) -> list[Finding]:
    seen: dict[str, int] = {}
    shared: list[tuple[int, int]] = []
    for manifest in manifests:
        for response in manifest.response_ids:
            if response in seen and seen[response] != manifest.execution:
                shared.append((seen[response], manifest.execution))
            seen.setdefault(response, manifest.execution)
    if not shared:
        return []
    first = shared[0]
    return [
        Finding(
            kind="refusal",
            check="no response twice",
            count=len(shared),
            message=(
                f"{len(shared)} responses have the same id in K{first[0]} and K{first[1]}; "
                f"they are copies, not answers of their own"
            ),
        )
    ]


def _served_by_several(manifests: Sequence[Manifest]) -> list[Finding]:
    served: dict[str, set[str]] = {}
    for manifest in manifests:
        for item in manifest.observed:
            served.setdefault(item.role, set()).update(item.served_models)
    return [
        Finding(
            kind="flag",
            check="one served model",
            role=role,
            count=len(names),
            message=f"role {role} was served by {len(names)} models: {', '.join(sorted(names))}",
        )
        for role, names in sorted(served.items())
        if len(names) > 1
    ]
