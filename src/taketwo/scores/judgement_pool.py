"""The labels that a study can use: its own, and those of a folder that several studies share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from taketwo.errors import InvalidResults
from taketwo.scores.extractions import Extraction, read_extractions, write_extractions
from taketwo.scores.judgements import Judgement, read_judgements, write_judgements
from taketwo.scores.trajectory_judgements import (
    TrajectoryJudgement,
    read_trajectory_judgements,
    write_trajectory_judgements,
)

__all__ = ["JudgementPool"]

Record = TypeVar("Record", Judgement, Extraction, TrajectoryJudgement)


class JudgementPool:
    """Labels by the key of what was judged.

    New ones are written to `shared` where there is one, else to `own`, as soon as they are added.
    `keep` copies what a study uses of the shared ones into its own folder, so that the study stays
    whole without them.

    Raises
    ------
    InvalidResults
        If a part cannot be read, or one content has two labels of one judge.
    """

    def __init__(self, own: Path, shared: Path | None = None) -> None:
        if shared is not None and shared.exists() and not shared.is_dir():
            raise InvalidResults(f"{shared}: not a folder; name the folder of shared judgements")
        self._own = own
        self._target = own if shared is None else shared
        folders = [own] if shared is None else [shared, own]
        self._kept = {
            "answers": set(read_judgements(own)),
            "extractions": set(read_extractions(own)),
            "trajectories": set(read_trajectory_judgements(own)),
        }
        self.answers: dict[str, Judgement] = {}
        self.extractions: dict[str, Extraction] = {}
        self.trajectories: dict[str, TrajectoryJudgement] = {}
        for folder in folders:
            _merge(self.answers, read_judgements(folder), folder)
            _merge(self.extractions, read_extractions(folder), folder)
            _merge(self.trajectories, read_trajectory_judgements(folder), folder)

    def add_answers(self, judgements: Iterable[Judgement]) -> None:
        """Write labels of answers and know them from now on."""
        new = tuple(judgements)
        write_judgements(self._target, new)
        self.answers.update({item.key: item for item in new})

    def add_extractions(self, extractions: Iterable[Extraction]) -> None:
        """Write readings of ambiguous replies and know them from now on."""
        new = tuple(extractions)
        write_extractions(self._target, new)
        self.extractions.update({item.key: item for item in new})

    def add_trajectories(self, judgements: Iterable[TrajectoryJudgement]) -> None:
        """Write judgements of trajectories and know them from now on."""
        new = tuple(judgements)
        write_trajectory_judgements(self._target, new)
        self.trajectories.update({item.key: item for item in new})

    def keep(self, question_ids: Collection[str], keys: Collection[str] = ()) -> None:
        """Copy labels into the study's own folder, where they are not there yet.

        Those of its questions, and those of `keys`: another study may know the same content by
        another question's id.
        """
        if self._target == self._own:
            return
        write_judgements(self._own, _new(self.answers, question_ids, keys, self._kept["answers"]))
        write_extractions(
            self._own, _new(self.extractions, question_ids, keys, self._kept["extractions"])
        )
        write_trajectory_judgements(
            self._own, _new(self.trajectories, question_ids, keys, self._kept["trajectories"])
        )


def _new(
    pool: Mapping[str, Record],
    question_ids: Collection[str],
    keys: Collection[str],
    kept: Collection[str],
) -> list[Record]:
    return [
        item
        for key, item in pool.items()
        if (item.question_id in question_ids or key in keys) and key not in kept
    ]


def _merge(known: dict[str, Record], found: Mapping[str, Record], folder: Path) -> None:
    """Add what a folder holds; one content with two labels of one judge is refused."""
    for key, item in found.items():
        earlier = known.setdefault(key, item)
        if _label(earlier) != _label(item):
            raise InvalidResults(
                f"{folder}: question {item.question_id!r} has a label that contradicts the one in the "
                "other folder of judgements for the same content by the same judge; remove the part "
                "that is wrong"
            )


def _label(item: Judgement | Extraction | TrajectoryJudgement) -> object:
    if isinstance(item, Judgement):
        return item.label
    return item.option_index if isinstance(item, Extraction) else item.scores
