"""The `llama` provider: a language model of the user's own, from a GGUF file, in this process.

Runs on xllamacpp (llama.cpp). Replies are constrained by grammar to a tool call that fits its
schema or to the text of an option, so that even a very small model speaks the protocol.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

import anyio.to_thread
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    GenerateConfig,
    ModelAPI,
    ModelCall,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolFunction, ToolInfo
from pydantic import JsonValue

from taketwo.errors import HarnessError, RequestError
from taketwo.models.conversation import Conversation, read_conversation
from taketwo.models.llama_grammar import answer_grammar, tool_grammar
from taketwo.models.request_media import captured_request, refuse_other_kinds

__all__ = ["Llama", "checked_gguf"]

Json = dict[str, JsonValue]

_MAGIC = b"GGUF"
_TURN_TOKENS = 256
_KINDS = {"text"}


class _Server(Protocol):
    def handle_chat_completions(self, request: Json, /) -> Json: ...


def checked_gguf(path: Path) -> Path:
    """Return `path` where it is a GGUF file.

    Raises
    ------
    RequestError
        If there is no such file or it does not begin like a GGUF file.
    """
    if not path.is_file():
        raise RequestError(f"llama/{path}: there is no such file; give the path of a GGUF file")
    with path.open("rb") as handle:
        found = handle.read(len(_MAGIC))
    if found != _MAGIC:
        raise RequestError(
            f"llama/{path}: not a GGUF file (it begins with {found!r}, a GGUF file with {_MAGIC!r})"
        )
    return path


def _load(path: Path, context_tokens: int, threads: int) -> _Server:
    """Start the in-process server.

    Waiting threads must sleep: spinning ones slow generation on busy processors 30 to 50 times,
    and the variable is read once, when the library is loaded.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        library = cast(Any, import_module("xllamacpp"))  # ships no types
    except ImportError as error:
        raise RequestError("llama/ models need xllamacpp: pip install 'taketwo[llama]'") from error
    params = library.CommonParams()
    params.model.path = str(path)
    params.n_ctx = context_tokens
    params.n_gpu_layers = 0
    params.n_parallel = 1
    params.verbosity = -1
    params.warmup = False
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    try:
        return cast("_Server", library.Server(params))
    except RuntimeError as error:
        raise RequestError(f"llama/{path}: llama.cpp cannot load it: {error}") from error


@modelapi(name="llama")
class Llama(ModelAPI):
    """A GGUF model; the model name is the path of the file.

    Parameters
    ----------
    model_name
        Path of the file.
    context_tokens
        Length of the context; longer conversations are refused, not cut.
    threads
        Processors used; else all but never more than 4.

    Raises
    ------
    RequestError
        If the file is missing, is not a GGUF file, or cannot be loaded (at the first call).
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  the signature of ModelAPI
        context_tokens: int = 8192,
        threads: int | None = None,
    ) -> None:
        super().__init__(model_name, base_url=base_url, api_key=api_key, config=config)
        self._path = checked_gguf(Path(model_name).expanduser())
        self._context_tokens = int(context_tokens)
        self._threads = int(threads or min(4, os.cpu_count() or 1))
        self._server: _Server | None = None
        self._lock = threading.Lock()

    def max_connections(self) -> int:
        """Return 1: one call uses all the processors that the model may use."""
        return 1

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002  the name is that of ModelAPI
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> tuple[ModelOutput | Exception, ModelCall]:
        """Return a tool call or an answer; the model runs in a thread, off the event loop.

        Raises
        ------
        RequestError
            If a message carries media, or the conversation is longer than the context.
        """
        name = f"llama/{self._path.name}"
        refuse_other_kinds(input, _KINDS, name)
        conversation = read_conversation(input)
        callable_tools = _callable(tools, tool_choice)
        request = _request(input, conversation, callable_tools, tool_choice, config)
        call = ModelCall.create(
            request={
                **captured_request(name, input, tools, tool_choice, config),
                "sent": {key: value for key, value in request.items() if key != "seed"},
            },
            response=None,
        )
        reply, seconds = await anyio.to_thread.run_sync(self._complete, request)
        call.set_response(reply, seconds)
        error = reply.get("error")
        if isinstance(error, dict):
            kind = RequestError if error.get("code") == 400 else HarnessError
            call.error = True
            return kind(f"{name}: llama.cpp refused the request: {error.get('message')}"), call
        return _output(reply, conversation, len(input), name, seconds), call

    def _complete(self, request: Json) -> tuple[Json, float]:
        with self._lock:
            if self._server is None:
                self._server = _load(self._path, self._context_tokens, self._threads)
            started = time.perf_counter()
            reply = self._server.handle_chat_completions(request)
            return reply, time.perf_counter() - started


def _callable(tools: Sequence[ToolInfo], tool_choice: ToolChoice) -> list[ToolInfo]:
    if tool_choice == "none":
        return []
    if isinstance(tool_choice, ToolFunction):
        return [tool for tool in tools if tool.name == tool_choice.name]
    return list(tools)


def _request(
    messages: Sequence[ChatMessage],
    conversation: Conversation,
    tools: Sequence[ToolInfo],
    tool_choice: ToolChoice,
    config: GenerateConfig,
) -> Json:
    must_call = tool_choice != "auto" and tool_choice != "none" and bool(tools)
    answer = None if must_call else answer_grammar(conversation.options)
    if conversation.must_answer and not must_call:
        tools = []
    request: Json = {
        "messages": [*(_plain(message) for message in messages), _forms(conversation, tools)],
        "grammar": tool_grammar(tools, answer),
        "max_tokens": config.max_tokens or _TURN_TOKENS,
        "cache_prompt": False,
    }
    given: Json = {
        "temperature": config.temperature,
        "top_p": config.top_p,
        "top_k": config.top_k,
        "seed": config.seed % 2**32 if config.seed is not None else None,
    }
    return request | {name: value for name, value in given.items() if value is not None}


def _plain(message: ChatMessage) -> Json:
    """Return a message as text: calls and their results in words, as chat templates differ."""
    text = message.text
    if isinstance(message, ChatMessageAssistant):
        for call in message.tool_calls or ():
            record = json.dumps({"name": call.function, "arguments": call.arguments})
            text = f"{text}\n{record}".strip()
        return {"role": "assistant", "content": text}
    if isinstance(message, ChatMessageTool):
        body = f"[ERROR] {message.error.message}" if message.error else text
        return {"role": "user", "content": f"Result of {message.function}:\n{body}"}
    role = "system" if isinstance(message, ChatMessageSystem) else "user"
    return {"role": role, "content": text}


def _forms(conversation: Conversation, tools: Sequence[ToolInfo]) -> Json:
    """Return the last message: which replies the grammar allows."""
    lines = ["Reply with one line and nothing else."]
    lines += [
        f'To call {tool.name} ({tool.description.strip()}): {{"name": "{tool.name}", '
        '"arguments": {...}}'
        for tool in tools
    ]
    if conversation.options:
        lines.append("To answer: the text of the right option, copied exactly.")
    else:
        lines.append("To answer: the answer itself.")
    return {"role": "user", "content": "\n".join(lines)}


def _output(
    reply: Json, conversation: Conversation, number: int, name: str, seconds: float
) -> ModelOutput:
    first = cast("list[Json]", reply["choices"])[0]
    text = str(cast("Json", first["message"]).get("content") or "").strip()
    calls = _calls(text, number)
    counts = cast("dict[str, int]", reply.get("usage") or {})
    message = ChatMessageAssistant(
        content=text if calls else _final(text, conversation),
        model=name,
        source="generate",
        tool_calls=calls or None,
    )
    ended = "max_tokens" if first.get("finish_reason") == "length" else "stop"
    return ModelOutput(
        model=str(reply.get("model") or name),
        choices=[
            ChatCompletionChoice(message=message, stop_reason="tool_calls" if calls else ended)
        ],
        usage=ModelUsage(
            input_tokens=counts["prompt_tokens"],
            output_tokens=counts["completion_tokens"],
            total_tokens=counts["total_tokens"],
        )
        if {"prompt_tokens", "completion_tokens", "total_tokens"} <= set(counts)
        else None,
        metadata={
            "charged_s": seconds,
            "media_sha256": [],
            "fingerprint": reply.get("system_fingerprint"),
        },
    )


def _calls(text: str, number: int) -> list[ToolCall]:
    if not text.startswith('{"name": '):
        return []
    try:
        record = cast("dict[str, object]", json.loads(text))
        return [
            ToolCall(
                id=f"call_{number}_1",
                function=str(record["name"]),
                arguments=cast("dict[str, object]", record["arguments"]),
            )
        ]
    except (ValueError, KeyError, RecursionError):
        return []  # cut off by the token limit: shown as text, which no parser takes for an answer


def _final(text: str, conversation: Conversation) -> str:
    """Return the final text in the form that the conversation asks for, by label where it can be."""
    texts = [" ".join(option.split()) for option in conversation.options]
    answer = conversation.labels[texts.index(text)] if text in texts else text
    if conversation.form == "final_answer":
        return f"{text}\n\nFINAL ANSWER: {answer}"
    block = json.dumps({"answer": answer, "reasoning": text}, ensure_ascii=False)
    return f"```json\n{block}\n```"
