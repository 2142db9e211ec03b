"""Where the index of a video lies: one file when it is whole, one file a part while it is made.

A part (the speech, one clip, one merged registry) is written when it is done, whole or not at all,
so that a killed process loses no more than the parts under way. An index belongs to one arm of one
execution; a file of another one is refused, not used.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import anyio

from taketwo.benchmarks.canonical import JsonValue
from taketwo.errors import DataError, HarnessError
from taketwo.media.store import write_atomically
from taketwo.tools.role_model import ModelRole, RoleSettings
from taketwo.tools.video_index import IndexWork, VideoIndex

__all__ = ["IndexFiles", "IndexLocks", "IndexPart", "IndexStore"]

_PART_FORMAT = "taketwo.video-index-part/1"
_SPENT = "spent-"


class IndexLocks:
    """Lets the cells of a process build each index once: whoever comes second waits."""

    def __init__(self) -> None:
        self._locks: dict[Path, anyio.Lock] = {}

    def of(self, path: Path) -> anyio.Lock:
        """Return the lock of the index at `path`."""
        return self._locks.setdefault(path, anyio.Lock())


@dataclass(frozen=True, kw_only=True)
class IndexStore:
    """Where an arm of an execution keeps its indexes, and by which models it makes them.

    Attributes
    ----------
    folder : Path
        Theirs alone; made on the first write.
    scope : str
        Names study, execution and arm. An index of another scope is refused.
    roles : mapping of role to RoleSettings
        How models are reached; seeds are the index's, whichever cell makes it.
    cells : int
        Cells of the arm on this video, over which the cost of its index is divided.
    at_once : int
        Clips that are described at the same time.
    locks : IndexLocks
        Shared by all cells of the process.
    paused : callable
        Gives a context in which the cell's limit of observed seconds stands still.
    """

    folder: Path
    scope: str
    roles: Mapping[ModelRole, RoleSettings]
    cells: int = 1
    at_once: int = 8
    locks: IndexLocks = field(default_factory=IndexLocks)
    paused: Callable[[], AbstractContextManager[object]] = nullcontext


@dataclass(frozen=True, kw_only=True)
class IndexPart:
    """A part that is done: what came of it, and the work that it took."""

    value: JsonValue
    work: IndexWork


class IndexFiles:
    """The files of one index, `<folder>/<name>.json` and, while it is made, `<folder>/<name>/`.

    Methods block; a part that cannot be read counts as not done.
    """

    def __init__(self, folder: Path, name: str, scope: str) -> None:
        self.path = folder / f"{name}.json"
        self._parts = folder / name
        self._scope = scope

    def whole(self) -> VideoIndex | None:
        """Return the index where it is whole.

        Raises
        ------
        HarnessError
            If the file is damaged, or was made for another execution or arm.
        """
        try:
            index = VideoIndex.from_bytes(self.path.read_bytes())
        except FileNotFoundError:
            return None
        except DataError as error:
            raise HarnessError(
                f"{self.path}: {error}; remove it, and the index is made anew"
            ) from error
        if index.scope != self._scope:
            raise HarnessError(
                f"{self.path}: made for {index.scope!r}, not for {self._scope!r}; an index is shared "
                "by the cells of one arm in one execution and no others. Remove it, and it is made anew"
            )
        return index

    def keep_whole(self, index: VideoIndex) -> None:
        """Write the whole index; its parts are then removed."""
        write_atomically(self.path, index.to_bytes())
        for part in self._parts.glob("*.json"):
            part.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self._parts.rmdir()

    def part(self, name: str) -> IndexPart | None:
        """Return the part called `name` where it is done."""
        return self._read(self._parts / f"{name}.json")

    def keep_part(self, name: str, part: IndexPart) -> None:
        """Write a part."""
        record: dict[str, JsonValue] = {
            "format": _PART_FORMAT,
            "scope": self._scope,
            "work": part.work.to_json(),
            "value": part.value,
        }
        text = json.dumps(record, ensure_ascii=False, allow_nan=False)
        write_atomically(self._parts / f"{name}.json", text.encode("utf-8", "replace"))

    def keep_spent(self, name: str, work: IndexWork) -> None:
        """Write down work on the part `name` of which nothing came, so that its cost is not forgotten."""
        before = self.part(f"{_SPENT}{name}")
        all_of_it = [work] if before is None else [before.work, work]
        self.keep_part(f"{_SPENT}{name}", IndexPart(value=None, work=IndexWork.sum_of(all_of_it)))

    def spent(self) -> list[IndexWork]:
        """Return all work of which nothing came."""
        parts = (self._read(path) for path in sorted(self._parts.glob(f"{_SPENT}*.json")))
        return [part.work for part in parts if part is not None]

    def drop_part(self, name: str) -> None:
        """Remove a part, so that it is made again; what it cost stays on the account."""
        done = self.part(name)
        if done is not None:
            self.keep_spent(name, done.work)
            (self._parts / f"{name}.json").unlink(missing_ok=True)

    def _read(self, path: Path) -> IndexPart | None:
        try:
            record = cast("dict[str, JsonValue]", json.loads(path.read_bytes()))
            if record["format"] != _PART_FORMAT or record["scope"] != self._scope:
                return None
            work = IndexWork.from_json(cast("Mapping[str, JsonValue]", record["work"]))
            return IndexPart(value=record["value"], work=work)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
