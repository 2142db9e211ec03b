"""The account of one piece of work on an index: what it spends is the index's and no cell's."""

from __future__ import annotations

from collections.abc import Mapping

from taketwo.benchmarks.canonical import JsonValue
from taketwo.tools.account import CellAccount
from taketwo.tools.budget import Budget, Limits
from taketwo.tools.video_index import IndexWork, TokenUse

__all__ = ["INDEX_SPAN", "IndexAccount"]

INDEX_SPAN = "taketwo.index"
"""Type of the spans of a log inside which work on an index is done; the cell's own is outside."""


class IndexAccount(CellAccount):
    """An account without limits whose events are `taketwo.index`.

    Parameters
    ----------
    first_call
        Number of its first model call, from which seeds follow. It depends on the piece of work
        alone, not on the cell that happens to do it.
    """

    def __init__(self, first_call: int) -> None:
        super().__init__(Budget(Limits()))
        self._first_call = first_call
        self._uses: list[TokenUse] = []

    def next_model_call(self) -> int:
        """Return the number of the next generation of the index."""
        return self._first_call + super().next_model_call()

    def book_usage(self, model: str, used: tuple[int, int] | None) -> None:
        """Keep what a reply of `model` used."""
        given, made = (None, None) if used is None else used
        self._uses.append(TokenUse(model=model, input_tokens=given, output_tokens=made))

    def record(self, source: str, data: Mapping[str, JsonValue]) -> None:
        """Write an event `taketwo.index`; `kind` says what it would be in a cell."""
        super().record("index", {"kind": source, **data})

    @property
    def work(self) -> IndexWork:
        """Return what was done so far."""
        return IndexWork.sum_of([
            IndexWork(
                model_calls=self.model_calls,
                operations=int(self.budget.used("primitive_ops")),
                frames=int(self.budget.used("frames")),
                latency_s=self.latency_s,
                usage=tuple(self._uses),
            )
        ])
