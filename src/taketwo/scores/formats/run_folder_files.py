"""The files of a run folder, read with an account of all that is wrong in them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import cast

from taketwo.errors import InvalidResults
from taketwo.executions.log_json import Json, part, whole
from taketwo.scores.unique_keys import unique_keys

__all__ = ["RunFiles"]

_NUMBER = r"question(?P<id>0|[1-9][0-9]{0,17})"
_QUESTION = re.compile(
    r"(?P<folder>inference/(?:progress|trajectories|outputs)|evaluation/(?:letters|judge|results))"
    rf"/{_NUMBER}\.(?P<ending>json|txt|normalized\.json)"
)
_ENDINGS = {
    "inference/trajectories": ("txt",),
    "inference/outputs": ("json", "txt", "normalized.json"),
}
_BESIDE = re.compile(
    rf"taketwo\.json|(?:inference|evaluation)/summary\.json|inference/outputs/raw/{_NUMBER}\.iter\d+\.json"
)
_LISTED = 50


class RunFiles:
    """Reads files of one run folder; what is wrong is collected and told at once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._problems: list[str] = []

    @property
    def count(self) -> int:
        """Return how many problems were found so far."""
        return len(self._problems)

    @cached_property
    def ids(self) -> frozenset[int]:
        """Return the questions that any file is about."""
        return frozenset(number for name in self._names if (number := _number_of(name)) is not None)

    @cached_property
    def unused(self) -> tuple[str, ...]:
        """Return the files that no question of the run can be read from, by their paths in it."""
        return tuple(
            name
            for name in self._names
            if _number_of(name) is None and _BESIDE.fullmatch(name) is None
        )

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """Return the files of the run by their paths from its folder; hidden ones are no part of it."""
        beside = (
            path.name for path in self._root.iterdir() if path.is_file() and path.name[:1] != "."
        )
        within = (
            path.relative_to(self._root).as_posix()
            for path in self._within()
            if path.is_file() and not path.is_dir()
        )
        return tuple(sorted({*beside, *within}))

    def _within(self) -> Iterator[Path]:
        """Yield what lies in the two folders, links to folders in the run followed one level deep."""
        for top in ("inference", "evaluation"):
            yield self._root / top
            if not self._leads_inside(self._root / top):
                continue
            for folder, folders, names in os.walk(self._root / top):
                folders[:] = [name for name in folders if name[:1] != "."]
                linked = [Path(folder) / name for name in folders]
                yield from linked
                for link in linked:
                    if link.is_symlink() and self._leads_inside(link):
                        yield from (path for path in link.iterdir() if path.name[:1] != ".")
                yield from (Path(folder) / name for name in names if name[:1] != ".")

    def check_links(self) -> None:
        """Note every link that leads out of the run folder or nowhere; what it names is never read."""
        for path in (self._root / "taketwo.json", *self._within()):
            if path.is_symlink() and not self._leads_inside(path):
                self.add(
                    path.relative_to(self._root).as_posix(),
                    [
                        "a link that leads out of the run folder or to nothing; put the file in its place"
                    ],
                )

    def _leads_inside(self, path: Path) -> bool:
        try:
            found = path.resolve(strict=True)
        except (OSError, RuntimeError):
            return False
        return found.is_relative_to(self._home)

    @cached_property
    def _home(self) -> Path:
        return self._root.resolve()

    def _is_there(self, path: Path) -> bool:
        """Return whether a file of the run can be read; what lies elsewhere is not of the run."""
        return path.is_file() and self._leads_inside(path)

    def add(self, file: str, problems: Iterable[str]) -> None:
        """Note what is wrong with a file, by its path from the run folder."""
        self._problems += [f"{file}: {problem}" for problem in problems]

    def raise_if_any(self) -> None:
        """Raise with everything that was noted.

        Raises
        ------
        InvalidResults
            If anything was.
        """
        if not self._problems:
            return
        more = len(self._problems) - _LISTED
        listed = self._problems[:_LISTED] + ([f"and {more} more"] if more > 0 else [])
        raise InvalidResults(
            f"{self._root}: {len(self._problems)} faults in files of the run; mend or remove them "
            "(a question without files counts as not run):\n"
            + "\n".join(f"  {problem}" for problem in listed)
        )

    def json(self, path: Path) -> Json | None:
        """Return a file's JSON object; None where there is no file, or no object in it."""
        if not self._is_there(path):
            return None
        name = path.relative_to(self._root).as_posix()
        try:
            record: object = json.loads(path.read_bytes(), object_pairs_hook=unique_keys)
        except (OSError, ValueError, RecursionError) as error:
            self.add(name, [f"not readable JSON ({error})"])
            return None
        if not isinstance(record, dict):
            self.add(name, [f"a {type(record).__name__}, expected an object"])
            return None
        return cast("Json", record)

    def record(
        self, folder: str, number: int, *, ending: str = ".json", id_in: str | None = None
    ) -> Json | None:
        """Return the record of a question, after checking that it is about that question."""
        path = self._root / folder / f"question{number}{ending}"
        record = self.json(path)
        if record is None:
            return None
        place = record if id_in is None else part(record, id_in)
        found = place.get("question_id", place.get("qid"))
        if found != number or isinstance(found, bool):
            self.add(
                f"{folder}/{path.name}",
                [f"field 'question_id' is {found!r:.40}, but the file's name says {number}"],
            )
        return record

    def text(self, number: int) -> str | None:
        """Return the text of a trajectory as it stands; None where there is none."""
        path = self._root / "inference" / "trajectories" / f"question{number}.txt"
        if not self._is_there(path):
            return None
        try:
            return path.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            self.add(f"inference/trajectories/{path.name}", [f"not readable UTF-8 text ({error})"])
            return None

    def has_progress(self, number: int) -> bool:
        """Return whether a question has a record of its own, beside the summary's."""
        return self._is_there(self._root / "inference" / "progress" / f"question{number}.json")

    def has_outputs(self, number: int) -> bool:
        """Return whether the run wrote steps of a question, in whatever form."""
        return any((self._root / "inference" / "outputs").glob(f"question{number}.*"))

    def turns(self, number: int) -> float | None:
        """Return how many turns the native list of steps counts; None where there is none."""
        path = self._root / "inference" / "outputs" / f"question{number}.json"
        if not self._is_there(path):
            return None
        try:
            listed: object = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            self.add(f"inference/outputs/{path.name}", [f"not readable JSON ({error})"])
            return None
        if not isinstance(listed, list):
            self.add(f"inference/outputs/{path.name}", ["no list of steps"])
            return None
        turns = {
            turn
            for row in cast("list[object]", listed)
            if (turn := whole(row, "iteration")) is not None
            and cast("Json", row).get("type") != "answer"
        }
        return float(len(turns)) if turns else None

    def first_normalized(self) -> Json | None:
        """Return the first normalized file, for what it says of method and model."""
        for path in sorted(
            (self._root / "inference" / "outputs").glob("question*.normalized.json")
        ):
            if not self._is_there(path):
                continue
            try:
                record: object = json.loads(path.read_bytes(), object_pairs_hook=unique_keys)
            except (OSError, ValueError, RecursionError):
                continue
            if isinstance(record, dict):
                return cast("Json", record)
        return None

    def source_of(self, number: int) -> Path:
        """Return the file that a question's row is told by."""
        for folder, ending in (
            ("evaluation/results", "json"),
            ("inference/progress", "json"),
            ("inference/trajectories", "txt"),
        ):
            path = self._root / folder / f"question{number}.{ending}"
            if path.is_file():
                return path
        return self._root / "inference" / "summary.json"


def _number_of(name: str) -> int | None:
    """Return the question that a file is about, by its path in the run."""
    match = _QUESTION.fullmatch(name)
    if match is None or match["ending"] not in _ENDINGS.get(match["folder"], ("json",)):
        return None
    return int(match["id"])
