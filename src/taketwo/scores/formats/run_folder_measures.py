"""What a run recorded of a question's effort, by our names of the metrics, and what is wrong with it."""

from __future__ import annotations

from taketwo.executions.log_json import Json, items, number, part, text
from taketwo.executions.trajectory import RunStatus
from taketwo.scores.formats.recorded_numbers import amount_problems
from taketwo.scores.formats.run_folder_files import RunFiles
from taketwo.scores.formats.run_folder_summary import OWN_KEY

__all__ = ["amounts_in", "measures_of"]

_EFFORT = ("turns", "visible_calls", "primitive_ops", "latency_s", "tokens", "cost_usd")


def amounts_in(record: Json, place: str = "") -> list[str]:
    """Return what is wrong with the times and amounts of a progress record."""
    used, own = part(record, "tokens"), part(record, OWN_KEY)
    return [
        *amount_problems(record, ("elapsed_seconds",), place=place),
        *amount_problems(used, used, place=f"{place}tokens."),
        *amount_problems(own, _EFFORT, place=f"{place}{OWN_KEY}."),
    ]


def measures_of(
    files: RunFiles,
    number_: int,
    progress: Json | None,
    normalized: Json | None,
    own: Json,
    status: RunStatus,
) -> dict[str, float]:
    """Return what the run recorded of a question's effort, by our names of the metrics."""
    if status in {"agent_error", "provider_error", "media_error", "not_run"}:
        return {}
    steps = [text(step, "phase") for step in items(normalized, "steps")]
    used = part(progress, "tokens") or part(normalized, "tokens")
    spent = number(used, "total_tokens")
    was_tracked = bool(number(used, "calls")) or bool(spent)
    elapsed = number(normalized, "elapsed_seconds")
    elapsed = number(progress, "elapsed_seconds") if elapsed is None else elapsed
    waited = number(used, "retry_wait_seconds") or 0.0
    is_single = normalized is None and not files.has_outputs(number_)
    turns = files.turns(number_)
    found = {
        "turns": 1.0 if is_single else turns,
        "visible_calls": 0.0 if is_single else _if(normalized, steps.count("tool_call")),
        "latency_s": None if elapsed is None else max(0.0, elapsed - waited),
        "tokens": spent if was_tracked else None,
    }
    ours = {name: number(own, name) for name in _EFFORT if name in own}
    return {name: value for name, value in {**found, **ours}.items() if value is not None}


def _if(present: object, value: float) -> float | None:
    return None if present is None else float(value)
