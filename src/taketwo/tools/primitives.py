"""The one place where primitive operations are done and counted, whoever asks for them.

Each operation leaves a `taketwo.primitive` event: attempted, whether it succeeded, whether its
result was made for this cell (`fresh`) or found (`shared`), and what it cost. Shared media are
charged at the seconds that making them cost, so that no cell gains from running second.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal, TypeVar

import anyio.to_thread
from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentText,
)
from pydantic import BaseModel

from taketwo.benchmarks.canonical import JsonValue, sha256_of
from taketwo.media.transcript import Transcript
from taketwo.tools.account import CellAccount
from taketwo.tools.cell_media import CellMedia, DecodedFrames, FrameWorkers, decoded_frames
from taketwo.tools.cell_speech import CellSpeech
from taketwo.tools.grounding import GROUNDING_PROMPT, GroundedEvent, Grounding, found_event
from taketwo.tools.operation import Operation, PrimitiveKind, operation_of
from taketwo.tools.role_model import ModelRole, RoleModel
from taketwo.tools.seen_frames import SeenFrame
from taketwo.tools.sent_media import image_content
from taketwo.tools.structured import Structured, form_request, generate_in_form
from taketwo.tools.tool_failure import ToolFailure
from taketwo.tools.web import NO_WEB, SearchHit, Web, WebPage, web_faults

__all__ = [
    "CellMedia",
    "FrameWorkers",
    "GroundedEvent",
    "PrimitiveKind",
    "Primitives",
    "SearchHit",
    "SeenFrame",
    "Web",
    "WebPage",
]

_GROUNDING_FRAMES = 64
_GROUNDING_SIDE = 640
_Form = TypeVar("_Form", bound=BaseModel)


class Primitives:
    """The primitive operations of one cell."""

    def __init__(
        self,
        media: CellMedia,
        account: CellAccount,
        model: Callable[[ModelRole], RoleModel],
        web: Web | None = None,
    ) -> None:
        self.media = media
        self.web = web
        self.account = account
        self._model = model
        self._speech = CellSpeech(media, account, model)

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
        with operation_of(self.account, "extract_video_parts") as operation:
            found = await _decoded(self.media, self.account, times_s, max_side)
            operation.charged_s = found.seconds
            operation.freshness = found.freshness
            operation.frames = len(found.frames)
            return found.frames

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
        with operation_of(self.account, "transcribe_speech") as operation:
            whole = await self._speech.whole(operation)
            operation.audio_s = max(0.0, min(end_s, self.media.info.duration_s) - start_s)
            return whole.between(start_s, end_s)

    async def analyze(self, *, system: str, text: str, frames: Sequence[SeenFrame]) -> str:
        """Return what the observer says about `frames` in reply to `text`.

        Raises
        ------
        BudgetExhausted
            If the cell may do no further operation or model call.
        """
        with operation_of(self.account, "analyze") as operation:
            operation.frames = len(frames)
            output = await self._model("observer").generate(_look(system, text, frames))
            return output.completion

    async def analyze_in_form(
        self,
        form: type[_Form],
        *,
        system: str,
        text: str,
        frames: Sequence[SeenFrame],
        asks: int = 2,
    ) -> Structured[_Form]:
        """Return what the observer says about `frames`, in a form; one operation, however often asked.

        What the form is is added to the end of `text`. A reply that does not fit is sent back up to
        `asks` times, and each time the frames are handed over anew and counted. `value` is None
        where none fitted; `problem` then says why.

        Raises
        ------
        BudgetExhausted
            If the cell may do no further operation or model call.
        """
        with operation_of(self.account, "analyze") as operation:
            operation.frames = len(frames)
            return await _in_form(self._model, form, system, text, frames, asks=asks)

    async def ground_event(
        self,
        *,
        event: str,
        start_s: float,
        end_s: float,
        max_frames: int = _GROUNDING_FRAMES,
        max_side: int | None = _GROUNDING_SIDE,
    ) -> GroundedEvent:
        """Return when `event` happens between two seconds, or that it was not seen, and why.

        The observer looks at up to `max_frames` frames of the window, then, where those were more
        than 1 s apart, at as many around both ends of what it found. It is one operation: the
        frames of both looks are counted in it and no `extract_video_parts` is. A window with
        nothing of the video in it and a reply that cannot be used are `found=False` with a remark.

        Raises
        ------
        BudgetExhausted
            If the cell may do no further operation, model call or frame.
        UnreadableVideo
            If no frame can be decoded; the cell then ends as a media error.
        """
        with operation_of(self.account, "ground_event") as operation:
            operation.charged_s = 0.0
            looking = _Looking(
                media=self.media,
                account=self.account,
                model=self._model,
                operation=operation,
                most=max_frames,
                max_side=max_side,
            )
            return await found_event(looking, event, start_s, end_s)

    async def web_search(self, query: str, count: int) -> tuple[SearchHit, ...]:
        """Return up to `count` hits for `query`, best first, asked anew each time.

        Raises
        ------
        BudgetExhausted
            If the cell may do no further operation.
        ToolFailure
            If the study names no web, or the search could not be made; the cell goes on.
        """
        async with self._asking("web_search", query, count) as (web, operation):
            found = await web.search.search(query, count, pause=operation.pause)
            hits = tuple(found[:count])
            operation.result_sha256 = sha256_of([hit.to_json() for hit in hits])
            return hits

    async def parse_website(self, url: str, max_characters: int) -> WebPage:
        """Return the readable text of a page, at most `max_characters` of it, fetched anew each time.

        Raises
        ------
        BudgetExhausted
            If the cell may do no further operation.
        ToolFailure
            If the study names no web, the address is refused or the page cannot be read; the cell
            goes on.
        """
        async with self._asking("parse_website", url) as (web, operation):
            page = await web.pages.page(url)
            operation.result_sha256 = sha256_of([page.url, page.title, page.text])
            return page.first(max_characters)

    @asynccontextmanager
    async def _asking(
        self, kind: Literal["web_search", "parse_website"], *asked: JsonValue
    ) -> AsyncGenerator[tuple[Web, Operation]]:
        """Open one operation on the web; what goes wrong there is a `ToolFailure`."""
        if self.web is None:
            raise ToolFailure("unavailable", NO_WEB, retryable=False)
        with operation_of(self.account, kind) as operation:
            operation.asked_sha256 = sha256_of([kind, *asked])
            async with self.account.metered():
                self.account.budget.check("latency_s")
                with web_faults():
                    yield self.web, operation


@dataclass(kw_only=True)
class _Looking:
    """The looks of one grounding; what they cost is booked on its operation."""

    media: CellMedia
    account: CellAccount
    model: Callable[[ModelRole], RoleModel]
    operation: Operation
    most: int
    max_side: int | None

    @property
    def duration_s(self) -> float:
        return self.media.info.duration_s

    def most_frames(self) -> int:
        budget = self.account.budget
        budget.check("frames")
        left = budget.left("frames")
        return self.most if left is None else min(self.most, int(left))

    async def frames(self, times_s: Sequence[float]) -> tuple[SeenFrame, ...]:
        found = await _decoded(self.media, self.account, times_s, self.max_side)
        self.operation.charged_s = (self.operation.charged_s or 0.0) + found.seconds
        self.operation.frames += len(found.frames)
        return found.frames

    async def ask(self, text: str, frames: Sequence[SeenFrame]) -> Structured[Grounding]:
        return await _in_form(self.model, Grounding, GROUNDING_PROMPT, text, frames)


async def _decoded(
    media: CellMedia, account: CellAccount, times_s: Sequence[float], max_side: int | None
) -> DecodedFrames:
    async with account.metered():
        account.budget.check("latency_s")
        return await anyio.to_thread.run_sync(
            decoded_frames, media, tuple(times_s), max_side, limiter=media.slots
        )


async def _in_form(
    model: Callable[[ModelRole], RoleModel],
    form: type[_Form],
    system: str,
    text: str,
    frames: Sequence[SeenFrame],
    *,
    asks: int = 2,
) -> Structured[_Form]:
    messages = _look(system, f"{text}\n\n{form_request(form)}", frames)
    return await generate_in_form(model("observer"), messages, form, asks=asks)


def _look(system: str, text: str, frames: Sequence[SeenFrame]) -> list[ChatMessage]:
    content: list[Content] = [ContentText(text=text)]
    for frame in frames:
        content.extend(image_content(frame.time_s, frame.jpeg))
    return [ChatMessageSystem(content=system), ChatMessageUser(content=content)]
