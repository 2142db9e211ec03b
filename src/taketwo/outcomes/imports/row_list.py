"""Collecting the rows of one harness, with an account of what was set aside on the way."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from taketwo.errors import InvalidResults, UnknownName
from taketwo.outcomes.imports.options import ColumnSpec, ReadOptions
from taketwo.outcomes.imports.record import FAILED, ROW_SCHEMA, Aside, SourceFile, Status
from taketwo.outcomes.imports.scoring import score_of
from taketwo.outcomes.imports.sources import Parsed, text_of

__all__ = ["RowList"]

_DETAIL_LENGTH = 300


class RowList:
    """Rows in the making.

    A harness names clusters and subgroups by its own fields; the options choose among them, so
    that a field that no question has is told with the names that exist.
    """

    def __init__(self, kind: str, options: ReadOptions) -> None:
        self._kind = kind
        self._options = options
        self._rows: list[tuple[object, ...]] = []
        self._asides: dict[tuple[str, str], list[str]] = {}
        self._notes: dict[str, None] = {}
        self._fields: dict[str, None] = {"question_id": None}
        self._cluster: ColumnSpec | None = None
        self._default_clusters = 0

    def note(self, text: str) -> None:
        """Add a remark to the account; the same remark is kept once."""
        self._notes[text] = None

    def aside(self, what: str, why: str, first: str) -> None:
        """Count something that is not used."""
        self._asides.setdefault((what, why), []).append(first)

    def wants(self, metric: str) -> bool:
        """Return whether a metric was asked for."""
        return self._options.wants(metric)

    def add(
        self,
        *,
        system: str,
        execution: str,
        question_id: str,
        metric: str | None,
        source: Path,
        place: str,
        value: object = None,
        status: Status = "scored",
        cluster: str | None = None,
        attributes: Mapping[str, object] | None = None,
        several: Mapping[str, Sequence[str]] | None = None,
        detail: str | None = None,
    ) -> None:
        """Add a cell's value on a metric, or (metric None) its status on all of them.

        `attributes` give the question one level of a subgroup each, `several` any number.

        A cell that failed has no value: one that stands there all the same is set aside and
        counted.

        Raises
        ------
        InvalidResults
            If the value is no score, or `--cluster` does not match.
        """
        where = f"{source}, {place}"
        if metric is not None and not self.wants(metric):
            self.aside(f"values of {metric!r}", "not among the metrics asked for", where)
            return
        number = None if metric is None else score_of(value, where)
        if number is not None and status in FAILED:
            self.aside(f"scores of cells with status {status}", "an error is not an answer", where)
            number = None
        if number is None and status == "scored":
            status = "not_judged"
        levels = {
            name: level
            for name, level in ((name, text_of(item)) for name, item in (attributes or {}).items())
            if level is not None
        }
        lists = {name: list(found) for name, found in (several or {}).items()}
        self._fields.update(dict.fromkeys((*levels, *lists)))
        self._rows.append((
            system,
            execution,
            question_id,
            metric,
            number,
            status,
            self._cluster_of(question_id, cluster, levels, where),
            self._subgroups({**levels, **lists}),
            None if detail is None else " ".join(detail.split())[:_DETAIL_LENGTH],
            str(source),
            place,
        ))

    def _cluster_of(
        self, question_id: str, default: str | None, levels: Mapping[str, str], where: str
    ) -> str | None:
        written = self._options.cluster
        if written is None:
            self._default_clusters += default is not None
            return default
        known = {"question_id": question_id, "item_id": question_id, **levels}
        if self._cluster is None or self._cluster.column not in known:
            self._cluster = ColumnSpec.resolve(written, tuple(known), "cluster")
        found = self._cluster.value_of(known[self._cluster.column])
        if found is None:
            raise InvalidResults(
                f"{where}: --cluster {written!r} does not match "
                f"{known[self._cluster.column]!r} of question {question_id!r}"
            )
        return found

    def _subgroups(self, levels: Mapping[str, str | list[str]]) -> str | None:
        names = self._options.by or tuple(levels)
        found = {name: levels[name] for name in names if name in levels}
        return json.dumps(found, ensure_ascii=False, sort_keys=True) if found else None

    def parsed(
        self,
        files: Sequence[SourceFile],
        *,
        alignment_reason: str,
        is_blocked: bool = False,
        default_cluster: str = "the source names no cluster",
        baselines: Mapping[str, str] | None = None,
    ) -> Parsed:
        """Return the rows and the account.

        Raises
        ------
        UnknownName
            If a subgroup was asked for that no question has.
        """
        for name in self._options.by:
            if name not in self._fields:
                raise UnknownName.among("field for --by", name, self._fields)
        cluster_source = (
            f"--cluster {self._options.cluster}" if self._options.cluster else default_cluster
        )
        return Parsed(
            kind=self._kind,
            files=tuple(files),
            rows=pl.DataFrame(self._rows, schema=dict(ROW_SCHEMA), orient="row"),
            is_blocked=is_blocked,
            alignment_reason=alignment_reason,
            cluster_source=cluster_source,
            asides=tuple(
                Aside(what=what, count=len(places), why=why, first=places[0])
                for (what, why), places in self._asides.items()
            ),
            notes=tuple(self._notes),
            baselines=tuple((baselines or {}).items()),
        )
