"""The web of a study as its plan has it: what is searched, and which recorded pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from taketwo.benchmarks.canonical import JsonValue
from taketwo.tools.web import SearchName

__all__ = ["WebSpec"]


@dataclass(frozen=True, kw_only=True)
class WebSpec:
    """Where the cells of a study search and read.

    `path` is where recorded pages lie and `sha256` the hash of their content; both are None for a
    live search.
    """

    search: SearchName
    path: str | None = None
    sha256: str | None = None

    @property
    def identity(self) -> dict[str, JsonValue]:
        """Return what must not change; the place of recorded pages may."""
        return {"search": self.search, "sha256": self.sha256}

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as it stands in a plan."""
        return {**self.identity, "path": self.path}

    @classmethod
    def from_json(cls, record: Mapping[str, JsonValue]) -> WebSpec:
        """Read what `to_json` wrote."""
        return cls(
            search=cast("SearchName", record["search"]),
            path=cast("str | None", record["path"]),
            sha256=cast("str | None", record["sha256"]),
        )
