from __future__ import annotations

import pytest
from inspect_ai.model import get_model
from inspect_ai.util import LimitExceededError
from tests.scripted_model import HttpError, script

from taketwo.errors import HarnessError, UnreadableVideo
from taketwo.executions.failures import WallLimitReached, failure_of
from taketwo.tools.budget import BudgetExhausted
from taketwo.tools.role_model import ProviderReplyError


def raised(error: Exception, cause: BaseException | None = None) -> Exception:
    try:
        raise error from cause
    except Exception as caught:  # noqa: BLE001
        return caught


@pytest.mark.parametrize(
    ("status", "retryable"),
    [(429, True), (500, True), (503, True), (408, True), (401, False), (400, False)],
)
def test_a_fault_that_the_toolbox_met_is_the_providers(status: int, retryable: bool) -> None:
    error = raised(HttpError(status))

    found = failure_of(error, met_outside=error)

    assert (found.status, found.limit) == ("provider_error", None)
    assert (found.failure.cause, found.failure.http_status) == ("HttpError", status)
    assert found.failure.retryable is retryable


async def test_an_exception_out_of_a_models_code_is_the_providers_without_being_told() -> None:
    model = get_model(script([HttpError(401)]))
    with pytest.raises(Exception, match="401") as caught:
        await model.generate("hello")

    assert failure_of(caught.value).status == "provider_error"
    assert failure_of(caught.value).failure.http_status == 401


def test_an_exception_of_the_agent_is_the_agents() -> None:
    found = failure_of(raised(KeyError("frames")))

    assert (found.status, found.failure.cause) == ("agent_error", "KeyError")
    assert found.failure.message == "'frames'"
    assert not found.failure.retryable


def test_the_agent_cannot_hide_a_fault_behind_another_exception() -> None:
    found = failure_of(raised(ValueError("no reply")), met_outside=HttpError(500))

    assert (found.status, found.failure.http_status) == ("provider_error", 500)


def test_an_agent_that_stumbles_while_it_handles_a_used_up_budget_is_still_at_fault() -> None:
    with pytest.raises(KeyError) as caught:  # noqa: PT012
        try:
            raise BudgetExhausted("turns", 3, 3)
        except BudgetExhausted:
            raise KeyError("bug")  # noqa: B904

    assert failure_of(caught.value).status == "agent_error"


def test_a_video_that_cannot_be_read_is_a_media_error_however_deep() -> None:
    found = failure_of(raised(RuntimeError("wrapped"), UnreadableVideo("clip.mp4: truncated")))

    assert (found.status, found.failure.message) == ("media_error", "clip.mp4: truncated")


def test_a_used_up_budget_is_a_limit_with_its_name() -> None:
    found = failure_of(BudgetExhausted("visible_calls", 3, 3))

    assert (found.status, found.limit) == ("limit", "visible_calls")


def test_a_limit_of_the_engine_is_a_limit_too() -> None:
    error = LimitExceededError("token", value=11, limit=10)

    assert (failure_of(error).status, failure_of(error).limit) == ("limit", "token")


def test_the_safety_net_in_observed_seconds_is_a_fault_of_the_infrastructure() -> None:
    found = failure_of(WallLimitReached(60))

    assert (found.status, found.failure.retryable) == ("provider_error", True)
    assert found.failure.message == "the cell was stopped after 60 s as observed (limits.wall_s)"


@pytest.mark.parametrize(
    ("problem", "retryable"), [("empty", True), ("malformed", True), ("cut_off", False)]
)
def test_a_reply_that_is_none_says_whether_to_ask_again(problem: str, retryable: bool) -> None:
    error = ProviderReplyError(problem, "scripted/1", "detail")  # type: ignore[arg-type]

    assert failure_of(error).status == "provider_error"
    assert failure_of(error).failure.retryable is retryable


def test_a_group_of_one_fault_is_that_fault() -> None:
    found = failure_of(ExceptionGroup("several", [UnreadableVideo("gone")]))

    assert found.status == "media_error"


def test_a_long_message_is_shortened() -> None:
    assert len(failure_of(ValueError("x" * 5000)).failure.message) == 500


def test_a_fault_of_the_machine_is_not_the_agents_and_may_be_tried_again() -> None:
    found = failure_of(raised(HarnessError("frames/x.jpg: cannot be written")))

    assert (found.status, found.failure.retryable) == ("provider_error", True)


def test_an_exception_that_cannot_be_asked_for_its_message_is_still_a_failure() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    assert failure_of(Mute()).failure.message == "(its message cannot be read: RuntimeError)"
    assert failure_of(ValueError("a\ud800")).failure.message == "a?"
