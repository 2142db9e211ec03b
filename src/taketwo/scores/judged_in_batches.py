"""Asking a judge a batch at a time, so that what was paid for is on disk soon after, and of one model."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from taketwo.scores.served_models import OneServedModel, ServedLabel

__all__ = [
    "Ask",
    "InBatches",
    "JudgingFailure",
    "Keyed",
    "Save",
    "judged_in_batches",
    "run_judging",
]

_BATCH = 2
"""Requests of a batch by connection: what a crash can lose, against idle connections at its end."""


class Keyed(Protocol):
    """Something to be labelled."""

    def key(self, judge: str, /) -> str:
        """Return the key of its label by `judge`."""
        ...


class JudgingFailure(Protocol):
    """Why something has no label, with the key of its label."""

    @property
    def key(self) -> str:
        """Return the key."""
        ...

    @property
    def cause(self) -> str:
        """Return the cause."""
        ...


ItemT = TypeVar("ItemT", bound=Keyed)
LabelT = TypeVar("LabelT", bound=ServedLabel)
ResultT = TypeVar("ResultT")

Save = Callable[[Sequence[LabelT]], object]
"""Writes labels to where they are kept."""
Ask = Callable[
    [Sequence[ItemT], Save[LabelT]], Awaitable[tuple[Sequence[LabelT], Sequence[JudgingFailure]]]
]
"""Asks about a batch; it is handed what to do with labels where it is stopped before its end."""


@dataclass(frozen=True, kw_only=True)
class InBatches(Generic[LabelT]):
    """The labels that are kept, and by key the causes of what has none."""

    labels: tuple[LabelT, ...]
    causes: dict[str, str]


async def judged_in_batches(
    pending: Sequence[ItemT],
    judge: str,
    ask: Ask[ItemT, LabelT],
    add: Save[LabelT],
    *,
    known: Iterable[LabelT],
    connections: int,
) -> InBatches[LabelT]:
    """Ask a judge a batch at a time and write what it says after each, also when interrupted.

    A batch that another model answered to a label is the last one: the rest would be paid for and
    left out as well.

    Parameters
    ----------
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


def run_judging(work: Coroutine[object, object, ResultT]) -> ResultT:
    """Run to the end; an interrupt comes out as one, whatever it interrupted."""
    try:
        return asyncio.run(work)
    except BaseExceptionGroup as group:
        if group.subgroup(KeyboardInterrupt) is not None:
            raise KeyboardInterrupt from None
        raise
