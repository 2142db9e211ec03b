"""From the events of a log to what a cell did for an index of its video, apart from its own work.

Work on an index is done inside spans of its own, several at a time. Each span is read by itself, as a
cell is, since only inside one do an event of the engine and the one that completes it follow each
other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, cast

from taketwo.executions.log_json import Json, items, number, part, text, whole
from taketwo.executions.trajectory import Event, IndexUse, ModelTokens

__all__ = ["EventReading", "IndexReading"]

_SPAN = "taketwo.index"
_SOURCE = "taketwo.index"


class EventReading(Protocol):
    """Reads events one after the other into those of a trajectory."""

    @property
    def events(self) -> list[Event]:
        """What was read so far."""
        ...

    def add(self, event: Json) -> None:
        """Take in the next event."""
        ...


class IndexReading:
    """The running state of reading what a sample did for an index; `new_part` reads one span."""

    def __init__(self, new_part: Callable[[], EventReading]) -> None:
        self._new_part = new_part
        self._parts: dict[str, EventReading] = {}
        self._used: Json | None = None

    def take(self, event: Json) -> bool:
        """Take in an event if it is one of an index, and return whether it was."""
        kind, span = event.get("event"), text(event, "span_id") or ""
        if kind == "span_begin":
            return self._open(event)
        source, data = text(event, "source"), part(event, "data")
        if kind == "info" and source == _SOURCE:
            if text(data, "kind") == "use":
                self._used = data
            else:
                as_of_a_cell = {**event, "source": f"taketwo.{text(data, 'kind')}"}
                self._parts.setdefault(span, self._new_part()).add(as_of_a_cell)
            return True
        if span in self._parts:
            self._parts[span].add(event)
            return True
        return False

    def use(self) -> IndexUse | None:
        """Return what the cell did for and with an index; None where it has none."""
        events = tuple(event for reading in self._parts.values() for event in reading.events)
        if self._used is None:
            return IndexUse(events=events) if events else None
        return replace(_use_of(self._used), events=events)

    def _open(self, event: Json) -> bool:
        is_inside = (text(event, "parent_id") or "") in self._parts
        if text(event, "type") != _SPAN and not is_inside:
            return False
        self._parts[text(event, "id") or ""] = self._new_part()
        return True


def _use_of(data: Json) -> IndexUse:
    work = part(data, "work")
    return IndexUse(
        index=text(data, "index"),
        source=text(data, "source"),
        clips=whole(data, "clips") or 0,
        failed_clips=whole(data, "failed_clips") or 0,
        cells=max(1, whole(data, "cells") or 1),
        charged=data.get("charged") is True,
        model_calls=whole(work, "model_calls") or 0,
        operations=whole(work, "operations") or 0,
        frames=whole(work, "frames") or 0,
        latency_s=number(work, "latency_s"),
        usage=tuple(
            ModelTokens(
                model=text(use, "model") or "",
                input_tokens=whole(use, "input_tokens"),
                output_tokens=whole(use, "output_tokens"),
            )
            for use in (cast("Json", item) for item in items(work, "usage"))
        ),
    )
