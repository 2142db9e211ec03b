"""What is wrong inside one execution, whatever the others say.

The checks are those that a single execution can fail: answers out of a cache, sampling that was
sent other than planned, media that the request did not carry, tool results cut short, cells that
no start explains.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from taketwo.benchmarks.canonical import JsonValue
from taketwo.executions.manifest_record import Attempt, Finding
from taketwo.executions.plan import Plan, Sampling
from taketwo.executions.trajectory import ModelCall, Trajectory

__all__ = ["audit_execution"]

_LATE_LOOP_S = 0.1
"""An event loop that is later than this in 1 of 100 looks makes measured seconds doubtful."""


def audit_execution(
    plan: Plan, trajectories: Sequence[Trajectory], attempts: Sequence[Attempt]
) -> tuple[Finding, ...]:
    """Return what the checks of a single execution found."""
    found = [
        *_cached(trajectories),
        *_sampled_otherwise(plan, trajectories),
        *_media_missing(trajectories),
        *_truncated(trajectories),
        *_started_before_any_attempt(trajectories, attempts),
        *_code_changed(attempts),
        *_late_loop(attempts),
        *_reported(trajectories),
        *_unmeasured(trajectories),
    ]
    return tuple(found)


def _calls(trajectories: Iterable[Trajectory]) -> Iterator[tuple[Trajectory, ModelCall]]:
    return ((cell, call) for cell in trajectories for call in cell.all_model_calls)


def _cached(trajectories: Sequence[Trajectory]) -> Iterator[Finding]:
    hits = [(cell, call) for cell, call in _calls(trajectories) if call.cache is not None]
    if hits:
        cell, call = hits[0]
        yield Finding(
            kind="refusal",
            check="no cache",
            arm=cell.arm,
            role=call.role,
            count=len(hits),
            message=(
                f"{len(hits)} model calls went through a cache (first: {cell.sample_id}, "
                f"{call.cache}); a copied answer is no re-execution"
            ),
        )


def _sampled_otherwise(plan: Plan, trajectories: Sequence[Trajectory]) -> Iterator[Finding]:
    """Compare each parameter that the plan fixes with what was sent, by arm and role."""
    wrong: dict[tuple[str, str, str], list[str]] = {}
    for cell, call in _calls(trajectories):
        if call.sampling_sent is None or call.error is not None:
            continue
        policies = {str(role): policy for role, policy in plan.arm(cell.arm).sampling.items()}
        policy = policies.get(call.role)
        for name, asked, sent in _differences(policy, call.sampling_sent):
            wrong.setdefault((cell.arm, call.role, name), []).append(f"asked {asked}, sent {sent}")
    for (arm, role, name), cases in sorted(wrong.items()):
        yield Finding(
            kind="refusal",
            check="sampling as planned",
            arm=arm,
            role=role,
            count=len(cases),
            message=(
                f"arm {arm!r}, role {role}: {name} was not sent as planned in {len(cases)} calls "
                f"(first: {cases[0]}); plan a value that this provider accepts"
            ),
        )


def _differences(
    policy: Sampling | None, sent: dict[str, JsonValue] | object
) -> Iterator[tuple[str, JsonValue, JsonValue]]:
    if policy is None or not isinstance(sent, dict):
        return
    values: dict[str, JsonValue] = {}
    for name, value in sent.items():  # pyright: ignore[reportUnknownVariableType] JSON of the request
        values[str(name).rsplit(".", 1)[-1].lower().replace("_", "")] = value  # pyright: ignore[reportUnknownArgumentType] JSON of the request
    for name in ("temperature", "top_p", "top_k"):
        asked: float | None = getattr(policy, name)
        found = values.get(name.replace("_", ""))
        if asked is not None and found != asked:
            yield name, asked, found


def _media_missing(trajectories: Sequence[Trajectory]) -> Iterator[Finding]:
    """Find calls whose captured request carries fewer or more media than the call recorded."""
    lost = [
        (cell, call)
        for cell, call in _calls(trajectories)
        if call.system_sha256 is not None and call.request_sha256 is None and call.media_sha256
    ]
    if lost:
        cell, call = lost[0]
        yield Finding(
            kind="refusal",
            check="media as handed",
            arm=cell.arm,
            role=call.role,
            count=len(lost),
            message=(
                f"{len(lost)} requests do not carry the media that the call was handed (first: "
                f"{cell.sample_id}, role {call.role}, {len(call.media_sha256)} handed); "
                f"the provider dropped or repeated some"
            ),
        )


def _truncated(trajectories: Sequence[Trajectory]) -> Iterator[Finding]:
    cut = [(cell, call) for cell in trajectories for call in cell.tool_calls if call.truncated]
    if cut:
        cell, call = cut[0]
        yield Finding(
            kind="refusal",
            check="tool results whole",
            arm=cell.arm,
            count=len(cut),
            message=(
                f"{len(cut)} tool results were cut short by the engine (first: {call.name} in "
                f"{cell.sample_id})"
            ),
        )


def _started_before_any_attempt(
    trajectories: Sequence[Trajectory], attempts: Sequence[Attempt]
) -> Iterator[Finding]:
    created = {attempt.log: attempt.created for attempt in attempts}
    early = [
        cell
        for cell in trajectories
        if cell.log is not None
        and cell.started is not None
        and (begun := created.get(cell.log)) is not None
        and cell.started[:19] < begun[:19]
    ]
    if early:
        yield Finding(
            kind="refusal",
            check="run in this execution",
            arm=early[0].arm,
            count=len(early),
            message=(
                f"{len(early)} cells started before the log that holds them (first: "
                f"{early[0].sample_id}); they were copied from an earlier run"
            ),
        )


def _code_changed(attempts: Sequence[Attempt]) -> Iterator[Finding]:
    codes = {attempt.code_sha256 for attempt in attempts if attempt.code_sha256}
    if len(codes) > 1:
        yield Finding(
            kind="refusal",
            check="one code",
            message=f"the attempts ran {len(codes)} versions of the code: "
            + ", ".join(sorted(code[:12] for code in codes)),
        )


def _late_loop(attempts: Sequence[Attempt]) -> Iterator[Finding]:
    lags = [item.loop_lag_p99_s for item in attempts if item.loop_lag_p99_s is not None]
    if len(lags) < len(attempts) or not lags:
        yield Finding(
            kind="unavailable",
            check="event loop",
            message="how late the event loop was is not recorded for every attempt",
        )
    if lags and max(lags) > _LATE_LOOP_S:
        yield Finding(
            kind="flag",
            check="event loop",
            message=(
                f"the event loop was {max(lags):.2f} s late in 1 of 100 looks; "
                f"take latency_wall_s with care and run fewer cells at once"
            ),
        )


def _reported(trajectories: Sequence[Trajectory]) -> Iterator[Finding]:
    """Tell the arms whose work was done outside and is known by what the agent said."""
    told: dict[str, list[int]] = {}
    for cell in trajectories:
        events = [event for event in cell.events if event.kind != "note" and event.is_reported]
        if events:
            told.setdefault(cell.arm, []).append(len(events))
    for arm, counts in sorted(told.items()):
        yield Finding(
            kind="unavailable",
            check="work as seen",
            arm=arm,
            count=sum(counts),
            message=(
                f"arm {arm!r}: {sum(counts)} calls and operations in {len(counts)} cells are as the "
                "agent reported them; what was sent to its models is not captured"
            ),
        )


def _unmeasured(trajectories: Sequence[Trajectory]) -> Iterator[Finding]:
    """Tell the metrics that nobody measured, by arm and reason."""
    cells: dict[tuple[str, str, str], int] = {}
    for cell in trajectories:
        for metric, reason in cell.unavailable.items():
            key = (cell.arm, metric, reason)
            cells[key] = cells.get(key, 0) + 1
    for (arm, metric, reason), count in sorted(cells.items()):
        yield Finding(
            kind="unavailable",
            check=f"{metric} measured",
            arm=arm,
            count=count,
            message=f"arm {arm!r}: {metric} of {count} cells is not known: {reason}",
        )
