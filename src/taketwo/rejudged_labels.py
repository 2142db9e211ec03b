"""The labels that judging another harness's run again rests on: pooled ones, and those asked for now."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from taketwo.output_place import require_writable
from taketwo.scores.judged_in_batches import Ask, Keyed, judged_in_batches, run_judging
from taketwo.scores.judgement_pool import asking
from taketwo.scores.judgements import Judgement
from taketwo.scores.served_models import require_one_served_model
from taketwo.scores.trajectory_judgements import TrajectoryJudgement

__all__ = ["RejudgedLabels", "rejudged_labels"]

ItemT = TypeVar("ItemT", bound=Keyed)
LabelT = TypeVar("LabelT", Judgement, TrajectoryJudgement)


@dataclass(frozen=True, kw_only=True)
class RejudgedLabels(Generic[LabelT]):
    """The labels by key, the keys that were asked about now, and why some of them have no label."""

    by_key: Mapping[str, LabelT]
    asked: Collection[str] = ()
    failures: Mapping[str, str] = field(default_factory=dict[str, str])


def rejudged_labels(
    wanted: Mapping[str, ItemT],
    judge: str,
    ask: Ask[ItemT, LabelT],
    *,
    read: Callable[[Path], Mapping[str, LabelT]],
    write: Callable[[Path, Collection[LabelT]], object],
    pool: Path,
    output: Path,
    connections: int,
    on_asking: Callable[[Mapping[str, LabelT]], None],
) -> RejudgedLabels[LabelT]:
    """Return labels of one served model; what the pool lacks is asked for and added to it.

    While somebody is asked, no other process asks for the same pool.

    Parameters
    ----------
    wanted
        What is to be labelled, by the key of its label.
    read, write
        Read the labels of the pool's folder, and write more into it.
    output
        The file that the result will be written to, proved writable before anybody is asked.
    on_asking
        Told the labels that are there, before the others are asked for.

    Raises
    ------
    RequestError
        If the output or the pool cannot be written, or another process asks judges for the pool;
        before anything is spent.
    InvalidResults
        If the pool cannot be read, or labels under the judge's name are by different served models.
    """

    def known() -> dict[str, LabelT]:
        there = read(pool)
        found = {key: there[key] for key in wanted if key in there}
        require_one_served_model(found.values(), judge)
        return found

    if len(found := known()) == len(wanted):
        return RejudgedLabels(by_key=found)
    require_writable(output)
    with asking(pool):
        found = known()
        pending = {key: item for key, item in wanted.items() if key not in found}
        if not pending:
            return RejudgedLabels(by_key=found)
        on_asking(found)
        done = run_judging(
            judged_in_batches(
                tuple(pending.values()),
                judge,
                ask,
                lambda labels: write(pool, labels),
                known=found.values(),
                connections=connections,
            )
        )
    return RejudgedLabels(
        by_key={**found, **{item.key: item for item in done.labels}},
        asked=pending,
        failures=done.causes,
    )
