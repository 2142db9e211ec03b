"""A model provider that plays back a script, with no latency: `scripted/<key>`.

    name = script([calls(("analyze_video", {"fps": 1})), says('{"answer": "B"}')])
    model = get_model(name)

Each generation takes the next step of its script. A step is a `ModelOutput`, a string (a plain
reply), an exception (raised, or retried by the engine where `retryable` says so), or a callable of
the `Request` that returns one of these. When a script runs out, `ScriptRanOut` is raised, unless
it was made with `repeat_last=True`. `requests_of(name)` returns what the provider was sent.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ContentImage,
    GenerateConfig,
    ModelAPI,
    ModelCall,
    ModelOutput,
    ModelUsage,
    RetryDecision,
    modelapi,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo
from tenacity import wait_none

__all__ = [
    "HttpError",
    "Request",
    "ScriptRanOut",
    "Step",
    "calls",
    "empty",
    "malformed",
    "refuses",
    "requests_of",
    "says",
    "script",
]


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request as the provider got it."""

    messages: list[ChatMessage]
    tools: list[ToolInfo]
    tool_choice: ToolChoice
    config: GenerateConfig

    @property
    def text(self) -> str:
        """All text of the request, one message after the other."""
        return "\n".join(message.text for message in self.messages)

    @property
    def images(self) -> list[str]:
        """The images of the request, in order, as they were sent."""
        return [
            part.image
            for message in self.messages
            if isinstance(message.content, list)
            for part in message.content
            if isinstance(part, ContentImage)
        ]


class HttpError(Exception):
    """A provider's HTTP failure; 408, 429 and 5xx are retried by the engine."""

    def __init__(self, status_code: int, message: str = "scripted failure") -> None:
        super().__init__(f"HTTP {status_code}: {message}")
        self.status_code = status_code


class ScriptRanOut(Exception):
    """More generations were asked for than the script has steps."""


Reply = ModelOutput | str | Exception
Step = Reply | Callable[[Request], Reply]


@dataclass
class _Script:
    steps: list[Step]
    repeat_last: bool
    position: int = 0
    requests: list[Request] = field(default_factory=list[Request])

    def next(self, request: Request) -> Reply:
        self.requests.append(request)
        index = min(self.position, len(self.steps) - 1) if self.repeat_last else self.position
        if index >= len(self.steps):
            raise ScriptRanOut(f"the script has {len(self.steps)} steps, all are used")
        self.position += 1
        step = self.steps[index]
        return step(request) if callable(step) else step


_scripts: dict[str, _Script] = {}
_numbers = itertools.count(1)


def script(steps: Sequence[Step], *, repeat_last: bool = False) -> str:
    """Register `steps` and return the name of the model that plays them."""
    name = f"scripted/{next(_numbers)}"
    _scripts[name] = _Script(list(steps), repeat_last)
    return name


def requests_of(name: str) -> list[Request]:
    """Return the requests that the model called `name` got so far, in order."""
    return _scripts[name].requests


def says(text: str, *, input_tokens: int = 10, output_tokens: int = 5) -> ModelOutput:
    """Return a plain reply."""
    return _output(ChatMessageAssistant(content=text), input_tokens, output_tokens)


def calls(
    *wanted: tuple[str, dict[str, object]] | ToolCall,
    text: str = "",
    input_tokens: int = 10,
    output_tokens: int = 5,
) -> ModelOutput:
    """Return a reply that calls tools: `(name, arguments)` pairs or ready `ToolCall`s."""
    tool_calls = [
        item
        if isinstance(item, ToolCall)
        else ToolCall(id=f"call_{next(_numbers)}", function=item[0], arguments=dict(item[1]))
        for item in wanted
    ]
    message = ChatMessageAssistant(content=text, tool_calls=tool_calls)
    return _output(message, input_tokens, output_tokens, stop_reason="tool_calls")


def empty() -> ModelOutput:
    """Return a reply without text and without tool calls."""
    return _output(ChatMessageAssistant(content=""), 10, 0)


def malformed() -> ModelOutput:
    """Return a reply without any choice."""
    return ModelOutput(model="scripted", choices=[], usage=ModelUsage(input_tokens=10))


def refuses(text: str = "I cannot help with that.") -> ModelOutput:
    """Return a reply that was stopped by a content filter."""
    return _output(ChatMessageAssistant(content=text), 10, 5, stop_reason="content_filter")


def _output(
    message: ChatMessageAssistant, input_tokens: int, output_tokens: int, stop_reason: str = "stop"
) -> ModelOutput:
    return ModelOutput(
        model="scripted",
        choices=[ChatCompletionChoice(message=message, stop_reason=stop_reason)],  # type: ignore[arg-type]
        usage=ModelUsage(
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            total_tokens=input_tokens + output_tokens,
        ),
    )


@modelapi(name="scripted")
class ScriptedModel(ModelAPI):
    """Play back the script that the model's name refers to."""

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002 the engine's name
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> tuple[ModelOutput | Exception, ModelCall]:
        """Take the next step of the script."""
        request = Request(messages=input, tools=tools, tool_choice=tool_choice, config=config)
        reply = _scripts[f"scripted/{self.model_name}"].next(request)
        call = ModelCall.create(
            {"messages": [message.text for message in input], "seed": config.seed}, {}
        )
        if isinstance(reply, Exception):
            raise reply
        output = says(reply) if isinstance(reply, str) else reply.model_copy(deep=True)
        return output, call

    def should_retry(self, ex: Exception) -> RetryDecision:
        """Retry what a real provider would retry."""
        if isinstance(ex, TimeoutError):
            return RetryDecision.transient()
        status = getattr(ex, "status_code", None)
        if status == 429:
            return RetryDecision.rate_limit()
        retryable = isinstance(status, int) and (status == 408 or status >= 500)
        return RetryDecision.transient() if retryable else RetryDecision.no()

    def retry_wait(self) -> wait_none:
        """Wait for nothing between attempts."""
        return wait_none()

    def connection_key(self) -> str:
        """Return one pool per script."""
        return self.model_name
