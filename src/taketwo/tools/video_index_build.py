"""Opening the index of a cell's video: found, or made first, once for all cells of an arm.

The work is done by the cell that needs the index first, inside spans of its own in that cell's log
(`INDEX_SPAN`), and booked on the index. Cells that need it meanwhile wait. A fault of a provider ends
the cell that met it; the parts that were done stay, and the next one goes on from there.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import anyio
import anyio.to_thread
from inspect_ai.util import span

from taketwo.benchmarks.canonical import JsonValue, sha256_of
from taketwo.errors import RequestError, UnreadableVideo
from taketwo.media.transcript import Transcript
from taketwo.media.video import file_sha256
from taketwo.tools.clip_index import (
    FRAMES_PER_S,
    Clip,
    ClipCaption,
    ClipWindow,
    clip_windows,
)
from taketwo.tools.clip_index_captions import CAPTION_PROMPT, CAPTION_SIDE, UNSEEN, captioned
from taketwo.tools.clip_index_registry import (
    MERGE_PROMPT,
    MergedRegistry,
    Registry,
    merge_of,
    merged_registry,
)
from taketwo.tools.price import tokens_cost_usd
from taketwo.tools.primitives import Primitives
from taketwo.tools.role_model import ModelRole, RoleModel
from taketwo.tools.structured import form_request
from taketwo.tools.text_search import SearchKind, text_search
from taketwo.tools.toolbox import Toolbox
from taketwo.tools.video_index import IndexWork, OpenedIndex, VideoIndex
from taketwo.tools.video_index_account import INDEX_SPAN, IndexAccount
from taketwo.tools.video_index_store import IndexFiles, IndexPart, IndexStore

__all__ = ["IndexSettings", "index_prompts", "open_index"]

_CALLS_OF_A_PART = 1000
_FIRST_MERGE = 10**9
_NO_SPEECH = Transcript(segments=(), source="no audio track", language=None)

Source = Literal["built", "resumed", "shared"]


@dataclass(frozen=True, kw_only=True)
class IndexSettings:
    """How a video is indexed and searched.

    `clip_s` is the length of a clip in seconds. With `described` false no frame is looked at: the
    clips are the stretches of speech. `charged` books the cell's share of the cost on the cell.
    """

    clip_s: float
    described: bool
    search: SearchKind
    charged: bool


def index_prompts() -> str:
    """Return the templates by which an index is made."""
    return "\n\f\n".join((CAPTION_PROMPT, form_request(ClipCaption), MERGE_PROMPT))


async def open_index(toolbox: Toolbox, settings: IndexSettings) -> OpenedIndex:
    """Return the index of the cell's video and leave it in the cell's state for the tools.

    Raises
    ------
    RequestError
        If the toolbox has no place for an index.
    HarnessError
        If the file that lies there is damaged or belongs to another arm or execution.
    UnreadableVideo
        If not a single clip's frames can be decoded, or the subtitles cannot be read.
    Exception
        The fault of a provider; what was done before it stays.
    """
    store = toolbox.index
    if store is None:
        raise RequestError(
            "the agent works with an index of the video, and its toolbox has no place for one; give "
            "Toolbox(index=IndexStore(...))"
        )
    media = toolbox.primitives.media
    key = _settings_sha256(toolbox, store, settings)[:16]
    files = IndexFiles(store.folder, f"{media.info.sha256}-{key}", store.scope)
    with store.paused():
        async with store.locks.of(files.path):
            index = await anyio.to_thread.run_sync(files.whole)
            source: Source = "shared"
            if index is None:
                building = _Building(toolbox, store, files, settings)
                index = await building.index()
                source = "resumed" if building.is_resumed else "built"
    name = f"{media.info.sha256[:12]}-{key}"
    _book(toolbox, store, settings, index, name=name, source=source)
    texts = [clip.text for clip in index.clips]
    search = await anyio.to_thread.run_sync(text_search, settings.search, texts)
    opened = OpenedIndex(index=index, search=search, duration_s=media.info.duration_s)
    toolbox.state.put(opened)
    return opened


def _settings_sha256(toolbox: Toolbox, store: IndexStore, settings: IndexSettings) -> str:
    """Return the hash of everything but the video that an index depends on."""
    subtitles = toolbox.primitives.media.subtitles
    return sha256_of({
        "clip_s": settings.clip_s,
        "described": settings.described,
        "frames_per_s": FRAMES_PER_S,
        "side": CAPTION_SIDE,
        "prompts": index_prompts(),
        "subtitles": None if subtitles is None else file_sha256(subtitles),
        "models": {role: one.name for role, one in sorted(store.roles.items())},
        "sampling": {role: dict(one.sampling) for role, one in sorted(store.roles.items())},
    })


def _book(
    toolbox: Toolbox,
    store: IndexStore,
    settings: IndexSettings,
    index: VideoIndex,
    *,
    name: str,
    source: Source,
) -> None:
    """Record which index the cell works with and what it cost; charge a share where that is wanted."""
    account = toolbox.primitives.account
    cells = max(1, store.cells)
    if settings.charged:
        account.charge(index.work.latency_s / cells)
        account.spend_tokens(round((index.work.tokens or 0) / cells))
        account.spend_money(_cost_usd(store, index.work) / cells)
    account.record(
        "index",
        {
            "kind": "use",
            "index": name,
            "source": source,
            "clips": len(index.clips),
            "failed_clips": len(index.failed),
            "cells": cells,
            "charged": settings.charged,
            "work": index.work.to_json(),
        },
    )


def _cost_usd(store: IndexStore, work: IndexWork) -> float:
    """Return what the known usage of priced models cost in US dollars."""
    prices = {one.name: one.price for one in store.roles.values() if one.price is not None}
    return sum(
        tokens_cost_usd(prices[use.model], use.input_tokens, use.output_tokens)
        for use in work.usage
        if use.model in prices and use.input_tokens is not None and use.output_tokens is not None
    )


class _Building:
    """One index while it is made."""

    def __init__(
        self, toolbox: Toolbox, store: IndexStore, files: IndexFiles, settings: IndexSettings
    ) -> None:
        self.is_resumed = False
        self._toolbox = toolbox
        self._store = store
        self._files = files
        self._settings = settings
        self._work: list[IndexWork] = []

    async def index(self) -> VideoIndex:
        """Return the index, made of the parts that lie there and those that are missing."""
        speech = await self._speech()
        if self._settings.described:
            clips = await self._captions(speech)
            registry = await merged_registry(clips, self._merge)
        else:
            clips = _stretches(speech)
            registry = MergedRegistry(subjects={})
        spent = await anyio.to_thread.run_sync(self._files.spent)
        index = VideoIndex(
            scope=self._store.scope,
            clips=tuple(clips),
            registry=registry.subjects,
            registry_problem=registry.problem,
            described=self._settings.described,
            work=IndexWork.sum_of([*self._work, *spent]),
        )
        await anyio.to_thread.run_sync(self._files.keep_whole, index)
        return index

    async def _speech(self) -> Transcript:
        media = self._toolbox.primitives.media
        if not media.info.has_audio and media.subtitles is None:
            return _NO_SPEECH

        async def transcribed(primitives: Primitives) -> JsonValue:
            found = await primitives.transcribe_speech(0.0, media.info.duration_s)
            return cast("JsonValue", json.loads(found.to_json()))

        value = await self._part("speech", 0, transcribed)
        return Transcript.from_json(json.dumps(value))

    async def _captions(self, speech: Transcript) -> list[Clip]:
        """Return all clips; after a fault, those under way are still finished and kept."""
        duration_s = self._toolbox.video.duration_s
        windows = clip_windows(duration_s, self._settings.clip_s)
        found: dict[int, Clip] = {}
        faults: list[Exception] = []
        slots = anyio.CapacityLimiter(max(1, self._store.at_once))

        async def one(window: ClipWindow) -> None:
            async with slots:
                if faults:
                    return
                try:
                    found[window.position] = await self._caption(window, len(windows), speech)
                except Exception as error:  # noqa: BLE001 around one clip; raised when the others are kept
                    faults.append(error)

        async with anyio.create_task_group() as group:
            for window in windows:
                group.start_soon(one, window)
        if faults:
            raise faults[0]
        clips = [found[window.position] for window in windows]
        await self._require_one_seen(clips)
        return clips

    async def _require_one_seen(self, clips: Sequence[Clip]) -> None:
        """Refuse a video that gives no clip any frame; another start tries them again."""
        if not all((clip.problem or "").startswith(UNSEEN) for clip in clips):
            return
        for clip in clips:
            await anyio.to_thread.run_sync(self._files.drop_part, _name_of(clip.position))
        error = UnreadableVideo(
            f"none of {len(clips)} clips can be looked at, first: {clips[0].problem}"
        )
        self._toolbox.primitives.account.fail(error)
        raise error

    async def _caption(self, window: ClipWindow, count: int, speech: Transcript) -> Clip:
        async def described(primitives: Primitives) -> JsonValue:
            return (await captioned(primitives, window, count, speech)).to_json()

        first = _CALLS_OF_A_PART * (window.position + 1)
        value = await self._part(_name_of(window.position), first, described)
        return Clip.from_json(cast("Mapping[str, JsonValue]", value))

    async def _merge(
        self, name: str, registries: Sequence[Registry]
    ) -> tuple[Registry | None, str | None]:
        async def merged(primitives: Primitives) -> JsonValue:
            subjects, problem = await merge_of(primitives, registries)
            return {"subjects": None if subjects is None else dict(subjects), "problem": problem}

        first = _FIRST_MERGE + _CALLS_OF_A_PART * len(self._work)
        value = cast("dict[str, JsonValue]", await self._part(name, first, merged))
        return cast("Registry | None", value["subjects"]), cast("str | None", value["problem"])

    async def _part(
        self, name: str, first_call: int, make: Callable[[Primitives], Awaitable[JsonValue]]
    ) -> JsonValue:
        """Return a part: the one that lies there, else made now, booked on the index and kept."""
        kept = await anyio.to_thread.run_sync(self._files.part, name)
        if kept is not None:
            self.is_resumed = True
            self._work.append(kept.work)
            return kept.value
        account = IndexAccount(first_call)
        try:
            async with span(f"index {name}", type=INDEX_SPAN):
                value = await make(self._primitives(account))
        except Exception as error:
            if account.failure is error:
                self._toolbox.primitives.account.fail(error)
            if account.model_calls:
                await anyio.to_thread.run_sync(self._files.keep_spent, name, account.work)
            raise
        part = IndexPart(value=value, work=account.work)
        await anyio.to_thread.run_sync(self._files.keep_part, name, part)
        self._work.append(part.work)
        return value

    def _primitives(self, account: IndexAccount) -> Primitives:
        roles = self._store.roles
        models: dict[ModelRole, RoleModel] = {}

        def model(role: ModelRole) -> RoleModel:
            if role not in roles:
                raise RequestError(
                    f"an index of the video needs the {role}, but its store names models for "
                    f"{', '.join(sorted(roles)) or 'no role'} only"
                )
            if role not in models:
                models[role] = RoleModel(roles[role], account)
            return models[role]

        return Primitives(self._toolbox.primitives.media, account, model)


def _stretches(speech: Transcript) -> list[Clip]:
    return [
        Clip(
            position=position,
            start_s=segment.start_s,
            end_s=segment.end_s,
            speech=" ".join(segment.text.split()),
        )
        for position, segment in enumerate(speech.segments)
    ]


def _name_of(position: int) -> str:
    return f"clip-{position:06d}"
