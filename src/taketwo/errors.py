"""Every error that Take Two raises for its user; one class per remedy.

    TaketwoError
      RequestError      the request cannot be met as written; exit status 2
        UnknownName       a name that is in no catalogue
        RuleMismatch      a number was asked for that the frozen rule does not define
        PlanChanged       what would run differs from what was frozen
      DataError         what we were given cannot be used; exit status 3
        UnreadableVideo   a file that gives no frames, or not the ones asked for
        InvalidQuestion   a question without a usable text, truth or id
        ForeignLog        a log that no plan of ours explains
        UnpairedCells     cells that cannot be compared as they stand
        TooFewClusters    an interval that so few videos cannot support
        InvalidResults    a results table with impossible or contradicting rows
      HarnessError      ours or the machine's; exit status 4

What happens inside a cell is the status of that cell, never one of these.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "DataError",
    "ForeignLog",
    "HarnessError",
    "InvalidQuestion",
    "InvalidResults",
    "PlanChanged",
    "RequestError",
    "RuleMismatch",
    "TaketwoError",
    "TooFewClusters",
    "UnknownName",
    "UnpairedCells",
    "UnreadableVideo",
]


class TaketwoError(Exception):
    """Root of the tree; the command line prints it without a traceback."""

    exit_status: ClassVar[int] = 4


class RequestError(TaketwoError):
    """The request cannot be met as written."""

    exit_status = 2


class UnknownName(RequestError):
    """A name that is in no catalogue; the message lists near names."""

    @classmethod
    def among(cls, what: str, name: str, known: Iterable[str]) -> UnknownName:
        """Return the error for `name`, with up to three names out of `known` that it begins or that are near."""
        names = sorted(known)
        longer = [one for one in names if name and one.startswith(name)][:3]
        near = longer or get_close_matches(name, names, n=3, cutoff=0.5)
        hint = f"did you mean {', '.join(map(repr, near))}?" if near else "no name is near it;"
        return cls(f"unknown {what} {name!r}: {hint} known are {', '.join(names) or 'none'}")


class RuleMismatch(RequestError):
    """A number was asked for that the frozen rule does not define."""


class PlanChanged(RequestError):
    """What would run, or what ran, differs from what the plan froze."""


class DataError(TaketwoError):
    """What we were given cannot be used."""

    exit_status = 3


class UnreadableVideo(DataError):
    """A media file that gives no frames, or not the ones that were asked for."""


class InvalidQuestion(DataError):
    """A question without a usable text, truth or identifier.

    `problems` are all that were found in a file of questions, of which the message lists the first.
    """

    def __init__(self, message: str, problems: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


class ForeignLog(DataError):
    """A log that no plan of ours explains."""


class UnpairedCells(DataError):
    """Cells that cannot be compared as they stand."""


class TooFewClusters(DataError):
    """An interval that so few videos cannot support."""


class InvalidResults(DataError):
    """A results table with impossible or contradicting rows."""


class HarnessError(TaketwoError):
    """A fault of ours or of the machine."""

    exit_status = 4
