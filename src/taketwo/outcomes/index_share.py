"""What an index of a video cost, divided equally over the cells that share it.

The cost is that of the whole index, whichever cells made it. It is divided by the planned questions on
the video, not by those that happened to be answered, so that the share of a cell does not move between
executions because another cell failed. What cells of an execution that stopped early would have borne
is in no row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from taketwo.executions.prices import cost_usd
from taketwo.executions.trajectory import IndexUse, Trajectory

__all__ = ["IndexShare", "index_share"]


@dataclass(frozen=True, kw_only=True)
class IndexShare:
    """A cell's share of its index; None is not reported, or has no price.

    `is_charged` says whether the share is part of what the cell itself used.
    """

    input_tokens: float | None
    output_tokens: float | None
    cost_usd: float | None
    latency_s: float | None
    model_calls: float
    frames: float
    is_charged: bool

    @property
    def tokens(self) -> float | None:
        """Return input plus output tokens."""
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens


def index_share(prices: Mapping[str, Mapping[str, float]], cell: Trajectory) -> IndexShare | None:
    """Return the cell's share of its index; None where it works with none, or with none that is whole."""
    use = cell.index
    if use is None or use.index is None:
        return None
    return IndexShare(
        input_tokens=_share([one.input_tokens for one in use.usage], use),
        output_tokens=_share([one.output_tokens for one in use.usage], use),
        cost_usd=_share(
            [
                None
                if one.input_tokens is None or one.output_tokens is None
                else cost_usd(prices, one.model, one.input_tokens, one.output_tokens)
                for one in use.usage
            ],
            use,
        ),
        latency_s=_share([use.latency_s], use),
        model_calls=use.model_calls / use.cells,
        frames=use.frames / use.cells,
        is_charged=use.charged,
    )


def _share(parts: list[int | None] | list[float | None], use: IndexUse) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) / use.cells if len(known) == len(parts) else None
