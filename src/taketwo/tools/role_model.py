"""A model in its role: the one way by which a cell reaches a model.

Each generation is checked against the budget, seeded where the plan says so, sent without any
cache, timed without waiting, and leaves a `taketwo.model` event that names the media it was handed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput, get_model
from inspect_ai.tool import ToolChoice, ToolInfo
from tenacity import RetryError

from taketwo.benchmarks.canonical import JsonValue
from taketwo.errors import RequestError
from taketwo.tools.account import CellAccount
from taketwo.tools.budget import BudgetExhausted, Resource
from taketwo.tools.clean_replies import CLEANED, with_clean_replies
from taketwo.tools.sent_media import media_sha256, refuse_droppable

__all__ = ["ModelRole", "ProviderReplyError", "RoleModel", "RoleSettings", "SeedOf"]

ModelRole = Literal["orchestrator", "observer", "transcriber", "judge"]
SeedOf = Callable[[int], int | None]
"""Seed of a generation by its number in the cell, counted from 0 over all roles; None sends none."""

ReplyProblem = Literal["empty", "malformed", "refused", "cut_off"]


class ProviderReplyError(Exception):
    """A reply that is none: a status of the cell, never an answer.

    `problem` is `empty` (neither text nor tool calls), `malformed` (no message at all, or a tool
    call without a name), `refused` (stopped by a content filter) or `cut_off` (the token limit was
    reached before the first word). `retryable` says whether asking again may help.
    """

    def __init__(self, problem: ReplyProblem, model: str, detail: str) -> None:
        super().__init__(f"{model} gave no usable reply: {problem} ({detail})")
        self.problem: ReplyProblem = problem
        self.retryable = problem != "cut_off"

    @property
    def may_be_asked_again(self) -> bool:
        """Return whether the same cell repeats the request; a refusal is left to a resumed cell."""
        return self.problem in {"empty", "malformed"}


@dataclass(frozen=True, kw_only=True)
class RoleSettings:
    """How a role's model is reached and sampled.

    `model` is an inspect_ai name (or a ready model). `sampling` are fields of inspect_ai's
    `GenerateConfig`; None is the provider's default and is not sent. `retries` are further
    attempts of one request after the first, `timeout_s` seconds are allowed to each attempt.
    """

    role: ModelRole
    model: str | Model
    base_url: str | None = None
    args: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    sampling: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    retries: int = 3
    timeout_s: float = 300.0
    connections: int = 8
    seed_of: SeedOf | None = None

    @property
    def name(self) -> str:
        """Return the model's full name."""
        return str(self.model)

    @property
    def provider(self) -> str:
        """Return what stands before the first slash of the model's name."""
        return self.name.split("/", 1)[0]

    def open(self) -> Model:
        """Return the engine's model, its replies cleaned; equal settings share one client.

        Raises
        ------
        RequestError
            If the sampling has a field that the engine does not know.
        """
        if isinstance(self.model, Model):
            return with_clean_replies(self.model)
        sampling = {name: value for name, value in self.sampling.items() if value is not None}
        unknown = sorted(set(sampling) - set(GenerateConfig.model_fields))
        if unknown:
            raise RequestError(
                f"the {self.role} {self.name!r} cannot be sampled by {', '.join(unknown)}: the "
                "engine knows no such setting; remove it from `generate`"
            )
        config = GenerateConfig.model_validate({
            "cache_prompt": False,
            "adaptive_connections": False,
            "max_connections": self.connections,
            "max_retries": self.retries,
            "attempt_timeout": max(1, math.ceil(self.timeout_s)),
            **sampling,
        })
        model = get_model(
            self.model,
            role=self.role,
            config=config,
            base_url=self.base_url,
            **{**_client_args(self.provider), **self.args},  # pyright: ignore[reportArgumentType] arguments of the provider, as the plan has them
        )
        return with_clean_replies(model)


def _client_args(provider: str) -> dict[str, JsonValue]:
    """Return what keeps a provider's client library from repeating requests on its own.

    Such attempts would neither be counted nor stop at the number that the plan allows.
    """
    return {"max_retries": 0} if provider in {"openai", "openai-api", "anthropic"} else {}


class RoleModel:
    """One role's model inside one cell."""

    def __init__(
        self,
        settings: RoleSettings,
        account: CellAccount,
        tools: Sequence[ToolInfo] = (),
        *,
        leave_last_call: bool = False,
    ) -> None:
        self.settings = settings
        self._account = account
        self._tools = tuple(tools)
        self._leave_last_call = leave_last_call
        self._opened: Model | None = None

    async def generate(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: bool | Sequence[str] = False,
        tool_choice: ToolChoice | None = None,
    ) -> ModelOutput:
        """Return the model's reply to `messages`.

        Parameters
        ----------
        messages
            The conversation; pictures as data URIs, each after a text with its time.
        tools
            Whether the model sees the cell's tools: all, none, or those named.
        tool_choice
            The engine's tool choice; `"none"` shows the tools and forbids calling them.

        Raises
        ------
        BudgetExhausted
            If the cell may not make this call; nothing was sent.
        ProviderReplyError
            If no attempt gave a usable reply.
        RequestError
            If a message carries media that this provider may drop without a word.

        Exceptions of the provider are passed on as they are, after its retries.
        """
        refuse_droppable(messages, self.settings.provider)
        media = media_sha256(messages)
        shown = self._shown(tools)
        self._account.budget.check("latency_s", "tokens")
        attempt = 0
        while True:
            self._reserve(len(media), is_turn=attempt == 0)
            output, problem = await self._send(messages, shown, tool_choice, media)
            if problem is None:
                return output
            attempt += 1
            if attempt > self.settings.retries or not problem.may_be_asked_again:
                self._account.fail(problem)
                raise problem

    def _open(self) -> Model:
        if self._opened is None:
            self._opened = self.settings.open()
        return self._opened

    def _shown(self, tools: bool | Sequence[str]) -> list[ToolInfo]:
        if isinstance(tools, bool):
            return list(self._tools) if tools else []
        return [tool for tool in self._tools if tool.name in tools]

    def _reserve(self, frames: int, *, is_turn: bool) -> None:
        budget = self._account.budget
        left = budget.left("model_calls")
        if self._leave_last_call and left is not None and left <= 1:
            # The last generation belongs to the orchestrator, or there would be no answer.
            limit = budget.limits.model_calls or 0
            raise BudgetExhausted("model_calls", budget.used("model_calls"), limit)
        amounts: dict[Resource, float] = {"model_calls": 1, "frames": frames}
        if is_turn and self.settings.role == "orchestrator":
            amounts["turns"] = 1
        budget.reserve_all(amounts)

    async def _attempt(
        self,
        messages: Sequence[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice | None,
        seed: int | None,
    ) -> ModelOutput:
        try:
            return await self._open().generate(
                list(messages),
                tools=tools,
                tool_choice=tool_choice,
                config=GenerateConfig(seed=seed),
                cache=False,
            )
        except RetryError as error:
            # The engine wraps the provider's exception of the last attempt.
            if error.__cause__ is None:
                raise
            raise error.__cause__ from error.__cause__.__cause__

    async def _send(
        self,
        messages: Sequence[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice | None,
        media: tuple[str, ...],
    ) -> tuple[ModelOutput, ProviderReplyError | None]:
        call = self._account.next_model_call()
        seed = self.settings.seed_of(call) if self.settings.seed_of else None
        event: dict[str, JsonValue] = {
            "role": self.settings.role,
            "call": call,
            "media_sha256": list(media),
            "latency_s": None,
            "seed_set": seed is not None,
            "frames": len(media),
            "error": None,
        }
        with self._account.watch() as watch:
            try:
                output = await self._attempt(messages, tools, tool_choice, seed)
            except Exception as error:
                self._account.fail(error)
                self._account.record("model", event | {"error": type(error).__name__})
                raise
        latency_s = _charged_s(output, watch.own_s)
        self._account.charge(latency_s)
        if output.usage is not None:
            self._account.spend_tokens(output.usage.input_tokens + output.usage.output_tokens)
        problem = _problem_of(output, self.settings.name)
        failed = None if problem is None else f"ProviderReplyError: {problem.problem}"
        self._account.record("model", event | {"latency_s": latency_s, "error": failed})
        cleaned = (output.metadata or {}).get(CLEANED)
        if cleaned:
            self._account.record(
                "note", {"text": f"reply {call} was cleaned: {'; '.join(cleaned)}"}
            )
        return output, problem


def _charged_s(output: ModelOutput, observed_s: float) -> float:
    """Return the work of the call: as the provider states it, else its last attempt's time."""
    stated = (output.metadata or {}).get("charged_s")
    if isinstance(stated, (int, float)) and math.isfinite(stated) and stated >= 0:
        return float(stated)
    return observed_s if output.time is None else output.time


def _problem_of(output: ModelOutput, model: str) -> ProviderReplyError | None:
    if output.empty:
        return ProviderReplyError("malformed", model, output.error or "no message in the reply")
    stop = output.stop_reason
    if stop == "content_filter":
        return ProviderReplyError("refused", model, "stopped by a content filter")
    calls = output.message.tool_calls or []
    if any(not call.function.strip() for call in calls):
        return ProviderReplyError("malformed", model, "a tool call without a name")
    if calls or output.message.text.strip():
        return None
    if stop in {"max_tokens", "model_length"}:
        return ProviderReplyError("cut_off", model, f"no text before the limit ({stop})")
    return ProviderReplyError("empty", model, f"no text and no tool call, stop reason {stop}")
