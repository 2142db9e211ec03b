"""A trajectory as the text that a judge reads: the same for every agent and for imported predictions.

What the agent said, which tools it called with what, what it got back, remarks of the harness (a
forced answer is not a voluntary one) and its final answer in its own words, in order. Two protocols:
`blind` leaves out who answered, `published` begins with the name of the system as the judge of
AgentVidBench was given it. Neither has the true answer, an answer that somebody else parsed, token
counts or times of the clock; times of the video stay.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from taketwo.executions.scoring_spec import Protocol
from taketwo.executions.trajectory import Event, ModelCall, Note, PrimitiveOperation, Trajectory

__all__ = ["Protocol", "RenderedTrajectory", "rendered", "rendered_prediction"]

_NO_TEXT = "(no text)"


@dataclass(frozen=True, kw_only=True)
class RenderedTrajectory:
    """The text of a trajectory, and the name of its system for the protocol that shows it."""

    text: str
    system: str


def rendered(trajectory: Trajectory, *, system: str) -> RenderedTrajectory:
    """Return the text of a trajectory.

    Two trajectories have the same text exactly where the same was said, called, returned and
    answered; arm, execution, models, tokens and latencies leave no trace.
    """
    steps = [step for event in trajectory.events if (step := _step(event)) is not None]
    lines = [f"[step {number}] {step}" for number, step in enumerate(steps, start=1)]
    final = trajectory.answer_text.strip() or _NO_TEXT
    status = "" if trajectory.run_status == "answered" else f" ({trajectory.run_status})"
    forced = ", given because a budget ran out" if trajectory.forced else ""
    lines.append(f"[final answer{status}{forced}]\n{final}")
    return RenderedTrajectory(text="\n\n".join(lines), system=system)


def rendered_prediction(text: str, *, system: str) -> RenderedTrajectory:
    """Return the text of a prediction that another harness wrote, as it stands."""
    return RenderedTrajectory(text=text.strip() or _NO_TEXT, system=system)


def _step(event: Event) -> str | None:
    """Return what a judge sees of an event; None for what is below a visible call."""
    if isinstance(event, Note):
        return f"remark of the harness: {event.text}"
    if isinstance(event, ModelCall):
        if event.role != "orchestrator" or event.error is not None or not event.text.strip():
            return None
        return f"said:\n{event.text.strip()}"
    if isinstance(event, PrimitiveOperation):
        is_own_look = event.operation == "extract_video_parts" and event.call_id is None
        return (
            f"looked at {event.frames} frames of the video"
            if is_own_look and event.frames
            else None
        )
    arguments = json.dumps(dict(event.arguments), ensure_ascii=False, sort_keys=True)
    outcome = "failed" if event.error is not None else "returned"
    return f"called {event.name} with {arguments}\n{outcome}:\n{event.result.strip() or _NO_TEXT}"
