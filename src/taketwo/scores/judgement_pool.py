"""The labels that a study can use: its own, and those of a folder that several studies share."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import TypeVar

from taketwo.errors import InvalidResults, RequestError
from taketwo.scores.extractions import Extraction, read_extractions, write_extractions
from taketwo.scores.judgement_parts import keep_first
from taketwo.scores.judgements import Judgement, read_judgements, write_judgements
from taketwo.scores.trajectory_judgements import (
    TrajectoryJudgement,
    read_trajectory_judgements,
    write_trajectory_judgements,
)

__all__ = ["JudgementPool", "asking"]

_ROOM_BYTES = 256 * 1024
"""Room that a folder must have before judges are asked: more than the labels of a usual batch take."""

Record = TypeVar("Record", Judgement, Extraction, TrajectoryJudgement)


@contextmanager
def asking(*folders: Path) -> Generator[None]:
    """Hold folders of labels while judges are asked: each can be written, and nobody else asks.

    Raises
    ------
    RequestError
        If a folder cannot be made or written or has no room for labels (256 KiB are tried), or
        another process asks judges for it; before anything is spent.
    """
    import fcntl  # where there is none (Windows), labels can still be read

    with ExitStack() as held:
        for folder in dict.fromkeys(path.resolve() for path in folders):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                lock = held.enter_context((folder / ".asking.lock").open("ab"))
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _try_room(folder)
            except BlockingIOError as error:
                raise RequestError(
                    f"{folder}: another process is asking judges for these labels; wait for it, and "
                    "start again: what it was told is not asked twice"
                ) from error
            except OSError as error:
                raise RequestError(
                    f"{folder}: labels cannot be kept here ({error}); nothing was spent. Make room, or name "
                    "a folder that can be written"
                ) from error
        yield


def _try_room(folder: Path) -> None:
    """Write what a batch of labels may take and take it away again: a lock needs no room on a disk."""
    with TemporaryFile(dir=folder) as file:
        file.write(os.urandom(_ROOM_BYTES))  # a file system may keep zeros without taking room
        file.flush()
        os.fsync(file.fileno())


class JudgementPool:
    """Labels by the key of what was judged.

    New ones are written to `shared` where there is one, else to `own`, as soon as they are added.
    Of several labels of one content by one judge the one that was given first counts. `keep` copies
    what a study uses of the shared ones into its own folder, so that the study stays whole without
    them, and `share` the other way round.

    Raises
    ------
    InvalidResults
        If a part cannot be read.
    """

    def __init__(self, own: Path, shared: Path | None = None) -> None:
        if shared is not None and shared.exists() and not shared.is_dir():
            raise InvalidResults(f"{shared}: not a folder; name the folder of shared judgements")
        self._own = own
        self._target = own if shared is None else shared
        self._kept = _Labels(own)
        self._shared = self._kept if shared is None else _Labels(shared)
        self.answers = _merged(self._shared.answers, self._kept.answers, lambda item: item.label)
        self.extractions = _merged(
            self._shared.extractions, self._kept.extractions, lambda item: item.option_index
        )
        self.trajectories = _merged(
            self._shared.trajectories,
            self._kept.trajectories,
            lambda item: item.scores,
        )

    def share(self) -> None:
        """Copy the study's own labels into the shared folder, where they are not there yet."""
        if self._target == self._own:
            return
        known, own = self._shared, self._kept
        write_judgements(self._target, _absent(own.answers, known.answers))
        write_extractions(self._target, _absent(own.extractions, known.extractions))
        write_trajectory_judgements(self._target, _absent(own.trajectories, known.trajectories))

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
        write_judgements(self._own, _new(self.answers, question_ids, keys, self._kept.answers))
        write_extractions(
            self._own, _new(self.extractions, question_ids, keys, self._kept.extractions)
        )
        write_trajectory_judgements(
            self._own, _new(self.trajectories, question_ids, keys, self._kept.trajectories)
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


class _Labels:
    """What one folder holds."""

    def __init__(self, folder: Path) -> None:
        self.answers = read_judgements(folder)
        self.extractions = read_extractions(folder)
        self.trajectories = read_trajectory_judgements(folder)


def _merged(
    first: Mapping[str, Record], second: Mapping[str, Record], content: Callable[[Record], object]
) -> dict[str, Record]:
    found = dict(first)
    for item in second.values():
        keep_first(found, item, content)
    return found


def _absent(own: Mapping[str, Record], known: Mapping[str, Record]) -> list[Record]:
    return [item for key, item in own.items() if key not in known]
