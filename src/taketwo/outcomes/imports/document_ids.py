"""Document numbers of harnesses that number the data set: checked by the hash of the document.

`doc_id` is a position in the data set, and some versions write wrong ones when only some samples are
run. The hash of the document does not lie: where the two disagree between files, questions are
paired by the hash, and the account says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from taketwo.errors import InvalidResults
from taketwo.executions.log_json import text
from taketwo.outcomes.imports.sources import Line, text_of

__all__ = ["DocumentIds"]

_SHORT = 16


class DocumentIds:
    """The documents of each task, as all files number them."""

    def __init__(self) -> None:
        self._hashes: dict[tuple[str, str], tuple[str, str]] = {}
        self._conflicts: dict[str, str] = {}
        self._numbers: dict[tuple[Path, str], str] = {}
        self._ambiguous: dict[str, str] = {}

    def learn(self, task: str, path: Path, lines: Iterable[Line]) -> None:
        """Take note of the documents of a file.

        Raises
        ------
        InvalidResults
            If a line has neither number nor hash.
        """
        for line in lines:
            number, digest = text_of(line.record.get("doc_id")), text(line.record, "doc_hash")
            where = f"{path}, {line.place}"
            if number is None and digest is None:
                raise InvalidResults(f"{where}: neither doc_id nor doc_hash; nothing to pair it by")
            if digest is None or number is None:
                continue
            held, place = self._hashes.setdefault((task, number), (digest, where))
            if held != digest:
                self._conflicts.setdefault(task, f"doc_id {number}: {place} and {where}")
            same = self._numbers.setdefault((path, digest), number)
            if same != number:
                self._ambiguous.setdefault(task, f"{where}: doc_id {same} and {number}")

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what the account has to say."""
        return tuple(
            f"{task}: doc_id names different documents in different files ({where}); questions are "
            "paired by doc_hash instead"
            for task, where in self._conflicts.items()
        )

    def question(self, task: str, path: Path, line: Line) -> str:
        """Return the question that a line is about.

        Raises
        ------
        InvalidResults
            If numbers and hashes disagree and several documents have the same hash.
        """
        number, digest = text_of(line.record.get("doc_id")), text(line.record, "doc_hash")
        if number is not None and task not in self._conflicts:
            return number
        if digest is None or task in self._ambiguous:
            raise InvalidResults(
                f"{path}, {line.place}: doc_id names different documents in different files "
                f"({self._conflicts.get(task)}) and doc_hash does not tell them apart "
                f"({self._ambiguous.get(task, 'it is missing here')}); run both on the same samples"
            )
        return digest[:_SHORT]
