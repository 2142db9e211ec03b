"""Rows of a published data set, from whatever its local copy is: Parquet, Arrow, JSON, JSON lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import polars as pl

from taketwo.benchmarks.local_rows import LocalRow, read_rows
from taketwo.benchmarks.named_files import file_is_there, something_is_there
from taketwo.errors import InvalidQuestion

__all__ = ["PublishedRow", "RowProblems", "read_published"]

_LISTED = 50
_FOLDERS = 10
_ENDINGS = (".parquet", ".arrow", ".jsonl")


@dataclass(frozen=True)
class PublishedRow:
    """A row with its file and where it stands there (line or number); `problem` as in `LocalRow`."""

    place: str
    values: dict[str, object]
    problem: str | None = None


class _Row(Protocol):
    """A row with a place that no other row has."""

    @property
    def place(self) -> str: ...
    @property
    def problem(self) -> str | None: ...


_RowT = TypeVar("_RowT", bound=_Row)
_ReadT = TypeVar("_ReadT")


class RowProblems:
    """What is wrong with the rows of a data set, collected so that all of it is told at once.

    Whatever is read goes through it, so that the rows it counts are those of all files.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._problems: list[str] = []
        self._bad: set[str] = set()
        self._read = 0

    def read(
        self,
        rows: Sequence[_RowT],
        reader: Callable[[_RowT], _ReadT],
        *,
        identity: Callable[[_ReadT], str],
        repeated: Callable[[_ReadT, str], str],
    ) -> list[_ReadT]:
        """Return what `reader` makes of the rows; those that it refuses are noted and left out.

        Parameters
        ----------
        rows
            The rows of one file or folder.
        reader
            Reads a row, and raises `InvalidQuestion` where it cannot be used.
        identity
            What only one of the rows may have; a row that has it again is noted.
        repeated
            Says so, of what was read and the place of the row that has it already.
        """
        self._read += len(rows)
        found: list[_ReadT] = []
        places: dict[str, str] = {}
        for row in rows:
            try:
                if row.problem is not None:
                    raise InvalidQuestion(row.problem)
                item = reader(row)
            except InvalidQuestion as error:
                self._add(row.place, str(error))
                continue
            earlier = places.setdefault(identity(item), row.place)
            if earlier != row.place:
                self._add(row.place, repeated(item, earlier))
            found.append(item)
        return found

    def _add(self, place: str, problem: str) -> None:
        self._bad.add(place)
        self._problems.append(f"{place}: {problem}")

    def raise_if_any(self) -> None:
        """Raise with everything that was noted.

        Raises
        ------
        InvalidQuestion
            If anything was.
        """
        if not self._problems:
            return
        more = len(self._problems) - _LISTED
        listed = self._problems[:_LISTED] + ([f"and {more} more"] if more > 0 else [])
        raise InvalidQuestion(
            f"{self._what}: {len(self._bad)} of {self._read} rows cannot be used\n"
            + "\n".join(f"  {problem}" for problem in listed),
            problems=self._problems,
        )


def read_published(path: Path, *, subfolders: Sequence[str] = ("data", "")) -> list[PublishedRow]:
    """Return the rows of a data set's file, or of all its files in a folder, in the order of their names.

    A folder may be a repository's copy (`data/*.parquet`) or what the data set library saved
    (`data-*.arrow`); the first of `subfolders` that has such files is read, else the only folder below
    that has some (a split that was saved, a version in a cache). What the library keeps of its own
    steps (`cache-*.arrow`) is no part of the data set. A `.json` file, which holds one list, is read
    where it is named itself.

    Raises
    ------
    InvalidQuestion
        If nothing is there, several folders below have files, or a file cannot be read (such as a
        link that leads nowhere).
    """
    files = [path] if file_is_there(path) else _files(path, subfolders)
    if not files:
        raise InvalidQuestion(
            f"{str(path)!r}: no file ending in {', '.join(_ENDINGS)} there; give the folder that the "
            "data set was downloaded to, or the file itself"
        )
    rows: list[PublishedRow] = []
    for file in files:
        rows += _rows(file)
    return rows


def _files(folder: Path, subfolders: Iterable[str]) -> list[Path]:
    for name in subfolders:
        found = sorted(filter(_is_data, (folder / name).glob("*")))
        if found:
            return _of_one_format(found)
    below = sorted(filter(_is_data, folder.rglob("*")))
    folders = list(dict.fromkeys(file.parent for file in below))
    if len(folders) > 1:
        listed = ", ".join(repr(str(found.relative_to(folder))) for found in folders[:_FOLDERS])
        more = f" and {len(folders) - _FOLDERS} more" if len(folders) > _FOLDERS else ""
        raise InvalidQuestion(
            f"{str(folder)!r} has files of data sets in {len(folders)} folders: {listed}{more}; give the "
            "one that is meant"
        )
    return _of_one_format(below)


def _is_data(file: Path) -> bool:
    """Return whether a file is part of a data set; a link that leads nowhere is a part that is lost."""
    is_step = file.suffix.lower() == ".arrow" and file.name.startswith("cache-")
    is_lost = file.is_symlink() and not something_is_there(file)
    return file.suffix.lower() in _ENDINGS and not is_step and (is_lost or file_is_there(file))


def _of_one_format(found: list[Path]) -> list[Path]:
    mixed = next((file for file in found if file.suffix.lower() != found[0].suffix.lower()), None)
    if mixed is not None:
        raise InvalidQuestion(
            f"{str(mixed.parent)!r} holds the data set in two formats, first {found[0].name!r} and "
            f"{mixed.name!r}; name one file"
        )
    return found


def _rows(file: Path) -> list[PublishedRow]:
    if file.suffix.lower() in {".jsonl", ".json"}:
        return [_of_line(file, row) for row in read_rows(file)]
    try:
        frame = (
            pl.read_parquet(file, glob=False) if file.suffix.lower() == ".parquet" else _arrow(file)
        )
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        raise InvalidQuestion(f"{str(file)!r} cannot be read: {error}") from error
    return [
        PublishedRow(f"{file.name}, row {number}", dict(row))
        for number, row in enumerate(frame.iter_rows(named=True), start=1)
    ]


def _arrow(file: Path) -> pl.DataFrame:
    """Read Arrow as a stream, which the data set library writes, or as a file."""
    if file.read_bytes()[:6] == b"ARROW1":
        return pl.read_ipc(file.read_bytes())
    return pl.read_ipc_stream(file)


def _of_line(file: Path, row: LocalRow) -> PublishedRow:
    return PublishedRow(f"{file.name}, {row.place}", row.values, row.problem)
