"""The `taketwo` provider of inspect_ai: offline models that need no key and no network.

taketwo/offline-orchestrator   plans calls and answers (role orchestrator, or single-turn)
taketwo/offline-observer       reports on frames
taketwo/offline-transcriber    writes down speech
taketwo/offline-judge          judges trajectories and answers
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import anyio.to_thread
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    GenerateConfig,
    ModelAPI,
    ModelCall,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

from taketwo.errors import RequestError, UnknownName
from taketwo.media.store import MediaStore
from taketwo.models.conversation import focus_of
from taketwo.models.form_filling import form_reply
from taketwo.models.form_sightings import told
from taketwo.models.forms import asked_form
from taketwo.models.grid_tiles import apart
from taketwo.models.known import Known, known_of
from taketwo.models.offline_judge import judge_reply
from taketwo.models.offline_observer import Measured, measure, observe
from taketwo.models.offline_orchestrator import generator_for, take_turn
from taketwo.models.offline_transcriber import transcribe_wav
from taketwo.models.request_media import (
    SentAudio,
    SentFrame,
    captured_request,
    estimated_tokens,
    media_of,
    refuse_other_kinds,
)
from taketwo.models.schema_fitting import Schema

__all__ = ["OFFLINE_MODELS", "OfflineModels"]

OFFLINE_MODELS = (
    "offline-observer",
    "offline-orchestrator",
    "offline-transcriber",
    "offline-judge",
)
STORE_VARIABLE = "TAKETWO_MEDIA_STORE"
_DEFAULT_TEMPERATURE = 1.0
_KINDS = {
    "offline-observer": {"text", "image"},
    "offline-orchestrator": {"text", "image"},
    "offline-transcriber": {"text", "audio"},
    "offline-judge": {"text"},
}


class _Reply:
    """What a model said, before it becomes an output."""

    def __init__(self, text: str, charged_s: float, call: ToolCall | None = None) -> None:
        self.text = text
        self.charged_s = charged_s
        self.call = call


class _Request:
    """A call as the models get it."""

    def __init__(
        self,
        messages: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
        model: str,
    ) -> None:
        self.messages = messages
        self.tools = tools
        self.tool_choice: ToolChoice = tool_choice
        self.config = config
        self.media = media_of(messages, model)

    @property
    def temperature(self) -> float:
        given = self.config.temperature
        return _DEFAULT_TEMPERATURE if given is None else given

    def frames(self) -> list[SentFrame]:
        return [item for item in self.media if isinstance(item, SentFrame)]

    def last_text(self) -> str:
        users = [message.text for message in self.messages if isinstance(message, ChatMessageUser)]
        return users[-1] if users else ""


@modelapi(name="taketwo")
class OfflineModels(ModelAPI):
    """One provider class for all offline models; the model name says which.

    Parameters
    ----------
    model_name
        One of `OFFLINE_MODELS`.
    store
        Folder of derived media that is shared between calls; else the environment variable
        TAKETWO_MEDIA_STORE; without both nothing is kept.

    Raises
    ------
    UnknownName
        For another model name.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  the signature of ModelAPI
        store: str | None = None,
    ) -> None:
        super().__init__(model_name, base_url=base_url, api_key=api_key, config=config)
        replies: dict[str, Callable[[_Request], _Reply]] = {
            "offline-observer": self._observer,
            "offline-orchestrator": self._orchestrator,
            "offline-transcriber": self._transcriber,
            "offline-judge": self._judge,
        }
        if model_name not in replies:
            raise UnknownName.among("offline model", model_name, OFFLINE_MODELS)
        self._reply = replies[model_name]
        self._kinds = _KINDS[model_name]
        folder = store or os.environ.get(STORE_VARIABLE)
        self._store = MediaStore(Path(folder)) if folder else None

    @property
    def _full_name(self) -> str:
        return f"taketwo/{self.model_name}"

    def max_connections(self) -> int:
        """Return the number of processors: a further call would only wait for one."""
        return os.cpu_count() or 1

    def tool_result_images(self) -> bool:
        """Return True: pictures in tool results are read where they stand."""
        return True

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002  the name is that of ModelAPI
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> tuple[ModelOutput, ModelCall]:
        """Return the model's reply; the work is done in a thread, off the event loop.

        Raises
        ------
        RequestError
            If a message carries content that the model cannot take.
        DataError
            If a picture or a sound cannot be decoded.
        """
        refuse_other_kinds(input, self._kinds, self._full_name)
        request = _Request(input, tools, tool_choice, config, self._full_name)
        reply = await anyio.to_thread.run_sync(self._reply, request)
        message = ChatMessageAssistant(
            content=reply.text,
            model=self._full_name,
            source="generate",
            tool_calls=[reply.call] if reply.call else None,
        )
        tokens_in, tokens_out = estimated_tokens(input), estimated_tokens([message])
        output = ModelOutput(
            model=self._full_name,
            choices=[
                ChatCompletionChoice(
                    message=message, stop_reason="tool_calls" if reply.call else "stop"
                )
            ],
            usage=ModelUsage(
                input_tokens=tokens_in,
                output_tokens=tokens_out,
                total_tokens=tokens_in + tokens_out,
            ),
            metadata={
                "charged_s": reply.charged_s,
                "media_sha256": [item.sha256 for item in request.media],
                "usage": "estimated",
            },
        )
        call = ModelCall.create(
            request=captured_request(self._full_name, input, tools, tool_choice, config),
            response={
                "text": reply.text,
                "tool_calls": [{"name": reply.call.function, "arguments": reply.call.arguments}]
                if reply.call
                else [],
            },
        )
        return output, call

    def _observer(self, request: _Request) -> _Reply:
        form = asked_form(request.messages)
        if form is not None:
            return self._in_form(request, form, is_observer=True)
        frames, target = request.frames(), focus_of(request.messages)
        if not frames:
            started = time.perf_counter()
            known = self._known(request, Measured(), is_observer=True)
            if known.has_evidence:
                return _Reply(told(known), time.perf_counter() - started)
        seen = observe(frames, target, self._store)
        return _Reply(seen.text, seen.charged_s)

    def _orchestrator(self, request: _Request) -> _Reply:
        form = asked_form(request.messages)
        if form is not None and not request.tools:
            return self._in_form(request, form, is_observer=False)
        frames = request.frames()
        seen = observe(frames, "", self._store) if frames else None
        started = time.perf_counter()
        turn = take_turn(
            request.messages,
            request.tools,
            request.tool_choice,
            temperature=request.temperature,
            rng=generator_for(request.config.seed, request.messages),
            own_report=seen.text if seen else "",
        )
        seconds = time.perf_counter() - started + (seen.charged_s if seen else 0.0)
        return _Reply(turn.text, seconds, turn.call)

    def _in_form(self, request: _Request, form: Schema, *, is_observer: bool) -> _Reply:
        frames = apart(request.frames(), request.last_text())
        measured = measure(frames, self._store)
        started = time.perf_counter()
        text = form_reply(form, self._known(request, measured, is_observer=is_observer))
        return _Reply(text, time.perf_counter() - started + measured.charged_s)

    def _known(self, request: _Request, measured: Measured, *, is_observer: bool) -> Known:
        return known_of(
            request.messages,
            measured,
            is_observer=is_observer,
            temperature=0.0 if is_observer else request.temperature,
            # What looks does not sample: even ties fall the same way for the same request.
            rng=generator_for(0 if is_observer else request.config.seed, request.messages),
        )

    def _transcriber(self, request: _Request) -> _Reply:
        sounds = [item for item in request.media if isinstance(item, SentAudio)]
        if len(sounds) != 1:
            raise RequestError(
                f"{self._full_name} writes down one sound a request, found {len(sounds)}; "
                "send one audio part"
            )
        written = transcribe_wav(sounds[0].data, self._store)
        return _Reply(written.text, written.charged_s)

    def _judge(self, request: _Request) -> _Reply:
        started = time.perf_counter()
        text = judge_reply(request.messages)
        return _Reply(text, time.perf_counter() - started)
