"""Events that an agent outside reported, as a log has them: `taketwo.reported`."""

from __future__ import annotations

from taketwo.executions.log_json import Json, arguments, number, text, whole
from taketwo.executions.trajectory import ModelCall, PrimitiveOperation, ToolCall

__all__ = ["reported_event"]


def reported_event(
    data: Json, started_s: float | None
) -> ModelCall | ToolCall | PrimitiveOperation | None:
    """Return the event that `data` reports; None where its kind is not known."""
    kind = text(data, "event")
    if kind == "model_call":
        return ModelCall(
            role=text(data, "role") or "orchestrator",
            model=text(data, "model") or "",
            input_tokens=whole(data, "input_tokens"),
            output_tokens=whole(data, "output_tokens"),
            cost_usd=number(data, "cost_usd"),
            latency_s=number(data, "latency_s"),
            text=text(data, "text") or "",
            started_s=started_s,
            is_reported=True,
        )
    if kind == "tool_call":
        return ToolCall(
            call_id=f"reported-{whole(data, 'number') or 0}",
            name=text(data, "name") or "",
            arguments=arguments(data.get("arguments")),
            result=text(data, "result") or "",
            error=text(data, "error"),
            latency_s=number(data, "latency_s"),
            started_s=started_s,
            is_reported=True,
        )
    if kind == "operation":
        seconds = number(data, "latency_s") or 0.0
        return PrimitiveOperation(
            operation=text(data, "operation") or "",
            succeeded=data.get("succeeded") is True,
            freshness="fresh",
            seconds=seconds,
            charged_s=seconds,
            frames=whole(data, "frames") or 0,
            started_s=started_s,
            is_reported=True,
        )
    return None
