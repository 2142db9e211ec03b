"""The one place where primitive operations are done and counted, whoever asks for them.

Each operation leaves a `taketwo.primitive` event: attempted, whether it succeeded, whether its
result was made for this cell (`fresh`) or found (`shared`), and what it cost. Shared media are
charged at the seconds that making them cost, so that no cell gains from running second.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeVar

import anyio
import anyio.to_thread
import numpy as np
from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentText,
)
from numpy.typing import NDArray

from taketwo.errors import UnreadableVideo
from taketwo.media.store import MediaStore, derived_key
from taketwo.media.transcript import (
    OFFLINE_TRANSCRIBER,
    Segment,
    Transcript,
    read_subtitles,
    transcribe,
    transcriber_identity,
)
from taketwo.media.video import VideoInfo
from taketwo.tools.account import CellAccount
from taketwo.tools.budget import BudgetExhausted
from taketwo.tools.role_model import ModelRole, RoleModel
from taketwo.tools.seen_frames import SeenFrame, frames_record, stored_frames
from taketwo.tools.sent_media import image_content
from taketwo.tools.speech import parts_of, segments_in, transcription_request

__all__ = ["CellMedia", "FrameWorkers", "PrimitiveKind", "Primitives", "SeenFrame"]

PrimitiveKind = Literal[
    "extract_video_parts",
    "transcribe_speech",
    "ground_event",
    "analyze",
    "web_search",
    "parse_website",
]
Freshness = Literal["fresh", "shared", "replayed"]
_JPEG_QUALITY = 85
_Result = TypeVar("_Result")


class _Jpeg(Protocol):
    @property
    def time_s(self) -> float: ...
    @property
    def requested_s(self) -> float: ...
    @property
    def jpeg(self) -> bytes: ...
    @property
    def is_corrupt(self) -> bool: ...


class FrameWorkers(Protocol):
    """What decodes; `media.worker.MediaWorkers` is one."""

    def jpegs(
        self, path: Path, times_s: Sequence[float], max_side: int | None, quality: int = 85
    ) -> Sequence[_Jpeg]:
        """Return the frames shown at `times_s`, encoded."""
        ...

    def audio(self, path: Path, start_s: float | None, end_s: float | None) -> NDArray[np.float32]:
        """Return 16 kHz mono samples."""
        ...


@dataclass(frozen=True, kw_only=True)
class CellMedia:
    """The video of a cell and where its derived media go.

    `slots` bounds the threads that wait for decoding; with as many tokens as there are workers, no
    wait for a worker is ever timed as work. `subtitles` is a file that stands in for speech
    recognition.
    """

    path: Path
    info: VideoInfo
    workers: FrameWorkers
    frames: MediaStore
    derived: MediaStore
    slots: anyio.CapacityLimiter
    subtitles: Path | None = None


@dataclass
class _Operation:
    """What is known of an operation while it runs."""

    freshness: Freshness = "fresh"
    charged_s: float | None = None
    frames: int = 0
    audio_s: float = 0.0


class Primitives:
    """The primitive operations of one cell."""

    def __init__(
        self,
        media: CellMedia,
        account: CellAccount,
        model: Callable[[ModelRole], RoleModel],
    ) -> None:
        self.media = media
        self.account = account
        self._model = model
        self._speech: Transcript | None = None
        self._speech_s = 0.0

    async def extract_video_parts(
        self, times_s: Sequence[float], *, max_side: int | None
    ) -> tuple[SeenFrame, ...]:
        """Return the frames shown at `times_s` (seconds), at most `max_side` pixels long.

        Raises
        ------
        BudgetExhausted
            If the cell may do no further operation.
        UnreadableVideo
            If they cannot be decoded; the cell then ends as a media error.
        """
        with self._operation("extract_video_parts") as operation:
            frames, seconds, freshness = await self._in_thread(
                lambda: self._frames(tuple(times_s), max_side)
            )
            operation.charged_s = seconds
            operation.freshness = freshness
            operation.frames = len(frames)
            return frames

    async def transcribe_speech(self, start_s: float, end_s: float) -> Transcript:
        """Return what is said between two seconds; overlapping segments count.

        The whole video is transcribed once: from the question's subtitles where it has some, else
        by the transcriber's role.

        Raises
        ------
        BudgetExhausted
            If the cell may do no further operation or model call.
        DataError
            If the subtitles cannot be read or the audio cannot be decoded.
        """
        with self._operation("transcribe_speech") as operation:
            whole = await self._transcript(operation)
            operation.audio_s = max(0.0, min(end_s, self.media.info.duration_s) - start_s)
            return whole.between(start_s, end_s)

    async def analyze(self, *, system: str, text: str, frames: Sequence[SeenFrame]) -> str:
        """Return what the observer says about `frames` in reply to `text`.

        Raises
        ------
        BudgetExhausted
            If the cell may do no further operation or model call.
        """
        with self._operation("analyze") as operation:
            operation.frames = len(frames)
            content: list[Content] = [ContentText(text=text)]
            for frame in frames:
                content.extend(image_content(frame.time_s, frame.jpeg))
            messages: list[ChatMessage] = [
                ChatMessageSystem(content=system),
                ChatMessageUser(content=content),
            ]
            output = await self._model("observer").generate(messages)
            return output.completion

    @contextmanager
    def _operation(self, kind: PrimitiveKind) -> Generator[_Operation]:
        account = self.account
        account.budget.reserve("primitive_ops")
        operation = _Operation()
        before = (account.model_calls, account.tokens, account.latency_s)
        watch = account.watch()
        error: str | None = None
        try:
            with watch:
                yield operation
        except BaseException as failure:
            error = f"{type(failure).__name__}: {failure}"
            if isinstance(failure, Exception) and not isinstance(failure, BudgetExhausted):
                account.fail(failure)
            raise
        finally:
            charged_s = watch.own_s if operation.charged_s is None else operation.charged_s
            models_s = account.latency_s - before[2]
            account.charge(charged_s)
            calls = account.model_calls - before[0]
            spent = (account.tokens or 0) - (before[1] or 0)
            account.record(
                "primitive",
                {
                    "operation": kind,
                    "succeeded": error is None,
                    "freshness": operation.freshness,
                    "seconds": models_s + watch.own_s,
                    "charged_s": charged_s,
                    "frames": operation.frames,
                    "audio_s": operation.audio_s,
                    "model_calls": calls,
                    "tokens": spent if calls and account.tokens is not None else None,
                    "call_id": account.call_id,
                    "error": error,
                },
            )

    async def _in_thread(self, work: Callable[[], _Result]) -> _Result:
        return await anyio.to_thread.run_sync(work, limiter=self.media.slots)

    def _frames(
        self, times_s: tuple[float, ...], max_side: int | None
    ) -> tuple[tuple[SeenFrame, ...], float, Freshness]:
        media = self.media
        key = derived_key(
            "frames/1",
            media.info.sha256,
            times_s=",".join(f"{time_s:.6f}" for time_s in times_s),
            max_side=max_side,
            quality=_JPEG_QUALITY,
        )
        stored = media.derived.get(key)
        found = None if stored is None else stored_frames(stored.data, media.frames)
        if stored is not None and found is not None:
            return found, stored.seconds, "shared"
        started = time.perf_counter()
        jpegs = media.workers.jpegs(media.path, times_s, max_side, _JPEG_QUALITY)
        seconds = time.perf_counter() - started
        frames = tuple(
            SeenFrame(
                time_s=jpeg.time_s,
                requested_s=jpeg.requested_s,
                jpeg=jpeg.jpeg,
                sha256=media.frames.put_image(jpeg.jpeg),
                is_corrupt=jpeg.is_corrupt,
            )
            for jpeg in jpegs
        )
        if not frames:
            raise UnreadableVideo(
                f"none of {len(times_s)} frames could be decoded, first at {times_s[0]:.3f} s"
            )
        media.derived.put(key, frames_record(frames), seconds)
        return frames, seconds, "fresh"

    async def _transcript(self, operation: _Operation) -> Transcript:
        if self._speech is not None:
            operation.freshness, operation.charged_s = "shared", self._speech_s
            return self._speech
        media = self.media
        subtitles = media.subtitles
        if subtitles is not None:
            speech, seconds = await self._in_thread(
                lambda: _timed(lambda: read_subtitles(subtitles))
            )
        elif not media.info.has_audio:
            speech, seconds = Transcript(segments=(), source="no audio track", language=None), 0.0
        elif self._model("transcriber").settings.name == OFFLINE_TRANSCRIBER:
            speech, seconds, operation.freshness = await self._in_thread(self._offline_transcript)
        else:
            before_s = self.account.latency_s
            speech, seconds = await self._model_transcript()
            operation.charged_s = seconds
            self._speech, self._speech_s = speech, seconds + self.account.latency_s - before_s
            return speech
        operation.charged_s = seconds
        self._speech, self._speech_s = speech, seconds
        return speech

    def _offline_transcript(self) -> tuple[Transcript, float, Freshness]:
        media = self.media

        def make() -> bytes:
            audio = media.workers.audio(media.path, None, None)
            return transcribe(audio).to_json().encode()

        key = derived_key("transcript/1", media.info.sha256, transcriber=transcriber_identity())
        stored = media.derived.get_or_make(key, make)
        return Transcript.from_json(stored.data.decode()), stored.seconds, stored.freshness

    async def _model_transcript(self) -> tuple[Transcript, float]:
        """Ask the transcriber for one part of the sound after the other; a model's reply is never shared."""
        media, model = self.media, self._model("transcriber")
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
