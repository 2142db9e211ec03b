"""A model in its role: the one way by which a cell reaches a model.

Each generation is checked against the budget, seeded where the plan says so, sent without any
cache, timed without waiting, and leaves a `taketwo.model` event that names the media it was handed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Model,
    ModelOutput,
    ModelUsage,
    ResponseSchema,
    get_model,
)
from inspect_ai.tool import ToolChoice, ToolInfo
from tenacity import RetryError

from taketwo.benchmarks.canonical import JsonValue, sha256_of_text
from taketwo.errors import RequestError
from taketwo.tools.account import CellAccount
from taketwo.tools.budget import KNOWN_AFTERWARDS, BudgetExhausted, Resource
from taketwo.tools.clean_replies import CLEANED, with_clean_replies
from taketwo.tools.context_overflow import ContextOverflow, overflow_in, overflow_of, refusal_in
from taketwo.tools.price import tokens_cost_usd
from taketwo.tools.sent_media import frames_in, media_sha256, refuse_droppable

__all__ = ["ModelRole", "ProviderReplyError", "RoleModel", "RoleSettings", "SeedOf", "client_args"]

ModelRole = Literal["orchestrator", "observer", "transcriber", "judge"]
SeedOf = Callable[[int], int | None]
"""Seed of a generation by its number in the cell, counted from 0 over all roles; None sends none."""

ReplyProblem = Literal["empty", "malformed", "refused", "cut_off", "unmetered"]


class ProviderReplyError(Exception):
    """A reply that is none: a status of the cell, never an answer.

    `problem` is `empty` (neither text nor tool calls), `malformed` (no message at all, or a tool
    call without a name), `refused` (stopped by a content filter), `cut_off` (the token limit was
    reached before the first word) or `unmetered` (no usage is reported, and the cell has a limit in
    tokens or dollars, which then cannot be kept). `retryable` says whether asking again may help.
    """

    def __init__(self, problem: ReplyProblem, model: str, detail: str) -> None:
        super().__init__(f"{model} gave no usable reply: {problem} ({detail})")
        self.problem: ReplyProblem = problem
        self.retryable = problem not in {"cut_off", "unmetered"}

    @property
    def may_be_asked_again(self) -> bool:
        """Return whether the same cell repeats the request; a refusal is left to a resumed cell."""
        return self.problem in {"empty", "malformed"}


@dataclass(frozen=True, kw_only=True)
class RoleSettings:
    """How a role's model is reached and sampled.

    `model` is an inspect_ai name (or a ready model). `sampling` are fields of inspect_ai's
    `GenerateConfig`; None is the provider's default and is not sent. `retries` are further
    attempts of one request after the first, `timeout_s` seconds are allowed to each attempt. `price`
    is in US dollars per million tokens (`input`, `output`); None is not known.
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
    price: Mapping[str, float] | None = None

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
            **{**client_args(self.provider), **self.args},  # pyright: ignore[reportArgumentType] arguments of the provider, as the plan has them
        )
        return with_clean_replies(model)


def client_args(provider: str) -> dict[str, JsonValue]:
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
        tools: bool | Sequence[str | ToolInfo] = False,
        tool_choice: ToolChoice | None = None,
        response_schema: ResponseSchema | None = None,
    ) -> ModelOutput:
        """Return the model's reply to `messages`.

        Parameters
        ----------
        messages
            The conversation; pictures as data URIs, each after a text with its time.
        tools
            Whether the model sees the cell's tools: all, none, or those named. An agent of another
            framework hands over its own tools as schemas.
        tool_choice
            The engine's tool choice; `"none"` shows the tools and forbids calling them.
        response_schema
            The form that the provider is asked to hold the reply to.

        Raises
        ------
        BudgetExhausted
            If the cell may not make this call; nothing was sent.
        ContextOverflow
            If the messages are longer than the model's context; a `BudgetExhausted` as well.
        ProviderReplyError
            If no attempt gave a usable reply.
        RequestError
            If a message carries media that this provider may drop without a word, or the cell has
            a limit in dollars and the model no price.

        Exceptions of the provider are passed on as they are, after its retries.
        """
        refuse_droppable(messages, self.settings.provider)
        media = media_sha256(messages)
        shown = self._shown(tools)
        attempt = 0
        async with self._account.metered():
            while True:
                self._reserve(frames_in(messages), is_turn=attempt == 0)
                output, problem = await self._send(
                    messages, shown, tool_choice, response_schema, media
                )
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

    def _shown(self, tools: bool | Sequence[str | ToolInfo]) -> list[ToolInfo]:
        if isinstance(tools, bool):
            return list(self._tools) if tools else []
        given = [tool for tool in tools if isinstance(tool, ToolInfo)]
        return [*(tool for tool in self._tools if tool.name in tools), *given]

    def _reserve(self, frames: int, *, is_turn: bool) -> None:
        budget = self._account.budget
        budget.check(*KNOWN_AFTERWARDS)
        if budget.limits.cost_usd is not None and self.settings.price is None:
            raise RequestError(
                f"the cell may cost {budget.limits.cost_usd:g} US dollars, but {self.settings.name!r} "
                "has no price, so nobody could say when that is reached; give it one under `prices` "
                "(0 for a model that costs nothing), or remove limits.cost_usd"
            )
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
        response_schema: ResponseSchema | None,
        seed: int | None,
    ) -> ModelOutput:
        try:
            return await self._open().generate(
                list(messages),
                tools=tools,
                tool_choice=tool_choice,
                config=GenerateConfig(seed=seed, response_schema=response_schema),
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
        response_schema: ResponseSchema | None,
        media: tuple[str, ...],
    ) -> tuple[ModelOutput, ProviderReplyError | None]:
        call = self._account.next_model_call()
        seed = self.settings.seed_of(call) if self.settings.seed_of else None
        event: dict[str, JsonValue] = {
            "role": self.settings.role,
            "call": call,
            "media_sha256": list(media),
            "system_text_sha256": _system_text_sha256(messages),
            "latency_s": None,
            "seed_set": seed is not None,
            "frames": frames_in(messages),
            "error": None,
        }
        with self._account.watch() as watch:
            try:
                output = await self._attempt(messages, tools, tool_choice, response_schema, seed)
            except Exception as error:
                too_long = overflow_in(error)
                if too_long is not None:
                    self._account.record("model", event | {"error": "ContextOverflow"})
                    raise self._overflow(too_long) from error
                self._account.fail(error)
                self._account.record("model", event | {"error": type(error).__name__})
                raise
        latency_s = _charged_s(output, watch.own_s)
        self._account.charge(latency_s)
        too_long = overflow_of(output)
        if too_long is not None:
            self._account.record(
                "model", event | {"latency_s": latency_s, "error": "ContextOverflow"}
            )
            raise self._overflow(too_long)
        unmetered = self._book(output.usage)
        problem = unmetered or _problem_of(output, self.settings.name)
        failed = None if problem is None else f"ProviderReplyError: {problem.problem}"
        self._account.record("model", event | {"latency_s": latency_s, "error": failed})
        cleaned = (output.metadata or {}).get(CLEANED)
        if cleaned:
            self._account.record(
                "note", {"text": f"reply {call} was cleaned: {'; '.join(cleaned)}"}
            )
        return output, problem

    def _overflow(self, said: str) -> ContextOverflow:
        overflow = ContextOverflow(self.settings.name, said)
        self._account.record("note", {"text": str(overflow)})
        return overflow

    def _book(self, usage: ModelUsage | None) -> ProviderReplyError | None:
        """Book tokens and dollars; return what is wrong where a limit needs them and they are missing."""
        used = _tokens_in(usage)
        self._account.book_usage(self.settings.name, used)
        price = self.settings.price
        if used is not None:
            self._account.spend_tokens(sum(used))
            if price is not None:
                self._account.spend_money(tokens_cost_usd(price, *used))
            return None
        limits = self._account.budget.limits
        is_free = price is not None and not any(price.values())
        needed = [
            name
            for name, is_needed in (
                ("tokens", limits.tokens is not None),
                ("cost_usd", limits.cost_usd is not None and not is_free),
            )
            if is_needed
        ]
        if not needed:
            return None
        return ProviderReplyError(
            "unmetered",
            self.settings.name,
            f"the reply reports no usage, so limits.{needed[0]} cannot be kept; limit model_calls "
            "instead",
        )


def _system_text_sha256(messages: Sequence[ChatMessage]) -> str | None:
    """Return the hash of the system prompt as we wrote it; None where there is none."""
    texts = [message.text for message in messages if message.role == "system"]
    return sha256_of_text("\n\f\n".join(texts)) if texts else None


def _tokens_in(usage: ModelUsage | None) -> tuple[int, int] | None:
    """Return input (cached input included) and output tokens; None where they are not reported.

    Every request has input: no tokens at all, or fewer than none, is no report.
    """
    if usage is None:
        return None
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    given, made = usage.input_tokens + cached, usage.output_tokens
    return None if given < 0 or made < 0 or given + made == 0 else (given, made)


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
    refused = refusal_in(output)
    if refused is not None:
        return ProviderReplyError("cut_off", model, f"no room for a reply: {refused:.300}")
    calls = output.message.tool_calls or []
    if any(not call.function.strip() for call in calls):
        return ProviderReplyError("malformed", model, "a tool call without a name")
    if calls or output.message.text.strip():
        return None
    if stop in {"max_tokens", "model_length"}:
        return ProviderReplyError("cut_off", model, f"no text before the limit ({stop})")
    return ProviderReplyError("empty", model, f"no text and no tool call, stop reason {stop}")
