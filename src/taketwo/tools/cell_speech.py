"""The speech of a cell's video: made once a cell, out of subtitles, by recognition, or by a model."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import anyio.to_thread

from taketwo.media.store import derived_key
from taketwo.media.transcript import (
    OFFLINE_TRANSCRIBER,
    Segment,
    Transcript,
    read_subtitles,
    transcribe,
    transcriber_identity,
)
from taketwo.tools.account import CellAccount
from taketwo.tools.cell_media import CellMedia
from taketwo.tools.operation import Freshness, Operation
from taketwo.tools.role_model import ModelRole, RoleModel
from taketwo.tools.speech import parts_of, segments_in, transcription_request

__all__ = ["CellSpeech"]

_Result = TypeVar("_Result")


class CellSpeech:
    """The transcript of the whole video; asking for it again costs what making it cost."""

    def __init__(
        self, media: CellMedia, account: CellAccount, model: Callable[[ModelRole], RoleModel]
    ) -> None:
        self._media = media
        self._account = account
        self._model = model
        self._speech: Transcript | None = None
        self._speech_s = 0.0

    async def whole(self, operation: Operation) -> Transcript:
        """Return all that is said, and tell `operation` its freshness and what it is charged.

        Raises
        ------
        BudgetExhausted
            If the cell may make no further model call.
        DataError
            If the subtitles cannot be read or the audio cannot be decoded.
        """
        speech = await self._heard(operation)
        operation.speech_source = speech.source
        return speech

    async def _heard(self, operation: Operation) -> Transcript:
        if self._speech is not None:
            operation.freshness, operation.charged_s = "shared", self._speech_s
            return self._speech
        media = self._media
        subtitles = media.subtitles
        if subtitles is not None:
            speech, seconds = await self._in_thread(
                lambda: _timed(lambda: read_subtitles(subtitles))
            )
        elif not media.info.has_audio:
            speech, seconds = Transcript(segments=(), source="no audio track", language=None), 0.0
        elif self._model("transcriber").settings.name == OFFLINE_TRANSCRIBER:
            speech, seconds, operation.freshness = await self._in_thread(self._offline)
        else:
            before_s = self._account.latency_s
            speech, seconds = await self._by_model()
            operation.charged_s = seconds
            self._speech, self._speech_s = speech, seconds + self._account.latency_s - before_s
            return speech
        operation.charged_s = seconds
        self._speech, self._speech_s = speech, seconds
        return speech

    async def _in_thread(self, work: Callable[[], _Result]) -> _Result:
        async with self._account.metered():
            self._account.budget.check("latency_s")
            return await anyio.to_thread.run_sync(work, limiter=self._media.slots)

    def _offline(self) -> tuple[Transcript, float, Freshness]:
        media = self._media

        def make() -> bytes:
            audio = media.workers.audio(media.path, None, None)
            return transcribe(audio).to_json().encode()

        key = derived_key("transcript/1", media.info.sha256, transcriber=transcriber_identity())
        stored = media.derived.get_or_make(key, make)
        return Transcript.from_json(stored.data.decode()), stored.seconds, stored.freshness

    async def _by_model(self) -> tuple[Transcript, float]:
        """Ask the transcriber for one part of the sound after the other; a model's reply is never shared."""
        media, model = self._media, self._model("transcriber")
        segments: list[Segment] = []
        seconds = 0.0
        for start_s, end_s in parts_of(media.info.duration_s):
            audio, spent = await self._in_thread(
                lambda start_s=start_s, end_s=end_s: _timed(
                    lambda: media.workers.audio(media.path, start_s, end_s)
                )
            )
            seconds += spent
            output = await model.generate(transcription_request(audio))
            segments += segments_in(output.completion, start_s, end_s, model.settings.name)
        return (
            Transcript(segments=tuple(segments), source=model.settings.name, language=None),
            seconds,
        )


def _timed(work: Callable[[], _Result]) -> tuple[_Result, float]:
    started = time.perf_counter()
    result = work()
    return result, time.perf_counter() - started
