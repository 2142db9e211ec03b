"""JSON objects in which no key stands twice: of two values nobody could say which was meant."""

from __future__ import annotations

__all__ = ["unique_keys"]


def unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object of its pairs; the `object_pairs_hook` of `json.loads`.

    Raises
    ------
    ValueError
        If a key stands twice. The message repeats nothing of the text.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("one of its keys stands twice")
    return found
