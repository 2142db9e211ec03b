"""Can a printed mean be that of N whole numbers? GRIM: granularity-related inconsistency of means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction

__all__ = ["Grim", "attainable_sizes", "grim"]


@dataclass(frozen=True, kw_only=True)
class Grim:
    """Whether some whole `total` over `n` rounds to what was printed; `total` is the nearest one.

    `value` is what the nearest total would print as, before rounding, in the printed unit.
    """

    printed: str
    n: int
    is_attainable: bool
    total: int
    value: float


def grim(printed: str, n: int, *, scale: int = 100) -> Grim:
    """Return whether `printed` is attainable as ``scale * total / n`` with a whole total.

    Parameters
    ----------
    printed
        The number as printed, as text since its last digit says how far it was rounded; a sign, a
        leading point and a percent sign are understood.
    n
        Number of observations of whole numbers (0 and 1, or -1, 0 and 1 of a difference), at least 1.
    scale
        100 for percentages and points, 1 for means.

    Raises
    ------
    ValueError
        If `printed` is no decimal number or `n` is below 1.

    Notes
    -----
    Brown and Heathers (2017), doi 10.1177/1948550616673876, in exact fractions. Both roundings of a
    tie are accepted, so that "impossible" is certain; it bites where n is below 10 to the number of
    digits (scale 1).

    Examples
    --------
    >>> grim("6.72", 322).is_attainable, grim("6.83", 322).is_attainable
    (False, True)
    """
    if n < 1:
        raise ValueError(f"a mean needs at least 1 observation, got {n}")
    number = _decimal(printed)
    target = Fraction(number)
    exponent = number.as_tuple().exponent
    unit = Fraction(10) ** int(exponent)
    total = round(target * n / scale)
    value = Fraction(scale * total, n)
    return Grim(
        printed=printed,
        n=n,
        is_attainable=abs(value - target) <= unit / 2,
        total=total,
        value=float(value),
    )


def attainable_sizes(
    printed: tuple[str, ...], largest: int, *, scale: int = 100
) -> tuple[int, ...]:
    """Return every n up to `largest` at which all printed numbers are attainable."""
    if largest < 1:
        raise ValueError(f"sizes start at 1, got {largest}")
    return tuple(
        n
        for n in range(1, largest + 1)
        if all(grim(text, n, scale=scale).is_attainable for text in printed)
    )


def _decimal(printed: str) -> Decimal:
    text = printed.strip().rstrip("%").strip().replace("\N{MINUS SIGN}", "-")
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise ValueError(f"{printed!r} is no decimal number") from None
    if not math.isfinite(number):
        raise ValueError(f"{printed!r} is no decimal number")
    return number
