"""Building the manifest of an execution out of its plan, its cells and its attempts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from taketwo.benchmarks.canonical import JsonValue, sha256_of
from taketwo.executions.log_json import plain_json
from taketwo.executions.manifest_audit import audit_execution
from taketwo.executions.manifest_comparison import ManifestComparison, compare_manifests
from taketwo.executions.manifest_record import (
    PLANNED_PROMPT,
    WEB_KEY,
    Attempt,
    CellAvailability,
    CellIdentity,
    Finding,
    FixedPart,
    Manifest,
    Observed,
    read_manifest,
)
from taketwo.executions.plan import Plan
from taketwo.executions.stopped import is_stopped
from taketwo.executions.trajectory import Trajectory

__all__ = [
    "VIDEO_MISSING",
    "VIDEO_UNREADABLE",
    "Attempt",
    "CellIdentity",
    "Finding",
    "FixedPart",
    "Manifest",
    "ManifestComparison",
    "availability_of",
    "build_manifest",
    "compare_manifests",
    "read_manifest",
]

NO_AUDIO_TRACK = "no audio track"
"""What stands in the place of a transcriber where a video has no sound."""

VIDEO_MISSING = "VideoMissing"
VIDEO_UNREADABLE = "VideoUnreadable"
"""Causes of a failure that are a loss of the video, not of the agent."""


def availability_of(plan: Plan, trajectory: Trajectory) -> CellAvailability:
    """Return whether the cell's video was there when the cell ran, else when the plan was frozen.

    A cell that its stopped execution did not run is `stopped` where the plan had its video.
    """
    cause = None if trajectory.failure is None else trajectory.failure.cause
    if cause == VIDEO_MISSING:
        return "missing"
    if cause == VIDEO_UNREADABLE:
        return "unreadable"
    if trajectory.run_status == "not_run":
        planned = plan.planned(trajectory.question_id).availability
        return "stopped" if planned == "available" and is_stopped(trajectory) else planned
    return "available"


def build_manifest(
    plan: Plan, execution: int, trajectories: Sequence[Trajectory], attempts: Sequence[Attempt]
) -> Manifest:
    """Return the manifest of one execution out of its cells and its attempts."""
    cells = [item for item in trajectories if item.execution == execution]
    return Manifest(
        study=plan.study,
        plan_sha256=plan.sha256,
        execution=execution,
        fixed=(*_fixed_by_plan(plan), *_fixed_by_code(attempts), *_fixed_as_sent(plan, cells)),
        observed=_observed(cells),
        cells=tuple(_identity(plan, cell) for cell in cells),
        attempts=tuple(attempts),
        findings=audit_execution(plan, cells, attempts),
        response_ids=tuple(sorted(_response_ids(cells))),
        observations=_observations(cells),
        is_sampled=tuple(
            arm.name
            for arm in plan.arms
            if any(policy.temperature != 0 for policy in arm.sampling.values())
        ),
        speech_sources=_speech_sources(cells),
    )


def _speech_sources(cells: Sequence[Trajectory]) -> tuple[str, ...]:
    return _distinct(item.speech_source for cell in cells for item in cell.primitives)


def _is_transcriber(source: str) -> bool:
    """Return whether a model heard the speech: subtitles and silent videos say nothing of a transcriber.

    Which of them an execution met depends on the videos that its agents chose to listen to.
    """
    return source != NO_AUDIO_TRACK and not source.startswith("subtitles:")


def _fixed_by_plan(plan: Plan) -> list[FixedPart]:
    parts = [
        FixedPart(name="benchmark", sha256=(plan.benchmark_sha256,)),
        FixedPart(name="concurrency", sha256=(sha256_of([plan.cells, plan.connections]),)),
        FixedPart(name="request policy", sha256=(sha256_of([plan.retries, plan.timeout_s]),)),
        FixedPart(name="rule", sha256=(sha256_of(plan.rule.to_json()),)),
    ]
    if plan.web is not None:
        parts.append(FixedPart(name="web", sha256=(sha256_of(plan.web.identity),)))
    for arm in plan.arms:
        parts.extend(
            FixedPart(name="prompt template", arm=arm.name, role=role, sha256=(digest,))
            for role, digest in sorted(arm.prompts.items())
        )
        for name, value in (
            ("tool schemas", arm.tools_sha256),
            ("limits", sha256_of(arm.to_json()["limits"])),
            ("options", sha256_of(dict(arm.options))),
        ):
            parts.append(FixedPart(name=name, arm=arm.name, sha256=(value,)))
    return parts


def _fixed_by_code(attempts: Sequence[Attempt]) -> list[FixedPart]:
    codes = sorted({item.code_sha256 for item in attempts if item.code_sha256 is not None})
    packages = sorted({sha256_of(dict(item.packages)) for item in attempts if item.packages})
    return [
        FixedPart(name="code", sha256=tuple(codes)),
        FixedPart(name="packages", sha256=tuple(packages)),
    ]


def _fixed_as_sent(plan: Plan, cells: Sequence[Trajectory]) -> list[FixedPart]:
    """Return the distinct prompts, tool blocks and sampling that each role was really sent.

    A system prompt that is a template of the plan as it stands has a part of its own: an execution
    that never needed it (no call of that tool) has not changed it.
    """
    planned = {arm.name: frozenset(arm.texts) for arm in plan.arms}
    sent: dict[tuple[str, str, str], set[str]] = {}
    for cell in cells:
        for call in cell.all_model_calls:
            sampling = None if call.sampling_sent is None else _digest(dict(call.sampling_sent))
            written = call.system_text_sha256
            is_planned = written is not None and written in planned.get(cell.arm, frozenset())
            for name, digest in (
                (
                    f"{PLANNED_PROMPT} {(written or '')[:12]}"
                    if is_planned
                    else "system prompt as sent",
                    call.system_sha256,
                ),
                ("tool block as sent", call.tools_sha256),
                ("sampling as sent", sampling),
            ):
                known = sent.setdefault((name, cell.arm, call.role), set())
                if digest is not None:
                    known.add(digest)
    parts = [
        FixedPart(name=name, arm=arm, role=role, sha256=tuple(sorted(digests)))
        for (name, arm, role), digests in sorted(sent.items())
    ]
    heard = tuple(
        sorted(sha256_of(source) for source in _speech_sources(cells) if _is_transcriber(source))
    )
    return [
        *parts,
        *([FixedPart(name="source of speech", role="transcriber", sha256=heard)] if heard else []),
    ]


def _observed(cells: Sequence[Trajectory]) -> tuple[Observed, ...]:
    calls = [(cell.arm, call) for cell in cells for call in cell.all_model_calls]
    rows: list[Observed] = []
    for arm, role in sorted({(arm, call.role) for arm, call in calls}):
        mine = [call for name, call in calls if (name, call.role) == (arm, role)]
        rows.append(
            Observed(
                arm=arm,
                role=role,
                served_models=_distinct(call.served_model for call in mine),
                fingerprints=_distinct(call.fingerprint for call in mine),
                calls=len(mine),
                retries=sum(call.retries for call in mine),
            )
        )
    return tuple(rows)


def _distinct(values: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({value for value in values if value is not None}))


def _identity(plan: Plan, cell: Trajectory) -> CellIdentity:
    first = next((call for call in cell.model_calls if call.error is None), None)
    said: list[JsonValue] = [[call.role, call.text, *call.tool_calls] for call in cell.model_calls]
    said += [[call.name, dict(call.arguments)] for call in cell.tool_calls]
    return CellIdentity(
        arm=cell.arm,
        question_id=cell.question_id,
        run_status=cell.run_status,
        availability=availability_of(plan, cell),
        log=cell.log,
        attempts=cell.attempts,
        started=cell.started,
        first_role=None if first is None else first.role,
        first_request_sha256=None if first is None else first.request_sha256,
        video_sha256=cell.video_sha256,
        said_sha256=_digest(said) if cell.model_calls else None,
    )


def _digest(said: JsonValue) -> str:
    """Return the hash of what was logged; numbers that are not finite count as texts."""
    return sha256_of(plain_json(said))


def _response_ids(cells: Sequence[Trajectory]) -> set[str]:
    return {
        _digest([call.model, call.response_id])[:32]
        for cell in cells
        for call in cell.all_model_calls
        if call.response_id
    }


def _observations(cells: Sequence[Trajectory]) -> dict[str, str]:
    """Return what tools and the web returned, by what they were asked; of equal ones the last."""
    found = {
        _digest([cell.arm, cell.question_id, call.name, dict(call.arguments)])[:32]: _digest([
            call.result,
            *call.frames,
        ])[:32]
        for cell in cells
        for call in cell.tool_calls
        if call.error is None
    }
    web = {
        WEB_KEY + _digest([cell.arm, cell.question_id, item.operation, item.asked_sha256])[:32]: (
            item.result_sha256[:32]
        )
        for cell in cells
        for item in cell.primitives
        if item.asked_sha256 is not None and item.result_sha256 is not None
    }
    return found | web
