"""A call that gave no result, in words that an orchestrator can act on."""

from __future__ import annotations

import json

from taketwo.benchmarks.canonical import JsonValue

__all__ = ["ToolFailure"]


class ToolFailure(Exception):
    """A call that did not give a result; the orchestrator reads code, message and whether to retry.

    It is the tool's own error and never ends a cell, unlike a fault of a model's provider or of the
    media. What the web does wrong (a refused address, a page that is gone, a search service that
    fails) is such an error.
    """

    def __init__(self, code: str, message: str, *, retryable: bool) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable

    def to_dict(self) -> dict[str, JsonValue]:
        """Return `{"error": {"code", "message", "retryable"}}`."""
        return {"error": {"code": self.code, "message": self.message, "retryable": self.retryable}}

    def to_text(self) -> str:
        """Return the error as the orchestrator sees it."""
        return json.dumps(self.to_dict(), ensure_ascii=False)
