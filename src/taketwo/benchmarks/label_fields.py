"""Labels in rows that others wrote: one text or a list of them, also under names that nobody documented."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Annotated, cast

from pydantic import BeforeValidator

__all__ = ["LabelList", "distinct_labels", "further_labels"]

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_LONGEST = 60


def _several(value: object) -> object:
    """Let one text stand for a list of labels, with commas between them, and null for none."""
    if value is None:
        return []
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


LabelList = Annotated[list[str], BeforeValidator(_several)]
"""A list of labels, or one text with commas between them; null is an empty list."""


def distinct_labels(labels: Iterable[str]) -> tuple[str, ...]:
    """Return each label once, in the order of the first; empty texts are none."""
    return tuple(dict.fromkeys(label.strip() for label in labels if label.strip()))


def further_labels(
    rows: Iterable[Mapping[str, object]], known: Collection[str]
) -> Iterator[tuple[str, str | list[str]]]:
    """Yield the labels among the fields of rows that are not `known`: short texts, and lists of them.

    Names are given in small letters with underscores. Of a name in several rows the first counts.

    Examples
    --------
    >>> dict(further_labels([{"Audio Type": ["speech"], "year": 2020, "style": "split screen"}], ()))
    {'audio_type': ['speech'], 'style': 'split screen'}
    """
    taken = set(known)
    for row in rows:
        for written, value in row.items():
            name = "_".join(written.casefold().replace("-", " ").split())
            texts = cast("list[object]", value) if isinstance(value, list) else [value]
            labels = [text for text in texts if isinstance(text, str) and len(text) <= _LONGEST]
            is_label = bool(labels) and len(labels) == len(texts)
            if name in taken or not is_label or not _NAME.fullmatch(name):
                continue
            taken.add(name)
            yield name, labels if isinstance(value, list) else labels[0]
