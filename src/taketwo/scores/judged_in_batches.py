"""Asking a judge a batch at a time, so that what was paid for is on disk soon after, and of one model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from taketwo.scores.served_models import OneServedModel, ServedLabel

__all__ = ["InBatches", "judged_in_batches"]

_BATCH = 2
"""Requests of a batch by connection: what a crash can lose, against idle connections at its end."""


class _Keyed(Protocol):
    def key(self, judge: str, /) -> str: ...


class _Failure(Protocol):
    @property
    def key(self) -> str: ...
    @property
    def cause(self) -> str: ...


ItemT = TypeVar("ItemT", bound=_Keyed)
LabelT = TypeVar("LabelT", bound=ServedLabel)


@dataclass(frozen=True, kw_only=True)
class InBatches(Generic[LabelT]):
    """The labels that are kept, and by key the causes of what has none."""

    labels: tuple[LabelT, ...]
    causes: dict[str, str]


async def judged_in_batches(
    pending: Sequence[ItemT],
    judge: str,
    ask: Callable[
        [Sequence[ItemT], Callable[[Sequence[LabelT]], object]],
        Awaitable[tuple[Sequence[LabelT], Sequence[_Failure]]],
    ],
    add: Callable[[Sequence[LabelT]], object],
    *,
    known: Iterable[LabelT],
    connections: int,
) -> InBatches[LabelT]:
    """Ask a judge a batch at a time and write what it says after each, also when interrupted.

    A batch that another model answered to a label is the last one: the rest would be paid for and
    left out as well.

    Parameters
    ----------
    ask
        Asks about a batch; it is handed what to do with labels where it is stopped before its end.
    add
        Writes labels to the pool.
    known
        Labels of this judge that are in use already: the model that served them counts.
    """
    model = OneServedModel(known)
    labels: list[LabelT] = []
    causes: dict[str, str] = {}

    def save(done: Sequence[LabelT]) -> None:
        add(model.kept(done))

    size = _BATCH * connections
    for start in range(0, len(pending), size):
        done, failures = await ask(pending[start : start + size], save)
        kept, refused = model.kept(done), model.refused(done)
        add(kept)
        labels += kept
        causes |= refused | {failure.key: failure.cause for failure in failures}
        if refused and not kept:
            why = f"not asked: the last batch was {next(iter(refused.values()))}"
            causes |= {request.key(judge): why for request in pending[start + size :]}
            break
    return InBatches(labels=tuple(labels), causes=causes)
