"""A request that is longer than its model's context: a limit of the cell, told apart from other faults.

Providers report it in two ways. Some raise a refusal (HTTP 400, 413 or 422); with others the engine
makes a reply of the refusal, whose text is the provider's message and whose stop reason is
`model_length`. Taken as a reply, that text would be an answer that nobody gave.

It counts as a limit, as a budget that ran out does: the same request would be refused again, and
it is the agent's doing how much it asks the model to take. Where the request fits and only the length
reserved for the reply does not, the settings are at fault: that is left to the provider's errors.
"""

from __future__ import annotations

import math
import re

from inspect_ai.model import ModelOutput

from taketwo.errors import RequestError
from taketwo.tools.budget import BudgetExhausted

__all__ = ["ContextOverflow", "overflow_in", "overflow_of", "refusal_in"]

_REFUSALS = frozenset({400, 413, 422})
_SAID = re.compile(
    r"context[ _](?:length|window|size)|maximum (?:model |sequence )?length|maximum number of tokens|"
    r"(?:input|prompt|request) is too long|too many (?:input )?tokens|max_tokens must be at least 1",
    re.IGNORECASE,
)
_MOST = re.compile(r"maximum (?:context|model) length (?:is|of) (\d++)", re.IGNORECASE)
_GIVEN = re.compile(r"(\d++) (?:tokens )?(?:in|from) the (?:messages|input|prompt)", re.IGNORECASE)


class ContextOverflow(BudgetExhausted):
    """A request was longer than the model's context; the cell has no reply to it.

    `resource` is `context`; how much was used and allowed is in the message where the provider says.
    """

    def __init__(self, model: str, detail: str) -> None:
        super().__init__("context", math.nan, math.nan)
        self.args = (f"the request is longer than the context of {model}: {detail:.300}",)


def refusal_in(output: ModelOutput) -> str | None:
    """Return the provider's message where `output` is none but a refusal because of some length.

    A reply that the end of the context cut off has tokens of its own and is a reply.
    """
    if output.empty or output.stop_reason != "model_length" or output.message.tool_calls:
        return None
    if output.usage is not None and output.usage.output_tokens > 0:
        return None
    return output.error or output.message.text.strip() or "stopped before the first word"


def overflow_of(output: ModelOutput) -> str | None:
    """Return the provider's message where `output` is none but a request that was too long."""
    said = refusal_in(output)
    return None if said is None or _fits_without_reply(said) else said


def overflow_in(error: BaseException) -> str | None:
    """Return the provider's message where `error` refuses a request because of its length."""
    status = _status_of(error)
    if status is None and not isinstance(error, RequestError):
        return None
    said = str(error)
    if (status is not None and status not in _REFUSALS) or not _SAID.search(said):
        return None
    return None if _fits_without_reply(said) else said


def _fits_without_reply(said: str) -> bool:
    most, given = _MOST.search(said), _GIVEN.search(said)
    return most is not None and given is not None and int(given[1]) < int(most[1])


def _status_of(error: BaseException) -> int | None:
    response: object = getattr(error, "response", None)
    for holder, name in (
        (error, "status_code"),
        (error, "code"),
        (error, "status"),
        (response, "status_code"),
    ):
        value: object = getattr(holder, name, None)
        if isinstance(value, int) and 100 <= value < 600:
            return value
    return None
