"""What an exception inside a cell makes of the cell: a status, a cause, and whether to try again.

The exception's class decides as little as possible, because every provider has its own. A fault
that the toolbox met at a model or at the media is theirs; anything else that the agent lets
through is the agent's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, cast

from inspect_ai.util import LimitExceededError

from taketwo.errors import HarnessError, UnreadableVideo
from taketwo.executions.log_json import encodable
from taketwo.executions.trajectory import Failure
from taketwo.tools.budget import BudgetExhausted
from taketwo.tools.role_model import ProviderReplyError

__all__ = ["CellFailure", "WallLimitReached", "failure_of"]

_LONGEST_MESSAGE = 500
_TRY_AGAIN = frozenset({408, 409, 425, 429})
_MODEL_CODE = ("inspect_ai.model", "taketwo.models")
_TOOL_CODE = "inspect_ai.model._call_tools"


class WallLimitReached(Exception):
    """A cell ran longer, as observed, than its safety net allows: a fault of the infrastructure."""

    def __init__(self, limit_s: float) -> None:
        super().__init__(f"the cell was stopped after {limit_s:g} s as observed (limits.wall_s)")


@dataclass(frozen=True, kw_only=True)
class CellFailure:
    """The status of a cell without an answer. `limit` names the resource that ran out."""

    status: Literal["limit", "agent_error", "provider_error", "media_error"]
    failure: Failure
    limit: str | None = None


def failure_of(error: BaseException, *, met_outside: BaseException | None = None) -> CellFailure:
    """Return what `error` makes of the cell in which it was raised.

    Parameters
    ----------
    error
        What ended the cell.
    met_outside
        The first fault of a provider or of the media that the toolbox met, if any. It is the
        reason of the cell's end even where the agent turned it into another exception.
    """
    cause = met_outside if met_outside is not None else error
    chain = tuple(_chain(cause, with_contexts=False))
    media = next((item for item in chain if isinstance(item, UnreadableVideo)), None)
    if media is not None:
        return CellFailure(
            status="media_error", failure=_failure(media, http_status=None, retryable=False)
        )
    limit = next((item for item in chain if isinstance(item, BudgetExhausted)), None)
    if limit is not None:
        failure = _failure(limit, http_status=None, retryable=False)
        return CellFailure(status="limit", failure=failure, limit=limit.resource)
    engine = next((item for item in chain if isinstance(item, LimitExceededError)), None)
    if engine is not None:
        failure = _failure(engine, http_status=None, retryable=False)
        return CellFailure(status="limit", failure=failure, limit=engine.type)
    if met_outside is not None or any(_is_of_a_model(item) for item in chain):
        everything = _chain(cause, with_contexts=True)
        http_status = next((code for item in everything if (code := _http_status(item))), None)
        return CellFailure(
            status="provider_error",
            failure=_failure(
                chain[-1] if isinstance(cause, BaseExceptionGroup) else cause,
                http_status=http_status,
                retryable=_is_retryable(chain, http_status),
            ),
        )
    return CellFailure(
        status="agent_error", failure=_failure(cause, http_status=None, retryable=False)
    )


def _chain(error: BaseException, *, with_contexts: bool) -> Iterator[BaseException]:
    """Yield `error` and what it was raised from (or while handling), outermost first, each once."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        item = waiting.pop(0)
        if item is None or id(item) in seen:
            continue
        seen.add(id(item))
        yield item
        if isinstance(item, BaseExceptionGroup):
            waiting.extend(cast("BaseExceptionGroup[BaseException]", item).exceptions)
        waiting.append(item.__cause__)
        if with_contexts:
            waiting.append(item.__context__)


def _is_of_a_model(error: BaseException) -> bool:
    """Return whether `error` is one of a model or of the machine, or came out of a model's code."""
    if isinstance(error, (ProviderReplyError, WallLimitReached, HarnessError)):
        return True
    modules = _modules(error.__traceback__)
    return any(name.startswith(_MODEL_CODE) and name != _TOOL_CODE for name in modules)


def _modules(traceback: TracebackType | None) -> Iterator[str]:
    while traceback is not None:
        yield str(traceback.tb_frame.f_globals.get("__name__", ""))
        traceback = traceback.tb_next


def _http_status(error: BaseException) -> int | None:
    response: object = getattr(error, "response", None)
    for holder, name in ((error, "status_code"), (error, "code"), (response, "status_code")):
        value: object = getattr(holder, name, None)
        if isinstance(value, int) and 100 <= value < 600:
            return value
    return None


def _is_retryable(chain: tuple[BaseException, ...], http_status: int | None) -> bool:
    for item in chain:
        if isinstance(item, ProviderReplyError):
            return item.retryable
    if http_status is None:
        return True
    return http_status in _TRY_AGAIN or http_status >= 500


def _failure(error: BaseException, *, http_status: int | None, retryable: bool) -> Failure:
    cause = encodable(type(error).__name__)
    message = _said_by(error) or cause
    if len(message) > _LONGEST_MESSAGE:
        message = message[: _LONGEST_MESSAGE - 3] + "..."
    return Failure(cause=cause, message=message, http_status=http_status, retryable=retryable)


def _said_by(error: BaseException) -> str:
    """Return the message of `error`, whatever a third-party class makes of being asked."""
    try:
        return encodable(str(error)).strip()
    except Exception as fault:  # noqa: BLE001 around one cell; its status needs no message
        return f"(its message cannot be read: {type(fault).__name__})"
