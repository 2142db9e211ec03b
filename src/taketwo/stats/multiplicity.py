"""Holm's correction over a family that was declared before looking."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["holm"]


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Return Holm-adjusted p-values, in the order given.

    Parameters
    ----------
    p_values
        One per declared test. None is a test that could not be computed: it counts in the size of
        the family as if its p were 1 and stays None in the result.

    Raises
    ------
    ValueError
        If a p-value is outside 0 to 1.

    Notes
    -----
    Holm (1979), https://www.jstor.org/stable/4615733: with p sorted upwards,
    ``p_adj(j) = max over i <= j of min(1, (m - i + 1) p(i))``.

    Examples
    --------
    >>> holm([0.01, None, 0.04])
    (0.03, None, 0.08)
    """
    wrong = [p for p in p_values if p is not None and not 0 <= p <= 1]
    if wrong:
        raise ValueError(f"p-values lie between 0 and 1, got {wrong[0]!r}")
    order = sorted(range(len(p_values)), key=lambda i: _or_one(p_values[i]))
    adjusted: list[float | None] = [None] * len(p_values)
    running = 0.0
    for rank, index in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - rank) * _or_one(p_values[index])))
        adjusted[index] = None if p_values[index] is None else running
    return tuple(adjusted)


def _or_one(p: float | None) -> float:
    return 1.0 if p is None else p
