"""One primitive operation while it runs: checked against the budget, timed, and recorded at its end.

Only `Primitives` opens operations, so that each piece of work is counted once, whoever asks for it.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import anyio

from taketwo.tools.account import CellAccount
from taketwo.tools.budget import BudgetExhausted
from taketwo.tools.tool_failure import ToolFailure

__all__ = ["Freshness", "Operation", "PrimitiveKind", "operation_of"]

PrimitiveKind = Literal[
    "extract_video_parts",
    "transcribe_speech",
    "ground_event",
    "analyze",
    "web_search",
    "parse_website",
]
Freshness = Literal["fresh", "shared", "replayed"]


@dataclass
class Operation:
    """What is known of an operation while it runs.

    `charged_s` is what it costs in the cell's latency apart from model calls; None is its own
    measured seconds. `waited_s` are seconds that it waited for a turn, which are no work.
    `asked_sha256` and `result_sha256` are set where the world can answer
    differently tomorrow: what was asked of it, and what it returned. `speech_source` says who heard
    what was said: a transcriber with its weights, or the hash of a file of subtitles.
    """

    freshness: Freshness = "fresh"
    charged_s: float | None = None
    frames: int = 0
    audio_s: float = 0.0
    waited_s: float = 0.0
    asked_sha256: str | None = None
    result_sha256: str | None = None
    speech_source: str | None = None

    async def pause(self, seconds: float) -> None:
        """Wait, as somebody asks us to; it is not charged."""
        started = time.perf_counter()
        try:
            await anyio.sleep(seconds)
        finally:
            self.waited_s += time.perf_counter() - started


@contextmanager
def operation_of(account: CellAccount, kind: PrimitiveKind) -> Generator[Operation]:
    """Reserve one operation, run what stands in the block, and write its `taketwo.primitive` event.

    A `ToolFailure` is recorded and passed on; every other exception but an exhausted budget also
    becomes the fault that ends the cell.

    Raises
    ------
    BudgetExhausted
        If the cell may do no further operation; nothing is recorded then.
    """
    account.budget.check("latency_s")
    account.budget.reserve("primitive_ops")
    operation = Operation()
    before = (account.model_calls, account.tokens, account.latency_s)
    watch = account.watch()
    error: str | None = None
    try:
        with watch:
            yield operation
    except BaseException as failure:
        error = f"{type(failure).__name__}: {failure}"
        if isinstance(failure, Exception) and not isinstance(
            failure, BudgetExhausted | ToolFailure
        ):
            account.fail(failure)
        raise
    finally:
        own_s = max(0.0, watch.own_s - operation.waited_s)
        charged_s = own_s if operation.charged_s is None else operation.charged_s
        models_s = account.latency_s - before[2]
        account.charge(charged_s)
        calls = account.model_calls - before[0]
        spent = (account.tokens or 0) - (before[1] or 0)
        account.record(
            "primitive",
            {
                "operation": kind,
                "succeeded": error is None,
                "freshness": operation.freshness,
                "seconds": models_s + own_s,
                "charged_s": charged_s,
                "frames": operation.frames,
                "audio_s": operation.audio_s,
                "model_calls": calls,
                "tokens": spent if calls and account.tokens is not None else None,
                "call_id": account.call_id,
                "asked_sha256": operation.asked_sha256,
                "result_sha256": operation.result_sha256,
                "speech_source": operation.speech_source,
                "error": error,
            },
        )
